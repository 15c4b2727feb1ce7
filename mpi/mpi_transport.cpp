#include "mpi/mpi_transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "mpi/message_type.hpp"
#include "mpi/mpi_check.hpp"

namespace ringlet::mpi {
namespace {

/// MPI reports some failures by name and all by class.
int class_of(int code) noexcept {
  int error_class = MPI_ERR_UNKNOWN;
  MPI_Error_class(code, &error_class);
  return error_class;
}

Error finalized_under_us() {
  return Error(ErrorCode::backend,
               "MPI_Finalize was called while ringlet was running: call ringlet::shutdown() before MPI_Finalize");
}

}  // namespace

MpiTransport::MpiTransport(Bootstrap mpi, UniqueComm comm, const Options& options)
    : Transport(rank_in(comm.get()), size_of(comm.get())),
      mpi_(std::move(mpi)),
      comm_(std::move(comm)),
      options_(options),
      hosts_(hosts_of(comm_.get())),
      patience_(options.patience),
      hook_([this] { end_before_finalize(); }) {}

MpiTransport::~MpiTransport() {
  if (mpi_is_over_ || is_finalized()) {
    static_cast<void>(comm_.release());
    return;
  }
  give_up(requests_, owners_);
  // Requests that MPI would not end refer to memory that is the program's again, so MPI must not work on them any more:
  // it is left as it is, and so is the communicator.
  if (mpi_.began_here() && (abandoned_ > 0 || !everyone_leaves())) mpi_.abandon();
  if (abandoned_ > 0) static_cast<void>(comm_.release());
}

bool MpiTransport::allows_background_thread() const noexcept {
  return mpi_.provided() == MPI_THREAD_MULTIPLE || (mpi_.began_here() && mpi_.provided() == MPI_THREAD_SERIALIZED);
}

std::string MpiTransport::background_reason() const {
  if (allows_background_thread()) return {};
  return fmt::format(
      "MPI was started {} and provides thread level {}, so that no thread of ringlet may call it while the program "
      "does: start MPI "
      "with MPI_THREAD_MULTIPLE for communication in the background",
      mpi_.began_here() ? "by ringlet" : "by the program", to_string(mpi_.provided()));
}

void MpiTransport::wait(std::chrono::nanoseconds at_most) {
  std::unique_lock lock(bell_);
  // Far deadlines are cut, so that adding one to the clock cannot overflow.
  rung_.wait_for(lock, std::min<std::chrono::nanoseconds>(at_most, std::chrono::hours(1)), [this] { return woken_; });
  woken_ = false;
}

void MpiTransport::wake() noexcept {
  {
    const std::lock_guard lock(bell_);
    woken_ = true;
  }
  rung_.notify_one();
}

int MpiTransport::post(const Transfer& transfer, MPI_Request& request) const {
  const MessageType message(transfer.size(), options_.block);
  const int tag = static_cast<int>(transfer.tag());
  if (transfer.direction() == Transfer::Direction::send) {
    return MPI_Isend(transfer.data(), message.count(), message.type(), transfer.peer(), tag, comm_.get(), &request);
  }
  return MPI_Irecv(transfer.data(), message.count(), message.type(), transfer.peer(), tag, comm_.get(), &request);
}

void MpiTransport::start(Transfer& transfer) {
  const std::lock_guard lock(guard_);
  if (mpi_is_over_) return complete(transfer, 0, std::make_exception_ptr(finalized_under_us()));
  if (!may_exchange_with(transfer.peer())) {
    const auto text =
        fmt::format("rank {0} cannot exchange messages with rank {1}: the others are 0 to {2} without {0}", rank(),
                    transfer.peer(), size() - 1);
    return complete(transfer, 0, std::make_exception_ptr(Error(ErrorCode::internal, text)));
  }
  const std::size_t index = requests_.size();
  owners_.push_back(&transfer);  // room before the request exists: afterwards nothing may throw
  requests_.push_back(MPI_REQUEST_NULL);
  indices_.resize(std::max(indices_.size(), requests_.capacity()));
  statuses_.resize(indices_.size());
  transfer.scratch = index;
  std::exception_ptr error;
  try {
    const int code = post(transfer, requests_[index]);
    if (code != MPI_SUCCESS) throw failure(transfer, MPI_Status{}, code);
  } catch (const Error&) {
    error = std::current_exception();
  }
  if (!error) return;
  remove(index);
  complete(transfer, 0, error);
}

void MpiTransport::poll() {
  std::unique_lock lock(guard_);
  if (mpi_is_over_) {
    lock.unlock();
    return fail(finalized_under_us());
  }
  if (requests_.empty()) {
    // A send that MPI has buffered may still need progress to leave.
    int any = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_.get(), &any, MPI_STATUS_IGNORE);
    return;
  }
  int done = 0;
  const int code =
      MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &done, indices_.data(), statuses_.data());
  if (code != MPI_SUCCESS && class_of(code) != MPI_ERR_IN_STATUS) {
    lock.unlock();
    return fail(Error(ErrorCode::backend, fmt::format("rank {}: MPI_Testsome: {}", rank(), error_text(code))));
  }
  if (done <= 0) return;
  for (std::size_t i = 0; i < static_cast<std::size_t>(done); ++i) {
    Transfer& transfer = *owners_[static_cast<std::size_t>(indices_[i])];
    finish(transfer, statuses_[i], code == MPI_SUCCESS ? MPI_SUCCESS : statuses_[i].MPI_ERROR);
  }
  remove_finished();
}

void MpiTransport::finish(Transfer& transfer, const MPI_Status& status, int code) {
  if (code != MPI_SUCCESS) {
    return complete(transfer, 0, std::make_exception_ptr(failure(transfer, status, code)));
  }
  const bool sent = transfer.direction() == Transfer::Direction::send;
  complete(transfer, sent ? transfer.size() : received_bytes(status));
}

Error MpiTransport::failure(const Transfer& transfer, const MPI_Status& status, int code) const {
  if (transfer.direction() == Transfer::Direction::send) {
    return Error(ErrorCode::backend, fmt::format("rank {}: sending {} bytes to rank {} with tag {}: {}", rank(),
                                                 transfer.size(), transfer.peer(), transfer.tag(), error_text(code)));
  }
  if (class_of(code) != MPI_ERR_TRUNCATE) {
    return Error(ErrorCode::backend,
                 fmt::format("rank {}: receiving up to {} bytes from rank {} with tag {}: {}", rank(), transfer.size(),
                             transfer.peer(), transfer.tag(), error_text(code)));
  }
  // Open MPI's status tells what was sent; where a library does not, at least it was more than there is room for.
  const std::size_t sent = received_bytes(status);
  return Error(ErrorCode::malformed,
               fmt::format("rank {}: the message of rank {} with tag {} has {} bytes, but there is room for {} only",
                           rank(), transfer.peer(), transfer.tag(),
                           sent > transfer.size() ? std::to_string(sent) : fmt::format("more than {}", transfer.size()),
                           transfer.size()));
}

void MpiTransport::remove(std::size_t index) noexcept {
  requests_[index] = requests_.back();
  owners_[index] = owners_.back();
  owners_[index]->scratch = index;
  requests_.pop_back();
  owners_.pop_back();
}

/// Closes the gaps that MPI_Testsome left, keeping the order, so that old requests are looked at first.
void MpiTransport::remove_finished() noexcept {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (owners_[i]->done()) continue;
    requests_[kept] = requests_[i];
    owners_[kept] = owners_[i];
    owners_[kept]->scratch = kept;
    ++kept;
  }
  requests_.resize(kept);
  owners_.resize(kept);
}

void MpiTransport::withdraw(Transfer& transfer) noexcept {
  const std::lock_guard lock(guard_);
  const std::size_t index = transfer.scratch;
  if (!mpi_is_over_) give_up(std::span(requests_).subspan(index, 1), std::span(owners_).subspan(index, 1));
  remove(index);
}

void MpiTransport::cancel_all(std::exception_ptr cause) {
  const std::lock_guard lock(guard_);
  if (!mpi_is_over_) give_up(requests_, owners_);
  for (Transfer* transfer : owners_) complete(*transfer, 0, cause);
  requests_.clear();
  owners_.clear();
}

/// Ends `requests`, so that MPI does not touch their memory any more.
///
/// A receive that no message has matched is cancelled at once. One that is being filled, and a send, must run to their
/// end, for MPI has no way to stop them (Open MPI ignores MPI_Cancel of a send, and MPI_Request_free only hides the
/// problem): they get what is left of the patience. What then is still open waits for a peer that receives no more, as
/// every rank fails together; it is abandoned.
void MpiTransport::give_up(std::span<MPI_Request> requests, std::span<Transfer* const> owners) noexcept {
  const auto cancel = [&](Transfer::Direction direction) {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (owners[i]->direction() == direction && requests[i] != MPI_REQUEST_NULL) MPI_Cancel(&requests[i]);
    }
  };
  const auto begin = Clock::now();
  cancel(Transfer::Direction::receive);
  if (!settle(requests, patience_ / 2)) {
    cancel(Transfer::Direction::send);
    settle(requests, patience_ / 2);
  }
  patience_ = std::max(Clock::duration::zero(), patience_ - (Clock::now() - begin));
  for (MPI_Request& request : requests) {
    if (request != MPI_REQUEST_NULL) ++abandoned_;
    request = MPI_REQUEST_NULL;
  }
}

/// Whether all of `requests` ended within `limit`. Tests at least once.
bool MpiTransport::settle(std::span<MPI_Request> requests, Clock::duration limit) noexcept {
  const auto deadline = Clock::now() + limit;
  const int count = static_cast<int>(requests.size());
  while (true) {
    int done = 0;
    for (MPI_Request& request : requests) {
      int over = 1;
      if (request != MPI_REQUEST_NULL) MPI_Test(&request, &over, MPI_STATUS_IGNORE);
      done += over;
    }
    if (done == count) return true;
    if (Clock::now() >= deadline) return false;
    std::this_thread::yield();
  }
}

/// The program calls MPI_Finalize, perhaps while another thread drives this transport: that one finds MPI over at its
/// next step.
void MpiTransport::end_before_finalize() noexcept {
  const std::lock_guard lock(guard_);
  give_up(requests_, owners_);
  mpi_is_over_ = true;
}

/// Whether all ranks have come to the end, so that MPI_Finalize will not wait for one that never will.
bool MpiTransport::everyone_leaves() noexcept {
  MPI_Request barrier = MPI_REQUEST_NULL;
  if (MPI_Ibarrier(comm_.get(), &barrier) != MPI_SUCCESS) return false;
  if (settle({&barrier, 1}, options_.farewell)) return true;
  ++abandoned_;
  return false;
}

}  // namespace ringlet::mpi
