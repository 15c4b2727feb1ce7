#pragma once

#include <memory>
#include <vector>

#include "transport/transport.hpp"

namespace ringlet::transport {

/// Transports whose ranks are threads of this process: `ranks` of them, connected. Each may be driven by another thread
/// and outlive the others. Every send waits for its receive, so that a schedule that would deadlock on a network
/// deadlocks here. `ranks_per_host` > 0 makes host_of() pretend that so many consecutive ranks share a host.
std::vector<std::unique_ptr<Transport>> inproc_transports(int ranks, int ranks_per_host = 0);

}  // namespace ringlet::transport
