#include "runtime/topology.hpp"

#include <map>
#include <vector>

namespace ringlet::runtime {

Topology topology_of(const transport::Transport& net) {
  std::map<int, int> seen;  // host -> ranks so far
  std::vector<int> local(static_cast<std::size_t>(net.size()));
  for (int r = 0; r < net.size(); ++r) local[static_cast<std::size_t>(r)] = seen[net.host_of(r)]++;
  Topology place;
  place.local_rank = local[static_cast<std::size_t>(net.rank())];
  place.local_size = seen[net.host_of(net.rank())];
  place.cross_size = 0;
  for (int r = 0; r < net.size(); ++r) {
    if (local[static_cast<std::size_t>(r)] != place.local_rank) continue;
    if (r == net.rank()) place.cross_rank = place.cross_size;
    ++place.cross_size;
  }
  return place;
}

}  // namespace ringlet::runtime
