// Who begins and ends MPI, one way a process, for MPI can be begun only once in each. Exit status 0: as it should be.
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/task.hpp"
#include "mpi/mpi_transport.hpp"
#include "ringlet/error.hpp"

using namespace ringlet;
using namespace std::chrono_literals;
using transport::Transport;

namespace {

void expect(bool good, const std::string& what) {
  if (!good) throw std::runtime_error(what);
}

template <class Call>
void expect_error(ErrorCode code, const std::string& text, Call call) {
  try {
    call();
  } catch (const Error& e) {
    return expect(e.code() == code && std::string(e.what()).find(text) != std::string::npos, e.what());
  }
  throw std::runtime_error("no error, but one was expected with the text: " + text);
}

Settings with_level(const std::string& level) {
  Settings settings;
  settings.mpi_thread_level = level;
  settings.timeout = 5s;
  return settings;
}

Task<> pass_on(Transport& net, std::vector<std::byte>& bytes) {
  const int p = net.size();
  TaskScope scope;
  auto sending = net.send((net.rank() + 1) % p, 64, bytes);
  std::vector<std::byte> room(bytes.size());
  co_await net.recv((net.rank() + p - 1) % p, 64, room);
  co_await sending;
  bytes = room;
}

/// Every rank's bytes go once around the ring.
void go_round(Transport& net) {
  if (net.size() == 1) return;
  for (int i = 0; i < net.size(); ++i) {
    std::vector<std::byte> bytes(1000, static_cast<std::byte>(net.rank()));
    TaskScope scope;
    scope.spawn(pass_on(net, bytes));
    for (const auto end = Transport::Clock::now() + 20s; scope.running() > 0 && Transport::Clock::now() < end;)
      net.progress();
    expect(scope.running() == 0, "a message did not arrive");
    scope.rethrow();
    expect(bytes[999] == static_cast<std::byte>((net.rank() + net.size() - 1) % net.size()), "the wrong bytes arrived");
  }
}

void begun_by_us(const std::string& level, bool background) {
  expect(transport::mpi_transport().usable(), "a launched process finds MPI not usable");
  expect(!mpi::is_running(), "usable() began MPI");
  expect(transport::mpi_transport().describe().find("not initialised") != std::string::npos,
         "describe() before MPI_Init");
  {
    const auto net = transport::mpi_transport().make(with_level(level));
    int provided = -1;
    MPI_Query_thread(&provided);
    expect(provided == mpi::thread_level(level), "MPI provides another level than was asked for");
    expect(net->allows_background_thread() == background, "background thread");
    expect(net->background_reason().empty() == background, "reason: " + net->background_reason());
    go_round(*net);
  }
  expect(mpi::is_finalized(), "MPI was begun by us, but not finalised");
  expect_error(ErrorCode::invalid_argument, "cannot be started again",
               [] { transport::mpi_transport().make(with_level("multiple")); });
  expect_error(ErrorCode::invalid_argument, "after MPI_Finalize", [] { mpi::transport_on(MPI_COMM_WORLD); });
}

void begun_by_user(int level, bool background) {
  expect_error(ErrorCode::invalid_argument, "before MPI_Init", [] { mpi::transport_on(MPI_COMM_WORLD); });
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, level, &provided);
  for (int i = 0; i < 2; ++i) {
    const auto net =
        i == 0 ? mpi::transport_on(MPI_COMM_WORLD) : transport::mpi_transport().make(with_level("multiple"));
    expect(net->allows_background_thread() == background, "background thread");
    expect(net->background_reason().empty() == background, "reason: " + net->background_reason());
    if (!background)
      expect(net->background_reason().find("by the program") != std::string::npos, net->background_reason());
    go_round(*net);
  }
  expect(mpi::is_running(), "MPI is the program's, but we finalised it");
  int one = 1, sum = 0, size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  expect(sum == size, "MPI does not work after us");
  MPI_Finalize();
}

Task<> wait_for_nothing(Transport& net, std::string& error) {
  std::vector<std::byte> room(100);
  try {
    co_await net.recv(net.rank() == 0 ? 1 : 0, 70, room);
  } catch (const Error& e) {
    error = e.what();
  }
}

/// The program forgets shutdown(): receives are open when it calls MPI_Finalize, and the transport goes after that.
void user_finalizes_first() {
  MPI_Init(nullptr, nullptr);
  auto net = mpi::transport_on(MPI_COMM_WORLD);
  go_round(*net);
  std::string error, late;
  TaskScope scope;
  scope.spawn(wait_for_nothing(*net, error));
  MPI_Finalize();
  expect(error.empty(), "a waiter was resumed inside MPI_Finalize");
  scope.spawn(wait_for_nothing(*net, late));
  expect(late.find("MPI_Finalize was called while ringlet was running") != std::string::npos, "late: " + late);
  net->progress();
  expect(late == error, "error: " + error);
  net.reset();
}

/// The same while a thread of ours drives.
void user_finalizes_under_thread() {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
  auto net = mpi::transport_on(MPI_COMM_WORLD);
  std::string error;
  TaskScope scope;
  scope.spawn(wait_for_nothing(*net, error));
  {
    const std::jthread driver([&] {
      while (error.empty()) net->progress();
    });
    std::this_thread::sleep_for(20ms);
    MPI_Finalize();
  }
  expect(error.find("MPI_Finalize was called") != std::string::npos, "error: " + error);
  net.reset();
}

/// The transport goes in a static destructor, after main() and after the program's MPI_Finalize.
void outlived_by_static() {
  MPI_Init(nullptr, nullptr);
  static std::unique_ptr<Transport> net;
  net = mpi::transport_on(MPI_COMM_WORLD);
  go_round(*net);
  MPI_Finalize();
}

/// Rank 0 hangs after a failure; the end of the other must neither wait for it longer than the timeout nor finalise MPI
/// without it. mpirun then ends the job, as it does whenever a rank leaves without MPI_Finalize: the text, not the
/// status, is the verdict.
void peer_does_not_come() {
  auto settings = with_level("multiple");
  settings.timeout = 300ms;
  auto net = transport::mpi_transport().make(settings);
  const int rank = net->rank();
  std::string error;
  TaskScope scope;
  scope.spawn(wait_for_nothing(*net, error));
  net->fail(Error(ErrorCode::peer_lost, "rank 0 hangs"));
  net->progress();
  if (rank == 0) std::this_thread::sleep_for(30s);
  const auto begin = std::chrono::steady_clock::now();
  net.reset();
  expect(std::chrono::steady_clock::now() - begin < 5s, "the end waited for a rank that did not come");
  expect(!mpi::is_finalized(), "finalised without every rank");
  std::fputs("left in time\n", stderr);
}

/// Started by hand: no launcher, so that MPI is not usable, and asking is free.
void by_hand() {
  expect(!mpi::launched_by_mpi(), "a launcher's variables are set");
  expect(!transport::mpi_transport().usable(), "usable without a launcher");
  expect(!mpi::is_running(), "usable() began MPI");
}

/// A launcher of another MPI says two processes, the library finds one.
void foreign_launcher() {
  expect_error(ErrorCode::backend, "PMI_SIZE=2", [] { transport::mpi_transport().make(with_level("multiple")); });
}

struct Way {
  const char* name;
  std::function<void()> run;
};

const std::array kWays{
    Way{"ours-multiple", [] { begun_by_us("multiple", true); }},
    Way{"ours-serialized", [] { begun_by_us("serialized", true); }},
    Way{"ours-funneled", [] { begun_by_us("funneled", false); }},
    Way{"ours-single", [] { begun_by_us("single", false); }},
    Way{"user-multiple", [] { begun_by_user(MPI_THREAD_MULTIPLE, true); }},
    Way{"user-serialized", [] { begun_by_user(MPI_THREAD_SERIALIZED, false); }},
    Way{"user-funneled", [] { begun_by_user(MPI_THREAD_FUNNELED, false); }},
    Way{"user-single", [] { begun_by_user(MPI_THREAD_SINGLE, false); }},
    Way{"user-finalizes-first", user_finalizes_first},
    Way{"user-finalizes-under-thread", user_finalizes_under_thread},
    Way{"static-destructor", outlived_by_static},
    Way{"peer-does-not-come", peer_does_not_come},
    Way{"by-hand", by_hand},
    Way{"foreign-launcher", foreign_launcher},
};

}  // namespace

int main(int argc, char** argv) {
  ::alarm(60);
  const std::string wanted = argc == 2 ? argv[1] : "";
  for (const Way& way : kWays) {
    if (way.name != wanted) continue;
    try {
      way.run();
      return 0;
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s: %s\n", way.name, e.what());
      return 1;
    }
  }
  std::fprintf(stderr, "usage: %s WAY, one of:\n", argv[0]);
  for (const Way& way : kWays) std::fprintf(stderr, "  %s\n", way.name);
  return 2;
}
