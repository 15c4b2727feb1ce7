#include "transport/inproc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>

#include "ringlet/error.hpp"

namespace ringlet::transport {
namespace {

/// First in, first out, through Transfer::next: a transfer is in at most one list, so that queueing allocates nothing.
class TransferList {
 public:
  bool empty() const noexcept { return first_ == nullptr; }

  void push(Transfer& transfer) noexcept {
    transfer.next = nullptr;
    *end_ = &transfer;
    end_ = &transfer.next;
  }

  /// Unlinks and returns the oldest that `wanted` accepts, or null.
  template <class Predicate>
  Transfer* take_first(Predicate wanted) noexcept {
    for (Transfer** link = &first_; *link != nullptr; link = &(*link)->next) {
      if (!wanted(**link)) continue;
      Transfer* found = *link;
      *link = found->next;
      if (end_ == &found->next) end_ = link;
      return found;
    }
    return nullptr;
  }

  Transfer* take_first() noexcept {
    return take_first([](const Transfer&) { return true; });
  }
  bool remove(const Transfer& transfer) noexcept {
    return take_first([&](const Transfer& other) { return &other == &transfer; }) != nullptr;
  }

  TransferList() = default;
  TransferList(const TransferList&) = delete;
  TransferList& operator=(const TransferList&) = delete;

 private:
  Transfer* first_ = nullptr;
  Transfer** end_ = &first_;
};

/// What waits to be matched on the way from one rank to another. Held while bytes are copied, so that withdraw(), which
/// needs it too, returns only when nobody touches the memory.
struct Channel {
  std::mutex mutex;
  TransferList sends;
  TransferList receives;
};

/// What a rank has to be told. Its mutex is taken last: while a Channel's may be held, never the other way round.
struct Mailbox {
  std::mutex mutex;
  std::condition_variable changed;
  TransferList completed;  // matched by the other side; only the owner's thread may complete() them
  bool woken = false;
};

/// What the ranks share. Lives as long as the last of them.
class Fabric {
 public:
  explicit Fabric(int ranks)
      : ranks_(static_cast<std::size_t>(ranks)), channels_(ranks_ * ranks_), mailboxes_(ranks_) {}

  Channel& channel(int from, int to) noexcept {
    return channels_[static_cast<std::size_t>(from) * ranks_ + static_cast<std::size_t>(to)];
  }
  Mailbox& mailbox(int rank) noexcept { return mailboxes_[static_cast<std::size_t>(rank)]; }

 private:
  std::size_t ranks_;
  std::vector<Channel> channels_;
  std::vector<Mailbox> mailboxes_;
};

/// Moves the message. `scratch` keeps its length for whoever completes the two sides; too long a message moves nothing.
void match(Transfer& send, Transfer& receive) noexcept {
  send.scratch = receive.scratch = send.size();
  if (send.size() > 0 && send.size() <= receive.size()) std::memcpy(receive.data(), send.data(), send.size());
}

class InprocTransport final : public Transport {
 public:
  InprocTransport(std::shared_ptr<Fabric> fabric, int rank, int size, int ranks_per_host)
      : Transport(rank, size), fabric_(std::move(fabric)), ranks_per_host_(ranks_per_host) {}

  void wait(std::chrono::nanoseconds at_most) override {
    constexpr std::chrono::nanoseconds kLongest = std::chrono::hours(1);  // any duration may be added to a time point
    Mailbox& own = fabric_->mailbox(rank());
    std::unique_lock lock(own.mutex);
    own.changed.wait_for(lock, std::min(at_most, kLongest), [&] { return own.woken || !own.completed.empty(); });
    own.woken = false;
  }

  void wake() noexcept override {
    Mailbox& own = fabric_->mailbox(rank());
    const std::lock_guard lock(own.mutex);
    own.woken = true;
    own.changed.notify_one();
  }

  bool wakes_on_arrival() const noexcept override { return true; }
  int host_of(int rank) const noexcept override { return ranks_per_host_ > 0 ? rank / ranks_per_host_ : 0; }
  const char* name() const noexcept override { return "inproc"; }

 protected:
  void start(Transfer& transfer) override {
    if (transfer.peer() < 0 || transfer.peer() >= size() || transfer.peer() == rank()) {
      return complete(transfer, 0, std::make_exception_ptr(Error(ErrorCode::internal, bad_peer(transfer))));
    }
    Channel& channel = channel_of(transfer);
    const bool sends = transfer.direction() == Transfer::Direction::send;
    {
      const std::lock_guard lock(channel.mutex);
      TransferList& others = sends ? channel.receives : channel.sends;
      Transfer* other = others.take_first([&](const Transfer& t) { return t.tag() == transfer.tag(); });
      if (other == nullptr) return (sends ? channel.sends : channel.receives).push(transfer);
      sends ? match(transfer, *other) : match(*other, transfer);
      tell(transfer.peer(), *other);
    }
    finish(transfer);
  }

  void poll() override {
    while (Transfer* transfer = take_completed()) finish(*transfer);
  }

  void withdraw(Transfer& transfer) noexcept override {
    Channel& channel = channel_of(transfer);
    const std::lock_guard lock(channel.mutex);
    const bool sends = transfer.direction() == Transfer::Direction::send;
    if ((sends ? channel.sends : channel.receives).remove(transfer)) return;
    Mailbox& own = fabric_->mailbox(rank());
    const std::lock_guard own_lock(own.mutex);
    own.completed.remove(transfer);
  }

  void cancel_all(std::exception_ptr cause) override {
    for (int peer = 0; peer < size(); ++peer) {
      if (peer == rank()) continue;
      cancel(fabric_->channel(rank(), peer), &Channel::sends, cause);
      cancel(fabric_->channel(peer, rank()), &Channel::receives, cause);
    }
    while (Transfer* transfer = take_completed()) complete(*transfer, 0, cause);
    wake();
  }

 private:
  Channel& channel_of(const Transfer& transfer) const noexcept {
    return transfer.direction() == Transfer::Direction::send ? fabric_->channel(rank(), transfer.peer())
                                                             : fabric_->channel(transfer.peer(), rank());
  }

  void tell(int peer, Transfer& transfer) {
    Mailbox& mailbox = fabric_->mailbox(peer);
    const std::lock_guard lock(mailbox.mutex);
    mailbox.completed.push(transfer);
    mailbox.changed.notify_one();
  }

  Transfer* take_completed() {
    Mailbox& own = fabric_->mailbox(rank());
    const std::lock_guard lock(own.mutex);
    return own.completed.take_first();
  }

  void cancel(Channel& channel, TransferList Channel::*side, const std::exception_ptr& cause) {
    const std::lock_guard lock(channel.mutex);
    while (Transfer* transfer = (channel.*side).take_first()) complete(*transfer, 0, cause);
  }

  /// Ends a matched transfer of this rank.
  void finish(Transfer& transfer) {
    const std::size_t length = transfer.scratch;
    if (length <= transfer.size()) return complete(transfer, length);
    complete(transfer, 0, std::make_exception_ptr(Error(ErrorCode::malformed, too_long(transfer, length))));
  }

  std::string too_long(const Transfer& receive, std::size_t length) const {
    return fmt::format("rank {}: the message of rank {} with tag {} has {} bytes, but there is room for {} only",
                       rank(), receive.peer(), receive.tag(), length, receive.size());
  }
  std::string bad_peer(const Transfer& transfer) const {
    return fmt::format("rank {} cannot exchange messages with rank {}: the others are 0 to {} without {}", rank(),
                       transfer.peer(), size() - 1, rank());
  }

  std::shared_ptr<Fabric> fabric_;
  int ranks_per_host_;
};

}  // namespace

std::vector<std::unique_ptr<Transport>> inproc_transports(int ranks, int ranks_per_host) {
  const auto fabric = std::make_shared<Fabric>(ranks);
  std::vector<std::unique_ptr<Transport>> all;
  for (int r = 0; r < ranks; ++r) all.push_back(std::make_unique<InprocTransport>(fabric, r, ranks, ranks_per_host));
  return all;
}

}  // namespace ringlet::transport
