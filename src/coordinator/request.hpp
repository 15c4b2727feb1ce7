#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "ringlet/collectives.hpp"
#include "ringlet/tensor.hpp"

namespace ringlet::coordinator {

enum class Kind : std::uint8_t { allreduce, allgather, broadcast, reduce_scatter, alltoall, barrier };
const char* to_string(Kind kind) noexcept;

/// What the ranks must agree on before a tensor moves. Ranks whose requests under one name differ get one error text
/// for all.
struct Request {
  std::string name;
  Kind kind = Kind::allreduce;
  DType dtype = DType::float32;
  bool on_device = false;
  ReduceOp op = ReduceOp::average;
  int root = 0;
  int process_set = 0;
  double prescale = 1.0;
  double postscale = 1.0;
  std::string compression = "none";  ///< canonical spec, "none" for exact
  std::string
      group;    ///< tensors of different groups never share a bucket (the runtime's: exchange, in place or packed)
  Shape shape;  ///< allgather and alltoall: the first extent may differ by rank and is not compared

  std::size_t bytes() const noexcept { return shape.elements() * size_of(dtype); }
};

}  // namespace ringlet::coordinator
