#include "coordinator/validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace ringlet::coordinator {
namespace {

constexpr std::size_t kMaxRanks = 8;
constexpr std::size_t kMaxValues = 4;

bool first_extent_is_free(Kind kind) noexcept { return kind == Kind::allgather || kind == Kind::alltoall; }

bool same_shape(const Request& a, const Request& b) {
  if (!first_extent_is_free(a.kind) || !first_extent_is_free(b.kind)) return a.shape == b.shape;
  if (a.shape.dims() != b.shape.dims()) return false;
  for (std::size_t i = 1; i < a.shape.dims(); ++i) {
    if (a.shape[i] != b.shape[i]) return false;
  }
  return true;
}

/// One thing the ranks must agree on.
struct Field {
  const char* label;
  bool (*same)(const Request&, const Request&);
  std::string (*value)(const Request&);
};

constexpr std::array<Field, 10> kFields{{
    {"kind", [](const Request& a, const Request& b) { return a.kind == b.kind; },
     [](const Request& r) -> std::string { return to_string(r.kind); }},
    {"dtype", [](const Request& a, const Request& b) { return a.dtype == b.dtype; },
     [](const Request& r) -> std::string { return to_string(r.dtype); }},
    {"shape", same_shape, [](const Request& r) { return to_string(r.shape); }},
    {"op", [](const Request& a, const Request& b) { return a.op == b.op; },
     [](const Request& r) -> std::string { return to_string(r.op); }},
    {"root", [](const Request& a, const Request& b) { return a.root == b.root; },
     [](const Request& r) { return std::to_string(r.root); }},
    {"prescale", [](const Request& a, const Request& b) { return a.prescale == b.prescale; },
     [](const Request& r) { return fmt::format("{}", r.prescale); }},
    {"postscale", [](const Request& a, const Request& b) { return a.postscale == b.postscale; },
     [](const Request& r) { return fmt::format("{}", r.postscale); }},
    {"compression", [](const Request& a, const Request& b) { return a.compression == b.compression; },
     [](const Request& r) { return r.compression; }},
    {"process set", [](const Request& a, const Request& b) { return a.process_set == b.process_set; },
     [](const Request& r) { return std::to_string(r.process_set); }},
    {"memory", [](const Request& a, const Request& b) { return a.on_device == b.on_device; },
     [](const Request& r) -> std::string { return r.on_device ? "on a device" : "on the host"; }},
}};

/// What the runtime derives from the fields above and from its settings: worth a word only when it alone differs.
constexpr Field kGroup{"exchange group", [](const Request& a, const Request& b) { return a.group == b.group; },
                       [](const Request& r) { return fmt::format("\"{}\"", r.group); }};

/// "ranks 0, 2 have shape [3, 4], rank 1 has shape [4, 3]"
std::string values_text(const Field& field, std::span<const Variant> variants, const Tree& tree) {
  struct Value {
    const Request* request;
    std::vector<RankRef> refs;
    std::vector<int> ranks;
  };
  std::vector<Value> values;
  for (const Variant& v : variants) {
    auto it =
        std::find_if(values.begin(), values.end(), [&](const Value& x) { return field.same(*x.request, v.request); });
    if (it == values.end()) it = values.insert(it, {&v.request, {}, {}});
    it->refs.insert(it->refs.end(), v.ranks.begin(), v.ranks.end());
  }
  for (Value& v : values) v.ranks = tree.expand(v.refs);
  std::sort(values.begin(), values.end(), [](const Value& a, const Value& b) { return a.ranks < b.ranks; });
  std::string text;
  for (std::size_t i = 0; i < values.size() && i < kMaxValues; ++i) {
    fmt::format_to(std::back_inserter(text), "{}{} {} {} {}", i == 0 ? "" : ", ", rank_list(values[i].ranks, kMaxRanks),
                   values[i].ranks.size() == 1 ? "has" : "have", field.label, field.value(*values[i].request));
  }
  if (values.size() > kMaxValues) text += fmt::format(" and {} more values", values.size() - kMaxValues);
  return text;
}

}  // namespace

const char* to_string(Kind kind) noexcept {
  constexpr std::array<const char*, 6> kNames{"allreduce",      "allgather", "broadcast",
                                              "reduce_scatter", "alltoall",  "barrier"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string rank_list(std::span<const int> ranks, std::size_t limit) {
  const std::size_t shown = std::min(limit, ranks.size());
  std::string text = fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", fmt::join(ranks.first(shown), ", "));
  if (shown < ranks.size()) text += fmt::format(" and {} more", ranks.size() - shown);
  return text;
}

bool agree(const Request& a, const Request& b) {
  if (a.kind == Kind::barrier && b.kind == Kind::barrier) return true;
  return kGroup.same(a, b) &&
         std::all_of(kFields.begin(), kFields.end(), [&](const Field& field) { return field.same(a, b); });
}

std::string mismatch_text(std::string_view name, std::span<const Variant> variants, const Tree& tree) {
  const Request& first = variants.front().request;
  const bool one_kind =
      std::all_of(variants.begin(), variants.end(), [&](const Variant& v) { return v.request.kind == first.kind; });
  std::string values;
  std::vector<std::string_view> labels;
  for (const Field& field : kFields) {
    if (std::all_of(variants.begin(), variants.end(), [&](const Variant& v) { return field.same(first, v.request); }))
      continue;
    if (!labels.empty()) values += "; ";
    values += values_text(field, variants, tree);
    labels.emplace_back(field.label);
  }
  if (labels.empty()) {
    return fmt::format("{} \"{}\": {}; RINGLET_EXCHANGE and RINGLET_FUSION_COPY_LIMIT must be the same on every rank",
                       to_string(first.kind), name, values_text(kGroup, variants, tree));
  }
  return fmt::format("{} \"{}\": {}; every rank must pass the same {}", one_kind ? to_string(first.kind) : "collective",
                     name, values, fmt::join(labels, ", "));
}

}  // namespace ringlet::coordinator
