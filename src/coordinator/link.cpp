#include "coordinator/link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "ringlet/error.hpp"

namespace ringlet::coordinator {
namespace {

constexpr std::size_t kFrame = std::size_t{16} << 10;
constexpr std::size_t kMaxMessage = std::size_t{1} << 30;
constexpr std::byte kVersion{1};

void put32(std::byte* to, std::size_t value) {
  for (int i = 0; i < 4; ++i) to[i] = static_cast<std::byte>(value >> (8 * i));
}

std::size_t get32(const std::byte* from) {
  std::size_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | static_cast<std::size_t>(from[i]);
  return value;
}

[[noreturn]] void malformed(const std::string& what) { throw Error(ErrorCode::malformed, what); }

}  // namespace

Link::Link(transport::Transport& net, int peer, transport::Tag send_tag, transport::Tag receive_tag)
    : net_(net),
      peer_(peer),
      send_tag_(send_tag),
      receive_tag_(receive_tag),
      outbox_(kHeader),
      sending_(kHeader),
      frame_(kFrame) {}

Task<> Link::send_all() {
  sending_now_ = true;
  while (outbox_.size() > kHeader) {
    std::swap(outbox_, sending_);
    const std::size_t length = sending_.size() - kHeader;
    if (length > kMaxMessage) throw Error(ErrorCode::internal, fmt::format("a control message of {} bytes", length));
    for (std::size_t offset = 0; offset < length; offset += kFrame - kHeader) {
      std::byte* frame =
          sending_.data() + offset;  // its header overwrites the end of the frame before, which has been sent
      frame[0] = kVersion;
      put32(frame + 1, length);
      put32(frame + 5, offset);
      co_await net_.send(peer_, send_tag_, {frame, std::min(length - offset + kHeader, kFrame)});
    }
    sending_.resize(kHeader);
  }
  sending_now_ = false;
}

Task<std::span<const std::byte>> Link::receive() {
  message_.clear();
  while (true) {
    const std::size_t bytes = co_await net_.recv(peer_, receive_tag_, frame_);
    if (bytes <= kHeader) malformed(fmt::format("a frame of {} bytes", bytes));
    if (frame_[0] != kVersion) {
      malformed(fmt::format("protocol version {}, this is {}; all ranks must run the same ringlet",
                            static_cast<int>(frame_[0]), static_cast<int>(kVersion)));
    }
    const std::size_t length = get32(frame_.data() + 1), offset = get32(frame_.data() + 5);
    const std::span<const std::byte> payload(frame_.data() + kHeader, bytes - kHeader);
    if (length > kMaxMessage || offset != message_.size() || payload.size() > length - std::min(length, offset)) {
      malformed(fmt::format("bytes {} to {} of {}, want them from {}", offset, offset + payload.size(), length,
                            message_.size()));
    }
    if (payload.size() == length) co_return payload;
    message_.insert(message_.end(), payload.begin(), payload.end());
    if (message_.size() == length) co_return message_;
  }
}

}  // namespace ringlet::coordinator
