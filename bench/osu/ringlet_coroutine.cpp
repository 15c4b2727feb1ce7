// What the coroutine layer costs: messages go round a ring of ranks, once as plain MPI_Isend, MPI_Irecv and
// MPI_Testsome, once as a coroutine over MpiTransport. The two alternate in one run, and the median of the rounds is
// printed.
//
// Moves     size bytes from every rank to its successor, each step awaited before the next; one message per rank and
// step Prints    microseconds per message of each, and the difference of the medians; the slowest rank counts
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
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

int steps_for(std::size_t bytes) { return bytes <= 4096 ? 2000 : bytes <= 65536 ? 400 : 50; }

/// Microseconds per message of the slowest rank.
template <class Body>
double time_of(int steps, Body body) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  body();
  double mine = (MPI_Wtime() - begin) * 1e6 / steps, slowest = 0;
  MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest;
}

void bare(const Ring& ring, MPI_Comm comm, int steps, const std::vector<std::byte>& out, std::vector<std::byte>& in) {
  const int bytes = static_cast<int>(out.size());
  for (int i = 0; i < steps; ++i) {
    std::array<MPI_Request, 2> requests{};
    std::array<int, 2> indices{};
    std::array<MPI_Status, 2> statuses{};
    MPI_Irecv(in.data(), bytes, MPI_BYTE, ring.previous(), static_cast<int>(kTag), comm, &requests[0]);
    MPI_Isend(out.data(), bytes, MPI_BYTE, ring.next(), static_cast<int>(kTag), comm, &requests[1]);
    for (int open = 2, done = 0; open > 0; open -= done) {
      MPI_Testsome(2, requests.data(), &done, indices.data(), statuses.data());
    }
  }
}

Task<> steps_of_ring(Transport& net, const Ring& ring, int steps, const std::vector<std::byte>& out,
                     std::vector<std::byte>& in) {
  for (int i = 0; i < steps; ++i) {
    auto receiving = net.recv(ring.previous(), kTag, in);
    auto sending = net.send(ring.next(), kTag, out);
    co_await receiving;
    co_await sending;
  }
}

void coroutine(Transport& net, const Ring& ring, int steps, const std::vector<std::byte>& out,
               std::vector<std::byte>& in) {
  TaskScope scope;
  scope.spawn(steps_of_ring(net, ring, steps, out, in));
  while (scope.running() > 0) net.progress();
  scope.rethrow();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + kRounds / 2, values.end());
  return values[kRounds / 2];
}

void measure(Transport& net, const Ring& ring, MPI_Comm comm, std::size_t bytes) {
  const std::vector<std::byte> out(bytes, std::byte{1});
  std::vector<std::byte> in(bytes);
  const int steps = steps_for(bytes);
  std::vector<double> plain, awaited;
  for (int round = -2; round < kRounds; ++round) {  // two to warm up
    const double a = time_of(steps, [&] { bare(ring, comm, steps, out, in); });
    const double b = time_of(steps, [&] { coroutine(net, ring, steps, out, in); });
    if (round < 0) continue;
    plain.push_back(a);
    awaited.push_back(b);
  }
  const double a = median(plain), b = median(awaited);
  if (ring.rank == 0) fmt::print("{:>10} {:>12.3f} {:>12.3f} {:>12.3f}\n", bytes, a, b, b - a);
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
      fmt::print("# ring of {} ranks, us per message, median of {} rounds\n", ring.size, kRounds);
      fmt::print("{:>10} {:>12} {:>12} {:>12}\n", "# bytes", "MPI", "coroutine", "difference");
    }
    for (std::size_t bytes = 8; bytes <= (std::size_t{1} << 20); bytes *= 8) measure(*net, ring, comm.get(), bytes);
    measure(*net, ring, comm.get(), std::size_t{1} << 20);
  }
  MPI_Finalize();
}
