#include "base/task.hpp"

#include <coroutine>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/catch.hpp"

using ringlet::Task;
using ringlet::TaskScope;

namespace {

/// Suspends whoever awaits it until open() is called.
struct Gate {
  std::vector<std::coroutine_handle<>> waiting;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> h) { waiting.push_back(h); }
  void await_resume() const noexcept {}
  void open() {
    for (auto h : std::exchange(waiting, {})) h.resume();
  }
};

// Instrumented code makes no tail calls, so there the stack does grow.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
constexpr int kLong = 1000;
#else
constexpr int kLong = 40'000;
#endif

Task<int> value(int v) { co_return v; }

Task<int> sum_of(int n) {
  int sum = 0;
  for (int i = 1; i <= n; ++i) sum += co_await value(i);
  co_return sum;
}

Task<> store(Task<int> task, int& result) { result = co_await task; }

Task<> wait_and_log(Gate& gate, std::vector<std::string>& log, std::string name) {
  log.push_back(name + " starts");
  co_await gate;
  log.push_back(name + " ends");
}

Task<> wait_and_throw(Gate& gate, std::string what) {
  co_await gate;
  throw std::runtime_error(what);
}

Task<> join_then_log(TaskScope& scope, std::vector<std::string>& log) {
  try {
    co_await scope.join();
    log.push_back("joined");
  } catch (const std::exception& e) {
    log.push_back(e.what());
  }
}

Task<> nested(Gate& gate, std::vector<std::string>& log) {
  TaskScope inner;
  inner.spawn(wait_and_log(gate, log, "x"));
  inner.spawn(wait_and_throw(gate, "inner"));
  co_await inner.join();
}

Task<> recursive(int depth, int& deepest) {
  deepest = depth;
  if (depth < 1000) co_await recursive(depth + 1, deepest);
}

}  // namespace

TEST_CASE("a task starts when it is awaited and gives its value") {
  int result = 0;
  TaskScope scope;
  scope.spawn(store(sum_of(100), result));
  CHECK(scope.running() == 0);
  CHECK(result == 5050);
}

TEST_CASE("a long chain of tasks that end at once does not grow the stack") {
  int result = 0;
  TaskScope scope;
  scope.spawn(store(sum_of(kLong), result));
  CHECK(result == kLong * (kLong + 1) / 2);
  int deepest = 0;
  scope.spawn(recursive(0, deepest));
  CHECK(deepest == 1000);
}

TEST_CASE("a scope runs its tasks at once and joins them all") {
  Gate gate;
  std::vector<std::string> log;
  TaskScope scope, outer;
  scope.spawn(wait_and_log(gate, log, "a"));
  scope.spawn(wait_and_log(gate, log, "b"));
  CHECK(scope.running() == 2);
  outer.spawn(join_then_log(scope, log));
  gate.open();
  CHECK(log == std::vector<std::string>{"a starts", "b starts", "a ends", "b ends", "joined"});
  CHECK(scope.running() == 0);
  CHECK(outer.running() == 0);
}

TEST_CASE("joining a scope without tasks does not wait") {
  std::vector<std::string> log;
  TaskScope scope, outer;
  outer.spawn(join_then_log(scope, log));
  CHECK(log == std::vector<std::string>{"joined"});
}

TEST_CASE("join waits for all tasks and throws the first error, once") {
  Gate first, second;
  std::vector<std::string> log;
  TaskScope scope, outer;
  scope.spawn(wait_and_throw(second, "late"));
  scope.spawn(wait_and_throw(first, "early"));
  outer.spawn(join_then_log(scope, log));
  first.open();
  CHECK(log.empty());
  second.open();
  CHECK(log == std::vector<std::string>{"early"});
  CHECK_NOTHROW(scope.rethrow());
}

TEST_CASE("an error of a task that nobody joins is kept for rethrow()") {
  Gate gate;
  TaskScope scope;
  scope.spawn(wait_and_throw(gate, "kept"));
  CHECK_NOTHROW(scope.rethrow());
  gate.open();
  CHECK_THROWS_WITH(scope.rethrow(), "kept");
  CHECK_NOTHROW(scope.rethrow());
}

TEST_CASE("scopes nest: an inner error comes out of the outer join") {
  Gate gate;
  std::vector<std::string> log;
  TaskScope outer;
  outer.spawn(nested(gate, log));
  CHECK(outer.running() == 1);
  gate.open();
  CHECK(log == std::vector<std::string>{"x starts", "x ends"});
  CHECK(outer.running() == 0);
  CHECK_THROWS_WITH(outer.rethrow(), "inner");
}

TEST_CASE("a task that was never awaited just goes") {
  int result = 7;
  { const Task<> never = store(value(1), result); }
  CHECK(result == 7);
}
