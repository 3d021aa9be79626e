// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the command line of `schedule` says of a pipeline.
#ifndef CUTBACK_TOOLS_CUTBACK_SCHEDULEINPUTS_H
#define CUTBACK_TOOLS_CUTBACK_SCHEDULEINPUTS_H

#include "Session.h"

#include "cutback/Schedule/Bound.h"
#include "cutback/Schedule/Check.h"
#include "cutback/Schedule/Generate.h"

#include <array>

namespace cutback {

/// The options of `schedule` that say what is simulated.
std::vector<OptionSpec> scheduleInputOptions();

/// Prints an error of a schedule. Exit code.
int reportError(Session &session, const pipeline::ScheduleError &error,
                int code = WrongInput);

/// Of which actions a simulation takes times.
struct TimesWanted {
  /// By stage and ActionKind, as StageCosts::arena.
  std::vector<std::array<bool, 4>> kinds;
  /// Whether there are times of a model, which B can be parted by.
  bool hasModel = false;
};
std::vector<std::array<bool, 4>> kindsOf(const pipeline::Schedule &schedule);

/// What --times, --bytes, --skip, --latency-us and --bandwidth change of
/// `costs`, which has all stages. Exit code.
int readCosts(Session &session, const TimesWanted &wanted,
              pipeline::Costs &costs);

/// --memory-limit, or another option, in bytes, or no limit. Exit code.
int readMemoryLimit(Session &session, int64_t &limit,
                    const char *option = "memory-limit");

/// The text of a file, or of standard input; `next` is what to do where there
/// is none. Exit code.
int readText(Session &session, const std::string &path, std::string &text,
             const char *next);

} // namespace cutback

#endif // CUTBACK_TOOLS_CUTBACK_SCHEDULEINPUTS_H
