#include "compress/spec.hpp"

#include "base/settings.hpp"
#include "compress/arguments.hpp"
#include "support/catch.hpp"
#include "unit/compress/vectors.hpp"

using namespace ringlet;
using namespace ringlet::compress;
using namespace ringlet::test;
using Args = std::vector<std::pair<std::string, std::string>>;

namespace {
std::string parse_error(const std::string& text) {
  return error_of([&] { parse_spec(text); });
}
std::string make_error(const std::string& spec) {
  return error_of([&] { Registry().make(spec); });
}
std::string canonical(const std::string& spec) { return Registry().make(spec)->spec(); }
}  // namespace

TEST_CASE("a spec is names with arguments, in stages") {
  const auto bare = parse_spec("fp16");
  REQUIRE(bare.size() == 1);
  CHECK(bare[0].name == "fp16");
  CHECK(bare[0].args.empty());

  CHECK(parse_spec("fp16()")[0].args.empty());
  CHECK(parse_spec(" qsgd ( bits = 4 ,\tbucket= 512 )\n")[0].args == Args{{"bits", "4"}, {"bucket", "512"}});
  CHECK(parse_spec("a(x=b(c=1,d=(2)) e, y=2)")[0].args == Args{{"x", "b(c=1,d=(2)) e"}, {"y", "2"}});

  const auto stages = parse_spec("topk(ratio=0.001) | ternary|golomb(m=3)");
  REQUIRE(stages.size() == 3);
  CHECK(stages[0].args == Args{{"ratio", "0.001"}});
  CHECK(stages[1].name == "ternary");
  CHECK(stages[2].args == Args{{"m", "3"}});
}

TEST_CASE("a spec that does not parse shows the text, the place and what belongs there") {
  CHECK(parse_error("qsgd(bits=4") ==
        kInvalid + "compression \"qsgd(bits=4\", position 12: expected ',' or ')', found the end");
  CHECK(parse_error("qsgd(bits)") ==
        kInvalid + "compression \"qsgd(bits)\", position 10: expected '=' and a value for 'bits', found ')'");
  CHECK(parse_error("qsgd(bits=,)") ==
        kInvalid + "compression \"qsgd(bits=,)\", position 11: expected a value for 'bits', found ','");
  CHECK(parse_error("qsgd(=4)") ==
        kInvalid + "compression \"qsgd(=4)\", position 6: expected the name of an argument, found '='");
  CHECK(parse_error("topk||x") ==
        kInvalid + "compression \"topk||x\", position 6: expected the name of a method, found '|'");
  CHECK(parse_error("topk|") ==
        kInvalid + "compression \"topk|\", position 6: expected the name of a method, found the end");
  CHECK(parse_error("fp16)") ==
        kInvalid + "compression \"fp16)\", position 5: expected '(', '|' or the end, found ')'");
  CHECK(parse_error("a(x=1,x=2)") ==
        kInvalid +
            "compression \"a(x=1,x=2)\", position 7: expected another argument: 'x' is there already, found 'x'");
  CHECK(parse_error("") == kInvalid + "compression \"\", position 1: expected the name of a method, found the end");
}

TEST_CASE("the canonical spec has every argument and makes itself again") {
  CHECK(canonical("qsgd") == "qsgd(bits=4,bucket=512,norm=linf,rounding=stochastic,ef=on)");
  CHECK(canonical(" qsgd( norm=minmax, bits=1 ) ") == "qsgd(bits=1,bucket=512,norm=minmax,rounding=stochastic,ef=off)");
  CHECK(canonical("topk") == "topk(ratio=0.01,ef=on)");
  CHECK(canonical("topk(ratio=1e-5)") == "topk(ratio=1e-05,ef=on)");
  CHECK(canonical("topk(k=7,ef=off)") == "topk(k=7,ef=off)");
  CHECK(canonical("fp16") == "fp16(ef=off)");
  CHECK(canonical("bf16(ef=on)") == "bf16(ef=on)");
  for (const char* spec : {"qsgd(bits=8,norm=l2)", "topk(ratio=1e-5)", "fp16", "bf16"}) {
    CHECK(canonical(canonical(spec)) == canonical(spec));
  }
}

TEST_CASE("none is no compressor") {
  CHECK(Registry().make("") == nullptr);
  CHECK(Registry().make("  ") == nullptr);
  CHECK(Registry().make("none") == nullptr);
  CHECK(make_error("none(x=1)") == kInvalid + "none: takes no arguments, got x=1");
}

TEST_CASE("a wrong argument is named with its value and its range") {
  CHECK(make_error("qsgd(bits=9)") == kInvalid + "qsgd: bits=9 is not an integer from 1 to 8");
  CHECK(make_error("qsgd(bits=4.5)") == kInvalid + "qsgd: bits=4.5 is not an integer from 1 to 8");
  CHECK(make_error("qsgd(bucket=0)") == kInvalid + "qsgd: bucket=0 is not an integer from 1 to 1048576");
  CHECK(make_error("qsgd(bucket=-1)") == kInvalid + "qsgd: bucket=-1 is not an integer from 1 to 1048576");
  CHECK(make_error("qsgd(bucket=99999999999999999999)") ==
        kInvalid + "qsgd: bucket=99999999999999999999 is not an integer from 1 to 1048576");
  CHECK(make_error("qsgd(norm=l3)") == kInvalid + "qsgd: norm=l3 is not one of linf, l2, minmax");
  CHECK(make_error("qsgd(ef=yes)") == kInvalid + "qsgd: ef=yes is not on or off");
  CHECK(make_error("topk(ratio=0)") == kInvalid + "topk: ratio=0 is not a number above 0 and at most 1");
  CHECK(make_error("topk(ratio=nan)") == kInvalid + "topk: ratio=nan is not a number above 0 and at most 1");
  CHECK(make_error("topk(ratio=0.1x)") == kInvalid + "topk: ratio=0.1x is not a number above 0 and at most 1");
  CHECK(make_error("topk(ratio=0.1,k=5)") == kInvalid + "topk: takes ratio or k, not both");
  CHECK(make_error("qsgd(bit=4)") ==
        kInvalid +
            "qsgd: unknown argument bit=4; did you mean bits? It takes bits, bucket, norm, "
            "rounding, ef");
  CHECK(make_error("qsdg") == kInvalid + "no compression method 'qsdg'; did you mean 'qsgd'?");
  CHECK(make_error("topk|qsgd") ==
        kInvalid + "compression \"topk|qsgd\" has 2 stages; 'topk' and 'qsgd' cannot be chained: name one method");
}

TEST_CASE("what cannot work is refused with the reason and a spec that can") {
  CHECK(make_error("qsgd(bits=1)") ==
        kInvalid + "qsgd: bits=1 leaves norm=linf no level but zero: use bits=2..8, or bits=1,norm=minmax");
  CHECK(
      make_error("qsgd(bits=4,norm=l2,ef=on)") ==
      kInvalid +
          "qsgd: ef=on: the residual of bits=4,bucket=512,norm=l2 grows without bound (its error is up to 3.23 of the "
          "input, and must be below 1); nearest valid: qsgd(bits=6,bucket=512,norm=l2,rounding=stochastic,ef=on) or "
          "qsgd(bits=4,bucket=512,norm=l2,rounding=stochastic,ef=off)");
  CHECK(canonical("qsgd(bits=6,bucket=512,norm=l2,ef=on)") ==
        "qsgd(bits=6,bucket=512,norm=l2,rounding=stochastic,ef=on)");
  CHECK(make_error("qsgd(bits=1,norm=minmax,ef=on)") ==
        kInvalid +
            "qsgd: ef=on: the residual of bits=1,bucket=512,norm=minmax grows without bound (two levels have no room "
            "for it); "
            "nearest valid: qsgd(bits=2,bucket=512,norm=minmax,rounding=stochastic,ef=on) or "
            "qsgd(bits=1,bucket=512,norm=minmax,rounding=stochastic,ef=off)");
  CHECK_FALSE(Registry().make("qsgd(bits=4,norm=l2)")->error_feedback());
  CHECK(Registry().make("qsgd(bits=8,norm=l2)")->error_feedback());
  // no number of bits is enough for so large a bucket: the suggestion has a smaller one
  const std::string large = make_error("qsgd(norm=l2,bucket=65536,ef=on)");
  CHECK(large.find("nearest valid: qsgd(bits=8,bucket=8192,norm=l2,rounding=stochastic,ef=on) or") !=
        std::string::npos);
  CHECK(Registry().make("qsgd(bits=8,bucket=8192,norm=l2,ef=on)") != nullptr);
}

TEST_CASE("a user's method is as good as a built-in one") {
  Registry registry;
  registry.add({"mine", Family::dense, "level=1", "", [](Arguments& arguments) {
                  arguments.integer("level", 1, 1, 3);
                  return std::shared_ptr<const Compressor>();
                }});
  CHECK(registry.find("mine").parameters == "level=1");
  CHECK(registry.make("mine(level=2)") == nullptr);
  CHECK(error_of([&] { registry.make("mine(level=4)"); }) == kInvalid + "mine: level=4 is not an integer from 1 to 3");
  CHECK(error_of([&] { registry.add(Registry().find("qsgd")); }) ==
        kInvalid + "a compression method named 'qsgd' is there already: choose another name");
  std::vector<std::string> names;
  for (const Method& method : registry.methods()) names.push_back(method.name);
  CHECK(names == std::vector<std::string>{"none", "fp16", "bf16", "qsgd", "topk", "mine"});
}

TEST_CASE("the family of a method is that of what it makes") {
  const Registry registry;
  for (const Method& method : registry.methods()) {
    const auto made = registry.make(method.name);
    if (made) CHECK(made->family() == method.family);
  }
  CHECK(std::string(to_string(Family::dense)) == "dense");
  CHECK(std::string(to_string(Family::low_rank)) == "low_rank");
}

TEST_CASE("nearest is by edit distance, the first of equals") {
  const std::vector<std::string> known{"bits", "bucket", "norm"};
  CHECK(nearest("bit", known) == "bits");
  CHECK(nearest("buckets", known) == "bucket");
  CHECK(nearest("nrom", known) == "norm");
  CHECK(nearest("", known) == "bits");
  CHECK(nearest("x", std::vector<std::string>{"a", "b"}) == "a");
  CHECK(nearest("x", std::vector<std::string>{}).empty());
}
