#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "coordinator/messages.hpp"

namespace ringlet::coordinator {

/// What every slot stands for: the request that all ranks last agreed on under that name. Filled in plan order, hence
/// the same on every rank; nothing is ever evicted, so that more tensors than slots cost those beyond their bits but
/// never thrash.
class ResponseCache {
 public:
  explicit ResponseCache(std::size_t capacity) : capacity_(capacity) {}

  std::size_t size() const noexcept { return requests_.size(); }
  std::size_t capacity() const noexcept { return capacity_; }
  const Request& request(Slot slot) const noexcept { return requests_[slot]; }

  std::optional<Slot> find(const std::string& name) const {
    const auto it = by_name_.find(name);
    return it == by_name_.end() ? std::nullopt : std::optional(it->second);
  }

  void append(Request request) {
    by_name_.emplace(request.name, static_cast<Slot>(requests_.size()));
    requests_.push_back(std::move(request));
  }
  /// `request` has the slot's name.
  void update(Slot slot, Request request) { requests_[slot] = std::move(request); }

 private:
  std::size_t capacity_;
  std::deque<Request> requests_;  // a request stays where it is
  std::unordered_map<std::string, Slot> by_name_;
};

}  // namespace ringlet::coordinator
