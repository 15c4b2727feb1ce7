#include <fmt/format.h>

#include <utility>

#include "coordinator/node.hpp"

namespace ringlet::coordinator {
namespace {

[[noreturn]] void malformed(const std::string& what) { throw Error(ErrorCode::malformed, what); }

}  // namespace

/// The children first: they should not wait for what the listener does.
void Node::relay_and_take(std::span<const std::byte> message) {
  for (Link& link : links_) {
    if (&link != parent_) link.outbox().insert(link.outbox().end(), message.begin(), message.end());
  }
  for (Reader reader(message, tree_.size()); !reader.done() && !abort_;) {
    std::visit([this](const auto& item) { take(item); }, reader.read());
  }
}

void Node::take(SlotRun run) {
  require_slots(run.first, run.count);
  for (Slot slot = run.first; slot < run.first + run.count; ++slot) add_to_bucket(readiness_.at(slot));
}

void Node::take(const Uncached& tensor) { add_to_bucket(readiness_.at(tensor.name)); }

void Node::take(const Assign& tensor) {
  Entry& entry = readiness_.at(tensor.name);
  if (entry.slot) malformed(fmt::format("\"{}\" has a slot already", tensor.name));
  Request agreed = std::move(entry.own);
  add_to_bucket(entry);
  cache_.append(std::move(agreed));
}

void Node::take(const Update& update) {
  require_slots(update.slot, 1);
  Entry& entry = readiness_.at(update.slot);
  if ((entry.as_cached & 1) != 0) malformed(fmt::format("slot {} changes, but not here", update.slot));
  Request agreed = std::move(entry.own);
  add_to_bucket(entry);
  cache_.update(update.slot, std::move(agreed));
}

void Node::take(BucketEnd) {
  if (bucket_.empty()) malformed("a bucket without tensors");
  running_.push_back({sequence_, bucket_.size(), {}});
  if (!spare_names_.empty()) {
    running_.back().first = std::move(spare_names_.back());
    spare_names_.pop_back();
  }
  running_.back().first = bucket_name_;
  progress_ = now();
  listener_.run_bucket(sequence_++, bucket_);
  bucket_.clear();
}

void Node::take(const Failure& failure) {
  if (const Slot* slot = std::get_if<Slot>(&failure.tensor)) require_slots(*slot, 1);
  const TensorId tensor = end_round(readiness_.at(failure.tensor));
  progress_ = now();
  listener_.fail_tensor(tensor, Error(ErrorCode::mismatch, failure.text));
}

void Node::take(Alive) {
  if (!tree_.is_root()) write(parent_->outbox(), Here{tree_.rank()});
}

void Node::take(Left left) {
  somebody_left_ = true;
  if (left.rank != tree_.rank()) listener_.peer_left(left.rank);
}

void Node::take(const Abort& abort) { give_up(abort.code, abort.text, parent_); }

void Node::take(Closed) {
  if (closed_) malformed("closed twice");
  closed_ = true;
  if (parent_ != nullptr) {
    write(parent_->outbox(), Closed{});
    parent_->close();
  }
  listener_.closed();
}

void Node::take(const Named&) { malformed("a parent sent what only a child sends"); }
void Node::take(const Partial&) { malformed("a parent sent what only a child sends"); }
void Node::take(Here) { malformed("a parent sent what only a child sends"); }

void Node::add_to_bucket(Entry& entry) {
  if (bucket_.empty()) bucket_name_ = readiness_.name_of(entry);
  bucket_.push_back(end_round(entry));
}

TensorId Node::end_round(Entry& entry) {
  if (!entry.tensor || !readiness_.is_complete(entry)) {
    malformed(fmt::format("\"{}\" is planned, but not ready here", readiness_.name_of(entry)));
  }
  const TensorId tensor = *entry.tensor;
  readiness_.release(entry);
  return tensor;
}

}  // namespace ringlet::coordinator
