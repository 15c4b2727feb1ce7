#pragma once

#include "transport/transport.hpp"

namespace ringlet::runtime {

/// A rank's place: among the ranks of its host (local), and among the ranks of equal local rank on other hosts (cross).
struct Topology {
  int local_rank = 0;
  int local_size = 1;
  int cross_rank = 0;
  int cross_size = 1;
};

Topology topology_of(const transport::Transport& net);

}  // namespace ringlet::runtime
