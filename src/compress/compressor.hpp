#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace ringlet::compress {

/// What a compressed message can do decides which exchanges may carry it.
enum class Family : std::uint8_t {
  dense,      ///< casts: fixed rate, element by element; added after decoding to fp32
  quantized,  ///< fixed rate, a grain of elements shares a scale; decode, add, encode
  sparse,     ///< some elements, with their positions; gathered
  low_rank    ///< factors
};
const char* to_string(Family family) noexcept;

/// Where in an exchange an encoding happens. Sums of several ranks' values need more head-room than one rank's
/// contribution.
enum class Stage : std::uint8_t { contribution, partial_sum, result };

/// Identifies one encoding, so that its randomness is a function of what is encoded and of nothing else: not of the
/// bucket, the chunk or the order of events. `offset` counts elements within the tensor.
struct Site {
  std::uint64_t seed = 0;    ///< the job's
  std::uint64_t tensor = 0;  ///< hash of the tensor's name
  std::uint64_t step = 0;    ///< how often this tensor was exchanged before
  std::uint32_t rank = 0;    ///< who encodes (or the lowest of those who hold the same partial sum and encode it alike)
  Stage stage = Stage::contribution;
  std::uint32_t hop = 0;   ///< distinguishes repeated encodings by one rank in one exchange
  int ranks = 1;           ///< P
  std::size_t offset = 0;  ///< of the first element, a multiple of the codec's grain
};

/// One method with its arguments, as a spec names it. Immutable: state is kept in the ResidualStore, by tensor. Any
/// thread.
class Compressor {
 public:
  virtual ~Compressor() = default;
  virtual Family family() const noexcept = 0;
  /// The spec in canonical form, every argument in it: equal texts compress equally.
  virtual const std::string& spec() const noexcept = 0;
  /// Whether what an encoding loses is kept and added to the tensor's next gradient.
  virtual bool error_feedback() const noexcept = 0;
};

/// Dense casts and quantizers: the encoded size is a function of the number of elements, and ranges that start at
/// multiples of the grain encode independently of each other.
class Codec : public Compressor {
 public:
  /// Elements that share a scale, from each tensor's first element on.
  virtual std::size_t grain() const noexcept = 0;
  /// Exactly what encode() writes for `elements`.
  virtual std::size_t wire_bytes(std::size_t elements) const noexcept = 0;
  /// Encodes `values`; `wire` has wire_bytes(values.size()). Non-finite values decode to non-finite ones.
  virtual void encode(std::span<const float> values, const Site& site, std::span<std::byte> wire) const = 0;
  /// As encode(), and leaves in `values` what the encoding lost: values - decode(wire). A range with a non-finite value
  /// leaves zeros.
  virtual void encode_feedback(std::span<float> values, const Site& site, std::span<std::byte> wire) const = 0;
  /// values = decode(wire) * factor.
  virtual void decode(std::span<const std::byte> wire, const Site& site, float factor,
                      std::span<float> values) const = 0;
  /// values += decode(wire).
  virtual void decode_add(std::span<const std::byte> wire, const Site& site, std::span<float> values) const = 0;
};

/// Methods that keep some elements of a whole tensor.
class Sparsifier : public Compressor {
 public:
  /// Upper bound of what encode() writes for a tensor of `elements`.
  virtual std::size_t max_wire_bytes(std::size_t elements) const noexcept = 0;
  /// Encodes a whole tensor and returns the bytes written. With error feedback what was sent is taken out of `values`.
  virtual std::size_t encode(std::span<float> values, const Site& site, std::span<std::byte> wire) const = 0;
  /// values[i] += the wire's element i. Throws Error{malformed} when `wire` is not a valid encoding for values.size()
  /// elements.
  virtual void decode_add(std::span<const std::byte> wire, const Site& site, std::span<float> values) const = 0;
};

}  // namespace ringlet::compress
