// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `cutback draw`: a picture of a plan, as SVG, in Graphviz's language, or as
// PNG, which Graphviz's `dot` makes of that. The kind follows from the name of
// the output; nothing else could tell it.
//
// The plan is made as for a report, with the same options, so that what is
// drawn is what is reported. The picture is written whole or not at all.

#include "PlanRun.h"

#include "cutback/Report/Drawing.h"
#include "cutback/Report/Explain.h"
#include "cutback/Support/SafeFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

using namespace mlir;

namespace cutback {

CommandSpec drawSpec() {
  CommandSpec spec;
  spec.name = "draw";
  spec.arguments = "IN -o F.svg|F.dot|F.png";
  spec.summary = "Draw a plan.\n\n"
                 "Graphs of more than 120 ops are drawn module by module; "
                 "--around shows\nsingle ops.";
  spec.options = withPlanOptions({
      {"o", OptionSpec::Text, "F.svg|F.dot|F.png",
       "the picture; F.png takes `dot` of Graphviz"},
      {"around", OptionSpec::Text, "NAME",
       "only the value NAME and what is near it"},
      {"depth", OptionSpec::Integer, "N",
       "how far --around looks, in ops (default 2)", false, 1},
      {"what", OptionSpec::Choice, "joint|forward|backward|network",
       "both halves (the default), one of them, or the\n"
       "ops that could be recomputed with the costs"},
  });
  spec.examples = {
      "draw joint.txt -o plan.svg",
      "draw joint.txt -o near.svg --around=addmm_3 --depth=3",
      "draw joint.txt -o cut.svg --around=addmm_3 --what=network",
      "draw joint.txt -o backward.dot --what=backward",
  };
  return spec;
}

static int readDrawOptions(Session &session, const GraphView &view,
                           DrawOptions &options) {
  std::string_view what = session.line.get("what").value_or("joint");
  options.what = llvm::StringSwitch<DrawOptions::What>(
                     llvm::StringRef(what.data(), what.size()))
                     .Case("forward", DrawOptions::Forward)
                     .Case("backward", DrawOptions::Backward)
                     .Case("network", DrawOptions::Network)
                     .Default(DrawOptions::Joint);
  options.depth =
      std::min<int64_t>(session.line.integer("depth").value_or(2), 1000000);
  auto around = session.line.get("around");
  if (!around)
    return Done;
  std::string name(*around);
  options.around = findValue(view, name);
  if (options.around)
    return Done;
  std::vector<std::string> near = namesNear(view, name, 3);
  session.error("the prepared graph has no value '" + name + "'");
  session.note(near.empty() ? "`cutback import` prints the graph with all names"
                            : "names near it: " + llvm::join(near, ", "));
  return WrongInput;
}

/// Before a plan is made that nothing can paint.
static int findGraphviz(Session &session, std::string &program) {
  auto found = llvm::sys::findProgramByName("dot");
  if (found) {
    program = *found;
    return Done;
  }
  session.error("no program 'dot' is found, which paints a PNG");
  session.note("install Graphviz (Debian: apt install graphviz), or write "
               "F.svg, which needs nothing");
  return WrongUsage;
}

/// What `dot` makes of `text`, by files of its own.
static int writePng(Session &session, const std::string &program,
                    const std::string &text) {
  llvm::SmallString<128> from, to;
  if (llvm::sys::fs::createTemporaryFile("cutback", "dot", from) ||
      llvm::sys::fs::createTemporaryFile("cutback", "png", to))
    return session.failedWrite("cannot make a temporary file");
  llvm::FileRemover removeFrom(from), removeTo(to);
  if (std::string failure = writeFileSafely(from.str().str(), text);
      !failure.empty())
    return session.failedWrite(failure);
  llvm::StringRef arguments[] = {program, "-Tpng", from, "-o", to};
  std::string error;
  int code = llvm::sys::ExecuteAndWait(program, arguments, std::nullopt, {}, 0,
                                       0, &error);
  auto made = llvm::MemoryBuffer::getFile(to, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (code != 0 || !made || (*made)->getBufferSize() == 0) {
    session.error("'" + program + " -Tpng' makes no picture" +
                  (error.empty() ? "" : ": " + error));
    session.note("write F.svg, or F.dot to see what it was given");
    return NoPlan;
  }
  return session.write(session.line.get("o"), (*made)->getBuffer().str());
}

int runDraw(const CommandLine &line) {
  Session session("draw", line);
  llvm::StringRef path = "";
  if (auto given = line.get("o"))
    path = llvm::StringRef(given->data(), given->size());
  if (!path.ends_with(".svg") && !path.ends_with(".dot") &&
      !path.ends_with(".png")) {
    session.error("expected -o F.svg, -o F.dot or -o F.png");
    session.note("the end of the name tells the kind of picture");
    return WrongUsage;
  }
  std::string graphviz;
  if (path.ends_with(".png"))
    if (int code = findGraphviz(session, graphviz))
      return code;
  if (line.has("depth") && !line.has("around")) {
    session.error("--depth needs --around=NAME");
    return WrongUsage;
  }
  PlanRun run;
  if (int code = run.load(session, importOptionsOf(line)))
    return code;
  if (int code = run.plan(session))
    return code;
  DrawOptions options;
  if (int code = readDrawOptions(session, run.result->view, options))
    return code;
  session.progress.step("drawing");
  Picture picture = makePicture(*run.result, options);
  if (picture.overview)
    session.note("drawn module by module; --around=NAME shows single ops");
  if (path.ends_with(".dot"))
    return session.write(line.get("o"), writeDot(picture));
  if (path.ends_with(".png"))
    return writePng(session, graphviz, writeDot(picture));
  layoutPicture(picture);
  return session.write(line.get("o"), writeSvg(picture));
}

} // namespace cutback
