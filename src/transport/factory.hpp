#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/settings.hpp"
#include "transport/transport.hpp"

namespace ringlet::transport {

/// How src/api comes to a transport without knowing which were compiled. `usable()` is probed at run time, never
/// assumed.
struct TransportFactory {
  std::string name;
  std::function<bool()> usable;
  /// Collective over the ranks. Throws Error{backend} when the back end refuses, Error{invalid_argument} for a setting
  /// it cannot follow.
  std::function<std::unique_ptr<Transport>(const Settings&)> make;
  std::function<std::string()> describe;  ///< what was found at run time, one line for ringlet-info
  /// A transport on a communicator that the program already has, by its Fortran handle: what C programs pass without
  /// our knowing mpi.h. Empty where the back end has no such thing.
  std::function<std::unique_ptr<Transport>(int)> on_fortran_communicator = {};
};

/// The transports of this build, best first. Defined in the plugins.cpp that CMake writes.
std::vector<TransportFactory> compiled_transports();

/// Starts the default runtime on `net`, as init() does on a transport of its own choice. Defined by src/api, for
/// plugins whose public header takes a connection that the program already has.
void adopt_transport(std::unique_ptr<Transport> net);

}  // namespace ringlet::transport
