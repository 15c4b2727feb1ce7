// The loops, once, for whichever lanes_*.hpp the including file chose; that file opens the namespace. Nothing of the
// standard library beyond types: an inline function compiled here for AVX-512 could be the copy that the linker keeps
// for the whole program.

constexpr std::int32_t kInfinity = 0x7f800000;
constexpr std::int32_t kMagnitude = 0x7fffffff;

template <class T>
[[gnu::always_inline]] inline void copy_elements(T* to, const T* from, std::size_t n) {
  __builtin_memcpy(to, from, n * sizeof(T));
}

// A vector of `count` elements and zeros; the branch is gone where count is the constant kLanes.
template <class T>
[[gnu::always_inline]] inline auto load(const T* p, std::size_t count) {
  if (count == kLanes) return load(p);
  T pad[kLanes] = {};
  copy_elements(pad, p, count);
  return load(pad);
}

template <class T, class V>
[[gnu::always_inline]] inline void store(T* p, V v, std::size_t count) {
  if (count == kLanes) return store(p, v);
  T pad[kLanes];
  store(pad, v);
  copy_elements(p, pad, count);
}

// Calls body(i, count) over [0, n): count is kLanes but for the last.
template <class Body>
[[gnu::always_inline]] inline void sweep(std::size_t n, Body body) {
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) body(i, kLanes);
  if (i < n) body(i, n - i);
}

[[gnu::always_inline]] inline I magnitude(F v) { return bits(v) & kMagnitude; }
[[gnu::always_inline]] inline F finite_or_zero(F v) { return floats(bits(v) & ((bits(v) & kInfinity) != kInfinity)); }

// ---- what a decoded vector does to memory ----

struct Set {
  [[gnu::always_inline]] static void apply(float* y, F v, std::size_t count) { store(y, v, count); }
};
struct Add {
  [[gnu::always_inline]] static void apply(float* y, F v, std::size_t count) { store(y, load(y, count) + v, count); }
};
struct Subtract {
  [[gnu::always_inline]] static void apply(float* y, F v, std::size_t count) {
    store(y, finite_or_zero(load(y, count) - v), count);
  }
};

// ---- casts ----

struct Fp16 {
  [[gnu::always_inline]] static F get(const void* p) { return load_half(p); }
  [[gnu::always_inline]] static void put(void* p, F v) {
    const I a = magnitude(v);
    const I finite = a < kInfinity;
    const I clamped = (finite & min(a, bits(broadcast(65504.0F)))) | (~finite & a);
    store_half(p, floats((bits(v) & ~kMagnitude) | clamped));
  }
};

struct Bf16 {
  [[gnu::always_inline]] static F get(const void* p) { return floats(shift_left(load16(p), 16)); }
  [[gnu::always_inline]] static void put(void* p, F v) {
    const I a = magnitude(v);
    const I finite = a < kInfinity;
    const I even = min(a, broadcast(kInfinity)) + 0x7fff + (shift_right(a, 16) & 1);
    const I special = a | ((a > kInfinity) & 0x400000);
    const I rounded = (finite & min(even, broadcast(kInfinity - 1))) | (~finite & special);
    store16(p, shift_right((bits(v) & ~kMagnitude) | rounded, 16));
  }
};

template <class Format>
void cast(const float* x, std::size_t n, float factor, std::byte* wire) {
  const F by = broadcast(factor);
  sweep(
      n, [=](std::size_t i, std::size_t count) __attribute__((always_inline)) {
        const F v = load(x + i, count) * by;
        if (count == kLanes) return Format::put(wire + 2 * i, v);
        std::byte pad[2 * kLanes];
        Format::put(pad, v);
        copy_elements(wire + 2 * i, pad, 2 * count);
      });
}

template <class Format, class Action>
void uncast(const std::byte* wire, std::size_t n, Factors by, float* y) {
  const F first = broadcast(by.first), second = broadcast(by.second);
  sweep(
      n, [=](std::size_t i, std::size_t count) __attribute__((always_inline)) {
        if (count == kLanes) return Action::apply(y + i, Format::get(wire + 2 * i) * first * second, count);
        std::byte pad[2 * kLanes] = {};
        copy_elements(pad, wire + 2 * i, 2 * count);
        Action::apply(y + i, Format::get(pad) * first * second, count);
      });
}

// ---- measures ----

// A grain is measured before it is quantized, and the hardware prefetcher stops at the end of each: 4 KiB ahead keeps
// memory busy.
[[gnu::always_inline]] inline void prefetch_ahead(const float* p) {
  __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(p) + 4096));
}

static std::uint32_t max_abs_bits(const float* x, std::size_t n) {
  I most[4] = {};
  std::size_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    for (std::size_t k = 0; k < 4; ++k) {
      prefetch_ahead(x + i + k * kLanes);
      most[k] = max(most[k], magnitude(load(x + i + k * kLanes)));
    }
  }
  sweep(
      n - i, [&](std::size_t j, std::size_t count)
                 __attribute__((always_inline)) { most[0] = max(most[0], magnitude(load(x + i + j, count))); });
  return static_cast<std::uint32_t>(largest(max(max(most[0], most[1]), max(most[2], most[3]))));
}

[[gnu::always_inline]] inline I order_keys(F v) { return bits(v) ^ ((bits(v) >> 31) & kMagnitude); }

static KeyRange key_range(const float* x, std::size_t n) {
  I low = order_keys(broadcast(x[0])), high = low;
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    prefetch_ahead(x + i);
    const I key = order_keys(load(x + i));
    low = min(low, key);
    high = max(high, key);
  }
  for (; i < n; ++i) {
    const I key = order_keys(broadcast(x[i]));
    low = min(low, key);
    high = max(high, key);
  }
  return {~largest(~low), largest(high)};
}

static float sum_squares(const float* x, std::size_t n, float factor) {
  constexpr std::size_t kTotal = 16, kVectors = kTotal / kLanes;
  const F by = broadcast(factor);
  F sums[kVectors] = {};
  for (std::size_t i = 0; i < n; i += kTotal) {
    for (std::size_t k = 0; k < kVectors; ++k) {
      const std::size_t at = i + k * kLanes;
      if (at >= n) break;
      const F v = load(x + at, n - at < kLanes ? n - at : kLanes) * by;
      sums[k] += v * v;
    }
  }
  float lanes[kTotal];
  for (std::size_t k = 0; k < kVectors; ++k) store(lanes + k * kLanes, sums[k]);
  for (std::size_t half = kTotal / 2; half > 0; half /= 2) {
    for (std::size_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  }
  return lanes[0];
}

// ---- quantizing ----

static void dither(const PhiloxKey& key, std::uint64_t unit, std::size_t units, std::uint16_t* out) {
  constexpr std::size_t kBlocks = kLanes / 2, kVectors = 8 / kBlocks;  // a unit is 8 blocks
  static_assert(kChains % kVectors == 0 || kVectors % kChains == 0);
  const W m0 = broadcast(std::uint64_t{0xD2511F53}), m1 = broadcast(std::uint64_t{0xCD9E8D57});
  const W counter2 = broadcast(key.counter_high), counter3 = broadcast(key.counter_high >> 32);
  W round_keys[20];
  for (std::size_t i = 0; i < 20; ++i) round_keys[i] = broadcast(std::uint64_t{key.round_keys[i]});
  const std::size_t vectors = units * kVectors;
  for (std::size_t v = 0; v < vectors; v += kChains) {
    W x0[kChains], x1[kChains], x2[kChains], x3[kChains];
    for (std::size_t c = 0; c < kChains; ++c) {
      x0[c] = counters(unit * 8 + (v + c) * kBlocks);
      x1[c] = x0[c] >> 32;
      x2[c] = counter2;
      x3[c] = counter3;
    }
#pragma GCC unroll 10
    for (std::size_t round = 0; round < 10; ++round) {
      for (std::size_t c = 0; c < kChains; ++c) {  // upper halves of the lanes hold garbage that no product sees
        const W p0 = multiply_low(x0[c], m0), p1 = multiply_low(x2[c], m1);
        x0[c] = xor3(p1 >> 32, x1[c], round_keys[2 * round]);
        x2[c] = xor3(p0 >> 32, x3[c], round_keys[2 * round + 1]);
        x1[c] = p1;
        x3[c] = p0;
      }
    }
    for (std::size_t c = 0; c < kChains && v + c < vectors; ++c) {
      std::uint16_t* at = out + (v + c) / kVectors * 64 + (v + c) % kVectors * 4 * kBlocks;
      store64(at, join_low(x0[c], x1[c]));
      store64(at + 32, join_low(x2[c], x3[c]));
    }
  }
}

// 16 random bits r as (r + 1/2) / 65536, in the middle of the interval that r stands for: without bias.
[[gnu::always_inline]] inline F fraction(I r) { return floats(shift_left(r, 7) | 0x3f800000) - (1.0F - 0x1p-17F); }

[[gnu::always_inline]] inline I rounding_load(const std::uint16_t* p, std::size_t count) {
  if (count == kLanes) return load16(p);
  std::uint16_t pad[kLanes] = {};
  copy_elements(pad, p, count);
  return load16(pad);
}

template <bool kCentered, bool kStochastic>
void quantize_as(const float* x, std::size_t n, const Grid& grid, const std::uint16_t* random, std::uint8_t* codes) {
  const F prescale = broadcast(grid.prescale), inverse = broadcast(grid.inverse), levels = broadcast(grid.levels);
  const F low = broadcast(grid.low * grid.prescale);
  const I zero = broadcast(static_cast<std::int32_t>(grid.levels));
  sweep(
      n, [=](std::size_t i, std::size_t count) __attribute__((always_inline)) {
        const F v = load(x + i, count);
        const F u = kStochastic ? fraction(rounding_load(random + i, count)) : broadcast(0.5F);
        if constexpr (kCentered) {
          const I level = truncated(min(floats(magnitude(v)) * prescale * inverse, levels) + u);
          const I sign = bits(v) >> 31;
          store(codes + i, zero + ((level ^ sign) - sign), count);
        } else {
          store(codes + i, truncated(max(min((v * prescale - low) * inverse, levels), broadcast(0.0F)) + u), count);
        }
      });
}

static void quantize(const float* x, std::size_t n, const Grid& grid, const std::uint16_t* random,
                     std::uint8_t* codes) {
  if (grid.centered) {
    return random ? quantize_as<true, true>(x, n, grid, random, codes)
                  : quantize_as<true, false>(x, n, grid, random, codes);
  }
  return random ? quantize_as<false, true>(x, n, grid, random, codes)
                : quantize_as<false, false>(x, n, grid, random, codes);
}

template <bool kCentered, class Action>
void dequantize_as(const std::uint8_t* codes, std::size_t n, const Grid& grid, float factor, float* y) {
  const F unit = broadcast(grid.unit), low = broadcast(grid.low), high = broadcast(grid.high), one = broadcast(1.0F);
  const F by = broadcast(factor);
  const I zero = broadcast(static_cast<std::int32_t>(grid.levels));
  sweep(
      n, [=](std::size_t i, std::size_t count) __attribute__((always_inline)) {
        const I code = load(codes + i, count);
        F v;
        if constexpr (kCentered) {
          v = max(min(to_float(code - zero) * unit, one), -one) * high;
        } else {
          const F at = min(to_float(code) * unit, one);
          v = low * (one - at) + high * at;
        }
        Action::apply(y + i, v * by, count);
      });
}

template <class Action>
void dequantize(const std::uint8_t* codes, std::size_t n, const Grid& grid, float factor, float* y) {
  grid.centered ? dequantize_as<true, Action>(codes, n, grid, factor, y)
                : dequantize_as<false, Action>(codes, n, grid, factor, y);
}

template <class Action>
void dequantize_plain(const std::uint8_t* codes, std::size_t n, const Grid& grid, float* y) {
  dequantize<Action>(codes, n, grid, 1.0F, y);
}

// ---- packing ----

[[gnu::always_inline]] inline std::uint64_t little_endian(std::uint64_t v) {
  return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? v : __builtin_bswap64(v);
}

[[gnu::always_inline]] inline std::uint64_t load_some(const void* p, std::size_t bytes) {
  std::uint64_t v = 0;
  __builtin_memcpy(&v, p, bytes);
  return little_endian(v);
}

[[gnu::always_inline]] inline void store_some(void* p, std::uint64_t v, std::size_t bytes) {
  v = little_endian(v);
  __builtin_memcpy(p, &v, bytes);
}

// Eight bytes of `bits` bits each, pushed together from both ends of ever longer pairs: bytes, 16-bit halves, 32-bit
// halves.
[[gnu::always_inline]] inline std::uint64_t squeeze(std::uint64_t v, unsigned bits) {
  const unsigned gap = 8 - bits;
  v = (v & 0x00ff00ff00ff00ff) | ((v & 0xff00ff00ff00ff00) >> gap);
  v = (v & 0x0000ffff0000ffff) | ((v & 0xffff0000ffff0000) >> 2 * gap);
  return (v & 0x00000000ffffffff) | ((v & 0xffffffff00000000) >> 4 * gap);
}

// The way back, for the low 8 bits bits of v.
[[gnu::always_inline]] inline std::uint64_t spread(std::uint64_t v, unsigned bits) {
  const unsigned gap = 8 - bits;
  const auto low = [](unsigned count) __attribute__((always_inline)) { return (std::uint64_t{1} << count) - 1; };
  const std::uint64_t quad = low(4 * bits), pair = low(2 * bits) * 0x100000001, single = low(bits) * 0x0001000100010001;
  v = (v & quad) | ((v & (quad << 4 * bits)) << 4 * gap);
  v = (v & pair) | ((v & (pair << 2 * bits)) << 2 * gap);
  return (v & single) | ((v & (single << bits)) << gap);
}

// Codes by eights; whole words are moved while there is room for one, for a partial one costs more than the packing.
template <unsigned kBits>
void pack_as(const std::uint8_t* codes, std::size_t n, std::byte* wire) {
  const std::byte* end = wire + packed_bytes(n, kBits);
  for (; n >= 8 && end - wire >= 8; n -= 8, codes += 8, wire += kBits)
    store_some(wire, squeeze(load_some(codes, 8), kBits), 8);
  for (; n >= 8; n -= 8, codes += 8, wire += kBits) store_some(wire, squeeze(load_some(codes, 8), kBits), kBits);
  if (n > 0) store_some(wire, squeeze(load_some(codes, n), kBits), packed_bytes(n, kBits));
}

template <unsigned kBits>
void unpack_as(const std::byte* wire, std::size_t n, std::uint8_t* codes) {
  const std::byte* end = wire + packed_bytes(n, kBits);
  for (; n >= 8 && end - wire >= 8; n -= 8, codes += 8, wire += kBits)
    store_some(codes, spread(load_some(wire, 8), kBits), 8);
  for (; n >= 8; n -= 8, codes += 8, wire += kBits) store_some(codes, spread(load_some(wire, kBits), kBits), 8);
  if (n > 0) store_some(codes, spread(load_some(wire, packed_bytes(n, kBits)), kBits), n);
}

// Widths that divide a byte: byte by byte, which the compiler turns into vectors.
template <>
void pack_as<4>(const std::uint8_t* __restrict codes, std::size_t n, std::byte* __restrict wire) {
  for (std::size_t i = 0; i < n / 2; ++i) wire[i] = static_cast<std::byte>(codes[2 * i] | codes[2 * i + 1] << 4);
  if (n % 2 != 0) wire[n / 2] = static_cast<std::byte>(codes[n - 1]);
}

template <>
void unpack_as<4>(const std::byte* __restrict wire, std::size_t n, std::uint8_t* __restrict codes) {
  for (std::size_t i = 0; i < n / 2; ++i) {
    codes[2 * i] = static_cast<std::uint8_t>(wire[i]) & 15;
    codes[2 * i + 1] = static_cast<std::uint8_t>(wire[i]) >> 4;
  }
  if (n % 2 != 0) codes[n - 1] = static_cast<std::uint8_t>(wire[n / 2]) & 15;
}

template <>
void pack_as<2>(const std::uint8_t* __restrict codes, std::size_t n, std::byte* __restrict wire) {
  for (std::size_t i = 0; i < n / 4; ++i) {
    wire[i] =
        static_cast<std::byte>(codes[4 * i] | codes[4 * i + 1] << 2 | codes[4 * i + 2] << 4 | codes[4 * i + 3] << 6);
  }
  if (n % 4 != 0) store_some(wire + n / 4, squeeze(load_some(codes + n / 4 * 4, n % 4), 2), 1);
}

template <>
void pack_as<8>(const std::uint8_t* codes, std::size_t n, std::byte* wire) {
  if (n > 0) __builtin_memcpy(wire, codes, n);
}

template <>
void unpack_as<8>(const std::byte* wire, std::size_t n, std::uint8_t* codes) {
  if (n > 0) __builtin_memcpy(codes, wire, n);
}

constexpr decltype(&pack_as<1>) kPack[] = {pack_as<1>, pack_as<2>, pack_as<3>, pack_as<4>,
                                           pack_as<5>, pack_as<6>, pack_as<7>, pack_as<8>};
constexpr decltype(&unpack_as<1>) kUnpack[] = {unpack_as<1>, unpack_as<2>, unpack_as<3>, unpack_as<4>,
                                               unpack_as<5>, unpack_as<6>, unpack_as<7>, unpack_as<8>};

static void pack(const std::uint8_t* codes, std::size_t n, unsigned bits, std::byte* wire) {
  kPack[bits - 1](codes, n, wire);
}
static void unpack(const std::byte* wire, std::size_t n, unsigned bits, std::uint8_t* codes) {
  kUnpack[bits - 1](wire, n, codes);
}

// ---- the rest ----

static void add(const float* x, std::size_t n, float* y) {
  sweep(
      n, [=](std::size_t i, std::size_t count)
             __attribute__((always_inline)) { Add::apply(y + i, load(x + i, count), count); });
}

static void scale(std::size_t n, float factor, float* y) {
  const F by = broadcast(factor);
  sweep(
      n, [=](std::size_t i, std::size_t count)
             __attribute__((always_inline)) { store(y + i, load(y + i, count) * by, count); });
}

static std::size_t compact(const float* x, std::size_t n, std::uint32_t first, std::uint32_t threshold,
                           std::uint32_t* indices, float* values) {
  const I least = broadcast(static_cast<std::int32_t>(threshold));
  std::size_t found = 0;
  sweep(
      n, [&](std::size_t i, std::size_t count) __attribute__((always_inline)) {
        const F v = load(x + i, count);
        found += emit(at_least(magnitude(v), least), first + static_cast<std::uint32_t>(i), v, indices + found,
                      values + found);
      });
  return found;
}

const Loops kLoops{
    .to_fp16 = cast<Fp16>,
    .from_fp16 = uncast<Fp16, Set>,
    .add_fp16 = uncast<Fp16, Add>,
    .subtract_fp16 = uncast<Fp16, Subtract>,
    .to_bf16 = cast<Bf16>,
    .from_bf16 = uncast<Bf16, Set>,
    .add_bf16 = uncast<Bf16, Add>,
    .subtract_bf16 = uncast<Bf16, Subtract>,
    .max_abs_bits = max_abs_bits,
    .key_range = key_range,
    .sum_squares = sum_squares,
    .dither = dither,
    .quantize = quantize,
    .dequantize = dequantize<Set>,
    .add_dequantized = dequantize_plain<Add>,
    .subtract_dequantized = dequantize_plain<Subtract>,
    .pack = pack,
    .unpack = unpack,
    .add = add,
    .scale = scale,
    .compact = compact,
};
