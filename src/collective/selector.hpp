#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/task.hpp"
#include "collective/exchange.hpp"
#include "compress/compressor.hpp"

namespace ringlet::collective {

enum class Schedule : std::uint8_t { scatter_reduce, ring, tree, doubling, all_gather };
const char* to_string(Schedule schedule) noexcept;
/// The coroutine of that name.
Task<> run(Schedule schedule, const Exchange& x);

/// What to use for an all-reduce: the schedule, how its bytes are cut, and how many chunks are under way at once.
struct Choice {
  Schedule schedule = Schedule::scatter_reduce;
  std::size_t chunk_bytes = std::size_t{256} << 10;  ///< of unencoded elements
  std::size_t lanes = 2;
};

/// The selection table: "bytes and ranks -> schedule, chunk, lanes", as text. One parser serves the default, a file's
/// and the environment's (RINGLET_EXCHANGE); the first row that fits decides, rows given by the user come before the
/// default's.
///
///     plain 0-4k p2-8: all_gather; plain 0-inf: scatter_reduce chunk=256k lanes=2;
///     encoded 0-inf: scatter_reduce chunk=1m
///
/// A row without `plain` or `encoded` is for both; a bare schedule name is a row for everything. Sparse messages are
/// gathered always.
///
/// Plain sums come out bit-equal from every schedule but `ring`, whose order depends on the part; so a tensor that a
/// `ring` row claims by its own size never shares a bucket with one that no such row claims (see order_class()).
class Selector {
 public:
  /// Throws Error{invalid_argument} that shows the row.
  explicit Selector(std::string_view overrides = {});

  Choice pick(bool encoded, std::size_t bytes, int ranks) const;
  /// Tensors of different classes must not be fused: "" or "ring".
  std::string order_class(bool encoded, std::size_t bytes, int ranks) const;
  /// The table as text, user's rows first.
  std::string describe() const;

 private:
  struct Row {
    bool plain = true, encoded = true;
    std::size_t from_bytes = 0, to_bytes = ~std::size_t{0};
    int from_ranks = 1, to_ranks = 1 << 30;
    Choice choice;
    std::string text;
  };
  void add_rows(std::string_view text);
  static Row parse_row(std::string_view text);

  std::vector<Row> rows_;
};

}  // namespace ringlet::collective
