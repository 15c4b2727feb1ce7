#include "collective/bytes.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace ringlet::collective {

Task<> broadcast(Transport& net, int root, std::span<std::byte> bytes, std::size_t chunk_bytes, Tag tag) {
  const int ranks = net.size();
  const int place = (net.rank() - root + ranks) % ranks;  // the root is 0
  int distance = static_cast<int>(std::bit_ceil(static_cast<unsigned>(ranks))) / 2;
  int parent = -1;
  if (place > 0) {
    distance = static_cast<int>(
        std::bit_floor(static_cast<unsigned>(place & -place)));  // lowest set bit: where this one hangs
    parent = (place - distance + root) % ranks;
    distance /= 2;
  }
  std::vector<int> children;
  for (; distance >= 1; distance /= 2) {
    if (place + distance < ranks) children.push_back((place + distance + root) % ranks);
  }
  Transfers receive(1), sends(children.size());
  for (std::size_t begin = 0; begin < bytes.size(); begin += chunk_bytes) {
    const auto chunk = bytes.subspan(begin, std::min(chunk_bytes, bytes.size() - begin));
    if (parent >= 0) {
      receive.recv(0, net, parent, tag, chunk);
      require_size(net, parent, chunk.size(), co_await receive.take(0));
    }
    co_await sends.take_all();  // the chunk before this one left while this one arrived
    for (std::size_t i = 0; i < children.size(); ++i) sends.send(i, net, children[i], tag, chunk);
  }
  co_await sends.take_all();
}

Task<> gather_sizes(Transport& net, std::uint64_t mine, std::span<std::uint64_t> sizes, Tag tag) {
  const auto me = static_cast<std::size_t>(net.rank());
  sizes[me] = mine;
  std::vector<std::span<std::byte>> all;
  for (std::uint64_t& size : sizes) all.push_back(std::as_writable_bytes(std::span(&size, 1)));
  co_await gather_bytes(net, all, tag);
}

Task<> gather_bytes(Transport& net, std::span<const std::span<std::byte>> all, Tag tag) {
  const auto me = static_cast<std::size_t>(net.rank());
  const std::vector<std::span<const std::byte>> outgoing(all.size(), all[me]);
  co_await all_to_all(net, outgoing, all, tag);
}

Task<> all_to_all(Transport& net, std::span<const std::span<const std::byte>> outgoing,
                  std::span<const std::span<std::byte>> incoming, Tag tag) {
  const auto ranks = static_cast<std::size_t>(net.size());
  const auto me = static_cast<std::size_t>(net.rank());
  Transfers receives(ranks), sends(ranks);
  for (std::size_t i = 1; i < ranks; ++i) {
    const std::size_t from = (me + ranks - i) % ranks;
    receives.recv(from, net, static_cast<int>(from), tag, incoming[from]);
  }
  for (std::size_t i = 1; i < ranks; ++i) {
    const std::size_t to = (me + i) % ranks;
    sends.send(to, net, static_cast<int>(to), tag, outgoing[to]);
  }
  if (incoming[me].data() != outgoing[me].data() && !outgoing[me].empty()) {
    std::memcpy(incoming[me].data(), outgoing[me].data(), outgoing[me].size());
  }
  for (std::size_t from = 0; from < ranks; ++from) {
    if (from == me) continue;
    require_size(net, static_cast<int>(from), incoming[from].size(), co_await receives.take(from));
  }
  co_await sends.take_all();
}

}  // namespace ringlet::collective
