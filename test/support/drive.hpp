#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <vector>

#include "base/task.hpp"
#include "support/ranks.hpp"
#include "transport/inproc.hpp"

namespace ringlet::test {

/// Runs one task to its end on this thread, moving `net` along; rethrows what it throws. A task that cannot end is the
/// test's timeout.
inline void drive(transport::Transport& net, Task<> task) {
  TaskScope scope;
  scope.spawn(std::move(task));
  while (scope.running() > 0) {
    if (!net.progress()) net.wait(std::chrono::milliseconds(1));
  }
  scope.rethrow();
}

/// As run_ranks(), with a connected in-process transport for each rank: `body(rank's transport)`.
template <class Body>
auto run_connected(int ranks, Body body) {
  auto nets = transport::inproc_transports(ranks);
  return run_ranks(ranks, [&](int rank) { return body(*nets[static_cast<std::size_t>(rank)]); });
}

/// For schedules that are not expected to fail: a failure fails the transport, so that every rank ends.
class FailTransport final : public Alarm {
 public:
  explicit FailTransport(transport::Transport& net) : net_(net) {}
  void raise(std::exception_ptr error) noexcept override {
    try {
      std::rethrow_exception(error);
    } catch (const Error& e) {
      net_.fail(e);
    } catch (...) {
      net_.fail(Error(ErrorCode::internal, "a schedule threw"));
    }
  }

 private:
  transport::Transport& net_;
};

}  // namespace ringlet::test
