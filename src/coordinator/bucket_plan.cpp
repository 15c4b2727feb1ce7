#include "coordinator/bucket_plan.hpp"

namespace ringlet::coordinator {

bool may_share_bucket(const Request& a, const Request& b) {
  return a.kind == Kind::allreduce && b.kind == Kind::allreduce && a.process_set == b.process_set &&
         a.dtype == b.dtype && a.on_device == b.on_device && a.op == b.op && a.prescale == b.prescale &&
         a.postscale == b.postscale && a.compression == b.compression && a.group == b.group;
}

std::span<const BucketPlan::Ready> BucketPlan::next_bucket() {
  bucket_.clear();
  if (ready_.empty()) return bucket_;
  const Ready first = ready_.front();
  std::size_t bytes = first.request->bytes();
  bool open = bytes < threshold_;
  std::size_t kept = 0;
  bucket_.push_back(first);
  for (std::size_t i = 1; i < ready_.size(); ++i) {
    const std::size_t more = ready_[i].request->bytes();
    if (open && more <= threshold_ - bytes && may_share_bucket(*first.request, *ready_[i].request)) {
      bucket_.push_back(ready_[i]);
      bytes += more;
      open = bytes < threshold_;
    } else {
      ready_[kept++] = ready_[i];
    }
  }
  ready_.resize(kept);
  return bucket_;
}

}  // namespace ringlet::coordinator
