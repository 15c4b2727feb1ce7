#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ringlet::collective {

/// A run of one tensor's elements inside a chunk.
struct Piece {
  std::size_t tensor = 0;         ///< index in the bucket
  std::size_t tensor_offset = 0;  ///< first element within the tensor, a multiple of the grain
  std::size_t elements = 0;
};

/// What travels as one message: consecutive pieces, and where they lie when the bucket is packed.
struct Chunk {
  std::size_t offset = 0;  ///< in elements from the start of the bucket
  std::size_t elements = 0;
  std::size_t first_piece = 0;
  std::size_t pieces = 0;
};

/// One tensor as a layout sees it.
struct Extent {
  std::size_t elements = 0;
  std::uint64_t hash = 0;  ///< of the name: rotates who owns which part, so that small tensors do not all burden rank 0
};

/// Splits each tensor of a bucket into P parts, one for each rank to own, at multiples of the grain, and each rank's
/// parts into chunks.
///
/// The split looks at one tensor at a time, never at the bucket, so a tensor's result cannot depend on the company it
/// travels in. The packed order is by part, then by tensor: what one rank owns is contiguous. A bucket of one tensor
/// keeps that tensor's own order.
class Layout {
 public:
  struct Rules {
    int ranks = 1;
    std::size_t grain = 1;           ///< elements; parts and pieces start at its multiples
    std::size_t chunk_elements = 1;  ///< aim for a chunk's size
  };

  /// Fills the layout anew, reusing its memory.
  void build(std::span<const Extent> tensors, const Rules& rules);

  std::size_t elements() const noexcept { return elements_; }
  int ranks() const noexcept { return static_cast<int>(part_begin_.size()) - 1; }
  /// The chunks that `rank` owns, in order.
  std::span<const Chunk> part(int rank) const noexcept {
    const auto r = static_cast<std::size_t>(rank);
    return std::span(chunks_).subspan(part_begin_[r], part_begin_[r + 1] - part_begin_[r]);
  }
  /// All chunks, part by part.
  std::span<const Chunk> chunks() const noexcept { return chunks_; }
  std::span<const Piece> pieces(const Chunk& chunk) const noexcept {
    return std::span(pieces_).subspan(chunk.first_piece, chunk.pieces);
  }
  /// The most chunks any rank owns.
  std::size_t rounds() const noexcept { return rounds_; }

 private:
  void add_part(std::span<const Extent> tensors, const Rules& rules, int rank);

  std::vector<Piece> pieces_;
  std::vector<Chunk> chunks_;
  std::vector<std::size_t> part_begin_;
  std::size_t elements_ = 0;
  std::size_t rounds_ = 0;
};

/// Elements [begin, end) of a tensor of `elements` that the owner number `index` of `owners` has: whole grains, as even
/// as they come.
struct PartRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};
PartRange part_range(std::size_t elements, std::size_t grain, std::size_t owners, std::size_t index) noexcept;

}  // namespace ringlet::collective
