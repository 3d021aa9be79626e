// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Costs from the command line: `--times=F=1,I=1,W=1`, or of one stage
// `--times=3:F=2`, or a file of such lines, which a run has measured; in the
// same way bytes. Later ones win over earlier ones, and over what the manifest
// of a pipeline says. A B that is not given is I and W together.

#include "ScheduleInputs.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cmath>

using llvm::StringRef;

namespace cutback {

using namespace pipeline;

std::vector<OptionSpec> scheduleInputOptions() {
  return {
      {"", OptionSpec::Flag, "", "what it costs"},
      {"times", OptionSpec::Text, "[S:]F=T,I=T,W=T,B=T|@F",
       "microseconds of a micro-batch, of all stages or of\n"
       "stage S; default 1 each, B: I and W; or a file of such\n"
       "lines, as `cutback-run P --times=F` writes",
       true},
      {"bytes", OptionSpec::Text, "[S:]F=N,I=N,B=N,X=N,A=N,P=N",
       "bytes of a micro-batch kept from F to I, from I to\n"
       "W, of both the same, sent on; of the arena; of\n"
       "parameters and sums of gradients; as 4096, 1.5MiB or\n"
       "2GiB; default 0",
       true},
      {"skip", OptionSpec::Text, "S-T",
       "values of stage S that stage T uses as well", true},
      {"latency-us", OptionSpec::Number, "T",
       "microseconds of a message between ranks; default 0"},
      {"bandwidth", OptionSpec::Number, "GB/S",
       "of a link between two ranks; default without limit"},
  };
}

int reportError(Session &session, const ScheduleError &error, int code) {
  session.error(error.message);
  if (!error.note.empty())
    session.note(StringRef(error.note).rtrim('\n').str());
  return code;
}

static int wrongValue(Session &session, const char *option, StringRef entry,
                      const char *takes) {
  session.error("--" + std::string(option) + ": '" + entry.str() + "' is no " +
                takes);
  session.note("see `cutback schedule --help`");
  return WrongUsage;
}

static std::optional<int64_t> parseBytes(StringRef text) {
  double unit = 1;
  for (auto [name, bytes] : {std::pair("KiB", 1024.0),
                             {"MiB", 1024.0 * 1024},
                             {"GiB", 1024.0 * 1024 * 1024}})
    if (text.consume_back(name))
      unit = bytes;
  auto count = parseNumber({text.data(), text.size()});
  if (!count || *count < 0 || *count * unit > std::ldexp(1.0, 50))
    return std::nullopt;
  return static_cast<int64_t>(std::llround(*count * unit));
}

static std::optional<int64_t> parseMicroseconds(StringRef text) {
  auto count = parseNumber({text.data(), text.size()});
  if (!count || *count < 0 || *count > 1e12)
    return std::nullopt;
  return static_cast<int64_t>(std::llround(*count * 1e6));
}

/// The stages that "3:" at the front of `text` means: all without.
static bool takeStages(StringRef &text, size_t count, size_t &first,
                       size_t &last) {
  first = 0;
  last = count;
  size_t colon = text.find(':');
  if (colon == StringRef::npos)
    return true;
  if (text.substr(0, colon).getAsInteger(10, first) || first >= count)
    return false;
  last = first + 1;
  text = text.substr(colon + 1);
  return true;
}

/// The values of an option; in place of @F the lines of that file.
static int readValues(Session &session, const char *option,
                      std::vector<std::string> &values) {
  for (std::string_view given : session.line.all(option)) {
    if (given.substr(0, 1) != "@") {
      values.emplace_back(given);
      continue;
    }
    std::string text;
    if (int code = readText(session, std::string(given.substr(1)), text,
                            "--times=@F takes a file of `cutback-run --times`"))
      return code;
    llvm::SmallVector<StringRef> lines;
    StringRef(text).split(lines, '\n', -1, /*KeepEmpty=*/false);
    for (StringRef line : lines)
      values.push_back(line.trim().str());
  }
  return Done;
}

/// Calls `set(stage, key, value)` for each KEY=VALUE of an option.
template <typename Set>
static int readEntries(Session &session, const char *option, size_t stages,
                       const char *takes, Set set) {
  std::vector<std::string> values;
  if (int code = readValues(session, option, values))
    return code;
  for (StringRef text : values) {
    size_t first = 0, last = 0;
    if (!takeStages(text, stages, first, last))
      return wrongValue(session, option, text, "stage of the schedule");
    llvm::SmallVector<StringRef> entries;
    text.split(entries, ',');
    for (StringRef entry : entries) {
      auto [key, value] = entry.split('=');
      for (size_t stage = first; stage < last; ++stage)
        if (key.size() != 1 || !set(stage, key[0], value))
          return wrongValue(session, option, entry, takes);
    }
  }
  return Done;
}

static int readTimes(Session &session, Costs &costs) {
  return readEntries(
      session, "times", costs.stages.size(),
      "time of F, I, W or B in microseconds: F=1.5",
      [&](size_t number, char key, StringRef value) {
        StageCosts &stage = costs.stages[number];
        auto time = parseMicroseconds(value);
        if (!time || StringRef("FIWB").find(key) == StringRef::npos)
          return false;
        (key == 'F'   ? stage.forward
         : key == 'I' ? stage.inputGradients
         : key == 'W' ? stage.weightGradients
                      : stage.backward) = *time;
        if (key == 'I' || key == 'W')
          stage.backward = stage.inputGradients + stage.weightGradients;
        return true;
      });
}

static int readBytes(Session &session, Costs &costs) {
  return readEntries(session, "bytes", costs.stages.size(),
                     "size of F, I, B, X, A or P: F=120MiB",
                     [&](size_t number, char key, StringRef value) {
                       StageCosts &stage = costs.stages[number];
                       auto bytes = parseBytes(value);
                       if (!bytes)
                         return false;
                       switch (key) {
                       case 'F':
                         stage.untilInputs = *bytes;
                         return true;
                       case 'I':
                         stage.untilWeights = *bytes;
                         return true;
                       case 'B':
                         stage.throughout = *bytes;
                         return true;
                       case 'A':
                         stage.arena.fill(*bytes);
                         return true;
                       case 'P':
                         stage.kept = *bytes;
                         return true;
                       case 'X':
                         for (Crossing &crossing : costs.crossings)
                           if (crossing.from == static_cast<int>(number))
                             crossing.bytes = crossing.gradientBytes = *bytes;
                         return true;
                       default:
                         return false;
                       }
                     });
}

static int readSkips(Session &session, Costs &costs) {
  for (std::string_view given : session.line.all("skip")) {
    auto [from, to] = StringRef(given.data(), given.size()).split('-');
    Crossing skip;
    int count = static_cast<int>(costs.stages.size());
    if (from.getAsInteger(10, skip.from) || to.getAsInteger(10, skip.to) ||
        skip.from < 0 || skip.from >= skip.to || skip.to >= count)
      return wrongValue(session, "skip", StringRef(given.data(), given.size()),
                        "pair of stages, an earlier and a later one: 0-3");
    bool isKnown = false;
    for (const Crossing &crossing : costs.crossings)
      isKnown |= crossing.from == skip.from && crossing.to == skip.to;
    if (!isKnown)
      costs.crossings.push_back(skip);
  }
  return Done;
}

/// What is kept throughout is part of what is kept before and after I.
static int checkThroughout(Session &session, const Costs &costs) {
  for (const StageCosts &stage : costs.stages)
    if (stage.throughout > std::min(stage.untilInputs, stage.untilWeights)) {
      session.error("--bytes: B is more than F or I");
      session.note("B are those bytes of F that are among those of I");
      return WrongUsage;
    }
  return Done;
}

int readCosts(Session &session, Costs &costs) {
  if (int code = readSkips(session, costs))
    return code;
  if (int code = readTimes(session, costs))
    return code;
  if (int code = readBytes(session, costs))
    return code;
  if (int code = checkThroughout(session, costs))
    return code;
  costs.link.latency = static_cast<int64_t>(std::llround(
      std::min(session.line.number("latency-us").value_or(0), 1e12) * 1e6));
  costs.link.bytesPerSecond =
      session.line.number("bandwidth").value_or(0) * 1e9;
  return Done;
}

int readMemoryLimit(Session &session, int64_t &limit, const char *option) {
  limit = kNoMemoryLimit;
  auto text = session.line.get(option);
  if (!text)
    return Done;
  auto bytes = parseBytes(StringRef(text->data(), text->size()));
  if (!bytes)
    return wrongValue(session, option, StringRef(text->data(), text->size()),
                      "size: 4096, 1.5MiB, 24GiB");
  limit = *bytes;
  return Done;
}

int readText(Session &session, const std::string &path, std::string &text,
             const char *next) {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(path, /*IsText=*/true);
  if (buffer) {
    text = (*buffer)->getBuffer().str();
    return Done;
  }
  session.error("cannot read '" + path + "': " + buffer.getError().message());
  session.note(next);
  return WrongInput;
}

} // namespace cutback
