// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `cutback explain`: why one value is saved or recomputed, and what if not.
//
// The second plan starts from what the first one found out about the graph. An
// opposite that no plan has is no error: the answer says what decides.
//
// Names are those of the graph as it was read. Preparation may have removed a
// value, because nobody used it or because another value is the same; that is
// told apart from a name that never was.

#include "PlanRun.h"

#include "cutback/Analysis/Modules.h"
#include "cutback/Planner/Planner.h"
#include "cutback/Report/Comparison.h"
#include "cutback/Report/Explain.h"
#include "cutback/Report/WhatIf.h"
#include "cutback/Support/MLIR/Silence.h"
#include "cutback/Support/Text.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace cutback {

CommandSpec explainSpec() {
  CommandSpec spec;
  spec.name = "explain";
  spec.arguments = "IN --value=NAME";
  spec.summary = "Say why one value is saved or recomputed.";
  spec.options = withPlanOptions({
      {"value", OptionSpec::Text, "NAME", "the value, with or without a %"},
      {"what-if", OptionSpec::Flag, "",
       "make the opposite choice for it, plan again, and\n"
       "say what changes"},
      {"json", OptionSpec::Flag, "", "print one JSON object (schema 1)"},
  });
  spec.examples = {
      "explain joint.txt --value=addmm_3",
      "explain joint.txt --value=addmm_3 --what-if",
      "explain joint.txt --value=addmm_3 --policy=addmm_3=must-recompute",
  };
  return spec;
}

static int unknownValue(Session &session, const GraphView &view,
                        const std::string &name) {
  std::vector<std::string> near = namesNear(view, name, 3);
  session.error("the graph has no value '" + name + "'");
  session.note(near.empty() ? "`cutback import` prints the graph with all names"
                            : "names near it: " + llvm::join(near, ", "));
  return WrongInput;
}

/// The plan with the opposite choice; none, with the reason in `opposite`, if
/// there is none.
static CopiedPlan planOther(Session &session, PlanRun &run,
                            joint::GraphOp asRead, Opposite &opposite) {
  if (!opposite.whyNot.empty())
    return {};
  session.progress.step("planning the opposite");
  Silence silence(session.context);
  auto planned = planOpposite(asRead, *run.result, opposite);
  if (succeeded(planned))
    return std::move(*planned);
  opposite.whyNot = silence.firstError;
  return {};
}

/// What PyTorch's partitioner does with the value; nothing where the graph as
/// PyTorch prepares it does not have it, or is too large to plan twice, and of
/// a stored graph, which is prepared by us.
static std::optional<Fate> fateInTorch(Session &session, PlanRun &run,
                                       joint::GraphOp asRead, uint32_t value) {
  if (!asRead || isStoredPlan(session.line.arguments.front()))
    return std::nullopt;
  session.progress.step("planning as PyTorch");
  Silence silence(session.context);
  PartitionOptions options = askTorch(*run.result);
  options.verify = false;
  options.memory.reset();
  FailureOr<CopiedPlan> planned = planCopy(asRead, options);
  if (failed(planned))
    return std::nullopt;
  const PartitionResult &theirs = *planned->result;
  std::optional<uint32_t> found =
      findValue(theirs.view, run.result->view.name(value));
  if (!found)
    return std::nullopt;
  return Fates(theirs).of(*found);
}

/// `asRead` is the graph before it was planned, if a plan of it may be asked
/// for.
static int answer(Session &session, PlanRun &run, joint::GraphOp asRead,
                  uint32_t value) {
  const GraphView &view = run.result->view;
  std::string module;
  if (!view.isArg(value))
    module = deriveModules(view, collectModuleFacts(view))[view.definer[value]];
  bool whatIf = session.line.has("what-if");
  Opposite opposite;
  CopiedPlan other;
  if (whatIf) {
    opposite = oppositeOf(*run.result, value);
    other = planOther(session, run, asRead, opposite);
  }
  std::optional<Fate> inTorch = fateInTorch(session, run, asRead, value);
  if (session.line.has("json"))
    return session.write(std::nullopt,
                         explainJson(*run.result, other.result.get(),
                                     whatIf ? &opposite : nullptr, value,
                                     module, inTorch));
  std::string text = explainValue(*run.result, value, module);
  if (inTorch)
    text += wrapText("  with torch.compile", spell(*inTorch), 28);
  if (whatIf)
    text += whatIfText(*run.result, other.result.get(), opposite, value);
  return session.write(std::nullopt, text);
}

static int notPrepared(Session &session, const std::string &name) {
  if (session.line.has("json")) {
    llvm::json::Object object{{"schema", 1},
                              {"value", llvm::json::fixUTF8(name)},
                              {"fate", "not in the prepared graph"}};
    std::string text;
    llvm::raw_string_ostream(text)
        << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(object)));
    return session.write(std::nullopt, text);
  }
  return session.write(
      std::nullopt,
      wrapText("%" + name + ":",
               "not in the prepared graph: nothing uses it, or it equals a "
               "value that comes before",
               4));
}

int runExplain(const CommandLine &line) {
  Session session("explain", line);
  if (!line.has("value")) {
    session.error("expected --value=NAME");
    session.note("`cutback import` prints the graph with all names");
    return WrongUsage;
  }
  std::string name(*line.get("value"));
  PlanRun run;
  if (int code = run.load(session, importOptionsOf(line)))
    return code;
  if (line.has("what-if") && run.options.strategy != Strategy::MinCut) {
    session.error("--what-if needs --strategy=min-cut: other strategies do not "
                  "choose");
    return WrongUsage;
  }
  GraphView before = GraphView::build(run.imported.graph);
  std::optional<uint32_t> named = findValue(before, name);
  if (!named)
    return unknownValue(session, before, name);
  name = before.name(*named);
  // Figures are compared with those of a plan that is asked for: with memory.
  bool whatIf = line.has("what-if");
  OwningOpRef<joint::GraphOp> asRead =
      whatIf ? cast<joint::GraphOp>(run.imported.graph->clone())
             : copyToCompare(run.imported.graph);
  if (int code = run.plan(session, /*memory=*/whatIf))
    return code;
  std::optional<uint32_t> value = findValue(run.result->view, name);
  // A part of a composite op may have a name that was free by then.
  if (const auto &given = run.result->given;
      given && value && given->numberOf[*value] == GraphView::kNone)
    value.reset();
  return value ? answer(session, run, asRead.get(), *value)
               : notPrepared(session, name);
}

} // namespace cutback
