// What goes wrong, and what every rank hears of it.
#include <atomic>
#include <cmath>
#include <limits>
#include <thread>

#include "support/catch.hpp"
#include "support/gradients.hpp"
#include "support/job.hpp"

using namespace ringlet;
using Catch::Contains;
using coordinator::Kind;
using runtime::Operation;
using runtime::Runtime;
using test::allreduce_of;
using test::error_text;
using test::job_settings;
using test::run_job;

namespace {

/// Runs `body(runtime)` on each rank and returns the texts of the errors it threw. What follows an error is a shutdown.
template <class Body>
std::vector<std::string> texts_of(int ranks, const Settings& settings, Body body) {
  return run_job(ranks, settings, [&](Runtime& runtime) { return error_text([&] { body(runtime); }); });
}

Settings impatient() {
  Settings settings = job_settings();
  settings.timeout = std::chrono::milliseconds(600);
  settings.stall_warning = std::chrono::milliseconds(150);
  return settings;
}

}  // namespace

TEST_CASE("a mismatch fails one tensor on every rank with one text, and the job goes on", "[inproc]") {
  const int which = GENERATE(range(0, 6));
  const auto texts = run_job(3, job_settings(), [&](Runtime& runtime) {
    const bool odd = runtime.rank() == 1;
    std::vector<float> values(12, 1.0F), fine(5, 1.0F);
    std::vector<double> doubles(12, 1.0);
    Operation op = allreduce_of("w", TensorView(values.data(), Shape{3, 4}));
    if (odd && which == 0) op.input = TensorView(values.data(), Shape{4, 3});
    if (odd && which == 1) op.input = TensorView(doubles.data(), Shape{3, 4});
    if (odd && which == 2) op.op = ReduceOp::sum;
    if (odd && which == 3) op.kind = Kind::broadcast;
    if (odd && which == 4) op.prescale = 3.0;
    if (which == 5) {
      op.kind = Kind::broadcast;
      op.root = odd ? 1 : 0;
    }
    const Handle bad = runtime.submit(op);
    const Handle good = runtime.submit(allreduce_of("fine", fine));
    good.wait();
    const std::string text = error_text([&] { bad.wait(); });
    runtime.submit(allreduce_of("w", values)).wait();  // the name is free again
    return text;
  });
  const char* const expected[] = {"shape", "dtype", "op", "broadcast", "prescale", "root"};
  for (const std::string& text : texts) {
    REQUIRE(text == texts[0]);
    REQUIRE_THAT(text, Contains("\"w\"") && Contains(expected[which]) && Contains("rank 1") && Contains("ranks 0, 2"));
  }
}

TEST_CASE("ranks with different compression are told so", "[inproc]") {
  const auto texts = texts_of(2, job_settings(), [&](Runtime& runtime) {
    std::vector<float> values(2000, 1.0F);
    Operation op = allreduce_of("w", values);
    op.compression = runtime.rank() == 0 ? "qsgd(bits=4)" : "none";
    runtime.submit(op).wait();
  });
  REQUIRE(texts[0] == texts[1]);
  REQUIRE_THAT(texts[0], Contains("compression") && Contains("qsgd(bits=4") && Contains("none"));
}

TEST_CASE("a name in flight is refused and the first call is not harmed", "[inproc]") {
  const auto texts = run_job(2, job_settings(), [&](Runtime& runtime) {
    std::vector<float> first(5, static_cast<float>(runtime.rank())), second(5);
    std::atomic<bool> refused{false};
    if (runtime.rank() == 0) {
      const Handle handle = runtime.submit(allreduce_of("g", first));
      const std::string text = error_text([&] { runtime.submit(allreduce_of("g", second)); });
      runtime.submit(allreduce_of("go", second)).wait();
      handle.wait();
      return text + (first[0] == 0.5F ? "" : " but wrong");
    }
    runtime.submit(allreduce_of("go", second)).wait();
    runtime.submit(allreduce_of("g", first)).wait();
    return std::string(first[0] == 0.5F ? "" : "wrong");
  });
  REQUIRE_THAT(texts[0], Contains("\"g\"") && Contains("in flight") && !Contains("wrong"));
  REQUIRE(texts[1].empty());
}

TEST_CASE("a rank that leaves with tensors pending elsewhere is named there", "[inproc]") {
  const int leaver = GENERATE(0, 1, 2);
  const auto texts = texts_of(3, job_settings(), [&](Runtime& runtime) {
    std::vector<float> values(5);
    runtime.submit(allreduce_of("together", values)).wait();
    if (runtime.rank() != leaver) runtime.submit(allreduce_of("pending", values)).wait();
  });
  for (int r = 0; r < 3; ++r) {
    if (r == leaver)
      REQUIRE(texts[static_cast<std::size_t>(r)].empty());
    else
      REQUIRE_THAT(texts[static_cast<std::size_t>(r)],
                   Contains("rank " + std::to_string(leaver)) && Contains("shut down"));
  }
}

TEST_CASE("shutdown with an own tensor pending fails it", "[inproc]") {
  const auto texts = run_job(2, job_settings(), [&](Runtime& runtime) {
    std::vector<float> values(5);
    if (runtime.rank() == 0) return std::string();
    return error_text([&] {  // the call itself is refused when word of rank 0's leaving came first
      const Handle handle = runtime.submit(allreduce_of("pending", values));
      runtime.shutdown();
      handle.wait();
    });
  });
  REQUIRE_THAT(texts[1], Contains("shut"));
}

TEST_CASE("abort tells every other rank who and why", "[inproc]") {
  const int culprit = GENERATE(0, 2, 4);
  const auto texts = texts_of(5, job_settings(), [&](Runtime& runtime) {
    std::vector<float> values(5);
    runtime.submit(allreduce_of("together", values)).wait();
    if (runtime.rank() == culprit) {
      runtime.abort("the loss is no number");
      throw Error(ErrorCode::internal, "own");
    }
    runtime.submit(allreduce_of("pending", values)).wait();
  });
  for (int r = 0; r < 5; ++r) {
    if (r == culprit) continue;
    REQUIRE_THAT(texts[static_cast<std::size_t>(r)],
                 Contains("rank " + std::to_string(culprit)) && Contains("the loss is no number"));
  }
}

TEST_CASE("a rank that never comes is named within the timeout", "[inproc]") {
  std::atomic<bool> over{false};
  const auto texts = texts_of(3, impatient(), [&](Runtime& runtime) {
    std::vector<float> values(5);
    runtime.submit(allreduce_of("together", values)).wait();
    if (runtime.rank() == 1) {
      while (!over) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      return;
    }
    try {
      runtime.submit(allreduce_of("lonely", values)).wait();
    } catch (...) {
      over = true;
      throw;
    }
  });
  REQUIRE_THAT(texts[0], Contains("lonely") && Contains("rank 1"));
  REQUIRE_THAT(texts[2], Contains("lonely") && Contains("rank 1"));
}

TEST_CASE("a callback that throws fails its own handle only", "[inproc]") {
  const auto texts = run_job(2, job_settings(), [&](Runtime& runtime) {
    std::vector<float> a(5), b(5);
    const Handle bad = runtime.submit(allreduce_of("a", a));
    bad.on_complete([](const Error*) { throw std::runtime_error("planted"); });
    const std::string text = error_text([&] { bad.wait(); });
    runtime.submit(allreduce_of("b", b)).wait();
    return text;
  });
  for (const std::string& text : texts) REQUIRE((text.empty() || Contains("planted").match(text)));
}

TEST_CASE("callbacks run once, may enqueue, and see errors", "[inproc]") {
  const auto counts = run_job(2, job_settings(), [&](Runtime& runtime) {
    std::vector<float> a(5), b(5);
    std::atomic<int> called{0};
    std::atomic<bool> chained{false};
    Handle second;
    const Handle first = runtime.submit(allreduce_of("a", a));
    first.on_complete([&](const Error* error) {
      ++called;
      if (error == nullptr) second = runtime.submit(allreduce_of("b", b));
      chained = true;
    });
    first.wait();
    while (!chained) std::this_thread::yield();
    second.wait();
    first.on_complete([&](const Error*) { ++called; });  // complete already: at once
    return called.load();
  });
  REQUIRE(counts == std::vector<int>{2, 2});
}

TEST_CASE("nothing can be submitted after shutdown", "[inproc]") {
  const auto texts = run_job(2, job_settings(), [&](Runtime& runtime) {
    runtime.shutdown();
    std::vector<float> values(5);
    return error_text([&] { runtime.submit(allreduce_of("late", values)); });
  });
  for (const std::string& text : texts) REQUIRE_THAT(text, Contains("shut"));
}

TEST_CASE("a changed size under error feedback is an error and not a crash", "[inproc]") {
  const auto texts = texts_of(2, job_settings(), [&](Runtime& runtime) {
    std::vector<float> values(4000, 1.0F);
    Operation op = allreduce_of("w", values);
    op.compression = "topk(ratio=0.1)";
    runtime.submit(op).wait();
    op.input = TensorView(values.data(), Shape{2000});
    runtime.submit(op).wait();
  });
  for (const std::string& text : texts) REQUIRE_THAT(text, Contains("w") && Contains("4000") && Contains("2000"));
}

TEST_CASE("a gradient that is no number is passed on and leaves the residual finite", "[inproc]") {
  const auto spec = GENERATE(values<std::string>({"none", "fp16", "qsgd(bits=4)", "topk(ratio=0.01)"}));
  CAPTURE(spec);
  const auto results = run_job(2, job_settings(), [&](Runtime& runtime) {
    std::vector<std::vector<float>> steps;
    for (int step = 0; step < 3; ++step) {
      auto values = test::gradient(runtime.rank(), step, 1, 5000);
      if (step == 0 && runtime.rank() == 1) values[1234] = std::numeric_limits<float>::quiet_NaN();
      Operation op = allreduce_of("w", values);
      op.compression = spec;
      runtime.submit(op).wait();
      steps.push_back(values);
    }
    return steps;
  });
  REQUIRE(std::isnan(results[0][0][1234]));
  REQUIRE(std::isnan(results[1][0][1234]));
  for (const float value : results[0][2]) REQUIRE(std::isfinite(value));
}
