#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "coordinator/node.hpp"
#include "coordinator/validation.hpp"

namespace ringlet::coordinator {
namespace {

constexpr std::size_t kMaxNames = 10;

}  // namespace

void Node::watch(TimePoint now, std::vector<std::string>& warnings) {
  notice_traffic(now);
  if (!first_uncached_.empty()) {
    warnings.push_back(
        fmt::format("the response cache is full with {} tensors: \"{}\" and all further ones are negotiated by name "
                    "each time, which "
                    "is slower; raise RINGLET_CACHE_CAPACITY, or use names that come again",
                    cache_.capacity(), std::exchange(first_uncached_, {})));
  }
  if (closed_ || !clock_.is_due(now)) return;
  watch_buckets(now);
  if (somebody_left_) return;  // what is pending has been given up
  tree_.is_root() ? watch_as_root(now, warnings) : watch_as_other(now);
}

/// Data that moves is progress, however long the bucket takes.
void Node::notice_traffic(TimePoint now) {
  const auto& t = net_.traffic();
  const std::uint64_t moved =
      t.data_sent.load(std::memory_order_relaxed) + t.data_received.load(std::memory_order_relaxed);
  if (moved != std::exchange(traffic_, moved)) progress_ = now;
}

void Node::watch_buckets(TimePoint now) {
  if (running_.empty() || tree_.size() == 1) return;
  if (tree_.is_root()) speak(now);
  if (!clock_.is_over(progress_, now)) return;
  const Running& oldest = running_.front();
  give_up(ErrorCode::timeout,
          fmt::format("rank {}: bucket {} (\"{}\"{}) has not moved for {}; {}", tree_.rank(), oldest.sequence,
                      oldest.first, oldest.tensors > 1 ? fmt::format(" and {} more tensors", oldest.tensors - 1) : "",
                      seconds_text(now - progress_), who_is_silent(now)),
          nullptr);
}

/// The root has been silent for long: it says that it lives, and asks who else does.
void Node::speak(TimePoint now) {
  if (!clock_.should_speak(spoken_, now)) return;
  spoken_ = now;
  write(down_, Alive{});
}

/// Who may have stopped in the middle of a bucket. The root has asked everyone by now; the others only know when they
/// last heard of it.
std::string Node::who_is_silent(TimePoint now) const {
  if (!tree_.is_root()) {
    return fmt::format("the last word from rank {} (its parent) is {} old", parent_->peer(), seconds_text(now - word_));
  }
  // Answers pass through a rank's parents, so below a silent one all are.
  std::vector<bool> silent(answered_.size());
  std::vector<int> first_silent;
  for (std::size_t r = 1; r < silent.size(); ++r) {
    const bool hidden = silent[static_cast<std::size_t>(Tree::parent_of(static_cast<int>(r)))];
    silent[r] = hidden || clock_.is_silent(answered_[r], now);
    if (silent[r] && !hidden) first_silent.push_back(static_cast<int>(r));
  }
  if (first_silent.empty()) {
    return "every rank answers, but one or more do not move data, or RINGLET_TIMEOUT is too short";
  }
  return fmt::format("{} {} not answer and may have stopped or died", rank_list(first_silent, kMaxNames),
                     first_silent.size() == 1 ? "does" : "do");
}

void Node::watch_as_root(TimePoint now, std::vector<std::string>& warnings) {
  std::vector<Stalled> waiting, stalled;
  TimePoint oldest = TimePoint::max();
  readiness_.for_each_active([&](const Entry& entry) {
    if (readiness_.is_complete(entry)) return;
    waiting.push_back({&readiness_.name_of(entry), &entry});
    if (entry.since <= clock_.warn_before(now)) stalled.push_back(waiting.back());
    oldest = std::min(oldest, entry.since);
  });
  if (!waiting.empty() || !plan_.empty()) speak(now);
  if (waiting.empty()) return;
  const TimePoint since = std::max(progress_, oldest);
  if (clock_.is_over(since, now)) {
    give_up(ErrorCode::timeout,
            fmt::format("rank 0: no progress for {}: {}", seconds_text(now - since),
                        stalled_text(waiting, readiness_, tree_, now)),
            nullptr);
  } else if (!stalled.empty() && clock_.may_warn(now)) {
    warnings.push_back(fmt::format("{} ready on some ranks only: {}",
                                   stalled.size() == 1 ? "a tensor is" : fmt::format("{} tensors are", stalled.size()),
                                   stalled_text(stalled, readiness_, tree_, now)));
  }
}

void Node::watch_as_other(TimePoint now) {
  TimePoint oldest = TimePoint::max();
  readiness_.for_each_active([&](Entry& entry) {
    oldest = std::min(oldest, entry.own_since);
    if (readiness_.is_complete(entry) || !entry.news || entry.since > clock_.tell_before(now)) return;
    const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(now - entry.since);
    write(parent_->outbox(),
          Partial{Readiness::key_of(entry), static_cast<std::uint64_t>(waited.count()), readiness_.ready_of(entry)});
    entry.news = false;
  });
  if (oldest == TimePoint::max()) return;
  const TimePoint since = std::max({word_, progress_, oldest});
  if (!clock_.is_over(since, now)) return;
  std::vector<std::string> names;
  readiness_.for_each_active([&](const Entry& entry) {
    if (entry.tensor) names.push_back(fmt::format("\"{}\"", readiness_.name_of(entry)));
  });
  std::sort(names.begin(), names.end());
  const std::size_t more = names.size() - std::min(names.size(), kMaxNames);
  names.resize(names.size() - more);
  give_up(ErrorCode::timeout,
          fmt::format("rank {}: no word from rank {} (its parent) for {}, which {}{} wait for", tree_.rank(),
                      parent_->peer(), seconds_text(now - since), fmt::join(names, ", "),
                      more > 0 ? fmt::format(" and {} more tensors", more) : ""),
          nullptr);
}

}  // namespace ringlet::coordinator
