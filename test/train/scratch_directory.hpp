#pragma once

#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace ringlet::train::test {

using Bytes = std::vector<std::uint8_t>;

/// A directory that goes with its content. One test at a time makes one of a name.
class ScratchDirectory {
 public:
  explicit ScratchDirectory(const std::string& name)
      : path_(std::filesystem::temp_directory_path() / ("ringlet_" + name)) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const noexcept { return path_; }

  std::filesystem::path write(const std::string& name, std::span<const std::uint8_t> bytes) const {
    std::ofstream file(path_ / name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!file) throw std::runtime_error("cannot write " + name);
    return path_ / name;
  }

  std::filesystem::path write_gz(const std::string& name, const Bytes& bytes) const {
    const std::filesystem::path file = path_ / name;
    gzFile out = gzopen(file.c_str(), "wb");
    const int written = gzwrite(out, bytes.data(), static_cast<unsigned>(bytes.size()));
    if (gzclose(out) != Z_OK || written != static_cast<int>(bytes.size()))
      throw std::runtime_error("cannot write " + name);
    return file;
  }

 private:
  std::filesystem::path path_;
};

/// An IDX file of unsigned bytes in memory.
inline Bytes idx(std::span<const std::uint32_t> extents, std::span<const std::uint8_t> data) {
  Bytes file{0, 0, 8, static_cast<std::uint8_t>(extents.size())};
  for (const std::uint32_t extent : extents) {
    for (const int shift : {24, 16, 8, 0}) file.push_back(static_cast<std::uint8_t>(extent >> shift));
  }
  file.insert(file.end(), data.begin(), data.end());
  return file;
}

}  // namespace ringlet::train::test
