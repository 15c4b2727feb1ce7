#pragma once

#include <mpi.h>

#include <cstddef>

namespace ringlet::mpi {

/// A message of any length as one MPI message, although MPI counts in ints: bytes up to `block`, beyond that one
/// element of a type made of so many blocks and a rest. All are MPI_BYTE to MPI, so sender and receiver need not agree
/// on the length, and one request, one match and one status serve every message: nothing is split, and no order among
/// pieces can go wrong. Source   Hammond, Schäfer and Latham, To INT_MAX... and beyond! Exploring large-count support
/// in MPI, ExaMPI (2014).
class MessageType {
 public:
  MessageType(std::size_t bytes, std::size_t block);
  MessageType(const MessageType&) = delete;
  MessageType& operator=(const MessageType&) = delete;
  /// MPI keeps what started requests need of the type.
  ~MessageType();

  MPI_Datatype type() const noexcept { return type_; }
  int count() const noexcept { return count_; }

 private:
  MPI_Datatype type_ = MPI_BYTE;
  int count_;
};

/// The bytes that a completed receive was sent.
std::size_t received_bytes(const MPI_Status& status) noexcept;

}  // namespace ringlet::mpi
