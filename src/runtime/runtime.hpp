#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/settings.hpp"
#include "compress/registry.hpp"
#include "coordinator/request.hpp"
#include "ringlet/handle.hpp"
#include "ringlet/observe.hpp"
#include "transport/transport.hpp"

namespace ringlet::runtime {

/// One call of a collective, as src/api hands it in: already checked for what this rank alone can see.
struct Operation {
  coordinator::Kind kind = coordinator::Kind::allreduce;
  std::string name;  ///< empty: the runtime numbers it
  TensorView input;
  TensorView output;  ///< no data: in place, or owned by the handle where only the ranks together know the size
  ReduceOp op = ReduceOp::average;
  double prescale = 1.0;
  double postscale = 1.0;
  int root = 0;
  int process_set = 0;
  std::string compression;  ///< a spec; empty: by rule
  std::vector<std::size_t> splits;
};

/// Error{invalid_argument}, naming the variable, for a compression rule or a row of the exchange table that cannot be
/// followed: what can be known before there is a transport.
void check_settings(const Settings& settings, const compress::Registry& registry = {});

/// Everything one rank of one job owns: the transport, the worker thread that drives it, the tensor table, the
/// coordinator, the executor, residuals and counters. Programs have one, tests as many as they like.
class Runtime {
 public:
  /// `registry` holds the compressors that specs may name. Throws as check_settings().
  Runtime(std::unique_ptr<transport::Transport> net, const Settings& settings, compress::Registry registry = {});
  /// shutdown(), without throwing.
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// Any thread. Throws Error{invalid_argument} for a name in flight or a bad spec; Error{peer_lost} after a rank left
  /// or failed.
  Handle submit(Operation operation);
  void shutdown();
  void abort(const std::string& reason);

  int rank() const noexcept;
  int size() const noexcept;
  int local_rank() const noexcept;
  int local_size() const noexcept;
  int cross_rank() const noexcept;
  int cross_size() const noexcept;
  Counters counters() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringlet::runtime
