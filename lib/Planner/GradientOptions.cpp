// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which gradients a command line asks for: of which arguments, of which
// results, which penalties on gradients are part of the loss, and in which
// order the backward is made. Names are
// looked up where the graph is known (Autograd/SecondDerivatives.h); here only
// the form of each option is checked.

#include "cutback/Planner/PlanOptions.h"

#include "llvm/ADT/StringRef.h"

#include <cmath>

using llvm::StringRef;

namespace cutback {

std::vector<OptionSpec> gradientOptions() {
  return {
      {"grad-of", OptionSpec::Text, "NAME,...",
       "arguments whose gradients are asked for: names, or\n"
       "input.N; default: all that take one"},
      {"of", OptionSpec::Text, "RESULT,...",
       "differentiate these results: loss, output.N, and\n"
       "grad.NAME for second derivatives: with the vector V\n"
       "in tangent.N, the product of Hessian and V"},
      {"grad-penalty", OptionSpec::Text, "NAME=X",
       "add X times the sum of squares of the gradient of\n"
       "this argument to the loss; repeatable",
       true},
      {"sequence", OptionSpec::Text, "VALUE=N",
       "the number of the op that computes VALUE in the order\n"
       "of the backward: of what is ready, the highest runs\n"
       "first (default: its place among the ops of the\n"
       "forward, from 0); repeatable",
       true},
      {"collectives-first", OptionSpec::Flag, "",
       "start collectives of the backward as early as data\n"
       "allow, and wait for one where it is first read"},
      {"group-size", OptionSpec::Text, "NAME=N",
       "how many ranks a group of processes has, which the\n"
       "gradient of a broadcast in it needs; repeatable",
       true},
      hookOption(),
  };
}

/// The names of a list; false if one is empty.
static bool readNames(StringRef text, std::vector<std::string> &names) {
  llvm::SmallVector<StringRef> parts;
  text.split(parts, ',');
  for (StringRef part : parts) {
    if (part.trim().empty())
      return false;
    names.push_back(part.trim().str());
  }
  return true;
}

static bool readList(const CommandLine &line, std::string_view option,
                     std::vector<std::string> &names, std::string &error) {
  auto given = line.get(option);
  if (!given || readNames(StringRef(given->data(), given->size()), names))
    return true;
  error = "--" + std::string(option) + " is a list of names, not '" +
          std::string(*given) + "'";
  return false;
}

static bool readOrder(const CommandLine &line, DifferentiateOptions &options,
                      std::string &error) {
  for (std::string_view given : line.all("sequence"))
    if (!addSequence(StringRef(given.data(), given.size()), options, error))
      return false;
  options.collectivesFirst = line.has("collectives-first");
  return true;
}

static bool readGroups(const CommandLine &line, DifferentiateOptions &options,
                       std::string &error) {
  for (std::string_view given : line.all("group-size")) {
    auto [name, digits] = StringRef(given.data(), given.size()).rsplit('=');
    int64_t size = 0;
    if (name.empty() || digits.getAsInteger(10, size) || size < 1) {
      error = "the size of a group is given as NAME=N (0=8), not '" +
              std::string(given) + "'";
      return false;
    }
    options.groupSizes.emplace_back(name.str(), size);
  }
  return true;
}

bool readGradientOptions(const CommandLine &line, TrainingGraphOptions &options,
                         std::string &error) {
  if (!readList(line, "grad-of", options.differentiate.gradOf, error) ||
      !readList(line, "of", options.second.of, error) ||
      !readOrder(line, options.differentiate, error) ||
      !readGroups(line, options.differentiate, error))
    return false;
  for (std::string_view given : line.all("grad-penalty")) {
    auto [name, number] = StringRef(given.data(), given.size()).rsplit('=');
    GradientPenalty penalty{name.str(), 0};
    if (name.empty() || number.getAsDouble(penalty.weight) ||
        !std::isfinite(penalty.weight)) {
      error = "a penalty is given as NAME=X (input.0=10), not '" +
              std::string(given) + "'";
      return false;
    }
    options.second.penalties.push_back(std::move(penalty));
  }
  std::vector<HookOption> hooks;
  if (!readHookOptions(line, hooks, error))
    return false;
  for (const HookOption &hook : hooks)
    options.differentiate.hooks.push_back({hook.kind, hook.name});
  return true;
}

} // namespace cutback
