// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From names of modules to checkpoint regions. An op knows its module by its
// location (.pt2), else by the parameters that it uses (Modules.cpp).
//
//   1. Each op of the forward gets the list of modules around it that were
//      asked for, outermost first, behind the segment that it is in.
//   2. In program order, a list that differs from the one before opens regions;
//      ops without any are passed over, so that a constant in the middle does
//      not cut a module in two.
//   3. Ops of the backward that know their forward op learn its region.
//   4. Policies by op name go over the tags, file's and ours.
//
// Segments are those of PyTorch's checkpoint_sequential: ⌊length / n⌋ modules
// each, and what is left, with the last segment, is no region. Linear.

#include "cutback/Transforms/ChooseRegions.h"

#include "RegionPolicies.h"

#include "cutback/Analysis/GraphSets.h"
#include "cutback/Analysis/Modules.h"
#include "cutback/Dialect/Joint/BackwardKey.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/InsideUpdate.h"
#include "cutback/Dialect/Joint/Vjp.h"
#include "cutback/Transforms/ExpandRegions.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/GlobPattern.h"

#include <map>

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

namespace {

/// Attributes of joint.checkpoint, besides its policies.
struct RegionSettings {
  RegionWishes wishes;
  bool reentrant = false, advise = false;

  bool *find(StringRef name) {
    return llvm::StringSwitch<bool *>(name)
        .Case(RegionWishes::kEarlyStop, &wishes.earlyStop)
        .Case(RegionWishes::kPreserveRng, &wishes.preserveRng)
        .Case("reentrant", &reentrant)
        .Case("advise", &advise)
        .Default(nullptr);
  }
  bool operator==(const RegionSettings &other) const {
    return wishes.earlyStop == other.wishes.earlyStop &&
           wishes.preserveRng == other.wishes.preserveRng &&
           wishes.budget == other.wishes.budget &&
           reentrant == other.reentrant && advise == other.advise;
  }
};

/// A pattern over paths, component by component.
struct ModulePattern {
  std::string text;
  RegionSettings settings;
  SmallVector<llvm::GlobPattern, 4> components;
  bool fits = false;        ///< some module
  bool hasGradient = false; ///< of something in a module that fits

  bool matches(ArrayRef<StringRef> path) const {
    if (path.size() != components.size())
      return false;
    for (auto [component, name] : llvm::zip(components, path))
      if (!component.match(name))
        return false;
    return true;
  }
};

FailureOr<ModulePattern> readPattern(GraphOp graph, StringRef path) {
  ModulePattern pattern;
  pattern.text = path.str();
  SmallVector<StringRef> components;
  path.split(components, '.');
  for (StringRef component : components) {
    auto glob = llvm::GlobPattern::create(component);
    if (!glob)
      return graph.emitError("'") << path << "' is no pattern of modules: "
                                  << llvm::toString(glob.takeError());
    pattern.components.push_back(std::move(*glob));
  }
  return pattern;
}

class RegionChooser {
public:
  RegionChooser(GraphOp graph, const RegionRequest &request)
      : graph(graph), request(request), view(GraphView::build(graph)) {}

  LogicalResult run() {
    FailureOr<GraphSets> computed = GraphSets::compute(view);
    if (failed(computed))
      return failure();
    sets = std::move(*computed);
    modules = findModules(view);
    if (failed(readPatterns()) || failed(readSegments()))
      return failure();
    tagOps();
    passOnRegions();
    if (failed(checkPatterns()) || failed(checkReentrant()))
      return failure();
    if (drawsAgain)
      warnOfOtherDraws(graph);
    return success();
  }

private:
  //===--- Modules --------------------------------------------------------===//

  bool isForward(uint32_t op) const {
    return sets.ops[op] == GraphSet::Forward;
  }

  /// Whether the backward reads a result of an op.
  bool isReadByBackward(uint32_t op) const {
    for (uint32_t r = view.resultBegin[op]; r < view.resultBegin[op + 1]; ++r)
      for (uint32_t user : view.users(r))
        if (user < view.numOps() && !isForward(user))
          return true;
    return false;
  }

  /// "early_stop=false,reentrant=true".
  LogicalResult readSettings(StringRef text, RegionSettings &settings) {
    SmallVector<StringRef> entries;
    text.split(entries, ',', -1, /*KeepEmpty=*/false);
    for (StringRef entry : entries) {
      auto [name, value] = entry.split('=');
      if (name == RegionWishes::kBudget) {
        if (failed(readBudget(value, settings)))
          return failure();
        continue;
      }
      bool *setting = settings.find(name);
      if (setting && (value == "true" || value == "false")) {
        *setting = value == "true";
        continue;
      }
      auto diag = graph.emitError("'")
                  << entry << "' is no attribute of a checkpoint region";
      diag.attachNote()
          << "it is written MODULES,NAME=true or false; names "
             "are early_stop, preserve_rng, reentrant and advise, "
             "or budget=0.4";
      return diag;
    }
    if (!settings.reentrant)
      return success();
    settings.wishes.earlyStop = false; // it runs whole
    if (request.policies.empty())
      return success();
    auto diag = graph.emitError("a reentrant checkpoint region has no policies "
                                "of ops");
    diag.attachNote() << "leave out --checkpoint-policy, or reentrant=true";
    return diag;
  }

  /// A region with a budget is a wish: the planner chooses what it keeps.
  LogicalResult readBudget(StringRef text, RegionSettings &settings) {
    double &budget = settings.wishes.budget.emplace();
    settings.advise = true;
    if (!text.getAsDouble(budget) && budget >= 0 && budget <= 1)
      return success();
    auto diag = graph.emitError("'")
                << text << "' is no budget of a checkpoint region";
    diag.attachNote() << "it is the fraction of its bytes that the region "
                         "keeps, from 0 to 1: --budget=blocks.*=0.4";
    return diag;
  }

  LogicalResult readPatterns() {
    for (const std::string &text : request.modules) {
      auto [path, settings] = StringRef(text).split(',');
      FailureOr<ModulePattern> pattern = readPattern(graph, path);
      if (failed(pattern) || failed(readSettings(settings, pattern->settings)))
        return failure();
      patterns.push_back(std::move(*pattern));
    }
    return success();
  }

  LogicalResult checkPatterns() {
    if (!contradicting.empty())
      return graph.emitError("two patterns of checkpoint regions fit module '")
             << contradicting << "' and ask for different attributes";
    for (const ModulePattern &pattern : patterns) {
      if (!pattern.fits) {
        auto diag = graph.emitError("no module is called '")
                    << pattern.text << "', which is to be a checkpoint region";
        diag.attachNote() << describeModulesNear(modules, pattern.text);
        return diag;
      }
      if (!pattern.hasGradient) {
        auto diag = graph.emitError("module '")
                    << pattern.text << "' is to be a checkpoint region, and "
                    << "has no gradient: the backward reads nothing of it";
        diag.attachNote() << "leave it out, or ask for the gradient of "
                             "something in it (--grad-of)";
        return diag;
      }
    }
    return success();
  }

  //===--- Segments -------------------------------------------------------===//

  /// The number of `path` in the list of modules called `list`, or none.
  static std::optional<unsigned> numberIn(StringRef list, StringRef path) {
    if (!list.empty() &&
        (!path.consume_front(list) || !path.consume_front(".")))
      return std::nullopt;
    unsigned number = 0;
    if (path.split('.').first.getAsInteger(10, number))
      return std::nullopt;
    return number;
  }

  /// The list with the most modules, of equals the first by name.
  LogicalResult readSegments() {
    if (request.segments == 0)
      return success();
    std::map<std::string, unsigned> lengths;
    for (uint32_t op = 0; op < view.numOps(); ++op) {
      StringRef module = modules[op];
      for (size_t begin = 0; isForward(op) && begin < module.size();) {
        StringRef list = module.take_front(begin ? begin - 1 : 0);
        if (auto number = numberIn(list, module)) {
          unsigned &length = lengths[list.str()];
          length = std::max(length, *number + 1);
        }
        size_t dot = module.find('.', begin);
        begin = dot == StringRef::npos ? module.size() : dot + 1;
      }
    }
    unsigned longest = 0;
    for (auto &[list, length] : lengths)
      if (length > longest) {
        longest = length;
        sequence = list;
      }
    if (longest >= request.segments) {
      segmentLength = longest / request.segments;
      return success();
    }
    auto diag = graph.emitError("cannot be cut into ")
                << request.segments << " checkpoint segments: ";
    if (longest == 0)
      diag << "it has no numbered list of modules";
    else
      diag << "its longest list of modules, '" << sequence << "', has "
           << longest;
    diag.attachNote() << "name the modules to checkpoint (--checkpoint)";
    return diag;
  }

  /// The segment of an op that is a region, or none.
  std::optional<unsigned> segmentOf(uint32_t op) const {
    if (segmentLength == 0)
      return std::nullopt;
    std::optional<unsigned> number = numberIn(sequence, modules[op]);
    if (!number || *number / segmentLength + 1 >= request.segments)
      return std::nullopt;
    return *number / segmentLength;
  }

  //===--- Tags -----------------------------------------------------------===//

  /// Of the region of a module, which two patterns must not tell apart.
  void addSettings(const std::string &region, const RegionSettings &settings) {
    auto [known, isNew] = settingsOf.try_emplace(region, settings);
    if (!isNew && !(known->second == settings) && contradicting.empty())
      contradicting = region;
  }

  /// The regions around an op, outermost first, by name.
  SmallVector<std::string> wantedRegions(uint32_t op) {
    SmallVector<std::string> wanted;
    if (std::optional<unsigned> segment = segmentOf(op))
      wanted.push_back("segment " + std::to_string(*segment));
    SmallVector<StringRef> path;
    StringRef(modules[op]).split(path, '.');
    for (size_t depth = 1; depth <= path.size(); ++depth) {
      bool any = false;
      std::string name = llvm::join(ArrayRef(path).take_front(depth), ".");
      for (ModulePattern &pattern : patterns)
        if (pattern.matches(ArrayRef(path).take_front(depth))) {
          pattern.fits = any = true;
          pattern.hasGradient |= isReadByBackward(op);
          addSettings(name, pattern.settings);
        }
      if (any && wanted.size() < kMaxRegionDepth)
        wanted.push_back(std::move(name));
    }
    return wanted;
  }

  void tagOps() {
    int64_t next = 0;
    for (Operation *op : view.ops)
      if (PolicyAttr policy = policyOf(op))
        next = std::max(next, policy.getOutermost() + 1);
    SmallVector<std::string> open;
    SmallVector<int64_t> numbers, children;
    for (uint32_t op = 0; op < view.numOps(); ++op) {
      if (!isForward(op))
        continue;
      SmallVector<std::string> wanted = wantedRegions(op);
      if (wanted.empty())
        continue;
      size_t common = 0;
      while (common < wanted.size() && common < open.size() &&
             wanted[common] == open[common])
        ++common;
      open = wanted;
      numbers.resize(common);
      children.resize(common);
      for (; common < wanted.size(); ++common) {
        numbers.push_back(common ? children[common - 1]++ : next++);
        children.push_back(0);
        openRegion(wanted[common], numbers);
      }
      tag(view.ops[op], numbers, llvm::any_of(wanted, [&](auto &region) {
            return settingsOf.lookup(region).advise;
          }));
    }
  }

  void openRegion(const std::string &name, ArrayRef<int64_t> path) {
    RegionSettings settings = settingsOf.lookup(name);
    setRegionWishes(graph, path, settings.wishes);
    drawsAgain |= !settings.wishes.preserveRng;
    if (settings.reentrant)
      reentrant[regionText(path)] = {name, false};
  }

  //===--- Reentrant regions ----------------------------------------------===//

  /// By value: whether PyTorch records a gradient of it.
  std::vector<bool> findGradients() {
    std::vector<bool> has(view.numValues());
    OutputOp output = graph.getOutput();
    for (int32_t argument : output.getGradientOf())
      has[argument] = true;
    // An update in the backward has used up those of what it writes.
    if (hasInsideUpdate(graph))
      for (auto write : graph.getBody().front().getOps<WriteOp>())
        if (auto argument = dyn_cast<BlockArgument>(write.getDestination());
            argument &&
            graph.getRole(argument.getArgNumber()).getKind() == RoleKind::Param)
          has[argument.getArgNumber()] = true;
    for (uint32_t op = 0; op < view.numOps(); ++op) {
      auto rules = dyn_cast<DifferentiableOpInterface>(view.ops[op]);
      bool passes = false;
      for (auto [i, operand] : llvm::enumerate(view.operands(op)))
        passes |=
            has[operand] && (!rules || i >= view.ops[op]->getNumOperands() ||
                             rules.canHaveGradient(static_cast<unsigned>(i)));
      for (uint32_t r = view.resultBegin[op];
           passes && r < view.resultBegin[op + 1]; ++r)
        has[r] = true;
    }
    return has;
  }

  /// Whether a value is given to a region, not held by its modules.
  bool isInput(uint32_t value) {
    if (!view.isArg(value))
      return true;
    RoleKind kind = graph.getRole(value).getKind();
    return kind != RoleKind::Param && kind != RoleKind::Buffer &&
           kind != RoleKind::Constant;
  }

  /// PyTorch gives a reentrant region gradients only if an input has one; the
  /// backward that is here has them all the same.
  LogicalResult checkReentrant() {
    if (reentrant.empty())
      return success();
    std::vector<bool> hasGradient = findGradients();
    auto isIn = [&](uint32_t op, StringRef region) {
      PolicyAttr policy = policyOf(view.ops[op]);
      std::string path = policy ? regionText(policy.getRegion()) : "";
      return StringRef(path) == region ||
             StringRef(path).starts_with((region + ".").str());
    };
    for (auto &[region, entry] : reentrant) {
      for (uint32_t op = 0; op < view.numOps(); ++op)
        for (uint32_t value : view.operands(op))
          entry.second |=
              isForward(op) && hasGradient[value] && isInput(value) &&
              isIn(op, region) &&
              (view.isArg(value) || !isIn(view.definer[value], region));
      if (entry.second)
        continue;
      auto diag = graph.emitError("no value that the reentrant checkpoint "
                                  "region '")
                  << entry.first
                  << "' reads has a gradient, parameters aside: PyTorch gives "
                     "none to what is in it";
      diag.attachNote() << "leave reentrant=true out; then it has the "
                           "gradients of the model";
      return diag;
    }
    return success();
  }

  void passOnRegions() const {
    llvm::StringMap<PolicyAttr> tagged;
    for (uint32_t op = 0; op < view.numOps(); ++op)
      if (PolicyAttr policy = policyOf(view.ops[op]);
          policy && isForward(op) && view.ops[op]->getNumResults() > 0)
        tagged[getValueName(view.ops[op]->getResult(0))] = policy;
    for (uint32_t op = 0; op < view.numOps(); ++op) {
      auto key = BackwardKey::read(view.ops[op]->getLoc());
      PolicyAttr policy = key ? tagged.lookup(key->of) : PolicyAttr();
      if (!policy)
        continue;
      key->region = policy.getRegion();
      view.ops[op]->setLoc(key->attach(
          cast<FusedLoc>(view.ops[op]->getLoc()).getLocations().front()));
    }
  }

  void tag(Operation *op, ArrayRef<int64_t> region, bool advises) const {
    PolicyAttr own = policyOf(op);
    PolicyKind kind = own       ? own.getKind()
                      : advises ? PolicyKind::AdviseRecompute
                                : PolicyKind::PreferRecompute;
    op->setAttr(JointDialect::kPolicy,
                PolicyAttr::get(op->getContext(), kind, region, /*run=*/0));
  }

  GraphOp graph;
  const RegionRequest &request;
  GraphView view;
  GraphSets sets;
  std::vector<std::string> modules; ///< by op
  std::vector<ModulePattern> patterns;
  llvm::StringMap<RegionSettings> settingsOf; ///< by module
  std::string contradicting;                  ///< a module, or empty
  /// By path: the module, and whether it reads a value with a gradient.
  std::map<std::string, std::pair<std::string, bool>> reentrant;
  bool drawsAgain = false;
  std::string sequence; ///< the list that is cut into segments
  unsigned segmentLength = 0;
};

} // namespace

/// Graph attribute: the request that was followed.
static constexpr llvm::StringLiteral kChosen = "joint.chosen_regions";

LogicalResult cutback::chooseRegions(GraphOp graph,
                                     const RegionRequest &request) {
  Builder builder(graph.getContext());
  SmallVector<StringRef> words(request.modules.begin(), request.modules.end());
  std::string segments = std::to_string(request.segments);
  words.push_back(segments);
  words.append(request.policies.begin(), request.policies.end());
  ArrayAttr chosen = builder.getStrArrayAttr(words);
  if (graph->getAttr(kChosen) == chosen)
    return success(); // a prepared graph that is planned again
  bool hasModules = !request.modules.empty() || request.segments > 0;
  if (hasModules && failed(RegionChooser(graph, request).run()))
    return failure();
  if (failed(applyRegionPolicies(graph, request.policies)))
    return failure();
  graph->setAttr(kChosen, chosen);
  return success();
}

FailureOr<bool> cutback::fitsModule(GraphOp graph, StringRef request) {
  FailureOr<ModulePattern> pattern =
      readPattern(graph, request.split(',').first);
  if (failed(pattern))
    return failure();
  for (StringRef module : findModules(GraphView::build(graph))) {
    SmallVector<StringRef> path;
    module.split(path, '.');
    // A module around that of an op fits, too.
    for (; !path.empty(); path.pop_back())
      if (pattern->matches(path))
        return true;
  }
  return false;
}
