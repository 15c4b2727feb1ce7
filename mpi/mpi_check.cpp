#include "mpi/mpi_check.hpp"

#include <array>

#include "base/check.hpp"

namespace ringlet::mpi {

std::string error_text(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  return {text.data(), static_cast<std::size_t>(length)};
}

void throw_mpi(int code, std::string_view call, Where at) { throw_backend(call, error_text(code), at); }

}  // namespace ringlet::mpi
