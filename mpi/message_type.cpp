#include "mpi/message_type.hpp"

#include <array>

#include "mpi/mpi_check.hpp"

namespace ringlet::mpi {
namespace {

MPI_Datatype blocks_and_rest(std::size_t bytes, std::size_t block) {
  MPI_Datatype one = MPI_DATATYPE_NULL, whole = MPI_DATATYPE_NULL;
  check(MPI_Type_contiguous(static_cast<int>(block), MPI_BYTE, &one), "MPI_Type_contiguous");
  const std::size_t blocks = bytes / block;
  const std::array<int, 2> counts{static_cast<int>(blocks), static_cast<int>(bytes % block)};
  const std::array<MPI_Aint, 2> offsets{0, static_cast<MPI_Aint>(blocks * block)};
  const std::array<MPI_Datatype, 2> types{one, MPI_BYTE};
  const int code = MPI_Type_create_struct(2, counts.data(), offsets.data(), types.data(), &whole);
  MPI_Type_free(&one);
  check(code, "MPI_Type_create_struct");
  check(MPI_Type_commit(&whole), "MPI_Type_commit");
  return whole;
}

}  // namespace

MessageType::MessageType(std::size_t bytes, std::size_t block) {
  if (bytes > block) type_ = blocks_and_rest(bytes, block);
  count_ = bytes > block ? 1 : static_cast<int>(bytes);
}

MessageType::~MessageType() {
  if (type_ != MPI_BYTE) MPI_Type_free(&type_);
}

std::size_t received_bytes(const MPI_Status& status) noexcept {
  MPI_Count bytes = 0;
  MPI_Get_elements_x(&status, MPI_BYTE, &bytes);
  return bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

}  // namespace ringlet::mpi
