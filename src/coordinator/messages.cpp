#include "coordinator/messages.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

namespace ringlet::coordinator {
namespace {

// An item begins with a varint that holds its type in the low bits and one number of its own above, which keeps a slot
// below 8 in one byte and one below 1,024 in two.
constexpr int kTypeBits = 4;
enum class Type : std::uint8_t {
  slot,
  run,
  named,
  partial,
  uncached,
  assign,
  update,
  bucket_end,
  failure,
  alive,
  left,
  abort,
  closed,
  here
};
constexpr std::uint64_t kMaxSlot = std::numeric_limits<Slot>::max();

[[noreturn]] void malformed(const std::string& what) { throw Error(ErrorCode::malformed, what); }

struct Writer {
  std::vector<std::byte>& out;

  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out.push_back(static_cast<std::byte>(value | 0x80));
    out.push_back(static_cast<std::byte>(value));
  }
  void head(Type type, std::uint64_t value = 0) { varint(value << kTypeBits | static_cast<std::uint64_t>(type)); }
  void bytes(std::string_view text) {
    const auto raw = std::as_bytes(std::span(text));
    out.insert(out.end(), raw.begin(), raw.end());
  }
  void text(std::string_view t) {
    varint(t.size());
    bytes(t);
  }
  void real(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (int shift = 0; shift < 64; shift += 8) out.push_back(static_cast<std::byte>(bits >> shift));
  }
  void key(const Key& key) {
    if (const Slot* slot = std::get_if<Slot>(&key)) return varint(std::uint64_t{*slot} + 1);
    varint(0);
    text(std::get<std::string>(key));
  }
  void ranks(const std::vector<RankRef>& refs) {
    varint(refs.size());
    for (const RankRef& ref : refs) varint(static_cast<std::uint64_t>(ref.rank) << 1 | (ref.subtree ? 1 : 0));
  }
  /// All but the name.
  void request(const Request& r) {
    varint(static_cast<std::uint64_t>(r.kind));
    varint(static_cast<std::uint64_t>(r.dtype));
    varint(r.on_device ? 1 : 0);
    varint(static_cast<std::uint64_t>(r.op));
    varint(static_cast<std::uint64_t>(r.root));
    varint(static_cast<std::uint64_t>(r.process_set));
    real(r.prescale);
    real(r.postscale);
    text(r.compression);
    text(r.group);
    varint(r.shape.dims());
    for (std::size_t i = 0; i < r.shape.dims(); ++i) varint(r.shape[i]);
  }

  void operator()(const SlotRun& run) {
    head(run.count == 1 ? Type::slot : Type::run, run.first);
    if (run.count != 1) varint(run.count);
  }
  void operator()(const Named& named) {
    head(Type::named, named.name.size());
    bytes(named.name);
    varint(named.variants.size());
    for (const Variant& v : named.variants) {
      request(v.request);
      ranks(v.ranks);
    }
  }
  void operator()(const Partial& partial) {
    head(Type::partial, partial.waited_ms);
    key(partial.tensor);
    ranks(partial.ready);
  }
  void operator()(const Uncached& tensor) {
    head(Type::uncached, tensor.name.size());
    bytes(tensor.name);
  }
  void operator()(const Assign& tensor) {
    head(Type::assign, tensor.name.size());
    bytes(tensor.name);
  }
  void operator()(const Update& update) { head(Type::update, update.slot); }
  void operator()(const BucketEnd&) { head(Type::bucket_end); }
  void operator()(const Failure& failure) {
    head(Type::failure);
    key(failure.tensor);
    text(failure.text);
  }
  void operator()(const Alive&) { head(Type::alive); }
  void operator()(const Here& here) { head(Type::here, static_cast<std::uint64_t>(here.rank)); }
  void operator()(const Left& left) { head(Type::left, static_cast<std::uint64_t>(left.rank)); }
  void operator()(const Abort& abort) {
    head(Type::abort, static_cast<std::uint64_t>(abort.code));
    text(abort.text);
  }
  void operator()(const Closed&) { head(Type::closed); }
};

}  // namespace

void write(std::vector<std::byte>& message, const Item& item) { std::visit(Writer{message}, item); }

std::uint64_t Reader::varint() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) malformed("a number is cut off");
    const auto byte = static_cast<std::uint64_t>(rest_.front());
    rest_ = rest_.subspan(1);
    if (shift == 63 && byte > 1) break;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  malformed("a number has more than 64 bits");
}

std::uint64_t Reader::at_most(std::uint64_t limit, std::string_view what) {
  const std::uint64_t value = varint();
  if (value > limit) malformed(fmt::format("{} is {}, at most {} is possible", what, value, limit));
  return value;
}

int Reader::rank(std::uint64_t value) const {
  if (value >= static_cast<std::uint64_t>(ranks_)) malformed(fmt::format("rank {} of {}", value, ranks_));
  return static_cast<int>(value);
}

double Reader::real() {
  if (rest_.size() < 8) malformed("a factor is cut off");
  std::uint64_t bits = 0;
  for (int i = 7; i >= 0; --i) bits = bits << 8 | static_cast<std::uint64_t>(rest_[static_cast<std::size_t>(i)]);
  rest_ = rest_.subspan(8);
  return std::bit_cast<double>(bits);
}

std::string Reader::text(std::uint64_t bytes) {
  if (bytes > rest_.size()) malformed(fmt::format("a text of {} bytes in {}", bytes, rest_.size()));
  std::string result(reinterpret_cast<const char*>(rest_.data()), static_cast<std::size_t>(bytes));
  rest_ = rest_.subspan(static_cast<std::size_t>(bytes));
  return result;
}

Key Reader::key() {
  const std::uint64_t value = at_most(kMaxSlot, "a slot");
  if (value == 0) return text();
  return static_cast<Slot>(value - 1);
}

std::vector<RankRef> Reader::rank_refs() {
  std::vector<RankRef> refs(static_cast<std::size_t>(at_most(rest_.size(), "the length of a rank list")));
  for (RankRef& ref : refs) {
    const std::uint64_t value = varint();
    ref = {rank(value >> 1), (value & 1) != 0};
  }
  return refs;
}

Request Reader::request() {
  Request r;
  r.kind = static_cast<Kind>(at_most(static_cast<std::uint64_t>(Kind::barrier), "a kind"));
  r.dtype = static_cast<DType>(at_most(static_cast<std::uint64_t>(DType::boolean), "a dtype"));
  r.on_device = at_most(1, "a device flag") == 1;
  r.op = static_cast<ReduceOp>(at_most(static_cast<std::uint64_t>(ReduceOp::product), "an op"));
  r.root = static_cast<int>(at_most(std::numeric_limits<int>::max(), "a root"));
  r.process_set = static_cast<int>(at_most(std::numeric_limits<int>::max(), "a process set"));
  r.prescale = real();
  r.postscale = real();
  r.compression = text();
  r.group = text();
  std::array<std::size_t, Shape::kMaxDims> extents{};
  const auto dims = static_cast<std::size_t>(at_most(Shape::kMaxDims, "the number of dimensions"));
  for (std::size_t i = 0; i < dims; ++i) extents[i] = static_cast<std::size_t>(varint());
  r.shape = Shape(std::span<const std::size_t>(extents.data(), dims));
  return r;
}

Named Reader::named(std::string name) {
  Named result{std::move(name), {}};
  const std::uint64_t variants = varint();
  if (variants == 0 || variants > static_cast<std::uint64_t>(ranks_)) malformed(fmt::format("{} variants", variants));
  for (std::uint64_t i = 0; i < variants; ++i) {
    Request r = request();
    result.variants.push_back({std::move(r), rank_refs()});
    if (result.variants.back().ranks.empty()) malformed("a request of no rank");
  }
  return result;
}

Item Reader::read() {
  const std::uint64_t head = varint(), value = head >> kTypeBits;
  const auto slot = [&] {
    if (value >= kMaxSlot) malformed(fmt::format("slot {}", value));
    return static_cast<Slot>(value);
  };
  switch (static_cast<Type>(head & ((1u << kTypeBits) - 1))) {
    case Type::slot:
      return SlotRun{slot(), 1};
    case Type::run: {
      const Slot first = slot();
      return SlotRun{first, static_cast<Slot>(at_most(kMaxSlot - first, "the length of a run"))};
    }
    case Type::named:
      return named(text(value));
    case Type::partial: {
      Key tensor = key();
      return Partial{std::move(tensor), value, rank_refs()};
    }
    case Type::uncached:
      return Uncached{text(value)};
    case Type::assign:
      return Assign{text(value)};
    case Type::update:
      return Update{slot()};
    case Type::bucket_end:
      return BucketEnd{};
    case Type::failure: {
      Key tensor = key();
      return Failure{std::move(tensor), text()};
    }
    case Type::alive:
      return Alive{};
    case Type::here:
      return Here{rank(value)};
    case Type::left:
      return Left{rank(value)};
    case Type::abort: {
      if (value < static_cast<std::uint64_t>(ErrorCode::invalid_argument) ||
          value > static_cast<std::uint64_t>(ErrorCode::internal)) {
        malformed(fmt::format("error code {}", value));
      }
      return Abort{static_cast<ErrorCode>(value), text()};
    }
    case Type::closed:
      return Closed{};
  }
  malformed(fmt::format("an item of type {}", head & ((1u << kTypeBits) - 1)));
}

}  // namespace ringlet::coordinator
