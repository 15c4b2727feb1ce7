#include "train/idx_file.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <memory>
#include <span>

#include "ringlet/error.hpp"

namespace ringlet::train {
namespace {

constexpr std::size_t kLargest = std::size_t{1} << 30;  // bytes; a bound against damaged headers
constexpr std::uint8_t kUnsignedByte = 0x08;

struct CloseGz {
  void operator()(gzFile file) const noexcept { gzclose(file); }
};

/// zlib's reader, which takes plain files as they are.
class Reader {
 public:
  explicit Reader(const std::filesystem::path& path) : path_(path), file_(gzopen(path.c_str(), "rb")) {
    if (!file_) throw Error(ErrorCode::backend, fmt::format("{}: cannot be opened", path_.string()));
  }

  [[noreturn]] void malformed(const std::string& why) const {
    throw Error(ErrorCode::malformed, fmt::format("{}: {}", path_.string(), why));
  }

  /// Fills `bytes`, or says that the file ends within `what`.
  void read(std::span<std::uint8_t> bytes, const char* what) {
    const std::size_t got = read_some(bytes);
    if (got < bytes.size()) {
      malformed(fmt::format("cut short: {} of {} bytes of its {} are there", got, bytes.size(), what));
    }
  }

  std::size_t read_some(std::span<std::uint8_t> bytes) {
    const int got = gzread(file_.get(), bytes.data(), static_cast<unsigned>(bytes.size()));
    int code = Z_OK;
    const char* text = gzerror(file_.get(), &code);
    if (code == Z_ERRNO) throw Error(ErrorCode::backend, fmt::format("{}: {}", path_.string(), text));
    if (code == Z_BUF_ERROR) malformed("cut short: the compressed data end early");
    if (got < 0 || code < 0) malformed(text);
    return static_cast<std::size_t>(got);
  }

 private:
  std::filesystem::path path_;
  std::unique_ptr<gzFile_s, CloseGz> file_;
};

std::size_t read_extent(Reader& reader) {
  std::array<std::uint8_t, 4> word{};
  reader.read(word, "header");
  return std::size_t{word[0]} << 24 | std::size_t{word[1]} << 16 | std::size_t{word[2]} << 8 | word[3];
}

}  // namespace

IdxArray read_idx(const std::filesystem::path& file, std::size_t dims) {
  Reader reader(file);
  std::array<std::uint8_t, 4> magic{};
  reader.read(magic, "header");
  if (magic[0] != 0 || magic[1] != 0 || magic[2] != kUnsignedByte || magic[3] != dims) {
    reader.malformed(fmt::format(
        "not an IDX file of bytes in {} dimension(s): it begins {:02x}{:02x}{:02x}{:02x}, expected 000008{:02x}", dims,
        magic[0], magic[1], magic[2], magic[3], dims));
  }
  IdxArray array;
  std::size_t elements = 1;
  for (std::size_t i = 0; i < dims; ++i) {
    const std::size_t extent = read_extent(reader);
    array.extents.push_back(extent);
    if (extent != 0 && elements > kLargest / extent) reader.malformed("its extents ask for more than 1 GiB");
    elements *= extent;
  }
  array.bytes.resize(elements);
  reader.read(array.bytes, "data");
  std::uint8_t more = 0;
  if (reader.read_some({&more, 1}) != 0)
    reader.malformed(fmt::format("goes on after the {} bytes its header announces", elements));
  return array;
}

}  // namespace ringlet::train
