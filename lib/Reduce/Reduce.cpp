// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The search. A pass is a list of things that could go (results, ops,
// arguments, attributes); it is swept with halves of the list, then quarters,
// down to single entries, and a candidate that still shows what is looked for
// becomes the graph at once:
//
//   structure   results; ops, cut off with arguments in place of their values,
//               then with everything that depends on them, then bypassed;
//               regions; equal arguments — until nothing goes any more
//   content     sizes, ranks, symbols, attributes, arguments of calls — then
//               the structure again, if something went
//
// Cutting comes first: on a graph of n ops around one fault it leaves a few
// ops after about log n tries, whatever depends on whatever.
//
// Candidates that do not verify are never asked about, and none is asked about
// twice: texts are remembered by their hashes of 128 bits. With several jobs,
// answers behind the first good one are thrown away, so the result and the
// number of tries do not depend on how many there are.

#include "cutback/Reduce/Reduce.h"

#include "mlir/IR/Verifier.h"
#include "llvm/Support/SHA1.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <set>

using namespace mlir;
using namespace cutback;

std::string cutback::candidateText(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os);
  os << "\n";
  return text;
}

static joint::GraphOp graphOf(ModuleOp module) {
  for (joint::GraphOp graph : module.getOps<joint::GraphOp>())
    return graph;
  return {};
}

/// Ops among which one is looked for that is enough by itself.
static constexpr size_t kFew = 64;

namespace {

using Edit = std::function<void(joint::GraphOp)>;
using EditOf = std::function<Edit(size_t)>;
using Digest = std::array<uint8_t, 20>;

struct Candidate {
  OwningOpRef<ModuleOp> module;
  std::string text;
  Digest digest;
  size_t number = 0; ///< of its edit
};

class Search {
public:
  Search(OwningOpRef<ModuleOp> &best, const Oracle &oracle,
         const ReduceOptions &options, const ReduceProgress &progress)
      : best(best), oracle(oracle), options(options), progress(progress) {
    stats.before = stats.after = sizeOf(graph());
    asked.insert(digestOf(candidateText(*best)));
  }

  void run() {
    bool again = true;
    while (again && !isOver()) {
      while (reduceStructure() && !isOver()) {
      }
      again = reduceContent();
    }
  }

  ReduceStats stats;

private:
  joint::GraphOp graph() const { return graphOf(*best); }
  bool isOver() const { return stats.stopped || stats.exhausted; }
  static Digest digestOf(const std::string &text) {
    return llvm::SHA1::hash(llvm::ArrayRef(
        reinterpret_cast<const uint8_t *>(text.data()), text.size()));
  }

  std::optional<Candidate> make(const Edit &edit);
  std::optional<size_t> ask(std::vector<Candidate> &candidates);
  std::optional<size_t> first(size_t count, const EditOf &edit);
  bool sweep(const std::function<size_t()> &count,
             const std::function<void(joint::GraphOp, size_t, size_t)> &edit);
  bool each(const std::function<size_t()> &count, const EditOf &edit);
  bool reduceStructure();
  bool reduceContent();
  bool reduceSizes();

  OwningOpRef<ModuleOp> &best;
  const Oracle &oracle;
  const ReduceOptions &options;
  const ReduceProgress &progress;
  std::set<Digest> asked;
};

} // namespace

/// The best graph, edited; nothing if that is no graph, or was asked about.
std::optional<Candidate> Search::make(const Edit &edit) {
  Candidate candidate;
  candidate.module = cast<ModuleOp>((*best)->clone());
  edit(graphOf(*candidate.module));
  ScopedDiagnosticHandler silence((*best)->getContext(),
                                  [](Diagnostic &) { return success(); });
  if (failed(mlir::verify(*candidate.module))) {
    ++stats.invalid;
    return std::nullopt;
  }
  candidate.text = candidateText(*candidate.module);
  candidate.digest = digestOf(candidate.text);
  if (asked.count(candidate.digest)) {
    ++stats.known;
    return std::nullopt;
  }
  return candidate;
}

/// Asks about candidates at once; makes the first good one the best graph and
/// returns the number of its edit.
std::optional<size_t> Search::ask(std::vector<Candidate> &candidates) {
  uint64_t left = options.maxTries - stats.tries;
  if (candidates.size() > left)
    candidates.resize(left);
  std::vector<std::string> texts;
  for (const Candidate &candidate : candidates)
    texts.push_back(candidate.text);
  std::vector<uint8_t> good;
  if (!texts.empty())
    good = oracle(texts);
  stats.stopped = good.size() < texts.size();
  for (size_t i = 0; i < good.size() && !stats.stopped; ++i) {
    ++stats.tries;
    asked.insert(candidates[i].digest);
    if (!good[i])
      continue;
    best = std::move(candidates[i].module);
    stats.after = sizeOf(graph());
    progress(stats);
    return candidates[i].number;
  }
  stats.exhausted |= stats.tries >= options.maxTries;
  return std::nullopt;
}

/// The first of `count` edits that holds, which is made.
std::optional<size_t> Search::first(size_t count, const EditOf &edit) {
  std::vector<Candidate> batch;
  for (size_t i = 0; i < count && !isOver(); ++i) {
    // The same candidate twice in a batch would be asked about twice.
    if (std::optional<Candidate> candidate = make(edit(i))) {
      bool isTwin = llvm::any_of(batch, [&](const Candidate &other) {
        return other.digest == candidate->digest;
      });
      candidate->number = i;
      if (!isTwin)
        batch.push_back(std::move(*candidate));
    }
    if (batch.size() < options.jobs && i + 1 < count)
      continue;
    if (std::optional<size_t> found = ask(batch))
      return found;
    batch.clear();
  }
  return std::nullopt;
}

/// Sweeps a list of `count()` entries with edits of ranges of it.
bool Search::sweep(
    const std::function<size_t()> &count,
    const std::function<void(joint::GraphOp, size_t, size_t)> &edit) {
  bool changed = false;
  for (size_t chunk = count(); chunk > 0 && !isOver(); chunk /= 2) {
    size_t at = 0;
    for (size_t n = count(); at < n && !isOver(); n = count()) {
      auto range = [&](size_t i) -> Edit {
        size_t begin = at + i * chunk;
        return [&edit, begin, end = std::min(begin + chunk, n)](
                   joint::GraphOp graph) { edit(graph, begin, end); };
      };
      std::optional<size_t> found = first((n - at + chunk - 1) / chunk, range);
      if (!found)
        break;
      changed = true;
      at += *found * chunk;
      // What does not shrink the list has been dealt with where it is.
      if (count() >= n)
        at += chunk;
    }
  }
  return changed;
}

/// Tries edits of single entries, from the first that held on.
bool Search::each(const std::function<size_t()> &count, const EditOf &edit) {
  bool changed = false;
  size_t at = 0;
  for (size_t n = count(); at < n && !isOver(); n = count()) {
    std::optional<size_t> found =
        first(n - at, [&](size_t i) { return edit(at + i); });
    if (!found)
      break;
    changed = true;
    at += *found + 1;
  }
  return changed;
}

bool Search::reduceStructure() {
  auto ops = [&] { return bodyOps(graph()).size(); };
  auto results = [&] { return sizeOf(graph()).results; };
  auto arguments = [&] { return sizeOf(graph()).arguments; };
  bool changed =
      each([] { return 1; }, [](size_t) { return dropOtherSymbols; });
  changed |= each([] { return 1; }, [](size_t) { return tidy; });
  changed |= sweep(results, dropResults);
  changed |= sweep(ops, cutOps);
  changed |= sweep(ops, dropOpsAndUsers);
  changed |= sweep(ops, bypassOps);
  changed |= sweep(ops, unwrapOps);
  // Twice would be no smaller: only where something else goes with it.
  if (ops() > 1 && ops() <= kFew)
    changed |= each(ops, [](size_t i) -> Edit {
      return [i](joint::GraphOp graph) { keepOnly(graph, i); };
    });
  changed |= sweep(arguments, mergeArguments);
  return changed;
}

bool Search::reduceSizes() {
  bool changed =
      each([] { return 1; },
           [](size_t) -> Edit {
             return [](joint::GraphOp graph) { bindSymbols(graph, 2); };
           });
  // For each size: 1, 2, or the half; in all its multiples or alone.
  auto replace = [&](size_t i) -> Edit {
    return [i](joint::GraphOp graph) {
      std::vector<int64_t> sizes = distinctSizes(graph);
      int64_t size = sizes[std::min(i / 6, sizes.size() - 1)];
      int64_t to[] = {1, 2, size / 2};
      if (to[i % 3] < size)
        replaceSize(graph, size, to[i % 3], i % 6 < 3);
    };
  };
  while (each([&] { return 6 * distinctSizes(graph()).size(); }, replace))
    changed = true;
  changed |=
      each([] { return 4; },
           [](size_t rank) -> Edit {
             return [rank](joint::GraphOp graph) { limitRank(graph, rank); };
           });
  return changed;
}

bool Search::reduceContent() {
  bool changed = reduceSizes();
  changed |=
      sweep([&] { return attributeSites(graph()).size(); }, dropAttributes);
  changed |= each([&] { return 4 * size_t(numCallEntries(graph())); },
                  [](size_t i) -> Edit {
                    return [i](joint::GraphOp graph) {
                      simplifyEntry(graph, i / 4, Simpler(i % 4));
                    };
                  });
  return changed;
}

ReduceStats cutback::reduceGraph(OwningOpRef<ModuleOp> &module,
                                 const Oracle &oracle,
                                 const ReduceOptions &options,
                                 const ReduceProgress &progress) {
  Search search(module, oracle, options, progress);
  search.run();
  return search.stats;
}
