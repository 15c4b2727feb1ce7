#include "compress/rules.hpp"

#include "support/catch.hpp"
#include "unit/compress/vectors.hpp"

using namespace ringlet;
using namespace ringlet::compress;
using namespace ringlet::test;

namespace {
std::string chosen(const std::string& rules, const std::string& name) {
  const auto compressor = Rules(rules, Registry()).match(name);
  return compressor ? compressor->spec() : "none";
}
std::string rules_error(const std::string& rules) {
  return error_of([&] { Rules(rules, Registry()); });
}
const std::string kQsgd = "qsgd(bits=4,bucket=512,norm=linf,rounding=stochastic,ef=on)";
}  // namespace

TEST_CASE("the first rule whose pattern matches decides") {
  const std::string rules = " *.bias = none ; embed*=topk( ratio = 0.001 ); *=qsgd(bits=4);";
  CHECK(chosen(rules, "conv1.bias") == "none");
  CHECK(chosen(rules, "embed.bias") == "none");
  CHECK(chosen(rules, "embed.weight") == "topk(ratio=0.001,ef=on)");
  CHECK(chosen(rules, "fc.weight") == kQsgd);
  CHECK(chosen("conv*=fp16", "fc.weight") == "none");
}

TEST_CASE("a bare spec is for every tensor, whatever equals signs are in its parentheses") {
  CHECK(chosen("qsgd(bits=4)", "anything") == kQsgd);
  CHECK(chosen("fp16", "") == "fp16(ef=off)");
  CHECK(chosen("a=none;qsgd(bits=4)", "b") == kQsgd);
  CHECK(Rules("", Registry()).empty());
  CHECK(Rules(" ; ;", Registry()).empty());
  CHECK_FALSE(Rules("none", Registry()).empty());
  CHECK(Rules().match("x") == nullptr);
}

TEST_CASE("patterns know * and ?") {
  const auto matches = [](const std::string& pattern, const std::string& name) {
    return chosen(pattern + "=fp16", name) != "none";
  };
  CHECK(matches("a", "a"));
  CHECK_FALSE(matches("a", "ab"));
  CHECK_FALSE(matches("ab", "a"));
  CHECK(matches("a?c", "abc"));
  CHECK_FALSE(matches("a?c", "ac"));
  CHECK(matches("a*c", "ac"));
  CHECK(matches("a*c", "abcbc"));
  CHECK_FALSE(matches("a*c", "abcb"));
  CHECK(matches("*.w*t", "x.y.weight"));
  CHECK(matches("**a**", "bab"));
  CHECK(matches("*", ""));
  CHECK_FALSE(matches("?", ""));
  CHECK(matches("layer.?.*", "layer.3.weight"));
  CHECK_FALSE(matches("layer.?.*", "layer.13.weight"));
  CHECK_FALSE(matches("*a*a*a*a*a*a*a*a*b", std::string(2000, 'a')));  // no exponential search
}

TEST_CASE("a bad rule is an error when the rules are made") {
  CHECK(rules_error("=fp16") == kInvalid + "compression rule \"=fp16\": expected pattern=spec, such as *.bias=none");
  CHECK(rules_error("a=") == kInvalid + "compression rule \"a=\": expected pattern=spec, such as *.bias=none");
  CHECK(rules_error("a=fp16;b=qsdg") == kInvalid + "no compression method 'qsdg'; did you mean 'qsgd'?");
  CHECK(rules_error("a=qsgd(bits=4;b=fp16") ==
        kInvalid + "compression \"qsgd(bits=4;b=fp16\", position 19: expected ',' or ')', found the end");
}
