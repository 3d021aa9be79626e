// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The commands of the driver. Each is a table of what it takes and a function
// that runs it and returns the exit code of the process.
#ifndef CUTBACK_TOOLS_CUTBACK_COMMANDS_H
#define CUTBACK_TOOLS_CUTBACK_COMMANDS_H

#include "cutback/Support/CommandLine.h"
#include "cutback/Support/ExitCode.h"

#include <vector>

namespace cutback {

struct Command {
  CommandSpec (*spec)();
  int (*run)(const CommandLine &line);
};

CommandSpec importSpec();
int runImport(const CommandLine &line);
CommandSpec reportSpec();
int runReport(const CommandLine &line);
CommandSpec explainSpec();
int runExplain(const CommandLine &line);
CommandSpec compileSpec();
int runCompile(const CommandLine &line);
CommandSpec scheduleSpec();
int runSchedule(const CommandLine &line);
CommandSpec runSpec();
int runRun(const CommandLine &line);
CommandSpec trainSpec();
int runTrain(const CommandLine &line);
CommandSpec benchSpec();
int runBench(const CommandLine &line);
CommandSpec drawSpec();
int runDraw(const CommandLine &line);
CommandSpec reduceSpec();
int runReduce(const CommandLine &line);
CommandSpec splitSpec();
int runSplit(const CommandLine &line);
CommandSpec verifySpec();
int runVerify(const CommandLine &line);

} // namespace cutback

#endif // CUTBACK_TOOLS_CUTBACK_COMMANDS_H
