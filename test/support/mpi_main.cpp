#define CATCH_CONFIG_RUNNER
#include <mpi.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>

// Every rank runs the same cases in the same order and all wait for each other after each. Rank 0 reports as usual;
// another rank is heard only when an assertion of its fails. The verdict is the worst. A rank that leaves a case early
// leaves its peers waiting for messages that never come: it gives them a moment to come to the end of the case, then
// ends the job. A case in which all wait is ended by the alarm.
namespace {

constexpr unsigned kCaseSeconds = 60;
constexpr std::chrono::seconds kMoment{5};

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

extern "C" void on_alarm(int) {
  constexpr char kText[] = "a test case did not end in time on this rank\n";
  static_cast<void>(!::write(STDERR_FILENO, kText, sizeof kText - 1));
  ::_exit(124);  // mpirun ends the others
}

/// Says on stderr what failed on the ranks that have no reporter, and keeps the ranks together.
class RankListener : public Catch::TestEventListenerBase {
 public:
  using TestEventListenerBase::TestEventListenerBase;

  void testCaseStarting(const Catch::TestCaseInfo& info) override {
    TestEventListenerBase::testCaseStarting(info);
    ::alarm(kCaseSeconds);
  }

  bool assertionEnded(const Catch::AssertionStats& stats) override {
    const Catch::AssertionResult& result = stats.assertionResult;
    if (!result.isOk() && world_rank() != 0) {
      std::ostringstream text;
      text << "rank " << world_rank() << ": " << result.getSourceInfo() << ": " << currentTestCaseInfo->name << "\n  "
           << result.getExpressionInMacro() << "\n  " << result.getExpandedExpression() << ' ' << result.getMessage()
           << '\n';
      for (const Catch::MessageInfo& m : stats.infoMessages) text << "  " << m.message << '\n';
      std::cerr << text.str() << std::flush;
    }
    return true;
  }

  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    TestEventListenerBase::testCaseEnded(stats);
    meet(stats.totals.assertions.failed > 0);
    ::alarm(0);
  }

 private:
  static void meet(bool failed) {
    MPI_Request barrier = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
    const auto end = std::chrono::steady_clock::now() + kMoment;
    for (int met = 0; MPI_Test(&barrier, &met, MPI_STATUS_IGNORE), met == 0; std::this_thread::yield()) {
      if (!failed || std::chrono::steady_clock::now() < end) continue;
      std::cerr << "rank " << world_rank() << ": this case failed here, and other ranks still wait in it\n"
                << std::flush;
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
};
CATCH_REGISTER_LISTENER(RankListener)

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  static_cast<void>(std::signal(SIGALRM, on_alarm));
  int failed = 0;
  {
    Catch::Session session;
    failed = session.applyCommandLine(argc, argv);
    if (world_rank() != 0) session.configData().outputFilename = "/dev/null";
    if (failed == 0) failed = session.run();
  }
  int worst = 0;
  MPI_Allreduce(&failed, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return worst > 255 ? 255 : worst;
}
