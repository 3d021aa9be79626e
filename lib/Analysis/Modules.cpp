// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which module of the model an op belongs to. Joint texts name parameters
// ("blocks.3.attn.qkv.weight") and source lines, but no module of an op. A run
// is a longest sequence of ops with one source line; frameworks record the
// innermost line, so a run is a piece of one call of one module. Rules, first
// that applies:
//   1. The op uses parameters, or values computed from parameters alone (casts,
//      transposes): the longest common prefix of their modules.
//   2. An operand was computed in the same run: the module of the latest one.
//   3. The nearest op of rule 1 that follows in the run; else that precedes.
//      (The weight of a normalization comes at the end of its arithmetic.)
//   4. The run has no parameters (attention, a residual sum): the parent of
//      the module of the latest operand that has one, if rules 1 to 3 gave it;
//      the very module, if rule 4 did.
//   5. Nothing so far (before the first parameter): that of the first user.
// Backward ops carry the lines of their forward ops, so the rules hold there
// too. Linear: three passes over the ops.

#include "cutback/Analysis/Modules.h"

#include "cutback/Analysis/Names.h"
#include "cutback/Support/Text.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using llvm::StringRef;

namespace cutback {

std::string moduleOfParameter(StringRef name) {
  size_t dot = name.rfind('.');
  return (dot == StringRef::npos ? name : name.take_front(dot)).str();
}

StringRef commonModule(StringRef a, StringRef b) {
  size_t end = 0, i = 0;
  for (; i < a.size() && i < b.size() && a[i] == b[i]; ++i)
    if (a[i] == '.')
      end = i;
  bool whole = (i == a.size() || a[i] == '.') && (i == b.size() || b[i] == '.');
  return a.take_front(whole ? i : end);
}

ModuleFacts collectModuleFacts(const GraphView &view) {
  ModuleFacts facts;
  joint::GraphOp graph = view.graph; // a handle; its accessors are not const
  facts.argModule.resize(view.numArgs);
  for (uint32_t arg = 0; arg < view.numArgs; ++arg) {
    joint::RoleAttr role = graph.getRole(arg);
    if (!role || !role.getName())
      continue;
    if (role.getKind() == joint::RoleKind::Param ||
        role.getKind() == joint::RoleKind::Buffer)
      facts.argModule[arg] = moduleOfParameter(role.getName().getValue());
  }
  llvm::StringMap<uint32_t> lines;
  facts.line.reserve(view.numOps());
  for (Operation *op : view.ops) {
    std::optional<SourcePlace> place = findSourcePlace(op->getLoc());
    uint32_t number = 0;
    if (place) {
      std::string key = (place->file + ":" + llvm::Twine(place->line)).str();
      number = lines.try_emplace(key, lines.size() + 1).first->second;
    }
    facts.line.push_back(number);
  }
  return facts;
}

namespace {
enum class Rule : uint8_t { None, Own, Run, Parent, User };

struct Derivation {
  const GraphView &view;
  const ModuleFacts &facts;
  std::vector<std::string> module; ///< by op
  std::vector<Rule> rule;          ///< by op
  /// By value: it is a parameter, or computed from parameters alone.
  std::vector<uint8_t> constant;

  StringRef moduleOfValue(uint32_t value) const {
    if (view.isArg(value))
      return facts.argModule[value];
    return module[view.definer[value]];
  }
  void assign(uint32_t op, StringRef name, Rule by) {
    module[op] = name.str();
    rule[op] = by;
  }
  void ownParameters();
  void runs();
  void run(uint32_t begin, uint32_t end);
  uint32_t latestOperand(uint32_t op, uint32_t from) const;
  void parents(uint32_t begin, uint32_t end);
  void users();
};
} // namespace

/// Rule 1, and which values are computed from parameters alone.
void Derivation::ownParameters() {
  constant.assign(view.values.size(), 0);
  for (uint32_t arg = 0; arg < view.numArgs; ++arg)
    constant[arg] = !facts.argModule[arg].empty();
  for (uint32_t op = 0; op < rule.size(); ++op) {
    bool any = false, all = true;
    StringRef common;
    for (uint32_t value : view.operands(op)) {
      if (!constant[value]) {
        all = false;
        continue;
      }
      StringRef of = moduleOfValue(value);
      common = any ? commonModule(common, of) : of;
      any = true;
    }
    if (!any)
      continue;
    // Two modules without a common one: the op is left to the other rules,
    // but what it computes is still made of parameters.
    if (!common.empty())
      assign(op, common, Rule::Own);
    for (uint32_t v = view.resultBegin[op]; v < view.resultBegin[op + 1]; ++v)
      constant[v] = all && !common.empty();
  }
}

/// The op that defines the latest operand of `op` which is not a constant and
/// has a module, among ops from `from` on; kNone if there is none.
uint32_t Derivation::latestOperand(uint32_t op, uint32_t from) const {
  uint32_t latest = GraphView::kNone;
  for (uint32_t value : view.operands(op)) {
    uint32_t definer = view.definer[value];
    if (definer == GraphView::kNone || definer < from || constant[value] ||
        rule[definer] == Rule::None)
      continue;
    if (latest == GraphView::kNone || definer > latest)
      latest = definer;
  }
  return latest;
}

/// Rules 2 and 3 on a run that has an op of rule 1.
void Derivation::run(uint32_t begin, uint32_t end) {
  std::vector<uint32_t> following(end - begin, GraphView::kNone);
  uint32_t next = GraphView::kNone;
  for (uint32_t op = end; op-- > begin;) {
    if (rule[op] == Rule::Own)
      next = op;
    following[op - begin] = next;
  }
  uint32_t previous = GraphView::kNone;
  for (uint32_t op = begin; op < end; ++op) {
    if (rule[op] == Rule::Own) {
      previous = op;
      continue;
    }
    uint32_t from = latestOperand(op, begin);
    if (from == GraphView::kNone)
      from = following[op - begin];
    if (from == GraphView::kNone)
      from = previous;
    assign(op, module[from], Rule::Run);
  }
}

/// Rule 4 on a run without parameters.
void Derivation::parents(uint32_t begin, uint32_t end) {
  for (uint32_t op = begin; op < end; ++op) {
    uint32_t from = latestOperand(op, 0);
    if (from == GraphView::kNone)
      continue;
    StringRef name = module[from];
    size_t dot = name.rfind('.');
    if (rule[from] != Rule::Parent && dot != StringRef::npos)
      name = name.take_front(dot);
    assign(op, name, Rule::Parent);
  }
}

void Derivation::runs() {
  uint32_t numOps = rule.size();
  for (uint32_t begin = 0, end; begin < numOps; begin = end) {
    bool own = rule[begin] == Rule::Own;
    for (end = begin + 1; end < numOps && facts.line[begin] != 0 &&
                          facts.line[end] == facts.line[begin];
         ++end)
      own |= rule[end] == Rule::Own;
    if (own)
      run(begin, end);
    else
      parents(begin, end);
  }
}

/// Rule 5.
void Derivation::users() {
  for (uint32_t op = rule.size(); op-- > 0;) {
    if (rule[op] != Rule::None)
      continue;
    for (uint32_t v = view.resultBegin[op]; v < view.resultBegin[op + 1]; ++v)
      for (uint32_t user : view.users(v))
        if (rule[op] == Rule::None && user < rule.size() &&
            rule[user] != Rule::None)
          assign(op, module[user], Rule::User);
  }
}

std::vector<std::string> deriveModules(const GraphView &view,
                                       const ModuleFacts &facts) {
  size_t numOps = facts.line.size();
  Derivation derivation{view, facts, {}, {}, {}};
  derivation.module.resize(numOps);
  derivation.rule.assign(numOps, Rule::None);
  derivation.ownParameters();
  derivation.runs();
  derivation.users();
  return std::move(derivation.module);
}

static StringRef recordedModule(Operation *op) {
  auto fused = dyn_cast<FusedLoc>(op->getLoc());
  auto path =
      fused ? dyn_cast_or_null<StringAttr>(fused.getMetadata()) : StringAttr();
  return path ? path.getValue() : StringRef();
}

std::vector<std::string> findModules(const GraphView &view) {
  std::vector<std::string> modules;
  modules.reserve(view.numOps());
  bool isRecorded = false;
  for (Operation *op : view.ops) {
    modules.push_back(recordedModule(op).str());
    isRecorded |= !modules.back().empty();
  }
  return isRecorded ? modules : deriveModules(view, collectModuleFacts(view));
}

std::string describeModulesNear(const std::vector<std::string> &modules,
                                StringRef name) {
  llvm::StringSet<> known;
  std::vector<std::string_view> candidates;
  for (const std::string &module : modules)
    for (StringRef path = module; !path.empty();
         path = path.contains('.') ? path.rsplit('.').first : StringRef()) {
      auto [it, isNew] = known.insert(path);
      if (!isNew)
        break;
      candidates.emplace_back(it->getKeyData(), it->getKeyLength());
    }
  if (candidates.empty())
    return "no op of the graph has a module: export the model as .pt2";
  std::vector<std::string> near =
      nearestNames(std::string_view(name.data(), name.size()), candidates, 3);
  llvm::sort(candidates);
  return near.empty()
             ? "the first of its modules are " +
                   llvm::join(
                       llvm::map_range(llvm::ArrayRef(candidates).take_front(3),
                                       [](std::string_view module) {
                                         return std::string(module);
                                       }),
                       ", ")
             : "modules near it are " + llvm::join(near, ", ");
}

} // namespace cutback
