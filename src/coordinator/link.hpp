#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/task.hpp"
#include "transport/transport.hpp"

namespace ringlet::coordinator {

/// The conversation with one neighbour in the tree: messages of any length, cut into frames, in order. What is written
/// while a message is on its way goes as one with the next. One thread.
class Link {
 public:
  Link(transport::Transport& net, int peer, transport::Tag send_tag, transport::Tag receive_tag);

  int peer() const noexcept { return peer_; }
  /// Where the next message is written, by appending only.
  std::vector<std::byte>& outbox() noexcept { return outbox_; }
  /// Whether something is written that no send_all() looks after.
  bool wants_sending() const noexcept { return !sending_now_ && outbox_.size() > kHeader; }
  /// The neighbour has said its last word: receive() is not called any more.
  void close() noexcept { closed_ = true; }
  bool is_closed() const noexcept { return closed_; }
  /// Sends what is written, and what is written meanwhile.
  Task<> send_all();
  /// The next message, valid until the next call. Throws Error{malformed} for frames that do not fit together.
  Task<std::span<const std::byte>> receive();

 private:
  static constexpr std::size_t kHeader =
      9;  // version, length of the message, offset of the frame in it; numbers of 4 bytes, low first

  transport::Transport& net_;
  int peer_;
  transport::Tag send_tag_;
  transport::Tag receive_tag_;
  bool sending_now_ = false;
  bool closed_ = false;
  std::vector<std::byte> outbox_;   // kHeader bytes to spare in front
  std::vector<std::byte> sending_;  // likewise; the transport reads it
  std::vector<std::byte> frame_;
  std::vector<std::byte> message_;  // frames put together
};

}  // namespace ringlet::coordinator
