// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the words of plan options. Every enum has one table of its words,
// which the parser and its error message share.
//
// A parser leaves the value as it was where it fails. Numbers are checked for
// their range here, so that nothing behind has to: sizes are not negative,
// positions of arguments are below a million (a range such as 0-4000000000
// would fill the memory).

#include "cutback/Pipelines/OptionText.h"

#include "llvm/ADT/StringExtras.h"

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

bool cutback::parseStrategy(llvm::StringRef text, Strategy &value,
                            std::string &error) {
  static const std::pair<llvm::StringRef, Strategy> table[] = {
      {"min-cut", Strategy::MinCut},
      {"eager", Strategy::Eager},
      {"precompute", Strategy::Precompute},
      {"recompute-all", Strategy::RecomputeAll}};
  // Former names, which scripts may still use.
  if (text == "default" || text == "save-all")
    text = text == "default" ? "eager" : "precompute";
  return parseWord("strategy", text, value, table, error);
}

bool cutback::parseCostModel(llvm::StringRef text, CostModel &value,
                             std::string &error) {
  static const std::pair<llvm::StringRef, CostModel> table[] = {
      {"roofline", CostModel::Roofline}, {"pytorch", CostModel::PyTorch}};
  return parseWord("cost model", text, value, table, error);
}

bool cutback::parseRules(llvm::StringRef text, Rules &value,
                         std::string &error) {
  static const std::pair<llvm::StringRef, Rules> table[] = {
      {"torch-2.13", Rules::Torch2_13}, {"torch-2.3", Rules::Torch2_3}};
  return parseWord("rules", text, value, table, error);
}

bool cutback::parseSolver(llvm::StringRef text, Solver &value,
                          std::string &error) {
  static const std::pair<llvm::StringRef, Solver> table[] = {
      {"auto", Solver::Auto},
      {"boykov-kolmogorov", Solver::BoykovKolmogorov},
      {"push-relabel", Solver::PushRelabel}};
  return parseWord("solver", text, value, table, error);
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
