#include "base/log.hpp"

#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"

using namespace ringlet;

TEST_CASE("a line names program, rank and level") {
  std::ostringstream out;
  const Logger log("warning", 3, &out);
  log.warn("late: {} is text and no format");
  log.error("gone");
  CHECK(out.str() == "ringlet [rank 3] warning: late: {} is text and no format\nringlet [rank 3] error: gone\n");
}

TEST_CASE("before the rank is known the line has none") {
  std::ostringstream out;
  Logger("info", -1, &out).info("starting");
  CHECK(out.str() == "ringlet info: starting\n");
}

TEST_CASE("the level decides what is printed") {
  const auto printed = [](const char* level) {
    std::ostringstream out;
    const Logger log(level, 0, &out);
    log.debug("d");
    log.info("i");
    log.warn("w");
    log.error("e");
    std::string seen;
    std::istringstream lines(out.str());
    for (std::string line; std::getline(lines, line);) seen += line.back();
    return seen;
  };
  CHECK(printed("trace") == "diwe");
  CHECK(printed("debug") == "diwe");
  CHECK(printed("info") == "iwe");
  CHECK(printed("warning") == "we");
  CHECK(printed("error") == "e");
  CHECK(printed("fatal").empty());
  CHECK(printed("off").empty());
}

TEST_CASE("warn_once says it once, counts for all copies, and tells keys apart") {
  std::ostringstream out;
  const Logger log("warning", 0, &out);
  const Logger copy = log;
  CHECK(log.warn_once("nan", "first") == 1);
  CHECK(copy.warn_once("nan", "second") == 2);
  CHECK(log.warn_once("inf", "other") == 1);
  CHECK(log.times("nan") == 2);
  CHECK(log.times("never") == 0);
  CHECK(out.str() == "ringlet [rank 0] warning: first\nringlet [rank 0] warning: other\n");
}

TEST_CASE("threads share a logger: whole lines, one of a kind") {
  std::ostringstream out;
  const Logger log("warning", 0, &out);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([log] {
      for (int i = 0; i < 100; ++i) {
        log.warn_once("once", "once");
        log.warn("line");
      }
    });
  }
  threads.clear();
  CHECK(log.times("once") == 400);
  int once = 0, lines = 0;
  std::istringstream in(out.str());
  for (std::string line; std::getline(in, line);) {
    once += line == "ringlet [rank 0] warning: once" ? 1 : 0;
    lines += line == "ringlet [rank 0] warning: line" ? 1 : 0;
  }
  CHECK(once == 1);
  CHECK(lines == 400);
}
