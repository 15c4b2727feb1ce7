#pragma once

#include <cstddef>
#include <vector>

namespace ringlet::coordinator {

/// One rank, or with `subtree` it and every rank below it.
struct RankRef {
  int rank = 0;
  bool subtree = false;
};

/// The heap-shaped tree of ranks as `rank` sees it: four children each, so that 1,024 ranks are five messages deep.
class Tree {
 public:
  static constexpr int kChildren = 4;

  Tree(int rank, int size) : rank_(rank), size_(size) {
    for (int i = 1; i <= kChildren && static_cast<long>(rank) * kChildren + i < size; ++i) {
      children_.push_back(rank * kChildren + i);
    }
  }

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }
  bool is_root() const noexcept { return rank_ == 0; }
  int parent() const noexcept { return parent_of(rank_); }
  const std::vector<int>& children() const noexcept { return children_; }

  /// Steps from the root.
  int depth() const noexcept { return depth_of(rank_); }
  /// The greatest depth of any rank.
  int deepest() const noexcept { return depth_of(size_ - 1); }

  static int parent_of(int rank) noexcept { return (rank - 1) / kChildren; }

  /// Which child (its index) `rank` is or is below; children().size() when none.
  std::size_t branch_of(int rank) const noexcept;
  /// The ranks that `refs` name, sorted, each once.
  std::vector<int> expand(const std::vector<RankRef>& refs) const;
  /// The others.
  std::vector<int> without(const std::vector<RankRef>& refs) const;

 private:
  static int depth_of(int rank) noexcept { return rank == 0 ? 0 : 1 + depth_of(parent_of(rank)); }
  std::vector<bool> members(const std::vector<RankRef>& refs) const;

  int rank_;
  int size_;
  std::vector<int> children_;
};

}  // namespace ringlet::coordinator
