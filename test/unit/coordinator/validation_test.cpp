#include "coordinator/validation.hpp"

#include <numeric>

#include "coordinator/bucket_plan.hpp"
#include "support/catch.hpp"

using namespace ringlet;
using namespace ringlet::coordinator;

namespace {

std::string list(int count, std::size_t limit) {
  std::vector<int> ranks(static_cast<std::size_t>(count));
  std::iota(ranks.begin(), ranks.end(), 0);
  return rank_list(ranks, limit);
}

Request shaped(Shape shape, Kind kind = Kind::allreduce) {
  Request r;
  r.kind = kind;
  r.shape = shape;
  return r;
}

}  // namespace

TEST_CASE("rank lists are bounded") {
  CHECK(list(1, 8) == "rank 0");
  CHECK(list(2, 8) == "ranks 0, 1");
  CHECK(list(8, 8) == "ranks 0, 1, 2, 3, 4, 5, 6, 7");
  CHECK(list(100, 8) == "ranks 0, 1, 2, 3, 4, 5, 6, 7 and 92 more");
}

TEST_CASE("the tree: heap-shaped, four children each") {
  const Tree root(0, 23), inner(1, 23), last(5, 23), leaf(22, 23);
  CHECK(root.children() == std::vector<int>{1, 2, 3, 4});
  CHECK(inner.children() == std::vector<int>{5, 6, 7, 8});
  CHECK(last.children() == std::vector<int>{21, 22});
  CHECK(leaf.children().empty());
  CHECK(leaf.parent() == 5);
  CHECK(leaf.depth() == 3);
  CHECK(inner.depth() == 1);
  CHECK(root.depth() == 0);
  CHECK(root.deepest() == 3);
  CHECK(inner.parent() == 0);
  CHECK(root.branch_of(22) == 0);
  CHECK(root.branch_of(4) == 3);
  CHECK(root.branch_of(20) == 3);
  CHECK(inner.branch_of(21) == 0);
  CHECK(inner.branch_of(2) == 4);
  CHECK(root.expand({{5, true}, {2, false}, {2, false}}) == std::vector<int>{2, 5, 21, 22});
  CHECK(root.without({{1, true}, {3, true}}) == std::vector<int>{0, 2, 4, 9, 10, 11, 12, 17, 18, 19, 20});
  CHECK(root.without({{0, true}}).empty());
}

TEST_CASE("what must agree") {
  CHECK(agree(shaped({3, 4}), shaped({3, 4})));
  CHECK_FALSE(agree(shaped({3, 4}), shaped({4, 3})));
  CHECK_FALSE(agree(shaped({3, 4}), shaped({3, 4, 1})));
  for (const Kind kind : {Kind::allgather, Kind::alltoall}) {
    CHECK(agree(shaped({3, 4}, kind), shaped({7, 4}, kind)));
    CHECK_FALSE(agree(shaped({3, 4}, kind), shaped({3, 5}, kind)));
    CHECK_FALSE(agree(shaped({3}, kind), shaped({}, kind)));
  }
  CHECK_FALSE(agree(shaped({3}, Kind::broadcast), shaped({4}, Kind::broadcast)));
  CHECK(agree(shaped({3}, Kind::barrier), shaped({4}, Kind::barrier)));
  CHECK_FALSE(agree(shaped({3}, Kind::barrier), shaped({3})));
}

TEST_CASE("a mismatch text is bounded, in ranks and in values") {
  constexpr int kRanks = 1024;
  const Tree tree(0, kRanks);
  std::vector<Variant> two{{shaped({1}), {{1, true}}}, {shaped({2}), {{0, false}, {2, true}, {3, true}, {4, true}}}};
  CHECK(mismatch_text("x", two, tree) ==
        "allreduce \"x\": ranks 0, 2, 3, 4, 9, 10, 11, 12 and 675 more have shape [2], "
        "ranks 1, 5, 6, 7, 8, 21, 22, 23 and 333 more have shape [1]; every rank must pass the same shape");
  std::vector<Variant> many;
  for (int r = 0; r < kRanks; ++r) many.push_back({shaped({static_cast<std::size_t>(r)}), {{r, false}}});
  CHECK(mismatch_text("x", many, tree) ==
        "allreduce \"x\": rank 0 has shape [0], rank 1 has shape [1], rank 2 has shape [2], rank 3 has shape [3] and "
        "1020 more values; "
        "every rank must pass the same shape");
}

TEST_CASE("a mismatch names every field that differs") {
  const Tree tree(0, 2);
  Request a = shaped({3}), b = shaped({3});
  a.op = ReduceOp::sum;
  b.prescale = 0.5;
  const std::vector<Variant> variants{{b, {{1, false}}}, {a, {{0, false}}}};
  CHECK(mismatch_text("x", variants, tree) ==
        "allreduce \"x\": rank 0 has op sum, rank 1 has op average; rank 0 has prescale 1, rank 1 has prescale 0.5; "
        "every rank must pass the same op, prescale");
}

TEST_CASE("buckets: greedy, in order, past what does not match") {
  const auto names_of = [](std::vector<Request> requests, std::size_t threshold) {
    BucketPlan plan(threshold);
    for (const Request& r : requests) plan.add({nullptr, &r, false});
    std::vector<std::string> buckets;
    while (!plan.empty()) {
      std::string names;
      for (const auto& tensor : plan.next_bucket()) names += tensor.request->name;
      buckets.push_back(names);
    }
    return buckets;
  };
  const auto tensor = [](std::string name, std::size_t floats, DType dtype = DType::float32) {
    Request r = shaped({floats});
    r.name = std::move(name);
    r.dtype = dtype;
    return r;
  };
  using Buckets = std::vector<std::string>;
  const auto f64 = DType::float64;
  CHECK(names_of({tensor("a", 10), tensor("b", 10), tensor("c", 10)}, 120) == Buckets{"abc"});
  CHECK(names_of({tensor("a", 10), tensor("b", 10), tensor("c", 10)}, 119) == Buckets{"ab", "c"});
  CHECK(names_of({tensor("a", 10), tensor("b", 10)}, 0) == Buckets{"a", "b"});
  CHECK(names_of({tensor("a", 10), tensor("B", 10, f64), tensor("c", 10), tensor("D", 10, f64)}, 1000) ==
        Buckets{"ac", "BD"});
  CHECK(names_of({tensor("a", 5), tensor("big", 1000), tensor("c", 5)}, 100) == Buckets{"ac", "big"});
  CHECK(names_of({tensor("big", 1000), tensor("a", 5), tensor("c", 5)}, 100) == Buckets{"big", "ac"});
  CHECK(names_of({tensor("a", 20), tensor("b", 10), tensor("c", 5)}, 100) == Buckets{"ac", "b"});
  CHECK(names_of({tensor("a", 0), tensor("b", 0)}, 100) == Buckets{"ab"});
}

TEST_CASE("buckets: what keeps two tensors apart") {
  const Request base = shaped({4});
  CHECK(may_share_bucket(base, base));
  const auto apart = [&](auto change) {
    Request other = base;
    change(other);
    return !may_share_bucket(base, other) && !may_share_bucket(other, base);
  };
  CHECK(apart([](Request& r) { r.kind = Kind::broadcast; }));
  CHECK(apart([](Request& r) { r.dtype = DType::int32; }));
  CHECK(apart([](Request& r) { r.on_device = true; }));
  CHECK(apart([](Request& r) { r.op = ReduceOp::sum; }));
  CHECK(apart([](Request& r) { r.prescale = 2; }));
  CHECK(apart([](Request& r) { r.postscale = 2; }));
  CHECK(apart([](Request& r) { r.process_set = 1; }));
  CHECK(apart([](Request& r) { r.compression = "fp16"; }));
  CHECK(apart([](Request& r) { r.group = "other"; }));
  const Request broadcast = shaped({4}, Kind::broadcast);
  CHECK_FALSE(may_share_bucket(broadcast, broadcast));
}
