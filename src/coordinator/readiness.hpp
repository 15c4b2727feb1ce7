#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "coordinator/coordinator.hpp"
#include "coordinator/messages.hpp"
#include "coordinator/response_cache.hpp"
#include "coordinator/tree.hpp"
#include "transport/transport.hpp"

namespace ringlet::coordinator {

using TimePoint = transport::Transport::Clock::time_point;

/// One tensor between its first readiness in this subtree and its plan.
struct Entry {
  std::string name;  ///< of a tensor without a slot
  std::optional<Slot> slot;
  std::uint8_t reported = 0;           ///< bit 0: this rank; bit 1 + i: all of child i's subtree
  std::uint8_t as_cached = 0;          ///< those of them that want just what the slot stands for
  std::vector<Variant> variants;       ///< what the others want, each once
  std::optional<TensorId> tensor;      ///< pending here
  Request own;                         ///< this rank's request, unless it is the cached one
  TimePoint since = TimePoint::max();  ///< when the first rank below became ready; max: no round is on
  TimePoint own_since = TimePoint::max();
  std::vector<RankRef> late;  ///< who is ready below children that are not
  bool news = false;          ///< not told upwards yet, should it come to a stall

  bool is_active() const noexcept { return since != TimePoint::max(); }
};

/// Combines the readiness of this rank and of its children's subtrees, tensor by tensor. Holds the entries; a cached
/// tensor's stays for ever, so that a steady state allocates nothing. One thread.
class Readiness {
 public:
  Readiness(const Tree& tree, const ResponseCache& cache) : tree_(tree), cache_(cache) {}

  /// The entry of a tensor, made if there is none. A slot must be one that the cache has.
  Entry& at(Slot slot);
  Entry& at(const std::string& name);
  Entry& at(const Key& key);
  /// The slot's number or the name.
  static Key key_of(const Entry& entry);
  const std::string& name_of(const Entry& entry) const;

  // Each returns whether the subtree is complete now. Throws Error{malformed} for one who reports twice.
  bool add_own(Entry& entry, TensorId tensor, const Request& request, TimePoint now);
  bool add_cached(Entry& entry, std::size_t child, TimePoint now);
  bool add_named(Entry& entry, std::size_t child, const std::vector<Variant>& variants, TimePoint now);

  void add_partial(Entry& entry, std::size_t child, const std::vector<RankRef>& ready, TimePoint since);

  bool is_complete(const Entry& entry) const noexcept { return entry.reported == all_; }
  /// Whether all of the subtree want what the slot stands for.
  static bool is_cached(const Entry& entry) noexcept { return entry.slot && entry.variants.empty(); }
  /// Makes the variants of a complete entry that is not cached whole: all there are and who wants them; one that all
  /// agree on is the subtree's.
  void finish_variants(Entry& entry);
  /// Who is known to be ready.
  std::vector<RankRef> ready_of(const Entry& entry) const;

  /// The round is over: forgets it, and the entry if it has no slot.
  void release(Entry& entry);

  template <class F>
  void for_each_active(F visit) {
    for (Entry& entry : slots_) {
      if (entry.is_active()) visit(entry);
    }
    for (auto& [name, entry] : named_) {
      if (entry.is_active()) visit(entry);
    }
  }

 private:
  bool add(Entry& entry, std::size_t reporter, TimePoint now);
  void merge(Entry& entry, const Request& request, const std::vector<RankRef>& ranks);
  void forget_late(Entry& entry, std::size_t child);

  const Tree& tree_;
  const ResponseCache& cache_;
  const std::uint8_t all_ = static_cast<std::uint8_t>((2u << tree_.children().size()) - 1);
  std::deque<Entry> slots_;
  std::unordered_map<std::string, Entry> named_;
};

}  // namespace ringlet::coordinator
