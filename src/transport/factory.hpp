#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "transport/transport.hpp"

namespace ringlet::transport {

/// How src/api comes to a transport without knowing which were compiled. `usable()` is probed at run time, never assumed.
struct TransportFactory {
  std::string name;
  std::function<bool()> usable;
  std::function<std::unique_ptr<Transport>()> make;
  std::function<std::string()> describe;  ///< what was found at run time, one line for ringlet-info
};

/// The transports of this build, best first. Defined in the plugins.cpp that CMake writes.
std::vector<TransportFactory> compiled_transports();

}  // namespace ringlet::transport
