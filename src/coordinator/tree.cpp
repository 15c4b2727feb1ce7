#include "coordinator/tree.hpp"

#include <algorithm>

namespace ringlet::coordinator {

std::size_t Tree::branch_of(int rank) const noexcept {
  while (rank > 0 && parent_of(rank) != rank_) rank = parent_of(rank);
  return static_cast<std::size_t>(std::find(children_.begin(), children_.end(), rank) - children_.begin());
}

std::vector<bool> Tree::members(const std::vector<RankRef>& refs) const {
  std::vector<bool> in(static_cast<std::size_t>(size_)), whole(in.size());
  for (const RankRef& ref : refs) {
    in[static_cast<std::size_t>(ref.rank)] = true;
    if (ref.subtree) whole[static_cast<std::size_t>(ref.rank)] = true;
  }
  // Parents come before children, so that one pass hands membership down.
  for (std::size_t r = 1; r < in.size(); ++r) {
    if (whole[static_cast<std::size_t>(parent_of(static_cast<int>(r)))]) in[r] = whole[r] = true;
  }
  return in;
}

std::vector<int> Tree::expand(const std::vector<RankRef>& refs) const {
  const auto in = members(refs);
  std::vector<int> ranks;
  for (std::size_t r = 0; r < in.size(); ++r) {
    if (in[r]) ranks.push_back(static_cast<int>(r));
  }
  return ranks;
}

std::vector<int> Tree::without(const std::vector<RankRef>& refs) const {
  const auto in = members(refs);
  std::vector<int> ranks;
  for (std::size_t r = 0; r < in.size(); ++r) {
    if (!in[r]) ranks.push_back(static_cast<int>(r));
  }
  return ranks;
}

}  // namespace ringlet::coordinator
