#include <utility>

#include "api/default_runtime.hpp"
#include "api/pick_transport.hpp"
#include "ringlet/observe.hpp"
#include "ringlet/runtime.hpp"
#include "transport/factory.hpp"

namespace ringlet {

using api::DefaultRuntime;

void init() {
  DefaultRuntime::instance().start(
      [](const Settings& settings) { return api::pick_transport(settings, transport::compiled_transports()); });
}

void transport::adopt_transport(std::unique_ptr<Transport> net) {
  DefaultRuntime::instance().start([&](const Settings&) { return std::move(net); });
}

void shutdown() { DefaultRuntime::instance().stop(); }
void abort(const std::string& reason) { DefaultRuntime::instance().get()->abort(reason); }
bool is_initialized() noexcept { return DefaultRuntime::instance().is_running(); }

int rank() { return DefaultRuntime::instance().get()->rank(); }
int size() { return DefaultRuntime::instance().get()->size(); }
int local_rank() { return DefaultRuntime::instance().get()->local_rank(); }
int local_size() { return DefaultRuntime::instance().get()->local_size(); }
int cross_rank() { return DefaultRuntime::instance().get()->cross_rank(); }
int cross_size() { return DefaultRuntime::instance().get()->cross_size(); }

Counters counters() { return DefaultRuntime::instance().get()->counters(); }

}  // namespace ringlet
