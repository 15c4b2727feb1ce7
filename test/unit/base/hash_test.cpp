#include "base/hash.hpp"

#include "support/catch.hpp"

TEST_CASE("the hash of a name is XXH3, on every rank and machine") {
  CHECK(ringlet::name_hash("") == 0x2d06800538d394c2);  // the published value for no input, seed 0
  CHECK(ringlet::name_hash("conv1.weight") != ringlet::name_hash("conv1.bias"));
}
