#include "train/replica_check.hpp"

#include <vector>

#include "support/catch.hpp"

using ringlet::train::describe_differences;

TEST_CASE("Equal hashes leave nothing to say", "[replicas]") {
  REQUIRE(describe_differences(std::vector<std::uint64_t>{7}).empty());
  REQUIRE(describe_differences(std::vector<std::uint64_t>{7, 7, 7}).empty());
}

TEST_CASE("Ranks that differ are named", "[replicas]") {
  REQUIRE(
      describe_differences(std::vector<std::uint64_t>{7, 8, 7, 9}) ==
      "the weights of rank 1 (0000000000000008), rank 3 (0000000000000009) differ from rank 0's (0000000000000007)");
}
