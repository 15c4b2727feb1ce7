#include "mpi/bootstrap.hpp"

#include <mpi.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "mpi/communicator.hpp"
#include "mpi/message_type.hpp"
#include "mpi/mpi_check.hpp"
#include "mpi/mpi_transport.hpp"
#include "ringlet/error.hpp"
#include "support/catch.hpp"

using namespace ringlet;

namespace {

ErrorCode code_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.code();
  }
  return ErrorCode{};
}

}  // namespace

TEST_CASE("mpi: an error of MPI names the call, MPI's text and the line") {
  const auto comm = mpi::duplicate(MPI_COMM_WORLD);
  const int code = MPI_Send(nullptr, 0, MPI_BYTE, 99, 0, comm.get());
  REQUIRE_THROWS_WITH(mpi::check(code, "MPI_Send"), Catch::StartsWith("MPI_Send: ") && Catch::Contains("rank") &&
                                                        Catch::Contains("bootstrap_test.cpp:"));
  CHECK(code_of([&] { mpi::check(code, "MPI_Send"); }) == ErrorCode::backend);
}

TEST_CASE("mpi: communicators that no transport can be made on are errors with a remedy") {
  CHECK(code_of([] { mpi::transport_on(MPI_COMM_NULL); }) == ErrorCode::invalid_argument);
  CHECK_THROWS_WITH(mpi::transport_on(MPI_COMM_NULL),
                    Catch::Contains("MPI_COMM_NULL") && Catch::Contains("MPI_Comm_split"));
  int size = 0, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (size == 1) return;
  MPI_Comm half = MPI_COMM_NULL, inter = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 5, &inter);
  CHECK(code_of([&] { mpi::transport_on(inter); }) == ErrorCode::invalid_argument);
  CHECK_THROWS_WITH(mpi::transport_on(inter), Catch::Contains("MPI_Intercomm_merge"));
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

TEST_CASE("mpi: thread levels have names") {
  CHECK(mpi::thread_level("multiple") == MPI_THREAD_MULTIPLE);
  CHECK(mpi::thread_level("single") == MPI_THREAD_SINGLE);
  CHECK(std::string(mpi::to_string(MPI_THREAD_FUNNELED)) == "funneled");
  CHECK(std::string(mpi::to_string(mpi::thread_level("serialized"))) == "serialized");
  CHECK(code_of([] { mpi::thread_level("many"); }) == ErrorCode::invalid_argument);
  CHECK_THROWS_WITH(mpi::thread_level("many"),
                    Catch::Contains("RINGLET_MPI_THREAD_LEVEL") && Catch::Contains("\"many\""));
}

TEST_CASE("mpi: the factory joins an MPI that the program began, and says what it found") {
  const auto factory = transport::mpi_transport();
  CHECK(factory.name == "mpi");
  REQUIRE(factory.usable());
  CHECK_THAT(factory.describe(), Catch::Contains("MPI 3.") || Catch::Contains("MPI 4."));
  CHECK_THAT(factory.describe(), Catch::EndsWith("thread level: multiple"));
  for (int i = 0; i < 3; ++i) {
    const auto net = factory.make(Settings{});
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(net->size() == size);
  }
  CHECK(mpi::is_running());  // not ours to end
  Settings wrong;
  wrong.mpi_thread_level = "none";
  CHECK(code_of([&] { factory.make(wrong); }) == ErrorCode::invalid_argument);
}

TEST_CASE("mpi: hosts are numbered in order of first appearance, however ranks are placed") {
  using Ranks = std::vector<int>;
  CHECK(mpi::numbered_hosts(Ranks{0}) == Ranks{0});
  CHECK(mpi::numbered_hosts(Ranks{0, 0, 2, 2}) == Ranks{0, 0, 1, 1});
  CHECK(mpi::numbered_hosts(Ranks{0, 1, 0, 1, 4}) == Ranks{0, 1, 0, 1, 2});
  CHECK(mpi::numbered_hosts(Ranks{0, 1, 2, 2, 1, 0}) == Ranks{0, 1, 2, 2, 1, 0});
}

TEST_CASE("mpi: message types cover their bytes exactly") {
  const std::size_t bytes = GENERATE(0u, 1u, 6u, 7u, 8u, 13u, 14u, 15u, 700u, 1'000'000u);
  const mpi::MessageType message(bytes, 7);
  CAPTURE(bytes);
  MPI_Count size = 0, low = 0, extent = 0;
  MPI_Type_size_x(message.type(), &size);
  MPI_Type_get_true_extent_x(message.type(), &low, &extent);
  CHECK(static_cast<std::size_t>(size) * static_cast<std::size_t>(message.count()) == bytes);
  CHECK(low == 0);
  CHECK(extent == size);
  CHECK((message.type() == MPI_BYTE) == (bytes <= 7));
}

TEST_CASE("mpi: message types reach beyond what an int counts") {
  const std::size_t block = std::size_t{1} << 30;
  const std::size_t bytes = GENERATE_COPY(block, block + 1, 2 * block, 5 * block + 17, std::size_t{1} << 40);
  const mpi::MessageType message(bytes, block);
  MPI_Count size = 0;
  MPI_Type_size_x(message.type(), &size);
  CHECK(static_cast<std::size_t>(size) * static_cast<std::size_t>(message.count()) == bytes);
}
