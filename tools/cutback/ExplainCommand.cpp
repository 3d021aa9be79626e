// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `cutback explain`: why one value is saved or recomputed.
//
// Names are those of the graph as it was read. Preparation may have removed a
// value, because nobody used it or because another value is the same; that is
// told apart from a name that never was.

#include "PlanRun.h"

#include "cutback/Report/Explain.h"
#include "cutback/Report/Modules.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace cutback {

CommandSpec explainSpec() {
  CommandSpec spec;
  spec.name = "explain";
  spec.arguments = "IN --value=NAME";
  spec.summary = "Say why one value is saved or recomputed.";
  spec.options = withPlanOptions({
      {"value", OptionSpec::Text, "NAME", "the value, with or without a %"},
  });
  spec.examples = {
      "explain joint.txt --value=addmm_3",
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
  GraphView before = GraphView::build(run.imported.graph);
  if (!findValue(before, name))
    return unknownValue(session, before, name);
  if (int code = run.plan(session))
    return code;
  const GraphView &view = run.result->view;
  std::optional<uint32_t> value = findValue(view, name);
  if (!value)
    return session.write(
        std::nullopt, "%" + name +
                          ": not in the prepared graph: nothing "
                          "uses it, or it equals a value that comes before\n");
  std::string module;
  if (!view.isArg(*value))
    module =
        deriveModules(view, collectModuleFacts(view))[view.definer[*value]];
  return session.write(std::nullopt, explainValue(*run.result, *value, module));
}

} // namespace cutback
