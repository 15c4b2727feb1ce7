#include "compress/residual_store.hpp"

#include "support/catch.hpp"
#include "unit/compress/vectors.hpp"

using namespace ringlet;
using namespace ringlet::compress;
using namespace ringlet::test;

TEST_CASE("a tensor's residual starts as zeros and stays by name") {
  ResidualStore store;
  auto& a = store.entry("a");
  CHECK(store.bytes() == 0);
  const auto residual = store.residual(a, "a", 3);
  CHECK(std::vector<float>(residual.begin(), residual.end()) == std::vector<float>{0, 0, 0});
  residual[1] = 5;
  for (int i = 0; i < 1000; ++i) store.residual(store.entry(std::to_string(i)), "", 1);
  CHECK(&store.entry("a") == &a);
  CHECK(store.residual(a, "a", 3)[1] == 5);
  CHECK(store.bytes() == 4 * 1003);
  CHECK(store.residual(store.entry("empty"), "empty", 0).empty());
}

TEST_CASE("a tensor that changes its size is named with both sizes") {
  ResidualStore store;
  auto& entry = store.entry("conv1.weight");
  store.residual(entry, "conv1.weight", 10);
  CHECK(error_of([&] { store.residual(entry, "conv1.weight", 12); }) ==
        kMismatch +
            "tensor 'conv1.weight' has 12 elements, but its error-feedback residual has 10: a tensor keeps its size, "
            "or takes "
            "another name");
  CHECK(store.bytes() == 40);
}
