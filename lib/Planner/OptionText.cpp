// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the words of plan options. Every enum has one table of its words,
// which the parser and its error message share.
//
// A parser leaves the value as it was where it fails. Numbers are checked for
// their range here, so that nothing behind has to: sizes are not negative,
// positions of arguments are below a million (a range such as 0-4000000000
// would fill the memory).

#include "cutback/Planner/OptionText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <utility>

using namespace cutback;

template <typename T, size_t N>
static bool parseWord(llvm::StringRef what, llvm::StringRef text, T &value,
                      const std::pair<llvm::StringRef, T> (&table)[N],
                      std::string &error) {
  std::string words;
  for (const auto &[word, meaning] : table) {
    if (word == text) {
      value = meaning;
      return true;
    }
    words += (words.empty() ? "" : ", ") + word.str();
  }
  error = "unknown " + what.str() + " '" + text.str() + "'; there are " + words;
  return false;
}

template <typename T, size_t N>
static llvm::StringRef wordOf(T value,
                              const std::pair<llvm::StringRef, T> (&table)[N]) {
  return llvm::find_if(table,
                       [&](const auto &entry) { return entry.second == value; })
      ->first;
}

static constexpr std::pair<llvm::StringRef, Strategy> kStrategies[] = {
    {"min-cut", Strategy::MinCut},
    {"eager", Strategy::Eager},
    {"precompute", Strategy::Precompute},
    {"recompute-all", Strategy::RecomputeAll}};
static constexpr std::pair<llvm::StringRef, CostModel> kCostModels[] = {
    {"roofline", CostModel::Roofline}, {"pytorch", CostModel::PyTorch}};
static constexpr std::pair<llvm::StringRef, Rules> kRules[] = {
    {"torch-2.13", Rules::Torch2_13}, {"torch-2.3", Rules::Torch2_3}};

llvm::StringRef cutback::spell(Strategy strategy) {
  return wordOf(strategy, kStrategies);
}

llvm::StringRef cutback::spell(CostModel model) {
  return wordOf(model, kCostModels);
}

llvm::StringRef cutback::spell(Rules rules) { return wordOf(rules, kRules); }

bool cutback::parseStrategy(llvm::StringRef text, Strategy &value,
                            std::string &error) {
  // Former names, which scripts may still use.
  if (text == "default" || text == "save-all")
    text = text == "default" ? "eager" : "precompute";
  return parseWord("strategy", text, value, kStrategies, error);
}

bool cutback::parseCostModel(llvm::StringRef text, CostModel &value,
                             std::string &error) {
  return parseWord("cost model", text, value, kCostModels, error);
}

bool cutback::parseRules(llvm::StringRef text, Rules &value,
                         std::string &error) {
  return parseWord("rules", text, value, kRules, error);
}

bool cutback::parseSolver(llvm::StringRef text, Solver &value,
                          std::string &error) {
  static constexpr std::pair<llvm::StringRef, Solver> table[] = {
      {"auto", Solver::Auto},
      {"boykov-kolmogorov", Solver::BoykovKolmogorov},
      {"push-relabel", Solver::PushRelabel},
      {"boost-push-relabel", Solver::BoostPushRelabel},
      {"edmonds-karp", Solver::EdmondsKarp}};
  return parseWord("solver", text, value, table, error);
}

std::string cutback::spellPrice(double bytePricePs) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.12g", bytePricePs);
  return text;
}

bool cutback::readObjective(llvm::StringRef minimize, bool hasBytePrice,
                            PartitionOptions &options, std::string &error) {
  static constexpr std::pair<llvm::StringRef, Minimize> table[] = {
      {"time", Minimize::Time}, {"peak", Minimize::Peak}};
  if (!minimize.empty() &&
      !parseWord("objective", minimize, options.minimize, table, error))
    return false;
  options.withinTorchPeak = minimize.empty() && !hasBytePrice;
  bool isForPeak = options.minimize == Minimize::Peak;
  if (!minimize.empty() && options.costModel == CostModel::PyTorch)
    error = "--minimize needs --cost-model=roofline";
  else if (isForPeak && options.strategy != Strategy::MinCut)
    error = "--minimize=peak needs --strategy=min-cut";
  else if (isForPeak && hasBytePrice)
    error = "--minimize=peak chooses the price of a byte: leave out "
            "--byte-price";
  else
    return true;
  return false;
}

/// One "7" or "5-22" of a list of positions.
static bool parseRange(llvm::StringRef text, std::vector<unsigned> &indices) {
  auto [from, to] = text.split('-');
  unsigned first, last;
  if (from.getAsInteger(10, first))
    return false;
  last = first;
  if (text.contains('-') && to.getAsInteger(10, last))
    return false;
  if (last < first || last > 1000000)
    return false;
  for (unsigned i = first; i <= last; ++i)
    indices.push_back(i);
  return true;
}

bool cutback::parseFreeParameters(llvm::StringRef text, FreeParameters &value,
                                  std::string &error) {
  value.indices.clear();
  if (text == "auto" || text == "none") {
    value.kind = text == "auto" ? FreeParameters::Auto : FreeParameters::None;
    return true;
  }
  value.kind = FreeParameters::List;
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ',');
  for (llvm::StringRef part : parts)
    if (!parseRange(part, value.indices)) {
      error = "free parameters are 'auto', 'none' or positions such as "
              "'0,2,5-22', not '" +
              text.str() + "'";
      return false;
    }
  return true;
}

//===----------------------------------------------------------------------===//
// Flags of PyTorch's partitioner
//===----------------------------------------------------------------------===//

namespace {
struct TorchFlag {
  llvm::StringRef name;
  bool TorchRulesOptions::*member;
  bool isOf23;
};
} // namespace

/// Sorted. Two flags are no member: a number, and one that says which
/// parameters are free.
static constexpr llvm::StringRef kDistance = "max_dist_from_bw";
static constexpr llvm::StringRef kFree = "treat_parameters_as_free_to_save";
static constexpr TorchFlag torchFlags[] = {
    {"aggressive_recomputation", &TorchRulesOptions::aggressiveRecomputation,
     true},
    {"ban_recompute_long_fusible_chains",
     &TorchRulesOptions::banLongFusibleChains, false},
    {"ban_recompute_materialized_backward",
     &TorchRulesOptions::banMaterializedBackward, false},
    {"ban_recompute_not_in_allowlist", &TorchRulesOptions::banNotInAllowList,
     false},
    {"ban_recompute_reductions", &TorchRulesOptions::banReductions, false},
    {"ban_recompute_used_far_apart", &TorchRulesOptions::banUsedFarApart,
     false},
    {"cse", &TorchRulesOptions::cse, true},
    {"is_non_builtin_to_include", &TorchRulesOptions::includeNonBuiltin, false},
    {"recompute_views", &TorchRulesOptions::recomputeViews, false},
    {"unsafe_allow_optimization_of_collectives",
     &TorchRulesOptions::optimizeCollectives, false},
};

std::vector<std::string> cutback::torchConfigNames() {
  std::vector<std::string> names{kDistance.str(), kFree.str()};
  for (const TorchFlag &flag : torchFlags)
    names.push_back(flag.name.str());
  llvm::sort(names);
  return names;
}

/// The flags that 2.3 has too, as a list of words.
static std::string flagsOf23() {
  std::vector<std::string> names{kDistance.str()};
  for (const TorchFlag &flag : torchFlags)
    if (flag.isOf23)
      names.push_back(flag.name.str());
  llvm::sort(names);
  std::string last = " and " + names.back();
  names.pop_back();
  return llvm::join(names, ", ") + last;
}

/// What --torch-config says of a flag that takes true or false.
static bool parseTruth(llvm::StringRef name, llvm::StringRef text, bool &value,
                       std::string &error) {
  value = text.equals_insensitive("true") || text == "1";
  if (value || text.equals_insensitive("false") || text == "0")
    return true;
  error = name.str() + " is true or false, not '" + text.str() + "'";
  return false;
}

bool cutback::parseTorchConfig(llvm::StringRef text, PartitionOptions &options,
                               std::string &error) {
  llvm::StringRef name = text.split('=').first;
  llvm::StringRef value = text.split('=').second;
  bool is23 = options.rules == Rules::Torch2_3;
  if (name == kDistance) {
    int64_t &distance = options.torch.maxDistance;
    if (!value.getAsInteger(10, distance) && distance >= 0)
      return true;
    error =
        kDistance.str() + " is a number of steps, not '" + value.str() + "'";
    return false;
  }
  const TorchFlag *flag = llvm::find_if(
      torchFlags, [&](const TorchFlag &flag) { return flag.name == name; });
  bool isKnown = flag != std::end(torchFlags);
  if (!isKnown && name != kFree) {
    error = "unknown flag '" + name.str() +
            "' of PyTorch's partitioner; there "
            "are " +
            llvm::join(torchConfigNames(), ", ");
    return false;
  }
  bool isSet;
  if (!parseTruth(name, value, isSet, error))
    return false;
  if (is23 && !(isKnown && flag->isOf23)) {
    error = name.str() + " needs the rules torch-2.13; torch-2.3 knows " +
            flagsOf23();
    return false;
  }
  if (isKnown)
    options.torch.*(flag->member) = isSet;
  else if (!isSet)
    options.freeParameters = {FreeParameters::None, {}};
  return true;
}

static constexpr std::pair<llvm::StringRef, BudgetSolver> kBudgetSolvers[] = {
    {"dp", BudgetSolver::Dp},
    {"greedy", BudgetSolver::Greedy},
    {"ilp", BudgetSolver::Ilp}};

llvm::StringRef cutback::spell(BudgetSolver solver) {
  return wordOf(solver, kBudgetSolvers);
}

bool cutback::parseActivationBudget(llvm::StringRef fraction,
                                    llvm::StringRef solver,
                                    std::optional<TorchBudget> &value,
                                    std::string &error) {
  TorchBudget budget;
  // Not a number is in no range.
  if (fraction.getAsDouble(budget.fraction) ||
      !(budget.fraction >= 0 && budget.fraction <= 1)) {
    error = "'" + fraction.str() +
            "' is no number from 0 to 1, for --activation-budget";
    return false;
  }
  if (!parseWord("budget solver", solver, budget.solver, kBudgetSolvers, error))
    return false;
  value = budget;
  return true;
}

bool cutback::parseRecomputable(llvm::StringRef text, PartitionOptions &options,
                                std::string &error) {
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, '.');
  if (parts.size() < 2 || parts.size() > 3 || llvm::is_contained(parts, "")) {
    error = "an op is called NAMESPACE.NAME or NAMESPACE.NAME.OVERLOAD, not '" +
            text.str() + "'";
    return false;
  }
  options.torch.recomputable.push_back(text.str());
  return true;
}

bool cutback::parseSymbols(llvm::ArrayRef<std::string> texts,
                           llvm::StringMap<int64_t> &values,
                           std::string &error) {
  for (llvm::StringRef text : texts) {
    auto [name, number] = text.split('=');
    int64_t value;
    if (name.empty() || number.getAsInteger(10, value) || value < 0) {
      error =
          "a symbol is given as NAME=SIZE (s0=24), not '" + text.str() + "'";
      return false;
    }
    values[name] = value;
  }
  return true;
}
