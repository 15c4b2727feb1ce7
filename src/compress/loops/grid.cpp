#include "compress/loops/grid.hpp"

#include <cmath>

namespace ringlet::compress {
namespace {

constexpr float kHuge = 0x1p64F;
constexpr float kTiny = 0x1p-64F;

float unit_of(float levels) noexcept {
  const float unit = 1.0F / levels;
  return unit * levels < 1.0F ? std::nextafter(unit, 1.0F) : unit;
}

// Sums of two magnitudes up to `largest` must not overflow, and levels / range must not underflow or overflow.
float prescale_for(float largest) noexcept { return largest > kHuge ? kTiny : 1.0F; }

Grid make_grid(Grid grid, float range, float prescale) noexcept {
  if (range < kTiny) {
    range *= kHuge;
    prescale *= kHuge;
  }
  grid.unit = unit_of(grid.levels);
  grid.prescale = prescale;
  grid.inverse = range > 0 ? grid.levels / range : 0.0F;
  return grid;
}

}  // namespace

Grid centered_grid(float high, unsigned levels) noexcept {
  const float prescale = prescale_for(high);
  return make_grid({.centered = true, .low = -high, .high = high, .levels = static_cast<float>(levels)},
                   high * prescale, prescale);
}

Grid range_grid(float low, float high, unsigned levels) noexcept {
  const float prescale = prescale_for(std::fmax(std::fabs(low), std::fabs(high)));
  return make_grid({.centered = false, .low = low, .high = high, .levels = static_cast<float>(levels)},
                   high * prescale - low * prescale, prescale);
}

}  // namespace ringlet::compress
