#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "coordinator/readiness.hpp"

namespace ringlet::coordinator {

/// The root's tensors that are ready on every rank and not planned yet, in the order in which they became ready; forms
/// buckets of them.
class BucketPlan {
 public:
  /// One tensor: `request` is what all ranks want and outlives its stay here, as does `entry`.
  struct Ready {
    Entry* entry;
    const Request* request;
    bool agreed_anew;  ///< the ranks agree on something that the cache does not have
  };

  /// `threshold`: most bytes of a bucket of several; 0: every tensor goes alone.
  explicit BucketPlan(std::size_t threshold) : threshold_(threshold) {}

  void add(const Ready& tensor) { ready_.push_back(tensor); }
  bool empty() const noexcept { return ready_.empty(); }
  std::size_t size() const noexcept { return ready_.size(); }
  void clear() noexcept { ready_.clear(); }

  /// Takes the oldest tensor and all later ones that may share its bucket and still fit, and returns them, valid until
  /// the next call. Greedy first fit; a tensor that does not match keeps its place.
  std::span<const Ready> next_bucket();

 private:
  std::size_t threshold_;
  std::vector<Ready> ready_;
  std::vector<Ready> bucket_;
};

/// Whether two tensors may travel in one bucket, size aside.
bool may_share_bucket(const Request& a, const Request& b);

}  // namespace ringlet::coordinator
