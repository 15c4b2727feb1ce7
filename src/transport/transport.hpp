#pragma once

#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>

#include "ringlet/error.hpp"

namespace ringlet::transport {

/// Names one stream of messages between two ranks; within a stream, messages match in the order they were posted. At
/// most kMaxTag, the smallest upper bound MPI allows.
using Tag = std::uint32_t;
constexpr Tag kMaxTag = 32767;
/// Tags below this carry negotiation, the rest data; the traffic counters keep them apart.
constexpr Tag kFirstDataTag = 64;

class Transport;

/// One message on its way, awaitable: `co_await` gives the bytes moved, or throws what stopped it. Lives in the
/// awaiting frame; the transport keeps its address, so it never moves, and a pending one that is destroyed is first
/// withdrawn.
class [[nodiscard]] Transfer {
 public:
  enum class Direction : std::uint8_t { send, receive };

  Transfer(Transport& net, Direction direction, int peer, Tag tag, std::byte* data, std::size_t size);
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  ~Transfer();

  bool await_ready() const noexcept { return done_; }
  void await_suspend(std::coroutine_handle<> awaiting) noexcept { waiter_ = awaiting; }
  /// Bytes sent or received: a receiver may offer more room than the message fills.
  std::size_t await_resume() const {
    if (error_) std::rethrow_exception(error_);
    return moved_;
  }

  // For transports:
  Direction direction() const noexcept { return direction_; }
  int peer() const noexcept { return peer_; }
  Tag tag() const noexcept { return tag_; }
  std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  bool done() const noexcept { return done_; }

  Transfer* next = nullptr;  ///< the transport's own list
  std::size_t scratch = 0;   ///< the transport's own count, e.g. of requests still open

 private:
  friend class Transport;
  Transport& net_;
  std::byte* data_;
  std::size_t size_;
  std::size_t moved_ = 0;
  std::coroutine_handle<> waiter_;
  std::exception_ptr error_;
  int peer_;
  Tag tag_;
  Direction direction_;
  bool done_ = false;
};

/// What went through a transport, readable from any thread.
struct Traffic {
  std::atomic<std::uint64_t> data_sent{0}, data_received{0}, control_sent{0}, control_received{0}, messages_sent{0};
};

/// The seam between schedules and networks: point-to-point messages among `size()` ranks, in order per (peer, tag).
///
/// One thread drives a transport: everything but wake() and traffic() is its alone. Messages to oneself are not sent.
class Transport {
 public:
  using Clock = std::chrono::steady_clock;

  Transport(int rank, int size) noexcept : rank_(rank), size_(size) {}
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }

  /// Starts at once; the memory is the transport's until the Transfer is done.
  Transfer send(int peer, Tag tag, std::span<const std::byte> bytes) {
    return {*this, Transfer::Direction::send, peer, tag, const_cast<std::byte*>(bytes.data()), bytes.size()};
  }
  /// A message larger than `bytes` fails the receiver with Error{malformed}.
  Transfer recv(int peer, Tag tag, std::span<std::byte> bytes) {
    return {*this, Transfer::Direction::receive, peer, tag, bytes.data(), bytes.size()};
  }

  /// Completes what can be completed and resumes who waits for it. Returns whether anything did.
  bool progress();

  /// Blocks until wake(), or (where wakes_on_arrival()) a message, or `at_most` has passed.
  virtual void wait(std::chrono::nanoseconds at_most) = 0;
  /// Ends a wait() now or, if there is none, the next one. Any thread.
  virtual void wake() noexcept = 0;
  /// Whether wait() ends when a message arrives; where not, the caller must poll.
  virtual bool wakes_on_arrival() const noexcept = 0;
  /// Whether a thread of ours may drive this transport while the program's threads run; where not, progress is made in
  /// the caller's calls.
  virtual bool allows_background_thread() const noexcept { return true; }
  /// Why allows_background_thread() is false, and what to do about it: a sentence for the one warning. Empty where it
  /// is true.
  virtual std::string background_reason() const { return {}; }

  /// Index of the host `rank` runs on: equal numbers share memory.
  virtual int host_of(int rank) const noexcept = 0;
  /// The time that timeouts and counters go by; a simulated network has its own.
  virtual Clock::time_point now() const { return Clock::now(); }
  /// "inproc", "mpi", ...
  virtual const char* name() const noexcept = 0;

  /// Ends every pending transfer, and every later one, with `cause`. Their waiters resume in the next progress().
  void fail(const Error& cause);
  bool failed() const noexcept { return cause_ != nullptr; }

  const Traffic& traffic() const noexcept { return traffic_; }

 protected:
  /// Begins `transfer`, or calls complete() for it right away.
  virtual void start(Transfer& transfer) = 0;
  /// Calls complete() for what has finished since.
  virtual void poll() = 0;
  /// Forgets a pending transfer: afterwards its memory is not touched any more.
  virtual void withdraw(Transfer& transfer) noexcept = 0;
  /// Calls complete() with `cause` for every pending transfer. The transport is not used for anything else afterwards.
  virtual void cancel_all(std::exception_ptr cause) = 0;

  /// Marks a transfer done; its waiter resumes when progress() gets to it, or never had to wait. The driving thread
  /// only.
  void complete(Transfer& transfer, std::size_t moved, std::exception_ptr error = nullptr);

 private:
  friend class Transfer;

  int rank_;
  int size_;
  Transfer* ready_ = nullptr;  // completed with a waiter, oldest first
  Transfer** ready_end_ = &ready_;
  std::exception_ptr cause_;
  Traffic traffic_;
};

}  // namespace ringlet::transport
