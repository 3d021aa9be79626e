// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR's parser and nearly everything else of it is recursive, so nesting is
// measured before (MlirNesting.h), and ops are verified after that.
//
// Ops of `aten` and `joint` keep the names of their results. For ops of other
// dialects, which have no place for names, the attribute `names` (an array of
// strings) is added: everything that prints, asks for or compares values looks
// there, and it does not count when ops are compared. A result is called
//
//   1. as in the text, `%h` is "h": the parser of `joint.graph` keeps that. In
//      generic form it is not asked, and MLIR's forgets names but for an
//      observer, which costs time and memory;
//   2. else, as FX does it, after its op: "matmul", "matmul_1", ... in the
//      order of the graph.

#include "MlirText.h"
#include "MlirNesting.h"

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Dialect/Joint/CallArgs.h"
#include "cutback/Dialect/Joint/Joint.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::fx;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

namespace {

class ValueNamer {
public:
  /// `names` knows the text of results; null where there is no text.
  ValueNamer(joint::GraphOp graph, const AsmParserState *names)
      : graph(graph), names(names),
        namesId(StringAttr::get(graph.getContext(), "names")) {}

  void run() {
    SmallVector<Operation *> unnamed;
    graph.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
      for (Value result : op->getResults())
        taken.insert(joint::getValueName(result));
      if (isForeign(op) && op->getNumResults() && !op->hasAttr(namesId))
        unnamed.push_back(op);
      // What is inside a foreign op has no value that a plan speaks of.
      return isForeign(op) ? WalkResult::skip() : WalkResult::advance();
    });
    if (unnamed.empty())
      return;
    for (BlockArgument arg : graph.getBody().getArguments())
      taken.insert(joint::getValueName(arg));
    SmallVector<SmallVector<std::string, 1>> texts;
    for (Operation *op : unnamed) {
      texts.push_back(textNames(op));
      for (const std::string &text : texts.back())
        taken.insert(text);
    }
    for (auto [op, given] : llvm::zip(unnamed, texts))
      name(op, given);
  }

private:
  static bool isForeign(Operation *op) {
    return !isa_and_nonnull<aten::AtenDialect, joint::JointDialect>(
        op->getDialect());
  }

  /// "h" for `%h`, "h_1" for the second of `%h:2`; empty for a number.
  SmallVector<std::string, 1> textNames(Operation *op) const {
    SmallVector<std::string, 1> found(op->getNumResults());
    const AsmParserState::OperationDefinition *definition =
        names ? names->getOpDef(op) : nullptr;
    if (!definition)
      return found;
    StringRef group;
    unsigned first = 0, next = 0;
    for (unsigned i = 0; i < found.size(); ++i) {
      if (next < definition->resultGroups.size() &&
          definition->resultGroups[next].startIndex == i) {
        SMRange range = definition->resultGroups[next++].definition.loc;
        group = StringRef(range.Start.getPointer(),
                          range.End.getPointer() - range.Start.getPointer());
        group.consume_front("%");
        first = i;
      }
      if (!group.empty() && !llvm::isDigit(group.front()))
        found[i] =
            i == first ? group.str() : (group + "_" + Twine(i - first)).str();
    }
    return found;
  }

  void name(Operation *op, ArrayRef<std::string> given) {
    SmallVector<Attribute> list;
    StringRef kind = op->getName().stripDialect();
    for (const std::string &text : given) {
      std::string name = text;
      for (unsigned &i = numbers[kind]; name.empty(); ++i) {
        name = i ? (kind + "_" + Twine(i)).str() : kind.str();
        if (!taken.insert(name).second)
          name.clear();
      }
      list.push_back(StringAttr::get(op->getContext(), name));
    }
    op->setDiscardableAttr(namesId, ArrayAttr::get(op->getContext(), list));
  }

  joint::GraphOp graph;
  const AsmParserState *names;
  StringAttr namesId;
  llvm::StringSet<> taken;
  llvm::StringMap<unsigned> numbers; ///< the next of a kind of op
};

} // namespace

/// The module that was parsed into `block`, or a module around what was.
static OwningOpRef<ModuleOp> takeModule(Block &block, Location place) {
  if (llvm::hasSingleElement(block))
    if (auto module = dyn_cast<ModuleOp>(block.front())) {
      module->remove();
      return module;
    }
  auto module = ModuleOp::create(place);
  module.getBody()->getOperations().splice(module.getBody()->begin(),
                                           block.getOperations());
  return module;
}

/// Erases what is inside of `root`, the innermost ops first: MLIR's own
/// destructors are recursive, and these ops may nest without end.
static void eraseOps(Operation *root) {
  std::vector<Operation *> ops = {root}; // each in front of those inside of it
  for (size_t i = 0; i < ops.size(); ++i)
    for (Region &region : ops[i]->getRegions())
      for (Block &block : region)
        for (Operation &inner : block)
          ops.push_back(&inner);
  for (Operation *op : ops) {
    op->setOperands({});
    for (BlockOperand &successor : op->getBlockOperands())
      successor.drop();
  }
  for (Operation *op : llvm::reverse(llvm::ArrayRef(ops).drop_front()))
    op->erase();
}

FailureOr<OwningOpRef<ModuleOp>>
fx::parseMlir(const SourceText &source, bool isText, MLIRContext &context) {
  if (isText && failed(checkBrackets(source, context)))
    return failure();
  context
      .loadDialect<aten::AtenDialect, joint::JointDialect, func::FuncDialect>();
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(source.text(), source.name()),
      llvm::SMLoc());
  ScopedDiagnosticHandler handler(&context, [](Diagnostic &diagnostic) {
    if (StringRef(diagnostic.str()).contains("not found for custom op"))
      diagnostic.attachNote()
          << "cutback does not know this dialect; written in generic form "
             "(mlir-opt --mlir-print-op-generic) its ops are planned as ops "
             "that run once";
    return failure();
  });
  ParserConfig config(&context, /*verifyAfterParse=*/false);
  AsmParserState names;
  bool isObserved = isText && source.text().contains("\"joint.graph\"");
  OwningOpRef<ModuleOp> module;
  if (isObserved) {
    Block block;
    if (failed(parseAsmSourceFile(sources, &block, config, &names)))
      return failure();
    module =
        takeModule(block, FileLineColLoc::get(&context, source.name(), 0, 0));
  } else if (module = parseSourceFile<ModuleOp>(sources, config); !module) {
    return failure();
  }
  if (failed(checkExpansion(*module))) {
    eraseOps(*module);
    return failure();
  }
  if (failed(verify(*module)))
    return failure();
  for (auto graph : module->getOps<joint::GraphOp>())
    ValueNamer(graph, isObserved ? &names : nullptr).run();
  return module;
}
