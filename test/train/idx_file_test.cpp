#include "train/idx_file.hpp"

#include <array>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>

#include "ringlet/error.hpp"
#include "scratch_directory.hpp"
#include "support/catch.hpp"

namespace {

using ringlet::Error;
using ringlet::ErrorCode;
using ringlet::train::read_idx;
using ringlet::train::test::Bytes;
using ringlet::train::test::idx;
using ringlet::train::test::ScratchDirectory;

const std::array<std::uint32_t, 3> kExtents{3, 4, 300};  // an extent of two bytes shows their order

Bytes data(std::size_t size) {
  Bytes bytes(size);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  return bytes;
}

/// The code and the text of the error that reading `file` ends in.
void require_error(const std::filesystem::path& file, std::size_t dims, ErrorCode code, const std::string& text) {
  CAPTURE(text);
  try {
    read_idx(file, dims);
  } catch (const Error& error) {
    REQUIRE(error.code() == code);
    REQUIRE_THAT(error.what(), Catch::Contains(text));
    REQUIRE_THAT(error.what(), Catch::Contains(file.filename().string()));
    return;
  }
  FAIL("no error");
}

}  // namespace

TEST_CASE("An IDX file is read, compressed or not", "[idx]") {
  const ScratchDirectory scratch("idx_good");
  const Bytes content = data(3 * 4 * 300);
  const Bytes file = idx(kExtents, content);
  for (const auto& path : {scratch.write_gz("a.gz", file), scratch.write("a", file)}) {
    const auto array = read_idx(path, 3);
    REQUIRE(array.extents == std::vector<std::size_t>{3, 4, 300});
    REQUIRE(array.bytes == content);
  }
}

TEST_CASE("An IDX file without elements is legal", "[idx]") {
  const ScratchDirectory scratch("idx_empty");
  const auto array = read_idx(scratch.write_gz("a.gz", idx(std::array<std::uint32_t, 1>{0}, {})), 1);
  REQUIRE(array.extents == std::vector<std::size_t>{0});
  REQUIRE(array.bytes.empty());
}

TEST_CASE("An IDX file that is none is refused by what is wrong", "[idx]") {
  const ScratchDirectory scratch("idx_bad");
  const Bytes good = idx(kExtents, data(3 * 4 * 300));

  require_error(scratch.path() / "absent.gz", 3, ErrorCode::backend, "cannot be opened");
  require_error(scratch.write("empty", {}), 3, ErrorCode::malformed, "0 of 4 bytes of its header");
  require_error(scratch.write_gz("dims.gz", good), 1, ErrorCode::malformed, "begins 00000803, expected 00000801");

  Bytes floats = good;
  floats[2] = 0x0D;
  require_error(scratch.write_gz("floats.gz", floats), 3, ErrorCode::malformed, "begins 00000d03");

  Bytes longer = good;
  longer.push_back(1);
  require_error(scratch.write_gz("longer.gz", longer), 3, ErrorCode::malformed, "goes on after the 3600 bytes");

  const std::array<std::uint32_t, 3> huge{0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF};
  require_error(scratch.write_gz("huge.gz", idx(huge, {})), 3, ErrorCode::malformed, "more than 1 GiB");
}

TEST_CASE("An IDX file cut short anywhere is malformed", "[idx]") {
  const ScratchDirectory scratch("idx_cut");
  const Bytes good = idx(kExtents, data(3 * 4 * 300));
  for (const std::size_t size : {1UL, 4UL, 7UL, 15UL, 16UL, 17UL, good.size() - 1}) {
    CAPTURE(size);
    require_error(
        scratch.write_gz("plain_cut.gz", Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size))), 3,
        ErrorCode::malformed, "cut short");
  }
  std::ifstream compressed(scratch.write_gz("whole.gz", good), std::ios::binary);
  const Bytes packed{std::istreambuf_iterator<char>(compressed), std::istreambuf_iterator<char>()};
  for (std::size_t size = 11; size + 8 < packed.size(); size += 13) {
    CAPTURE(size, packed.size());
    require_error(scratch.write("stream_cut.gz", std::span(packed).first(size)), 3, ErrorCode::malformed, "cut short");
  }
}

TEST_CASE("Damage within the compressed stream is noticed", "[idx]") {
  const ScratchDirectory scratch("idx_damage");
  std::ifstream compressed(scratch.write_gz("whole.gz", idx(kExtents, data(3 * 4 * 300))), std::ios::binary);
  Bytes packed{std::istreambuf_iterator<char>(compressed), std::istreambuf_iterator<char>()};
  packed[packed.size() - 6] ^= 0xFF;  // the checksum
  REQUIRE_THROWS_AS(read_idx(scratch.write("damaged.gz", packed), 3), Error);
}
