#include "train/report.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "ringlet/error.hpp"
#include "scratch_directory.hpp"
#include "support/catch.hpp"

namespace {

using namespace ringlet::train;

EpochReport example(std::size_t epoch) {
  return {.epoch = epoch,
          .loss = 0.5,
          .accuracy = 0.875,
          .images = 1000,
          .seconds = 2,
          .compute_seconds = 1.5,
          .waiting_seconds = 0.5,
          .negotiation_seconds = 0.1,
          .encode_seconds = 0.2,
          .wire_seconds = 0.3,
          .decode_seconds = 0.4,
          .bytes_sent = 250,
          .bytes_received = 260,
          .dense_bytes = 1000,
          .weights_hash = 0xABC};
}

}  // namespace

TEST_CASE("The JSON file holds one object an epoch with every figure", "[report]") {
  const ringlet::train::test::ScratchDirectory scratch("report");
  TrainOptions options;
  options.compression = "qsgd(bits=4)";
  options.json = scratch.path() / "run.json";
  write_json(std::vector{example(1)}, options, 4);
  write_json(std::vector{example(1), example(2)}, options, 4);
  const auto array = nlohmann::json::parse(std::ifstream(options.json));
  REQUIRE(array.size() == 2);
  const nlohmann::json expected{{"epoch", 2},
                                {"accuracy", 0.875},
                                {"loss", 0.5},
                                {"ratio", 4.0},
                                {"bytes_sent", 250},
                                {"bytes_received", 260},
                                {"dense_bytes", 1000},
                                {"seconds", 2.0},
                                {"weights_hash", "0000000000000abc"},
                                {"images_per_second", 500.0},
                                {"compute_seconds", 1.5},
                                {"waiting_seconds", 0.5},
                                {"negotiation_seconds", 0.1},
                                {"encode_seconds", 0.2},
                                {"wire_seconds", 0.3},
                                {"decode_seconds", 0.4},
                                {"spec", "qsgd(bits=4)"},
                                {"model", "cnn"},
                                {"ranks", 4}};
  REQUIRE(array[1] == expected);
}

TEST_CASE("A JSON file that cannot be written is an error that names it", "[report]") {
  TrainOptions options;
  options.json = "/nowhere/run.json";
  REQUIRE_THROWS_WITH(write_json({}, options, 1), Catch::Contains("/nowhere/run.json"));
}

TEST_CASE("Nothing sent has no ratio", "[report]") {
  EpochReport alone = example(1);
  alone.bytes_sent = 0;
  REQUIRE(alone.ratio() == 0);
  REQUIRE_THAT(describe(alone, {}), Catch::Contains("nothing sent"));
  REQUIRE_THAT(describe(example(1), {}), Catch::Contains("ratio 4.00") && Catch::Contains("87.50 %"));
  REQUIRE_THAT(summarise(std::vector{example(1), example(2)}, {}, 4),
               Catch::Contains("ratio 4.00") && Catch::Contains("4.0 s") && Catch::Contains("500 images/s"));
}
