#include "collective/layout.hpp"

#include <algorithm>

namespace ringlet::collective {

PartRange part_range(std::size_t elements, std::size_t grain, std::size_t owners, std::size_t index) noexcept {
  const std::size_t grains = (elements + grain - 1) / grain;
  const std::size_t each = grains / owners;
  const std::size_t more = grains % owners;
  const std::size_t first = index * each + std::min(index, more);
  const std::size_t last = first + each + (index < more ? 1 : 0);
  return {std::min(first * grain, elements), std::min(last * grain, elements)};
}

void Layout::build(std::span<const Extent> tensors, const Rules& rules) {
  pieces_.clear();
  chunks_.clear();
  part_begin_.clear();
  elements_ = 0;
  rounds_ = 0;
  for (int rank = 0; rank < rules.ranks; ++rank) {
    part_begin_.push_back(chunks_.size());
    add_part(tensors, rules, rank);
    rounds_ = std::max(rounds_, chunks_.size() - part_begin_.back());
  }
  part_begin_.push_back(chunks_.size());
}

void Layout::add_part(std::span<const Extent> tensors, const Rules& rules, int rank) {
  const auto owners = static_cast<std::size_t>(rules.ranks);
  const std::size_t limit = std::max((rules.chunk_elements / rules.grain) * rules.grain, rules.grain);
  const std::size_t chunks_before = chunks_.size();
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    const std::size_t index = (static_cast<std::size_t>(rank) + owners - tensors[t].hash % owners) % owners;
    const PartRange range = part_range(tensors[t].elements, rules.grain, owners, index);
    for (std::size_t begin = range.begin; begin < range.end;) {
      const bool open = chunks_.size() > chunks_before && chunks_.back().elements < limit;
      const std::size_t room = open ? (limit - chunks_.back().elements) / rules.grain * rules.grain : limit;
      const std::size_t count = std::min(room == 0 ? limit : room, range.end - begin);
      const std::size_t offset = tensors.size() == 1 ? begin : elements_;
      if (!open || room == 0) chunks_.push_back({offset, 0, pieces_.size(), 0});
      pieces_.push_back({t, begin, count});
      chunks_.back().elements += count;
      chunks_.back().pieces += 1;
      elements_ += count;
      begin += count;
    }
  }
}

}  // namespace ringlet::collective
