#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace ringlet::train {

/// An array of unsigned bytes with its extents, row-major.
struct IdxArray {
  std::vector<std::size_t> extents;
  std::vector<std::uint8_t> bytes;
};

/// Reads a file in the IDX format of the MNIST family (http://yann.lecun.com/exdb/mnist), gzip'd or not, whose elements
/// are unsigned bytes in `dims` dimensions.
///
/// Errors   Error{backend} when it cannot be opened or read, Error{malformed} when it is not such a file, is cut short,
/// has bytes
///          left over or claims more than 1 GiB; the text names the file and what is wrong.
IdxArray read_idx(const std::filesystem::path& file, std::size_t dims);

}  // namespace ringlet::train
