// What the coroutine layer costs: messages go round a ring of ranks, once as plain MPI_Isend, MPI_Irecv and
// MPI_Testsome, once as a coroutine over MpiTransport. The two alternate in one run.
//
// Patterns  all    every rank sends to its successor at once, each step awaited before the next
//           token  one message goes round: with two ranks a ping-pong
// Prints    microseconds per message of the slowest rank: the median of each, and the median of the rounds' differences
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "base/task.hpp"
#include "mpi/mpi_transport.hpp"

using ringlet::Task;
using ringlet::TaskScope;
using ringlet::transport::Transport;

namespace {

constexpr int kRounds = 21;
constexpr ringlet::transport::Tag kTag = 64;

struct Ring {
  int rank, size;
  int next() const { return (rank + 1) % size; }
  int previous() const { return (rank + size - 1) % size; }
};

enum class Pattern { all, token };

struct Buffers {
  std::vector<std::byte> out, in;
};

int steps_for(std::size_t bytes) { return bytes <= 4096 ? 2000 : bytes <= 65536 ? 400 : 50; }

void complete(std::span<MPI_Request> requests) {
  std::array<int, 2> indices{};
  std::array<MPI_Status, 2> statuses{};
  for (int open = static_cast<int>(requests.size()), done = 0; open > 0; open -= done) {
    MPI_Testsome(static_cast<int>(requests.size()), requests.data(), &done, indices.data(), statuses.data());
  }
}

void bare(MPI_Comm comm, const Ring& ring, Pattern pattern, int steps, Buffers& buffers) {
  std::array<MPI_Request, 2> requests{};
  const int bytes = static_cast<int>(buffers.out.size()), tag = static_cast<int>(kTag);
  const auto receive = [&] { MPI_Irecv(buffers.in.data(), bytes, MPI_BYTE, ring.previous(), tag, comm, &requests[0]); };
  const auto send = [&] { MPI_Isend(buffers.out.data(), bytes, MPI_BYTE, ring.next(), tag, comm, &requests[1]); };
  const std::span both(requests);
  for (int i = 0; i < steps; ++i) {
    receive();
    if (pattern == Pattern::token && ring.rank != 0) complete(both.first(1));
    send();
    complete(pattern == Pattern::token && ring.rank != 0 ? both.last(1) : both);
  }
}

Task<> awaited(Transport& net, const Ring& ring, Pattern pattern, int steps, Buffers& buffers) {
  for (int i = 0; i < steps; ++i) {
    auto receiving = net.recv(ring.previous(), kTag, buffers.in);
    if (pattern == Pattern::token && ring.rank != 0) co_await receiving;
    co_await net.send(ring.next(), kTag, buffers.out);
    co_await receiving;
  }
}

void coroutine(Transport& net, const Ring& ring, Pattern pattern, int steps, Buffers& buffers) {
  TaskScope scope;
  scope.spawn(awaited(net, ring, pattern, steps, buffers));
  while (scope.running() > 0) net.progress();
  scope.rethrow();
}

/// Microseconds of the slowest rank.
template <class Body>
double time_of(Body body) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  body();
  double mine = (MPI_Wtime() - begin) * 1e6, slowest = 0;
  MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + kRounds / 2, values.end());
  return values[kRounds / 2];
}

void measure(Transport& net, const Ring& ring, MPI_Comm comm, Pattern pattern, std::size_t bytes) {
  Buffers buffers{std::vector<std::byte>(bytes, std::byte{1}), std::vector<std::byte>(bytes)};
  const int steps = steps_for(bytes);
  const double messages = steps * (pattern == Pattern::token ? ring.size : 1);
  std::vector<double> plain, coroutines, differences;
  for (int round = -2; round < kRounds; ++round) {  // two to warm up
    const double a = time_of([&] { bare(comm, ring, pattern, steps, buffers); }) / messages;
    const double b = time_of([&] { coroutine(net, ring, pattern, steps, buffers); }) / messages;
    if (round < 0) continue;
    plain.push_back(a);
    coroutines.push_back(b);
    differences.push_back(b - a);
  }
  if (ring.rank != 0) return;
  fmt::print("{:>8} {:>10} {:>12.3f} {:>12.3f} {:>12.3f}\n", pattern == Pattern::all ? "all" : "token", bytes,
             median(plain), median(coroutines), median(differences));
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  // The level at which the library runs, for both: it has a price of its own
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2) {
    fmt::print(stderr, "a ring needs two ranks or more: mpirun -n 2 {}\n", argv[0]);
    MPI_Finalize();
    return 2;
  }
  {
    const auto net = ringlet::mpi::transport_on(MPI_COMM_WORLD);
    const auto comm = ringlet::mpi::duplicate(MPI_COMM_WORLD);
    const Ring ring{net->rank(), net->size()};
    if (ring.rank == 0) {
      fmt::print("# ring of {} ranks, us per message, {} rounds\n", ring.size, kRounds);
      fmt::print("{:>8} {:>10} {:>12} {:>12} {:>12}\n", "#", "bytes", "MPI", "coroutine", "difference");
    }
    for (const Pattern pattern : {Pattern::all, Pattern::token}) {
      for (const std::size_t bytes : {8, 64, 512, 4096, 32768, 262144, 1048576}) {
        measure(*net, ring, comm.get(), pattern, bytes);
      }
    }
  }
  MPI_Finalize();
}
