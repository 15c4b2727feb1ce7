#include "api/arguments.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "base/dtype.hpp"
#include "ringlet/error.hpp"

namespace ringlet::api {
namespace {

using coordinator::Kind;
using runtime::Operation;

/// The checks of one call, whose texts all begin with what the caller called.
class Check {
 public:
  Check(const Operation& operation, int rank, int size) : op_(operation), rank_(rank), size_(size) {}

  void process_set() const {
    if (op_.process_set != 0) refuse("process sets other than 0 (all ranks) are not in this version");
  }

  void memory(const TensorView& t, const char* which) const {
    std::size_t bytes = size_of(t.dtype);
    for (std::size_t i = 0; i < t.shape.dims(); ++i) {
      if (t.shape[i] != 0 && bytes > std::numeric_limits<std::size_t>::max() / 2 / t.shape[i]) {
        refuse(fmt::format("the {} has shape {}, more bytes than there are addresses", which, to_string(t.shape)));
      }
      bytes *= t.shape[i];
    }
    if (t.data == nullptr && t.elements() != 0) {
      refuse(fmt::format("the {} has {} elements of {} but its data is null", which, t.elements(), to_string(t.dtype)));
    }
    if (t.data != nullptr && reinterpret_cast<std::uintptr_t>(t.data) % alignment(t.dtype) != 0) {
      refuse(fmt::format("the {}'s data is not aligned for {}: its address must be a multiple of {}", which,
                         to_string(t.dtype), alignment(t.dtype)));
    }
    if (!t.device.is_host()) {
      refuse(fmt::format("the {} is on device {}, but this build has no device back end: copy it to host memory first",
                         which, t.device.ordinal));
    }
  }

  /// `exact`: the output has the input's shape; else only the rows' shape and dtype are compared, where rows are what
  /// is gathered.
  void output(bool exact) const {
    if (op_.output.data == nullptr) return;
    memory(op_.output, "output");
    if (op_.output.read_only) refuse("the output is a view of const memory: pass one of memory that may be written");
    if (op_.output.dtype != op_.input.dtype) {
      refuse(fmt::format("the output is {} but the input {}", to_string(op_.output.dtype), to_string(op_.input.dtype)));
    }
    if (exact ? op_.output.shape != op_.input.shape : !same_rows()) {
      refuse(fmt::format("the output has shape {} but the input {}{}", to_string(op_.output.shape),
                         to_string(op_.input.shape), exact ? "" : ": all dimensions but the first must be equal"));
    }
    overlap(exact);
  }

  void in_place(bool may_be_read_only) const {
    if (op_.output.data == nullptr && op_.input.read_only && !may_be_read_only && op_.input.elements() != 0) {
      refuse("the result would overwrite a view of const memory: pass an output");
    }
  }

  void arithmetic() const {
    if (op_.op == ReduceOp::average && op_.input.dtype == DType::boolean) {
      refuse("boolean has no average: use sum or max (or), product or min (and)");
    }
    factor("prescale", op_.prescale);
    factor("postscale", op_.postscale);
  }

  void root() const {
    if (op_.root < 0 || op_.root >= size_) {
      refuse(fmt::format("root {} is not a rank: there are {}, numbered from 0", op_.root, size_));
    }
  }

  void rows() const {
    if (op_.input.shape.dims() == 0) refuse("a scalar has no rows: give it shape [1]");
  }

  /// A reduce-scatter's output: this rank's rows and no others.
  void share() const {
    if (op_.output.data == nullptr) return;
    const std::size_t rows = op_.input.shape[0], ranks = unsigned_size();
    const std::size_t mine = rows / ranks + (static_cast<std::size_t>(rank_) < rows % ranks ? 1 : 0);
    if (op_.output.shape[0] != mine) {
      refuse(fmt::format("the output has {} rows, but rank {} of {} gets {} of {}", op_.output.shape[0], rank_, size_,
                         mine, rows));
    }
  }

  std::vector<std::size_t> splits() const {
    const std::size_t rows = op_.input.shape[0], ranks = unsigned_size();
    if (op_.splits.empty()) {
      if (rows % ranks != 0) {
        refuse(fmt::format("{} rows do not divide among {} ranks: pass splits", rows, size_));
      }
      return std::vector<std::size_t>(ranks, rows / ranks);
    }
    if (op_.splits.size() != ranks) {
      refuse(fmt::format("{} splits for {} ranks: one for each is needed", op_.splits.size(), size_));
    }
    std::size_t left = rows;
    for (std::size_t i = 0; i < ranks; ++i) {
      if (op_.splits[i] > left)
        refuse(fmt::format("the splits up to rank {} take more than the tensor's {} rows", i, rows));
      left -= op_.splits[i];
    }
    if (left != 0) refuse(fmt::format("the splits leave {} of the tensor's {} rows unsent", left, rows));
    return op_.splits;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    const std::string name = op_.name.empty() ? "an unnamed tensor" : '"' + op_.name + '"';
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} of {} on rank {}: {}", coordinator::to_string(op_.kind), name, rank_, why));
  }

  static std::size_t alignment(DType dtype) {
    return with_type(dtype, []<class T>() { return alignof(T); });
  }

  bool same_rows() const {
    if (op_.output.shape.dims() != op_.input.shape.dims()) return false;
    for (std::size_t i = 1; i < op_.input.shape.dims(); ++i) {
      if (op_.output.shape[i] != op_.input.shape[i]) return false;
    }
    return true;
  }

  /// Input and output are the same memory, where `same_allowed`, or have none in common.
  void overlap(bool same_allowed) const {
    const auto in = reinterpret_cast<std::uintptr_t>(op_.input.data),
               out = reinterpret_cast<std::uintptr_t>(op_.output.data);
    if (same_allowed && in == out) return;
    if (in < out + op_.output.bytes() && out < in + op_.input.bytes()) {
      refuse(same_allowed ? "input and output overlap without being the same" : "input and output overlap");
    }
  }

  void factor(const char* which, double value) const {
    if (value == 1.0) return;
    if (!std::isfinite(value)) refuse(fmt::format("{}={} is not a finite number", which, value));
    if (!is_floating(op_.input.dtype)) {
      refuse(fmt::format("{}={} on {}: only floating dtypes are scaled", which, value, to_string(op_.input.dtype)));
    }
  }

  std::size_t unsigned_size() const { return static_cast<std::size_t>(size_); }

  const Operation& op_;
  int rank_;
  int size_;
};

}  // namespace

void check_arguments(Operation& operation, int rank, int size) {
  const Check check(operation, rank, size);
  check.process_set();
  if (operation.kind == Kind::barrier) return;
  check.memory(operation.input, "input");
  switch (operation.kind) {
    case Kind::allreduce:
      check.arithmetic();
      check.output(true);
      check.in_place(false);
      break;
    case Kind::broadcast:
      check.root();
      check.output(true);
      check.in_place(rank == operation.root);
      break;
    case Kind::allgather:
      check.rows();
      check.output(false);
      break;
    case Kind::reduce_scatter:
      check.rows();
      check.arithmetic();
      check.output(false);
      check.share();
      break;
    case Kind::alltoall:
      check.rows();
      check.output(false);
      operation.splits = check.splits();
      break;
    case Kind::barrier:
      break;
  }
}

}  // namespace ringlet::api
