#include "transport/transport.hpp"

#include <utility>

namespace ringlet::transport {

Transfer::Transfer(Transport& net, Direction direction, int peer, Tag tag, std::byte* data, std::size_t size)
    : net_(net), data_(data), size_(size), peer_(peer), tag_(tag), direction_(direction) {
  if (net_.cause_) {
    done_ = true;
    error_ = net_.cause_;
    return;
  }
  net_.start(*this);
}

Transfer::~Transfer() {
  if (!done_) {
    net_.withdraw(*this);
    return;
  }
  if (!waiter_) return;
  // Done but not yet resumed: the frame goes with its transfers, so the ready list must not keep this one.
  for (Transfer** link = &net_.ready_; *link != nullptr; link = &(*link)->next) {
    if (*link != this) continue;
    *link = next;
    if (net_.ready_end_ == &next) net_.ready_end_ = link;
    return;
  }
}

void Transport::complete(Transfer& transfer, std::size_t moved, std::exception_ptr error) {
  transfer.done_ = true;
  transfer.moved_ = moved;
  transfer.error_ = std::move(error);
  const bool control = transfer.tag_ < kFirstDataTag;
  if (transfer.direction_ == Transfer::Direction::send) {
    traffic_.messages_sent.fetch_add(1, std::memory_order_relaxed);
    (control ? traffic_.control_sent : traffic_.data_sent).fetch_add(moved, std::memory_order_relaxed);
  } else {
    (control ? traffic_.control_received : traffic_.data_received).fetch_add(moved, std::memory_order_relaxed);
  }
  if (!transfer.waiter_) return;  // nobody waits yet: await_ready() will see it
  transfer.next = nullptr;
  *ready_end_ = &transfer;
  ready_end_ = &transfer.next;
}

bool Transport::progress() {
  if (!cause_) poll();
  bool any = false;
  while (ready_ != nullptr) {
    Transfer* transfer = ready_;
    ready_ = transfer->next;
    if (ready_ == nullptr) ready_end_ = &ready_;
    any = true;
    std::exchange(transfer->waiter_, nullptr).resume();
  }
  return any;
}

void Transport::fail(const Error& cause) {
  if (cause_) return;
  cause_ = std::make_exception_ptr(cause);
  cancel_all(cause_);
}

}  // namespace ringlet::transport
