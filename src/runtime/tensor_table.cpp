#include "runtime/tensor_table.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/detach.hpp"

namespace ringlet::runtime {

TensorId TensorTable::add(TensorEntry entry) {
  const std::lock_guard lock(mutex_);
  if (closed_) throw detach(*closed_);
  const auto next = static_cast<TensorId>(free_.empty() ? entries_.size() : free_.back());
  if (!by_name_.emplace(entry.request.name, next).second) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format(
            "{} \"{}\": a tensor of this name is in flight already; wait for its handle, or give this one another name",
            to_string(entry.request.kind), entry.request.name));
  }
  if (free_.empty()) {
    entries_.push_back(std::move(entry));
    used_.push_back(true);
  } else {
    free_.pop_back();
    entries_[next] = std::move(entry);
    used_[next] = true;
  }
  added_.push_back(next);
  return next;
}

void TensorTable::close(const Error& why) {
  const std::lock_guard lock(mutex_);
  if (!closed_) closed_ = detach(why);
}

void TensorTable::drain(std::vector<TensorId>& added) {
  const std::lock_guard lock(mutex_);
  added.insert(added.end(), added_.begin(), added_.end());
  added_.clear();
}

TensorEntry& TensorTable::at(TensorId id) {
  const std::lock_guard lock(mutex_);
  return entries_[id];
}

TensorEntry TensorTable::remove(TensorId id) {
  const std::lock_guard lock(mutex_);
  TensorEntry entry = std::exchange(entries_[id], {});
  by_name_.erase(entry.request.name);
  used_[id] = false;
  free_.push_back(id);
  return entry;
}

std::vector<TensorId> TensorTable::ids() const {
  const std::lock_guard lock(mutex_);
  std::vector<TensorId> found;
  for (TensorId id = 0; id < used_.size(); ++id) {
    if (used_[id]) found.push_back(id);
  }
  return found;
}

std::size_t TensorTable::in_flight() const {
  const std::lock_guard lock(mutex_);
  return by_name_.size();
}

}  // namespace ringlet::runtime
