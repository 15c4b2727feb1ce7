#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "coordinator/node.hpp"
#include "coordinator/validation.hpp"

namespace ringlet::coordinator {

void Node::take_up(Link& link, std::span<const std::byte> message) {
  const auto child = tree_.branch_of(link.peer());
  for (Reader reader(message, tree_.size()); !reader.done() && !abort_;) {
    Item item = reader.read();
    if (const auto* run = std::get_if<SlotRun>(&item)) {
      take_slots(child, *run);
    } else if (auto* named = std::get_if<Named>(&item)) {
      Entry& entry = readiness_.at(named->name);
      if (readiness_.add_named(entry, child, named->variants, now())) completed(entry);
    } else if (const auto* partial = std::get_if<Partial>(&item)) {
      take_partial(child, *partial);
    } else if (const auto* here = std::get_if<Here>(&item)) {
      take_answer(*here);
    } else if (const auto* left = std::get_if<Left>(&item)) {
      leaving_.push_back(left->rank);
    } else if (const auto* abort = std::get_if<Abort>(&item)) {
      give_up(abort->code, abort->text, &link);
    } else if (std::holds_alternative<Closed>(item)) {
      link.close();
    } else {
      throw Error(ErrorCode::malformed, "a child sent what only a parent sends");
    }
  }
}

void Node::take_slots(std::size_t child, SlotRun run) {
  require_slots(run.first, run.count);
  for (Slot slot = run.first; slot < run.first + run.count; ++slot) {
    Entry& entry = readiness_.at(slot);
    if (readiness_.add_cached(entry, child, now())) completed(entry);
  }
}

void Node::take_partial(std::size_t child, const Partial& partial) {
  if (const Slot* slot = std::get_if<Slot>(&partial.tensor)) require_slots(*slot, 1);
  constexpr std::uint64_t kLongest =
      std::uint64_t{1000} * 60 * 60 * 24 * 365;  // any such time may be subtracted from now
  const std::chrono::milliseconds waited(std::min(partial.waited_ms, kLongest));
  readiness_.add_partial(readiness_.at(partial.tensor), child, partial.ready, now() - waited);
}

void Node::take_answer(const Here& here) {
  if (!tree_.is_root()) return write(parent_->outbox(), here);
  answered_[static_cast<std::size_t>(here.rank)] = now();
}

/// All of the subtree have it: off to the parent, at the root into the plan.
void Node::completed(Entry& entry) {
  const bool cached = Readiness::is_cached(entry);
  if (!cached) readiness_.finish_variants(entry);
  if (!tree_.is_root()) return complete_.push_back(&entry);
  if (gone_count_ > 0) return;
  if (entry.variants.size() > 1) {
    return write(down_,
                 Failure{Readiness::key_of(entry), mismatch_text(readiness_.name_of(entry), entry.variants, tree_)});
  }
  plan_.add({&entry, cached ? &cache_.request(*entry.slot) : &entry.variants.front().request, !cached});
  if (plan_.size() == 1) plan_since_ = now();
}

void Node::send_up() {
  slots_.clear();
  for (Entry* entry : complete_) {
    if (Readiness::is_cached(*entry)) {
      slots_.push_back(*entry->slot);
    } else {
      write(parent_->outbox(), Named{readiness_.name_of(*entry), std::move(entry->variants)});
    }
  }
  complete_.clear();
  std::sort(slots_.begin(), slots_.end());
  for (std::size_t i = 0, end = 0; i < slots_.size(); i = end) {
    for (end = i + 1; end < slots_.size() && slots_[end] == slots_[end - 1] + 1;) ++end;
    write(parent_->outbox(), SlotRun{slots_[i], static_cast<Slot>(end - i)});
  }
}

/// Behind the readiness, and at the root behind the plans, that came before.
void Node::send_leaves() {
  for (const int rank : leaving_) {
    if (!tree_.is_root()) {
      write(parent_->outbox(), Left{rank});
      continue;
    }
    auto gone = gone_.begin() + rank;
    if (*gone) {
      give_up(ErrorCode::malformed, fmt::format("rank {} has left twice", rank), nullptr);
      break;
    }
    plan(true);
    *gone = true;
    write(down_, Left{rank});
    if (++gone_count_ == tree_.size()) write(down_, Closed{});
  }
  leaving_.clear();
}

/// Writes buckets as long as few enough are unfinished; `everything`: all there are, because a rank is about to leave.
void Node::plan(bool everything) {
  if (gone_count_ > 0) return plan_.clear();
  if (plan_.empty()) return;
  if (!everything && settings_.cycle_time.count() > 0 && now() - plan_since_ < settings_.cycle_time) return;
  const std::size_t most = std::max<std::size_t>(settings_.buckets_in_flight, 1);
  for (std::size_t running = running_.size(); !plan_.empty() && (everything || running < most); ++running) {
    write_bucket(plan_.next_bucket());
  }
}

void Node::write_bucket(std::span<const BucketPlan::Ready> bucket) {
  SlotRun run{0, 0};
  const auto end_run = [&] {
    if (run.count > 0) write(down_, run);
    run.count = 0;
  };
  for (const BucketPlan::Ready& tensor : bucket) {
    if (!tensor.agreed_anew) {
      const Slot slot = *tensor.entry->slot;
      if (run.count == 0 || slot != run.first + run.count) {
        end_run();
        run.first = slot;
      }
      ++run.count;
      continue;
    }
    end_run();
    if (tensor.entry->slot) {
      write(down_, Update{*tensor.entry->slot});
    } else if (slots_given_ < cache_.capacity()) {
      ++slots_given_;
      write(down_, Assign{tensor.entry->name});
    } else {
      write(down_, Uncached{tensor.entry->name});
      if (!cache_was_full_ && cache_.capacity() > 0) first_uncached_ = tensor.entry->name;
      cache_was_full_ = true;
    }
  }
  end_run();
  write(down_, BucketEnd{});
}

}  // namespace ringlet::coordinator
