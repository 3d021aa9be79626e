// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Results of a run against those of a file, by tolerances of all tensors and of
// those that a file names. One line a kind
// of result with its worst tensor, one for each tensor that is wrong, the worst
// first. Where rounding may be all that makes the difference, the text says
// what would tell: results in float64.

#include "ResultCheck.h"

#include "StepSources.h"

#include "cutback/Support/Json.h"
#include "cutback/Support/SafeFile.h"
#include "cutback/Support/Text.h"

#include "llvm/Support/FormatVariadic.h"

#include <map>

using namespace mlir;
using namespace cutback::interpreter;

namespace cutback {

static int readTolerance(Session &session, Tolerance &tolerance,
                         std::map<std::string, double> &byName) {
  const CommandLine &line = session.line;
  tolerance.atol = line.number("atol").value_or(tolerance.atol);
  if (auto rtol = line.number("rtol"))
    tolerance.rtol = tolerance.rtolHalf = *rtol;
  auto path = line.get("tolerances");
  if (!path)
    return Done;
  bool isFile = !isDevice(std::string(*path));
  auto buffer = llvm::MemoryBuffer::getFile(isFile ? std::string(*path) : "");
  JsonDocument document;
  bool isObject =
      buffer &&
      !JsonDocument::parse(std::string_view((*buffer)->getBufferStart(),
                                            (*buffer)->getBufferSize()),
                           document) &&
      document.root().isObject();
  JsonValue key;
  for (JsonValue child :
       isObject ? document.root().children() : JsonValue().children()) {
    if (!key) {
      key = child;
      continue;
    }
    std::optional<double> rtol = child.asDouble();
    isObject &= rtol.has_value();
    byName[key.decoded()] = rtol.value_or(0);
    key = JsonValue();
  }
  if (!isObject) {
    session.error("no JSON object of numbers in '" + std::string(*path) + "'");
    session.note("--tolerances takes {\"grad.fc.weight\": 1e-4, ...}");
    return WrongInput;
  }
  tolerance.byName = [&byName](StringRef name) -> std::optional<double> {
    auto found = byName.find(name.str());
    if (found == byName.end())
      return std::nullopt;
    return found->second;
  };
  return Done;
}

static std::string kindOf(StringRef name) {
  if (name.starts_with("grad."))
    return "gradients";
  return name == "loss"                ? "loss"
         : name.starts_with("buffer.") ? "buffers"
                                       : "outputs";
}

static std::string wrongText(const Difference &difference) {
  std::string out = "wrong: " + difference.name + " ";
  if (!difference.problem.empty())
    return out + difference.problem + "\n";
  out += llvm::formatv("differs by {0:e3}, allowed {1:e3}", difference.largest,
                       difference.allowed);
  if (difference.allowed > 0)
    out += llvm::formatv(" ({0:f1} times)", difference.badness());
  return out + "\n";
}

/// The tensors that are wrong, the worst first.
static std::vector<const Difference *>
findWrong(const std::vector<Difference> &list) {
  std::vector<const Difference *> wrong;
  for (const Difference &difference : list)
    if (!difference.isRight())
      wrong.push_back(&difference);
  llvm::stable_sort(wrong, [](const Difference *a, const Difference *b) {
    return a->badness() > b->badness();
  });
  return wrong;
}

/// One line a kind with its worst tensor, and one for each that is wrong.
static std::string checkText(const std::vector<Difference> &list,
                             ArrayRef<const Difference *> wrong) {
  std::map<std::string, std::pair<size_t, const Difference *>> kinds;
  for (const Difference &difference : list) {
    auto &[count, worst] = kinds[kindOf(difference.name)];
    ++count;
    if (!worst || difference.badness() > worst->badness())
      worst = &difference;
  }
  std::string failures;
  for (const Difference *difference : wrong)
    failures += wrongText(*difference);
  TextTable table({TextTable::Left, TextTable::Right, TextTable::Left,
                   TextTable::Right, TextTable::Right});
  table.add({"checked", "tensors", "worst", "difference", "allowed"});
  for (const auto &[kind, entry] : kinds)
    table.add({kind, std::to_string(entry.first), entry.second->name,
               llvm::formatv("{0:e2}", entry.second->largest).str(),
               llvm::formatv("{0:e2}", entry.second->allowed).str()});
  return table.str(0) + failures;
}

/// How far the worst of `wrong` is off, in a line.
static std::string verdictText(size_t checked,
                               ArrayRef<const Difference *> wrong) {
  if (wrong.empty())
    return "all " + formatCount(checked, "tensor") + " agree\n";
  std::string out = formatCount(wrong.size(), "tensor") + " of " +
                    std::to_string(checked) + " differ";
  const Difference &worst = *wrong.front();
  if (worst.problem.empty() && worst.scale > 0)
    out += llvm::formatv("; {0} most, by {1:e1} of its largest value",
                         worst.name, worst.largest / worst.scale);
  return out + "\n";
}

/// Whether rounding may be all that makes the difference: it is small beside
/// the largest of these tensors (one that is zero but for rounding may be all
/// wrong).
static bool mayBeRounding(ArrayRef<const Difference *> wrong) {
  double scale = 0;
  for (const Difference *one : wrong)
    scale = std::max(scale, one->scale);
  return !wrong.empty() && llvm::all_of(wrong, [&](const Difference *one) {
    return one->problem.empty() && one->rtol > 0 &&
           one->largest <= 0.05 * scale;
  });
}

int checkResults(Session &session, const ReferenceResult &result,
                 std::string &text) {
  TensorFile expected;
  if (int code = openTensors(session, "check", expected))
    return code;
  Tolerance tolerance;
  tolerance.rounding = result.rounding;
  TensorFile exact;
  if (int code = openTensors(session, "exact", exact))
    return code;
  tolerance.exact = session.line.has("exact") ? &exact : nullptr;
  std::map<std::string, double> byName;
  if (int code = readTolerance(session, tolerance, byName))
    return code;
  std::vector<Difference> list =
      compareResults(result.tensors, expected, tolerance);
  std::vector<const Difference *> wrong = findWrong(list);
  text += checkText(list, wrong) + verdictText(list.size(), wrong);
  if (mayBeRounding(wrong) && !tolerance.exact)
    text += "rounding grows through batch norms in training and through deep "
            "models:\n--exact=F, the results in float64, allows four times "
            "PyTorch's own error\n";
  return wrong.empty() ? Done : NoPlan;
}

} // namespace cutback
