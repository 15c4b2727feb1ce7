#pragma once

#include <memory>
#include <utility>

#include "runtime/runtime.hpp"
#include "support/ranks.hpp"
#include "transport/inproc.hpp"

namespace ringlet::test {

/// Settings for tests: quick to give up, so that a hang is an error with a text.
inline Settings job_settings() {
  Settings settings;
  settings.timeout = std::chrono::milliseconds(20000);
  settings.log_level = "error";
  return settings;
}

/// A whole job in this process: a Runtime for each rank, each on a thread of its own. `body(runtime)` gives each rank's
/// result; the runtime is shut down after it.
template <class Body>
auto run_job(int ranks, const Settings& settings, Body body) {
  auto nets = transport::inproc_transports(ranks);
  return run_ranks(ranks, [&](int rank) {
    runtime::Runtime runtime(std::move(nets[static_cast<std::size_t>(rank)]), settings);
    auto result = body(runtime);
    runtime.shutdown();
    return result;
  });
}

/// An all-reduce in place, to be adorned.
inline runtime::Operation allreduce_of(const std::string& name, TensorView tensor) {
  runtime::Operation operation;
  operation.name = name;
  operation.input = tensor;
  return operation;
}

/// The text of the error `call` throws; empty when it throws none.
template <class Call>
std::string error_text(Call call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

}  // namespace ringlet::test
