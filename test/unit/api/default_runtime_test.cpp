#include "api/default_runtime.hpp"

#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "ringlet/ringlet.hpp"
#include "support/catch.hpp"
#include "transport/factory.hpp"
#include "transport/inproc.hpp"

using namespace ringlet;
using api::DefaultRuntime;

namespace {

std::unique_ptr<transport::Transport> alone(const Settings&) {
  return std::move(transport::inproc_transports(1).front());
}

template <class F>
std::string error_of(ErrorCode code, F&& f) {
  try {
    f();
  } catch (const Error& e) {
    CHECK(e.code() == code);
    return e.what();
  }
  FAIL("no error");
  return "";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Whatever a test does, the next one finds nothing running.
struct Stopped {
  ~Stopped() { DefaultRuntime::instance().stop(); }
};

}  // namespace

TEST_CASE("calls outside of init and shutdown say so") {
  const Stopped stopped;
  std::vector<float> x(4, 1.0F);
  CHECK_FALSE(is_initialized());
  CHECK(contains(error_of(ErrorCode::not_initialized, [] { rank(); }), "call init() first"));
  CHECK(contains(error_of(ErrorCode::not_initialized, [&] { allreduce(x); }), "call init() first"));
  error_of(ErrorCode::not_initialized, [] { ringlet::abort("x"); });
  shutdown();  // of nothing: harmless

  DefaultRuntime::instance().start(alone);
  CHECK(is_initialized());
  CHECK(rank() == 0);
  CHECK(size() == 1);
  CHECK(local_size() == 1);
  CHECK(cross_rank() == 0);
  shutdown();
  CHECK_FALSE(is_initialized());
  CHECK(contains(error_of(ErrorCode::not_initialized, [&] { allreduce(x); }), "has been shut down"));
}

TEST_CASE("starting twice keeps the first, and after a stop one may start again") {
  const Stopped stopped;
  auto& runtime = DefaultRuntime::instance();
  runtime.start(alone);
  const auto first = runtime.get();
  bool made = false;
  runtime.start([&](const Settings& s) { return made = true, alone(s); });
  CHECK_FALSE(made);
  CHECK(runtime.get() == first);
  runtime.stop();
  runtime.start(alone);
  CHECK(runtime.get() != first);
}

TEST_CASE("a bad setting is an error before anything starts") {
  const Stopped stopped;
  ::setenv("RINGLET_TIMEOUT", "soon", 1);
  bool made = false;
  const auto error = error_of(ErrorCode::invalid_argument, [&] {
    DefaultRuntime::instance().start([&](const Settings& s) { return made = true, alone(s); });
  });
  ::unsetenv("RINGLET_TIMEOUT");
  CHECK(contains(error, "RINGLET_TIMEOUT=\"soon\""));
  CHECK_FALSE(made);
  CHECK_FALSE(is_initialized());
}

TEST_CASE("what the transport or the rules throw leaves nothing running") {
  const Stopped stopped;
  error_of(ErrorCode::backend, [] {
    DefaultRuntime::instance().start([](const Settings&) -> std::unique_ptr<transport::Transport> {
      throw Error(ErrorCode::backend, "no network");
    });
  });
  CHECK_FALSE(is_initialized());
  ::setenv("RINGLET_COMPRESSION", "*=qsdg(bits=4)", 1);
  const auto error = error_of(ErrorCode::invalid_argument, [] { DefaultRuntime::instance().start(alone); });
  ::unsetenv("RINGLET_COMPRESSION");
  CHECK(contains(error, "qsgd"));
  CHECK_FALSE(is_initialized());
}

TEST_CASE("a plugin's transport becomes the default runtime's") {
  const Stopped stopped;
  transport::adopt_transport(std::move(transport::inproc_transports(1).front()));
  std::vector<float> x{1.0F, 2.0F};
  allreduce(x, {.name = "x", .op = ReduceOp::sum});
  CHECK(x == std::vector<float>{1.0F, 2.0F});
  CHECK(counters().tensors == 1);
}

TEST_CASE("one rank alone: every collective gives back what it was given") {
  const Stopped stopped;
  DefaultRuntime::instance().start(alone);
  const std::vector<std::int32_t> x{1, 2, 3};
  std::vector<std::int32_t> out(3);
  allreduce(x, {.name = "a", .op = ReduceOp::average, .output = out});
  CHECK(out == x);
  const auto gathered = allgather(x, {.name = "b"});
  CHECK(std::vector<std::int32_t>(gathered.as<std::int32_t>().begin(), gathered.as<std::int32_t>().end()) == x);
  const auto scattered = reduce_scatter(x, {.name = "c", .op = ReduceOp::sum});
  CHECK(scattered.as<std::int32_t>().size() == 3);
  const auto exchanged = alltoall(x, {.name = "d", .splits = {3}});
  CHECK(exchanged.as<std::int32_t>()[2] == 3);
  CHECK(exchanged.splits == std::vector<std::size_t>{3});
  std::fill(out.begin(), out.end(), 0);
  CHECK(allgather(x, {.name = "e", .output = out}).memory.empty());
  CHECK(out == x);
  broadcast(x, {.name = "f", .root = 0});
  barrier();
  CHECK(contains(error_of(ErrorCode::invalid_argument, [&] { broadcast(x, {.name = "g", .root = 1}); }), "root 1"));
}

TEST_CASE("the terminate handler is there between start and stop") {
  const Stopped stopped;
  const auto before = std::get_terminate();
  DefaultRuntime::instance().start(alone);
  CHECK(std::get_terminate() != before);
  DefaultRuntime::instance().stop();
  CHECK(std::get_terminate() == before);
}

TEST_CASE("a program's own terminate handler, set later, stays and reaches the one before ours once") {
  const Stopped stopped;
  const auto before = std::get_terminate();
  DefaultRuntime::instance().start(alone);
  const auto own = [] { std::abort(); };
  std::set_terminate(own);
  DefaultRuntime::instance().stop();
  CHECK(std::get_terminate() == static_cast<std::terminate_handler>(own));
  DefaultRuntime::instance().start(alone);  // must not put ours into the chain a second time
  CHECK(std::get_terminate() == static_cast<std::terminate_handler>(own));
  DefaultRuntime::instance().stop();
  std::set_terminate(before);
}
