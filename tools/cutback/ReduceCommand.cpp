// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `cutback reduce`: the smallest graph on which a command still succeeds.
//
// The command runs on MLIR text whatever was read. It is asked about the whole
// graph first: a test that fails there would reduce nothing, and the usual
// reason is a mistake in it. Ctrl-C ends the search, not the program: what was
// found until then is written, as where the tries run out, and that is a result
// like any other: exit code 0, and a note that more may go.

#include "Session.h"

#include "cutback/Reduce/Reduce.h"
#include "cutback/Support/SafeFile.h"
#include "cutback/Support/ShellTest.h"
#include "cutback/Support/Text.h"

#include <chrono>
#include <csignal>
#include <unistd.h>

using namespace mlir;

namespace cutback {

CommandSpec reduceSpec() {
  CommandSpec spec;
  spec.name = "reduce";
  spec.arguments = "IN --test='CMD {}' -o OUT.mlir";
  spec.summary =
      "Find the smallest graph on which a command still succeeds.\n\n"
      "CMD runs in a shell, with the path of a smaller graph in place of {}. "
      "Exit code\n0 means: that graph still shows what is looked for.";
  spec.options = {
      {"test", OptionSpec::Text, "'CMD {}'", "the command"},
      {"o", OptionSpec::Text, "OUT.mlir", "where the smallest graph goes"},
      {"timeout", OptionSpec::Integer, "SECONDS",
       "a try that takes longer is killed and does not\n"
       "count as success (default 30)",
       false, 1},
      {"max-tries", OptionSpec::Integer, "N",
       "stop after N candidates, with the smallest so far", false, 1},
      {"jobs", OptionSpec::Integer, "N",
       "candidates tried at the same time (default 1);\n"
       "the result does not depend on it",
       false, 1},
  };
  for (const OptionSpec &option : inputOptions())
    spec.options.push_back(option);
  spec.examples = {
      "reduce joint.txt -o small.mlir --test='cutback report {} 2>&1 | grep "
      "-q \"no plan\"'",
      "reduce model.pt2 -o small.mlir --test='cutback report {}; test $? -eq "
      "4'",
      "reduce joint.txt -o small.mlir --test='./check.sh {}' --jobs=8 "
      "--timeout=10",
  };
  return spec;
}

static std::atomic<bool> stopAsked{false};

static void onStop(int) { stopAsked = true; }

static int needs(Session &session) {
  auto test = session.line.get("test");
  if (!test) {
    session.error("expected --test='CMD {}'");
  } else if (test->find("{}") == std::string_view::npos) {
    session.error("the command of --test does not have {} in it, where the "
                  "path of a smaller graph goes");
  } else if (!session.line.has("o")) {
    session.error("expected -o OUT.mlir");
  } else {
    return Done;
  }
  session.note("see `cutback reduce --help`");
  return WrongUsage;
}

/// The first candidate is the whole graph.
static int askAboutAll(Session &session, ShellTest &test, double timeout,
                       const std::string &text) {
  ShellOutcome outcome = test.run({text}).front();
  if (outcome.succeeded())
    return Done;
  if (stopAsked) {
    session.error("interrupted before the test had succeeded on the whole "
                  "graph: there is nothing to write");
    return NoPlan;
  }
  if (outcome.kind == ShellOutcome::NotStarted) {
    session.error(outcome.error);
    return WrongInput;
  }
  session.error("the test does not succeed on the whole graph: " +
                outcome.describe(timeout));
  bool notFound = outcome.kind == ShellOutcome::Exited &&
                  (outcome.code == 126 || outcome.code == 127);
  session.note(notFound ? "the shell did not find the command, or may not run "
                          "it"
                        : "it must exit with 0 where the graph shows what is "
                          "looked for; try it on what `cutback import IN` "
                          "prints");
  return NoPlan;
}

static std::string triesText(uint64_t tries) {
  return formatCount(tries) + (tries == 1 ? " try" : " tries");
}

static std::string sizeText(const GraphSize &size) {
  return formatCount(size.ops, "op") + ", " +
         formatCount(size.arguments, "argument") + ", " +
         formatCount(size.results, "result");
}

namespace {
/// Lines on standard error, one a second at most.
struct ReduceLog {
  std::chrono::steady_clock::time_point last;

  void operator()(const ReduceStats &stats) {
    auto now = std::chrono::steady_clock::now();
    if (now - last < std::chrono::seconds(1))
      return;
    last = now;
    writeAll(STDERR_FILENO, "cutback reduce: " + triesText(stats.tries) + ": " +
                                sizeText(stats.after) + "\n");
  }
};
} // namespace

static int writeResult(Session &session, const ReduceStats &stats,
                       ModuleOp module) {
  if (int code = session.write(session.line.get("o"), candidateText(module)))
    return code;
  writeAll(STDERR_FILENO, "cutback reduce: " + sizeText(stats.before) + " -> " +
                              sizeText(stats.after) + ", in " +
                              triesText(stats.tries) + "\n");
  if (stats.exhausted)
    session.note("stopped by --max-tries: more may go");
  else if (stats.stopped)
    session.note("interrupted: more may go");
  return Done;
}

int runReduce(const CommandLine &line) {
  Session session("reduce", line);
  if (int code = needs(session))
    return code;
  double seconds = 0;
  FailureOr<ImportedModule> imported =
      session.loadJoint(line.arguments[0], importOptionsOf(line), seconds);
  if (failed(imported))
    return WrongInput;
  struct sigaction action = {};
  action.sa_handler = onStop;
  for (int number : {SIGINT, SIGTERM, SIGHUP})
    ::sigaction(number, &action, nullptr);
  double timeout = line.integer("timeout").value_or(30);
  ShellTest test(std::string(*line.get("test")), "candidate.mlir", timeout,
                 stopAsked);
  if (!test.failure().empty()) {
    session.error(test.failure());
    return WrongInput;
  }
  OwningOpRef<ModuleOp> &module = imported->module;
  if (int code = askAboutAll(session, test, timeout, candidateText(*module)))
    return code;
  std::string error;
  Oracle oracle = [&](const std::vector<std::string> &texts) {
    std::vector<uint8_t> good;
    for (const ShellOutcome &outcome : test.run(texts)) {
      if (outcome.kind == ShellOutcome::NotStarted && error.empty())
        error = outcome.error;
      good.push_back(outcome.succeeded());
    }
    return stopAsked || !error.empty() ? std::vector<uint8_t>() : good;
  };
  ReduceOptions options;
  options.maxTries = line.integer("max-tries").value_or(INT64_MAX);
  options.jobs = std::min<int64_t>(line.integer("jobs").value_or(1), 256);
  ReduceStats stats = reduceGraph(module, oracle, options, ReduceLog());
  if (!error.empty())
    session.error(error);
  int code = writeResult(session, stats, *module);
  return error.empty() ? code : int(WrongInput);
}

} // namespace cutback
