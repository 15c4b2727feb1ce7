#pragma once

#include <mpi.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/settings.hpp"
#include "mpi/bootstrap.hpp"
#include "mpi/communicator.hpp"
#include "mpi/finalize_hook.hpp"
#include "transport/factory.hpp"
#include "transport/transport.hpp"

namespace ringlet::mpi {

struct MpiTransportOptions {
  /// Messages up to this many bytes are plain MPI_BYTEs, longer ones an element of a type built of blocks of this size.
  std::size_t block = std::size_t{1} << 30;
  /// What all requests that must be given up may take together, in the life of a transport.
  std::chrono::milliseconds patience{500};
  /// How long the other ranks may take to come to the end, where MPI_Finalize is ours to call.
  std::chrono::milliseconds farewell{60000};
};

/// Ranks are MPI processes: nonblocking point to point on a communicator of its own, progress by one MPI_Testsome over
/// all that is outstanding. A tag is an MPI tag.
///
/// Too long a message, which only a wrong writer sends, is found by MPI and only as well as it does: Open MPI's
/// single-copy path has written all of it by then (pml ob1 does not look at the room before it fetches), and MPICH 4.0
/// ends the job itself.
///
/// MPI cannot put a thread to sleep until a message comes, so the driver polls; wait() sleeps for its time or until
/// wake().
class MpiTransport final : public transport::Transport {
 public:
  using Options = MpiTransportOptions;

  /// Takes a communicator that nobody else uses. Collective over its ranks.
  MpiTransport(Bootstrap mpi, UniqueComm comm, const Options& options = {});
  /// Ends within `patience` whatever the peers do, plus `farewell` where MPI is ours to finalise; touches nothing after
  /// MPI_Finalize.
  ~MpiTransport() override;

  void wait(std::chrono::nanoseconds at_most) override;
  void wake() noexcept override;
  bool wakes_on_arrival() const noexcept override { return false; }
  bool allows_background_thread() const noexcept override;
  std::string background_reason() const override;
  int host_of(int rank) const noexcept override { return hosts_[static_cast<std::size_t>(rank)]; }
  const char* name() const noexcept override { return "mpi"; }

 private:
  using Transfer = transport::Transfer;

  void start(Transfer& transfer) override;
  void poll() override;
  void withdraw(Transfer& transfer) noexcept override;
  void cancel_all(std::exception_ptr cause) override;

  bool may_exchange_with(int peer) const noexcept { return peer >= 0 && peer < size() && peer != rank(); }
  int post(const Transfer& transfer, MPI_Request& request) const;
  void finish(Transfer& transfer, const MPI_Status& status, int code);
  Error failure(const Transfer& transfer, const MPI_Status& status, int code) const;
  void remove(std::size_t index) noexcept;
  void remove_finished() noexcept;
  void give_up(std::span<MPI_Request> requests, std::span<Transfer* const> owners) noexcept;
  bool settle(std::span<MPI_Request> requests, Clock::duration limit) noexcept;
  void end_before_finalize() noexcept;
  bool everyone_leaves() noexcept;

  Bootstrap mpi_;  // first: MPI ends after everything that needs it
  UniqueComm comm_;
  const Options options_;
  const std::vector<int> hosts_;

  // What is outstanding: entry i of each belongs together, and owners_[i]->scratch == i.
  std::vector<MPI_Request> requests_;
  std::vector<Transfer*> owners_;
  std::vector<int> indices_;          // MPI_Testsome's answer
  std::vector<MPI_Status> statuses_;  // the same
  Clock::duration patience_;          // what is left of it
  std::size_t abandoned_ = 0;         // requests that MPI would not end

  std::mutex guard_;          // between the driving thread and MPI_Finalize on another one
  bool mpi_is_over_ = false;  // guarded
  FinalizeHook hook_;

  std::mutex bell_;
  std::condition_variable rung_;
  bool woken_ = false;
};

/// A transport over the ranks of MPI_COMM_WORLD; starts MPI when the program has not. Collective.
std::unique_ptr<transport::Transport> world_transport(const Settings& settings);

/// A transport over the ranks of `user`, which is duplicated. Throws Error{invalid_argument} when MPI is not running or
/// `user` is not a communicator of one group of ranks. Collective.
std::unique_ptr<transport::Transport> transport_on(MPI_Comm user);

/// The same for a communicator by its Fortran handle, MPI_Comm_c2f(user).
std::unique_ptr<transport::Transport> transport_on_fortran(int user);

}  // namespace ringlet::mpi

namespace ringlet::transport {

/// MPI's row among the transports of this build. Usable where a launcher started the process or the program started
/// MPI.
TransportFactory mpi_transport();

}  // namespace ringlet::transport
