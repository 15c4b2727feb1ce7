#include "ringlet/collectives.hpp"

#include <utility>

#include "api/arguments.hpp"
#include "api/default_runtime.hpp"

namespace ringlet {
namespace {

using coordinator::Kind;
using runtime::Operation;

Handle submit(Operation operation) {
  const auto running = api::DefaultRuntime::instance().get();
  api::check_arguments(operation, running->rank(), running->size());
  return running->submit(std::move(operation));
}

/// What the handle owns, or nothing where the caller's `output` took it.
OwnedTensor result(const Handle& handle, const TensorView& output) {
  if (output.data == nullptr) return handle.take();
  handle.wait();
  return {};
}

}  // namespace

Handle allreduce_async(TensorView tensor, const AllreduceOptions& options) {
  return submit({.kind = Kind::allreduce,
                 .name = options.name,
                 .input = tensor,
                 .output = options.output,
                 .op = options.op,
                 .prescale = options.prescale,
                 .postscale = options.postscale,
                 .process_set = options.process_set,
                 .compression = options.compression,
                 .splits = {}});
}

Handle allgather_async(TensorView tensor, const AllgatherOptions& options) {
  return submit({.kind = Kind::allgather,
                 .name = options.name,
                 .input = tensor,
                 .output = options.output,
                 .process_set = options.process_set,
                 .compression = {},
                 .splits = {}});
}

Handle broadcast_async(TensorView tensor, const BroadcastOptions& options) {
  return submit({.kind = Kind::broadcast,
                 .name = options.name,
                 .input = tensor,
                 .output = options.output,
                 .root = options.root,
                 .process_set = options.process_set,
                 .compression = {},
                 .splits = {}});
}

Handle reduce_scatter_async(TensorView tensor, const ReduceScatterOptions& options) {
  return submit({.kind = Kind::reduce_scatter,
                 .name = options.name,
                 .input = tensor,
                 .output = options.output,
                 .op = options.op,
                 .prescale = options.prescale,
                 .postscale = options.postscale,
                 .process_set = options.process_set,
                 .compression = {},
                 .splits = {}});
}

Handle alltoall_async(TensorView tensor, const AlltoallOptions& options) {
  return submit({.kind = Kind::alltoall,
                 .name = options.name,
                 .input = tensor,
                 .output = options.output,
                 .process_set = options.process_set,
                 .compression = {},
                 .splits = options.splits});
}

Handle barrier_async(const BarrierOptions& options) {
  return submit({.kind = Kind::barrier,
                 .name = options.name,
                 .input = {},
                 .output = {},
                 .process_set = options.process_set,
                 .compression = {},
                 .splits = {}});
}

void allreduce(TensorView tensor, const AllreduceOptions& options) { allreduce_async(tensor, options).wait(); }
void broadcast(TensorView tensor, const BroadcastOptions& options) { broadcast_async(tensor, options).wait(); }
void barrier(const BarrierOptions& options) { barrier_async(options).wait(); }

OwnedTensor allgather(TensorView tensor, const AllgatherOptions& options) {
  return result(allgather_async(tensor, options), options.output);
}
OwnedTensor reduce_scatter(TensorView tensor, const ReduceScatterOptions& options) {
  return result(reduce_scatter_async(tensor, options), options.output);
}
OwnedTensor alltoall(TensorView tensor, const AlltoallOptions& options) {
  return result(alltoall_async(tensor, options), options.output);
}

}  // namespace ringlet
