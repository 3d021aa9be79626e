// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Costs from the command line: `--times=F=1,I=1,W=1`, or of one stage
// `--times=3:F=2`, or a file of such lines, which a run has measured; in the
// same way bytes, but no file. Later ones win over earlier ones, and over what
// the manifest of a pipeline says.
//
// B is I and W together where a line has these alone; where it has B alone, I
// and W become parts of it, in the ratio that they had. What was measured is
// complete: a file has all stages, and each the actions of the schedule.

#include "ScheduleInputs.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <array>
#include <cmath>

using llvm::StringRef;

namespace cutback {

using namespace pipeline;

std::vector<OptionSpec> scheduleInputOptions() {
  return {
      {"", OptionSpec::Flag, "", "what it costs"},
      {"times", OptionSpec::Text, "[S:]F=T,I=T,W=T,B=T|@F",
       "microseconds of a micro-batch, of all stages or of\n"
       "stage S; default 1 each, B: I and W, which are parts of\n"
       "a B alone; or a file of such lines of all stages, as\n"
       "`cutback-run P --times=F` writes",
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

/// Calls `set(stage, key, value)` for each KEY=VALUE of a value, or line of a
/// file, and returns in `first` and `last` the stages that it is of.
template <typename Set>
static int readEntries(Session &session, const char *option, StringRef text,
                       size_t stages, const char *takes, size_t &first,
                       size_t &last, Set set) {
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
  return Done;
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

namespace {

class TimesReader {
public:
  TimesReader(Session &session, const TimesWanted &wanted, Costs &costs)
      : session(session), wanted(wanted), costs(costs),
        given(costs.stages.size()) {}

  int run() {
    for (std::string_view value : session.line.all("times"))
      if (int code = value.substr(0, 1) == "@"
                         ? readFile(std::string(value.substr(1)))
                         : readLine({value.data(), value.size()}))
        return code;
    return hasFile ? checkKinds() : Done;
  }

private:
  using Kinds = std::array<bool, 4>; ///< by ActionKind

  int readFile(const std::string &path);
  int readLine(StringRef text);
  static void complete(const Kinds &ofLine, StageCosts &stage);
  int checkKinds();

  Session &session;
  const TimesWanted &wanted;
  Costs &costs;
  std::vector<Kinds> given;                ///< by stage: by any line
  std::vector<bool> *isMeasured = nullptr; ///< stages of the file that is read
  bool hasFile = false;
};

} // namespace

static constexpr auto kBackward = size_t(ActionKind::Backward),
                      kInputs = size_t(ActionKind::InputGradients),
                      kWeights = size_t(ActionKind::WeightGradients);

int TimesReader::readFile(const std::string &path) {
  std::string text;
  if (int code = readText(session, path, text,
                          "--times=@F takes a file of `cutback-run --times`"))
    return code;
  std::vector<bool> measured(costs.stages.size());
  isMeasured = &measured;
  llvm::SmallVector<StringRef> lines;
  StringRef(text).split(lines, '\n');
  for (StringRef line : lines)
    if (!line.trim().empty())
      if (int code = readLine(line.trim()))
        return code;
  isMeasured = nullptr;
  hasFile = true;
  auto missing = std::find(measured.begin(), measured.end(), false);
  if (missing == measured.end())
    return Done;
  session.error("--times: '" + path + "' has no line of stage " +
                std::to_string(missing - measured.begin()));
  session.note("the schedule has " + std::to_string(measured.size()) +
               " stages: measure all of them with `cutback-run P --times=F`");
  return WrongInput;
}

int TimesReader::readLine(StringRef text) {
  Kinds ofLine{};
  auto set = [&](size_t number, char key, StringRef value) {
    StageCosts &stage = costs.stages[number];
    auto time = parseMicroseconds(value);
    // As ActionKind has them.
    size_t kind = StringRef("FBIW").find(key);
    if (!time || kind == StringRef::npos)
      return false;
    int64_t *times[] = {&stage.forward, &stage.backward, &stage.inputGradients,
                        &stage.weightGradients};
    *times[kind] = *time;
    ofLine[kind] = given[number][kind] = true;
    return true;
  };
  size_t first = 0, last = 0;
  if (int code = readEntries(session, "times", text, costs.stages.size(),
                             "time of F, I, W or B in microseconds: F=1.5",
                             first, last, set))
    return code;
  for (size_t number = first; number < last; ++number) {
    complete(ofLine, costs.stages[number]);
    if (isMeasured)
      (*isMeasured)[number] = true;
  }
  return Done;
}

/// What a line does not have of B, I and W follows from what it has.
void TimesReader::complete(const Kinds &ofLine, StageCosts &stage) {
  int64_t &inputs = stage.inputGradients, &weights = stage.weightGradients;
  if (!ofLine[kBackward]) {
    if (ofLine[kInputs] || ofLine[kWeights])
      stage.backward = inputs + weights;
    return;
  }
  if (ofLine[kInputs] && ofLine[kWeights])
    return;
  if (!ofLine[kInputs] && !ofLine[kWeights]) {
    double sum = static_cast<double>(inputs) + static_cast<double>(weights);
    double part = sum > 0 ? static_cast<double>(inputs) / sum : 1;
    inputs = std::llround(static_cast<double>(stage.backward) * part);
    weights = stage.backward - inputs;
    return;
  }
  (ofLine[kInputs] ? weights : inputs) = std::max<int64_t>(
      0, stage.backward - (ofLine[kInputs] ? inputs : weights));
}

static const char *howToMeasure(ActionKind kind) {
  if (kind == ActionKind::Forward)
    return "a line of a stage has F=T";
  return kind == ActionKind::Backward
             ? "measure it without --forward-only"
             : "measure it under a schedule with I and W";
}

/// A stage that was measured has a time for each of its actions.
int TimesReader::checkKinds() {
  for (size_t number = 0; number < given.size(); ++number) {
    const Kinds &has = given[number];
    // Parts of B in the ratio of a model; there is none without a pipeline.
    bool hasParts = has[kBackward] && wanted.hasModel;
    Kinds known = has;
    known[kBackward] = has[kBackward] || (has[kInputs] && has[kWeights]);
    known[kInputs] = has[kInputs] || hasParts;
    known[kWeights] = has[kWeights] || hasParts;
    for (auto kind :
         {ActionKind::Forward, ActionKind::Backward, ActionKind::InputGradients,
          ActionKind::WeightGradients}) {
      auto at = static_cast<size_t>(kind);
      if (known[at] || !wanted.kinds[number][at])
        continue;
      session.error("--times: of stage " + std::to_string(number) +
                    " no time of " + std::string(spelling(kind)) +
                    " was measured, which the schedule has");
      session.note(howToMeasure(kind));
      return WrongInput;
    }
  }
  return Done;
}

//===----------------------------------------------------------------------===//
// Bytes and links
//===----------------------------------------------------------------------===//

static int readBytes(Session &session, Costs &costs) {
  auto set = [&](size_t number, char key, StringRef value) {
    StageCosts &stage = costs.stages[number];
    auto bytes = parseBytes({value.data(), value.size()});
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
  };
  size_t first = 0, last = 0;
  for (std::string_view value : session.line.all("bytes")) {
    if (value.substr(0, 1) == "@") {
      session.error("--bytes takes no file, as '" + std::string(value) + "'");
      session.note("times alone are measured: --times=@F");
      return WrongUsage;
    }
    if (int code = readEntries(
            session, "bytes", {value.data(), value.size()}, costs.stages.size(),
            "size of F, I, B, X, A or P: F=120MiB", first, last, set))
      return code;
  }
  return Done;
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

std::vector<std::array<bool, 4>> kindsOf(const Schedule &schedule) {
  std::vector<std::array<bool, 4>> kinds(schedule.stages);
  for (const Row &row : schedule.rows)
    for (const auto &action : row)
      if (action && isCompute(action->kind))
        forEachPart(*action, [&](const Action &part) {
          kinds[part.stage][static_cast<size_t>(part.kind)] = true;
        });
  return kinds;
}

int readCosts(Session &session, const TimesWanted &wanted, Costs &costs) {
  if (int code = readSkips(session, costs))
    return code;
  if (int code = TimesReader(session, wanted, costs).run())
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
  auto bytes = parseBytes(*text);
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
