#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/settings.hpp"
#include "transport/factory.hpp"
#include "transport/transport.hpp"

namespace ringlet::api {

/// Makes the transport that settings.transport names, out of `compiled`. "auto" takes the first usable one, and without
/// any this process runs alone, except under a launcher of several processes, where alone would be silently wrong.
/// "inproc" is this process alone.
///
/// Errors  Error{invalid_argument} for a name this build has not, or no transport under a launcher; Error{backend} for
/// one that is not usable
///         here; what the factory throws.
std::unique_ptr<transport::Transport> pick_transport(const Settings& settings,
                                                     const std::vector<transport::TransportFactory>& compiled);

/// The name of the launcher that started this process as one of several, empty if none is known to have.
std::string launcher();

}  // namespace ringlet::api
