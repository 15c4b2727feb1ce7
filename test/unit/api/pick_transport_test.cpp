#include "api/pick_transport.hpp"

#include <cstdlib>
#include <string>

#include "ringlet/error.hpp"
#include "support/catch.hpp"
#include "transport/inproc.hpp"

using namespace ringlet;
using transport::TransportFactory;

namespace {

/// A back end that gives rank 0 of `ranks`, by which the tests tell who was picked.
TransportFactory factory(const std::string& name, bool usable, int ranks) {
  return {name, [usable] { return usable; },
          [ranks](const Settings&) { return std::move(transport::inproc_transports(ranks).front()); },
          [] { return std::string("found nothing"); }};
}

struct Picked {
  int ranks = 0;
  ErrorCode code{};
  std::string error;
};

Picked pick(const std::string& name, const std::vector<TransportFactory>& compiled) {
  Settings settings;
  settings.transport = name;
  try {
    return {api::pick_transport(settings, compiled)->size(), {}, ""};
  } catch (const Error& e) {
    return {0, e.code(), e.what()};
  }
}

/// Hides what the test's own launcher may have set, and sets what the test wants.
class Launched {
 public:
  explicit Launched(const char* variable = nullptr, const char* value = "") {
    for (const char* mark : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"}) ::unsetenv(mark);
    if (variable != nullptr) ::setenv(variable, value, 1);
    variable_ = variable;
  }
  ~Launched() {
    if (variable_ != nullptr) ::unsetenv(variable_);
  }
  Launched(const Launched&) = delete;
  Launched& operator=(const Launched&) = delete;

 private:
  const char* variable_;
};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("auto takes the first usable transport, and without any works alone") {
  const Launched by_hand;
  CHECK(pick("auto", {factory("a", true, 2), factory("b", true, 3)}).ranks == 2);
  CHECK(pick("auto", {factory("a", false, 2), factory("b", true, 3)}).ranks == 3);
  CHECK(pick("auto", {factory("a", false, 2)}).ranks == 1);
  CHECK(pick("auto", {}).ranks == 1);
}

TEST_CASE("under a launcher of several processes auto does not silently work alone") {
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"}) {
    const Launched launched(variable, "4");
    CAPTURE(variable);
    const auto picked = pick("auto", {factory("a", false, 2)});
    CHECK(picked.code == ErrorCode::invalid_argument);
    CHECK(contains(picked.error, "RINGLET_TRANSPORT=inproc"));
    CHECK(pick("auto", {factory("a", true, 2)}).ranks == 2);
    CHECK(pick("inproc", {factory("a", true, 2)}).ranks == 1);
  }
  const Launched single("OMPI_COMM_WORLD_SIZE", "1");
  CHECK(pick("auto", {}).ranks == 1);
}

TEST_CASE("a transport by name is that one or an error that says what there is") {
  const Launched by_hand;
  const std::vector<TransportFactory> compiled{factory("mpi", true, 2), factory("ucx", false, 3)};
  CHECK(pick("mpi", compiled).ranks == 2);
  CHECK(pick("inproc", compiled).ranks == 1);
  const auto unknown = pick("mpl", compiled);
  CHECK(unknown.code == ErrorCode::invalid_argument);
  CHECK(contains(unknown.error, "this build has auto, inproc, mpi, ucx; the nearest is mpi"));
  const auto unusable = pick("ucx", compiled);
  CHECK(unusable.code == ErrorCode::backend);
  CHECK(contains(unusable.error, "found nothing"));
}
