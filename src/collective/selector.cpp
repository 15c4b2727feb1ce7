#include "collective/selector.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "collective/schedules.hpp"

namespace ringlet::collective {
namespace {

// Measured with ringlet_allreduce on 2 and 4 ranks in shared memory; see docs/guide/benchmarks.md.
constexpr std::string_view kDefaultTable =
    "plain 0-512 p1-8: all_gather lanes=1; plain 0-16k p9-inf: doubling lanes=1; "
    "plain 0-inf: scatter_reduce chunk=512k lanes=1; encoded 0-inf: scatter_reduce chunk=256k lanes=2";

constexpr std::array<std::string_view, 5> kNames{"scatter_reduce", "ring", "tree", "doubling", "all_gather"};

[[noreturn]] void refuse(std::string_view row, std::string_view what) {
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format(
          "exchange table row \"{}\": {}; a row reads `plain 0-4k p2-8: all_gather chunk=256k lanes=2` with one of "
          "scatter_reduce, ring, tree, doubling, all_gather",
          row, what));
}

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of(separators), text.size());
    if (const auto part = trim(text.substr(0, end)); !part.empty()) parts.push_back(part);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

/// "256k", "1m", "64", "inf".
std::size_t parse_size(std::string_view word, std::string_view row) {
  if (word == "inf") return ~std::size_t{0};
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{}) refuse(row, fmt::format("'{}' is no size", word));
  const std::string_view unit(end, static_cast<std::size_t>(word.data() + word.size() - end));
  if (unit.empty()) return value;
  if (unit == "k") return value << 10;
  if (unit == "m") return value << 20;
  refuse(row, fmt::format("'{}' is no unit: k or m", unit));
}

std::array<std::size_t, 2> parse_range(std::string_view word, std::string_view row) {
  const auto dash = word.find('-');
  if (dash == std::string_view::npos) return {parse_size(word, row), parse_size(word, row)};
  return {parse_size(word.substr(0, dash), row), parse_size(word.substr(dash + 1), row)};
}

Schedule parse_schedule(std::string_view word, std::string_view row) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == word) return static_cast<Schedule>(i);
  }
  refuse(row, fmt::format("no exchange '{}'", word));
}

void parse_choice(std::string_view text, std::string_view row, Choice& choice) {
  const auto words = split(text, " ");
  if (words.empty()) refuse(row, "no exchange named");
  choice.schedule = parse_schedule(words[0], row);
  for (const auto word : std::span(words).subspan(1)) {
    const auto equals = word.find('=');
    const auto key = word.substr(0, equals);
    const std::size_t value = equals == std::string_view::npos ? 0 : parse_size(word.substr(equals + 1), row);
    if (key == "chunk" && value >= 64) {
      choice.chunk_bytes = value;
    } else if (key == "lanes" && value >= 1 && value <= kMaxLanes) {
      choice.lanes = value;
    } else {
      refuse(row, fmt::format("'{}': chunk=BYTES (64 or more) or lanes=1..{}", word, kMaxLanes));
    }
  }
}

}  // namespace

const char* to_string(Schedule schedule) noexcept { return kNames[static_cast<std::size_t>(schedule)].data(); }

Task<> run(Schedule schedule, const Exchange& x) {
  switch (schedule) {
    case Schedule::scatter_reduce:
      return scatter_reduce(x);
    case Schedule::ring:
      return ring(x);
    case Schedule::tree:
      return tree(x);
    case Schedule::doubling:
      return doubling(x);
    case Schedule::all_gather:
      return all_gather(x);
  }
  throw Error(ErrorCode::internal, "no such schedule");
}

Selector::Selector(std::string_view overrides) {
  add_rows(overrides);
  add_rows(kDefaultTable);
}

void Selector::add_rows(std::string_view text) {
  for (const auto row : split(text, ";")) rows_.push_back(parse_row(row));
}

Selector::Row Selector::parse_row(std::string_view text) {
  Row row;
  row.text = text;
  const auto colon = text.find(':');
  parse_choice(colon == std::string_view::npos ? text : text.substr(colon + 1), text, row.choice);
  if (colon == std::string_view::npos) return row;
  for (const auto word : split(text.substr(0, colon), " ")) {
    if (word == "plain" || word == "encoded") {
      row.plain = word == "plain";
      row.encoded = !row.plain;
    } else if (word.front() == 'p') {
      const auto range = parse_range(word.substr(1), text);
      row.from_ranks = static_cast<int>(std::min<std::size_t>(range[0], 1 << 30));
      row.to_ranks = static_cast<int>(std::min<std::size_t>(range[1], 1 << 30));
    } else {
      const auto range = parse_range(word, text);
      row.from_bytes = range[0];
      row.to_bytes = range[1];
    }
  }
  return row;
}

Choice Selector::pick(bool encoded, std::size_t bytes, int ranks) const {
  for (const Row& row : rows_) {
    if ((encoded ? row.encoded : row.plain) && bytes >= row.from_bytes && bytes <= row.to_bytes &&
        ranks >= row.from_ranks && ranks <= row.to_ranks) {
      return row.choice;
    }
  }
  return {};
}

std::string Selector::order_class(bool encoded, std::size_t bytes, int ranks) const {
  const Choice choice = pick(encoded, bytes, ranks);
  // Encoded sums differ between any two schedules.
  if (encoded) return to_string(choice.schedule);
  return choice.schedule == Schedule::ring ? "ring" : "";
}

std::string Selector::describe() const {
  std::string text;
  for (const Row& row : rows_) text += row.text + "\n";
  return text;
}

}  // namespace ringlet::collective
