#include "coordinator/readiness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "coordinator/validation.hpp"

namespace ringlet::coordinator {

Entry& Readiness::at(Slot slot) {
  while (slots_.size() <= slot) {
    const auto next = static_cast<Slot>(slots_.size());
    slots_.emplace_back().slot = next;
  }
  return slots_[slot];
}

Entry& Readiness::at(const std::string& name) {
  if (const auto slot = cache_.find(name)) return at(*slot);
  Entry& entry = named_[name];
  if (entry.name.empty()) entry.name = name;
  return entry;
}

Entry& Readiness::at(const Key& key) {
  return std::visit([&](const auto& k) -> Entry& { return at(k); }, key);
}

Key Readiness::key_of(const Entry& entry) {
  if (entry.slot) return *entry.slot;
  return entry.name;
}

const std::string& Readiness::name_of(const Entry& entry) const {
  return entry.slot ? cache_.request(*entry.slot).name : entry.name;
}

bool Readiness::add(Entry& entry, std::size_t reporter, TimePoint now) {
  const auto bit = static_cast<std::uint8_t>(1u << reporter);
  if ((entry.reported & bit) != 0) {
    throw Error(ErrorCode::malformed, fmt::format("\"{}\" became ready twice", name_of(entry)));
  }
  entry.reported = static_cast<std::uint8_t>(entry.reported | bit);
  entry.since = std::min(entry.since, now);
  entry.news = true;
  return is_complete(entry);
}

bool Readiness::add_own(Entry& entry, TensorId tensor, const Request& request, TimePoint now) {
  const bool complete = add(entry, 0, now);
  entry.tensor = tensor;
  entry.own_since = now;
  if (entry.slot && agree(request, cache_.request(*entry.slot))) {
    entry.as_cached |= 1;
  } else {
    entry.own = request;
    merge(entry, request, {{tree_.rank(), false}});
  }
  return complete;
}

bool Readiness::add_cached(Entry& entry, std::size_t child, TimePoint now) {
  const bool complete = add(entry, child + 1, now);
  entry.as_cached = static_cast<std::uint8_t>(entry.as_cached | 2u << child);
  forget_late(entry, child);
  return complete;
}

bool Readiness::add_named(Entry& entry, std::size_t child, const std::vector<Variant>& variants, TimePoint now) {
  const bool complete = add(entry, child + 1, now);
  for (const Variant& v : variants) merge(entry, v.request, v.ranks);
  forget_late(entry, child);
  return complete;
}

void Readiness::add_partial(Entry& entry, std::size_t child, const std::vector<RankRef>& ready, TimePoint since) {
  if ((entry.reported & 2u << child) != 0) return;  // overtaken
  forget_late(entry, child);
  entry.late.insert(entry.late.end(), ready.begin(), ready.end());
  entry.since = std::min(entry.since, since);
  entry.news = true;
}

void Readiness::merge(Entry& entry, const Request& request, const std::vector<RankRef>& ranks) {
  for (Variant& v : entry.variants) {
    if (!agree(v.request, request)) continue;
    v.ranks.insert(v.ranks.end(), ranks.begin(), ranks.end());
    return;
  }
  entry.variants.push_back({request, ranks});
}

void Readiness::forget_late(Entry& entry, std::size_t child) {
  std::erase_if(entry.late, [&](const RankRef& ref) { return tree_.branch_of(ref.rank) == child; });
}

void Readiness::finish_variants(Entry& entry) {
  std::vector<RankRef> cached;
  if ((entry.as_cached & 1) != 0) cached.push_back({tree_.rank(), false});
  for (std::size_t i = 0; i < tree_.children().size(); ++i) {
    if ((entry.as_cached & 2u << i) != 0) cached.push_back({tree_.children()[i], true});
  }
  if (!cached.empty()) merge(entry, cache_.request(*entry.slot), cached);
  if (entry.variants.size() == 1) entry.variants.front().ranks = {{tree_.rank(), true}};
}

std::vector<RankRef> Readiness::ready_of(const Entry& entry) const {
  std::vector<RankRef> ready = entry.late;
  if ((entry.reported & 1) != 0) ready.push_back({tree_.rank(), false});
  for (std::size_t i = 0; i < tree_.children().size(); ++i) {
    if ((entry.reported & 2u << i) != 0) ready.push_back({tree_.children()[i], true});
  }
  return ready;
}

void Readiness::release(Entry& entry) {
  if (!entry.slot) {
    named_.erase(named_.find(entry.name));
    return;
  }
  entry.reported = entry.as_cached = 0;
  entry.variants.clear();
  entry.tensor.reset();
  entry.since = entry.own_since = TimePoint::max();
  entry.late.clear();
  entry.news = false;
}

}  // namespace ringlet::coordinator
