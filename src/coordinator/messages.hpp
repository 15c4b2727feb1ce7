#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "coordinator/request.hpp"
#include "coordinator/tree.hpp"
#include "ringlet/error.hpp"

/// What neighbours in the tree tell each other: a message is a run of items, so that messages are combined by writing
/// one behind the other. Numbers are varints (7 bits a byte, low first), and a cached tensor takes one to three bytes.
namespace ringlet::coordinator {

/// The number of a tensor in the response cache, the same on every rank.
using Slot = std::uint32_t;
using Key = std::variant<Slot, std::string>;

/// One form in which a tensor was requested, and by whom.
struct Variant {
  Request request;
  std::vector<RankRef> ranks;
};

// Up:
/// Every rank below the sender, and it, has these tensors ready as cached. Down: they are the next ones in the bucket.
struct SlotRun {
  Slot first = 0;
  Slot count = 1;
};
/// The same in full, for a tensor without a slot or one that some rank requests otherwise than cached.
struct Named {
  std::string name;
  std::vector<Variant> variants;  ///< at least one; their requests have no name
};
/// Some ranks have waited long for the others.
struct Partial {
  Key tensor;
  std::uint64_t waited_ms = 0;
  std::vector<RankRef> ready;
};

/// This rank lives: the answer to Alive.
struct Here {
  int rank = 0;
};

// Down:
/// The next tensor in the bucket, one without a slot.
struct Uncached {
  std::string name;
};
/// The next tensor in the bucket; from now on it has the next free slot, which stands for the request it has now.
struct Assign {
  std::string name;
};
/// The next tensor in the bucket; from now on its slot stands for the request it has now.
struct Update {
  Slot slot = 0;
};
/// The tensors since the last one are a bucket.
struct BucketEnd {};
struct Failure {
  Key tensor;
  std::string text;
};
/// The root lives, but has nothing to say. Whoever hears it answers Here.
struct Alive {};

// Both ways:
struct Left {
  int rank = 0;
};
struct Abort {
  ErrorCode code = ErrorCode::peer_lost;
  std::string text;
};
/// Down: every rank has left. Up: the sender knows, and says nothing more.
struct Closed {};

using Item = std::variant<SlotRun, Named, Partial, Uncached, Assign, Update, BucketEnd, Failure, Alive, Here, Left,
                          Abort, Closed>;

/// Appends `item` to the message.
void write(std::vector<std::byte>& message, const Item& item);

/// Reads items off a message that may be hostile: whatever it holds, read() gives an item or throws Error{malformed},
/// and allocates no more than a small multiple of the message's own size.
class Reader {
 public:
  /// `ranks`: those of the job; a rank outside is malformed.
  Reader(std::span<const std::byte> message, int ranks) : rest_(message), ranks_(ranks) {}

  bool done() const noexcept { return rest_.empty(); }
  Item read();

 private:
  std::uint64_t varint();
  std::uint64_t at_most(std::uint64_t limit, std::string_view what);
  int rank(std::uint64_t value) const;
  double real();
  std::string text(std::uint64_t bytes);
  std::string text() { return text(varint()); }
  Key key();
  std::vector<RankRef> rank_refs();
  Request request();
  Named named(std::string name);

  std::span<const std::byte> rest_;
  int ranks_;
};

}  // namespace ringlet::coordinator
