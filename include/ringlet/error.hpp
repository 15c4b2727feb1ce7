#pragma once

#include <stdexcept>
#include <string>

#include "ringlet/export.hpp"

namespace ringlet {

/// What kind of thing went wrong. The text of the Error names rank, tensor, value and remedy.
enum class ErrorCode {
  invalid_argument = 1,  ///< a call that could never work: seen by this rank alone, thrown at the call
  not_initialized,       ///< no runtime: init() was not called, or shutdown() was
  mismatch,              ///< the ranks disagree about a tensor; only that tensor fails, on every rank
  peer_lost,             ///< a rank failed, left or was killed; every tensor in flight fails
  timeout,               ///< no progress within RINGLET_TIMEOUT
  malformed,             ///< a message or file that no correct writer makes
  backend,               ///< MPI, the operating system or a device said no
  callback,              ///< the caller's own completion callback threw
  internal               ///< a bug in ringlet
};

/// Base of everything the library throws. Safe to copy across threads.
class RINGLET_EXPORT Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& what) : std::runtime_error(what), code_(code) {}
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace ringlet
