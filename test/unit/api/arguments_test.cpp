#include "api/arguments.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "ringlet/error.hpp"
#include "support/catch.hpp"

using namespace ringlet;
using coordinator::Kind;
using runtime::Operation;

namespace {

std::array<float, 64> memory;
std::array<float, 64> other;
std::array<std::int32_t, 64> whole;
std::array<bool, 64> flags;

/// A call that is right, by rank 1 of 4; the tests spoil one thing.
Operation right(Kind kind) {
  Operation operation;
  operation.kind = kind;
  operation.name = std::string("w");  // g++ 12 warns about the assignment of a literal here (its bug 105651)
  operation.op = ReduceOp::sum;
  operation.input = TensorView(memory.data(), {4, 2});
  return operation;
}

/// The text check_arguments() refuses with, empty if it does not.
std::string refusal(Operation operation, int rank = 1, int size = 4) {
  try {
    api::check_arguments(operation, rank, size);
  } catch (const Error& e) {
    CHECK(e.code() == ErrorCode::invalid_argument);
    return e.what();
  }
  return "";
}

template <class Spoil>
std::string refusal_when(Kind kind, Spoil spoil, int rank = 1, int size = 4) {
  Operation operation = right(kind);
  spoil(operation);
  return refusal(operation, rank, size);
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

constexpr Kind kMoving[] = {Kind::allreduce, Kind::allgather, Kind::broadcast, Kind::reduce_scatter, Kind::alltoall};
constexpr Kind kReducing[] = {Kind::allreduce, Kind::reduce_scatter};

}  // namespace

TEST_CASE("calls that are right pass") {
  for (const Kind kind : kMoving) {
    CAPTURE(coordinator::to_string(kind));
    CHECK(refusal(right(kind)).empty());
    CHECK(refusal_when(kind, [](Operation& o) { o.input = TensorView(static_cast<float*>(nullptr), {0, 2}); }).empty());
  }
  CHECK(refusal(right(Kind::barrier)).empty());
}

TEST_CASE("the text says which call of which tensor on which rank") {
  const auto null = [](Operation& o) { o.input.data = nullptr; };
  CHECK(contains(refusal_when(Kind::allreduce, null), "allreduce of \"w\" on rank 1: "));
  CHECK(contains(refusal_when(Kind::allreduce, [](Operation& o) { o.name.clear(), o.input.data = nullptr; }),
                 "of an unnamed tensor on rank 1"));
}

TEST_CASE("memory must be there, aligned, on the host and of a possible size") {
  for (const Kind kind : kMoving) {
    CAPTURE(coordinator::to_string(kind));
    CHECK(contains(refusal_when(kind, [](Operation& o) { o.input.data = nullptr; }),
                   "8 elements of float32 but its data is null"));
    CHECK(contains(
        refusal_when(kind, [](Operation& o) { o.input.data = reinterpret_cast<std::byte*>(memory.data()) + 2; }),
        "multiple of 4"));
    CHECK(contains(refusal_when(kind, [](Operation& o) { o.input.device.ordinal = 0; }), "no device back end"));
    CHECK(contains(refusal_when(kind,
                                [](Operation& o) {
                                  o.input.shape = {std::size_t{1} << 40, std::size_t{1} << 40};
                                }),
                   "more bytes than there are addresses"));
    CHECK(contains(refusal_when(kind, [](Operation& o) { o.process_set = 1; }), "process sets other than 0"));
  }
  CHECK(contains(refusal_when(Kind::barrier, [](Operation& o) { o.process_set = 2; }), "process sets other than 0"));
}

TEST_CASE("an output must be writable, of the same dtype and of a shape that fits") {
  for (const Kind kind : kMoving) {
    CAPTURE(coordinator::to_string(kind));
    CHECK(contains(refusal_when(kind,
                                [](Operation& o) {
                                  o.output = TensorView(const_cast<const float*>(other.data()), {4, 2});
                                }),
                   "const memory"));
    CHECK(contains(refusal_when(kind,
                                [](Operation& o) {
                                  o.output = TensorView(whole.data(), {4, 2});
                                }),
                   "the output is int32 but the input float32"));
    CHECK(contains(refusal_when(kind,
                                [](Operation& o) {
                                  o.output = TensorView(other.data(), {4, 3});
                                }),
                   "the output has shape [4, 3] but the input [4, 2]"));
    CHECK(contains(refusal_when(kind, [](Operation& o) { o.output = TensorView(other.data(), {8}); }), "[8]"));
  }
  for (const Kind kind : {Kind::allreduce, Kind::broadcast}) {
    CHECK(contains(refusal_when(kind, [](Operation& o) { o.output = TensorView(other.data(), {3, 2}); }), "[3, 2]"));
    CHECK(refusal_when(kind, [](Operation& o) { o.output = TensorView(other.data(), {4, 2}); }).empty());
    CHECK(refusal_when(kind, [](Operation& o) { o.output = o.input; }).empty());
  }
  CHECK(refusal_when(Kind::allgather, [](Operation& o) { o.output = TensorView(other.data(), {13, 2}); }).empty());
}

TEST_CASE("input and output do not overlap, except that an exact one may be the same") {
  const auto shifted = [](Operation& o) { o.output = TensorView(memory.data() + 2, {4, 2}); };
  const auto behind = [](Operation& o) { o.output = TensorView(memory.data() + 8, {4, 2}); };
  for (const Kind kind : {Kind::allreduce, Kind::broadcast, Kind::allgather, Kind::alltoall}) {
    CAPTURE(coordinator::to_string(kind));
    CHECK(contains(refusal_when(kind, shifted), "overlap"));
    CHECK(refusal_when(kind, behind).empty());
  }
  CHECK(contains(refusal_when(Kind::allgather, [](Operation& o) { o.output = o.input; }), "overlap"));
  CHECK(contains(refusal_when(Kind::reduce_scatter,
                              [](Operation& o) {
                                o.output = TensorView(memory.data(), {1, 2});
                              }),
                 "overlap"));
}

TEST_CASE("const memory cannot take a result, but a broadcast's root may send from it") {
  const auto read_only = [](Operation& o) { o.input = TensorView(const_cast<const float*>(memory.data()), {4, 2}); };
  CHECK(contains(refusal_when(Kind::allreduce, read_only), "pass an output"));
  CHECK(contains(refusal_when(Kind::broadcast, read_only), "pass an output"));
  CHECK(refusal_when(Kind::broadcast, read_only, 0).empty());
  for (const Kind kind : {Kind::allgather, Kind::reduce_scatter, Kind::alltoall})
    CHECK(refusal_when(kind, read_only).empty());
  CHECK(refusal_when(Kind::allreduce, [&](Operation& o) {
          read_only(o), o.output = TensorView(other.data(), {4, 2});
        }).empty());
}

TEST_CASE("booleans have no average, and only floating dtypes are scaled") {
  for (const Kind kind : kReducing) {
    CAPTURE(coordinator::to_string(kind));
    const auto boolean = [](Operation& o) { o.input = TensorView(flags.data(), {4, 2}); };
    CHECK(refusal_when(kind, boolean).empty());
    CHECK(contains(refusal_when(kind, [&](Operation& o) { boolean(o), o.op = ReduceOp::average; }),
                   "boolean has no average"));
    const auto integers = [](Operation& o) { o.input = TensorView(whole.data(), {4, 2}); };
    CHECK(refusal_when(kind, [&](Operation& o) { integers(o), o.op = ReduceOp::average; }).empty());
    CHECK(contains(refusal_when(kind, [&](Operation& o) { integers(o), o.prescale = 0.5; }), "prescale=0.5 on int32"));
    CHECK(contains(refusal_when(kind, [&](Operation& o) { integers(o), o.postscale = 2; }), "postscale=2 on int32"));
    CHECK(refusal_when(kind, [](Operation& o) { o.prescale = 0.5, o.postscale = -2; }).empty());
    CHECK(contains(refusal_when(kind, [](Operation& o) { o.prescale = std::nan(""); }), "finite"));
    CHECK(contains(refusal_when(kind, [](Operation& o) { o.postscale = INFINITY; }), "finite"));
  }
}

TEST_CASE("a root is a rank") {
  for (const int root : {-1, 4, 100}) {
    CHECK(contains(refusal_when(Kind::broadcast, [&](Operation& o) { o.root = root; }), fmt::format("root {}", root)));
  }
  for (const int root : {0, 3}) CHECK(refusal_when(Kind::broadcast, [&](Operation& o) { o.root = root; }).empty());
}

TEST_CASE("a scalar has no rows to gather, scatter or exchange") {
  const auto scalar = [](Operation& o) { o.input = TensorView(memory.data(), Shape{}); };
  for (const Kind kind : {Kind::allgather, Kind::reduce_scatter, Kind::alltoall}) {
    CHECK(contains(refusal_when(kind, scalar), "a scalar has no rows"));
  }
  for (const Kind kind : {Kind::allreduce, Kind::broadcast}) CHECK(refusal_when(kind, scalar).empty());
}

TEST_CASE("a reduce-scatter's output holds this rank's rows: n/P each, the first n mod P ranks one more") {
  for (int rank = 0; rank < 4; ++rank) {
    for (std::size_t rows = 1; rows < 6; ++rows) {
      const auto spoil = [&](Operation& o) {
        o.input = TensorView(memory.data(), {10, 2});
        o.output = TensorView(other.data(), {rows, 2});
      };
      CAPTURE(rank, rows);
      CHECK(refusal_when(Kind::reduce_scatter, spoil, rank).empty() == (rows == (rank < 2 ? 3U : 2U)));
    }
  }
}

TEST_CASE("splits are one for each rank and add up to the rows") {
  const auto with = [](std::vector<std::size_t> splits) {
    return refusal_when(Kind::alltoall, [&](Operation& o) { o.splits = splits; });
  };
  CHECK(with({1, 1, 1, 1}).empty());
  CHECK(with({4, 0, 0, 0}).empty());
  CHECK(contains(with({4}), "1 splits for 4 ranks"));
  CHECK(contains(with({1, 1, 1, 1, 0}), "5 splits for 4 ranks"));
  CHECK(contains(with({1, 1, 1, 2}), "up to rank 3 take more than the tensor's 4 rows"));
  CHECK(contains(with({SIZE_MAX, 5, 0, 0}), "up to rank 0 take more"));  // the sum would wrap around to 4
  CHECK(contains(with({1, 1, 1, 0}), "leave 1 of the tensor's 4 rows"));
  CHECK(contains(refusal_when(Kind::alltoall, [](Operation& o) { o.input = TensorView(memory.data(), {5}); }),
                 "5 rows do not divide"));

  Operation operation = right(Kind::alltoall);
  operation.input = TensorView(memory.data(), {8});
  api::check_arguments(operation, 1, 4);
  CHECK(operation.splits == std::vector<std::size_t>{2, 2, 2, 2});
}
