// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the number of micro-batches does not divide the batch, stages are made
// for two sizes of a micro-batch (BatchSplit.h). Both are the same program
// under other values of the symbols that are rows of the batch; which these are
// is known from inputs, as a user says along which dimension they are split.
//
// A symbol may also be the size of something that is not split: a mask of rows
// by rows, an output that has rows along another dimension. Then micro-batches
// would not add up to the batch. That shows in the sizes of a stage, which are
// compared.

#include "cutback/Pipelining/BatchSizes.h"

#include "cutback/Interpreter/Step.h"
#include "cutback/Runtime/Pipeline/BatchSplit.h"
#include "cutback/Support/Text.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::joint;

namespace {

class RowFixer {
public:
  RowFixer(GraphOp graph, int64_t rows, llvm::StringMap<int64_t> &symbols)
      : graph(graph), rows(rows), given(symbols), symbols(symbols) {}

  LogicalResult fix(unsigned argument, StringRef name, int64_t dim);
  bool hasInputs = false;

private:
  LogicalResult refuse(const Twine &what, const Twine &next);
  LogicalResult checkRange(StringRef symbol, const std::string &where);

  GraphOp graph;
  int64_t rows;
  llvm::StringMap<int64_t> given; ///< by the user
  llvm::StringMap<int64_t> &symbols;
};

} // namespace

LogicalResult RowFixer::refuse(const Twine &what, const Twine &next) {
  auto diagnostic = graph.emitError(what);
  diagnostic.attachNote() << next;
  return diagnostic;
}

/// Whether the program was exported for so many rows.
LogicalResult RowFixer::checkRange(StringRef symbol, const std::string &where) {
  DictionaryAttr all = graph.getSymbolsAttr();
  auto attr =
      all ? dyn_cast_or_null<SymbolAttr>(all.get(symbol)) : SymbolAttr();
  if (!attr || ((!attr.getMin() || rows >= *attr.getMin()) &&
                (!attr.getMax() || rows <= *attr.getMax())))
    return success();
  std::string range;
  if (attr.getMin())
    range += " from " + std::to_string(*attr.getMin());
  if (attr.getMax())
    range += " to " + std::to_string(*attr.getMax());
  return refuse("a micro-batch has " + formatCount(rows, "row") + ", and " +
                    where + " was exported for sizes" + range,
                "export the model for that size, or give another --batch or "
                "number of --micro-batches");
}

LogicalResult RowFixer::fix(unsigned argument, StringRef name, int64_t dim) {
  auto type = dyn_cast<RankedTensorType>(graph.getArgumentTypes()[argument]);
  if (!type || dim < 0 || dim >= type.getRank())
    return success();
  hasInputs = true;
  std::string where =
      "dimension " + std::to_string(dim) + " of '" + name.str() + "'";
  if (int64_t size = type.getDimSize(dim); !ShapedType::isDynamic(size))
    return size == rows
               ? success()
               : refuse("a micro-batch has " + formatCount(rows, "row") +
                            ", and " + where + " is always " +
                            std::to_string(size),
                        "export the model with this dimension dynamic "
                        "(torch.export.Dim), or give --split-dim=" +
                            name + "=none if each micro-batch has all of it");
  auto dims = graph.getArgAttrOfType<ArrayAttr>(argument, JointDialect::kDims);
  auto text = dims ? dyn_cast<StringAttr>(dims[dim]) : StringAttr();
  StringRef symbol = text ? text.getValue() : StringRef();
  DictionaryAttr all = graph.getSymbolsAttr();
  if (!all || !all.get(symbol))
    return refuse(where + " is '" + symbol + "', and no size of its own",
                  "export the model with a torch.export.Dim for it");
  if (given.contains(symbol))
    return refuse("--sym gives " + where + ", '" + symbol +
                      "', a size, and --batch another one",
                  "leave it out of --sym");
  symbols[symbol] = rows;
  return checkRange(symbol, where);
}

LogicalResult cutback::fixRows(GraphOp graph,
                               const std::map<std::string, int64_t> &splitDims,
                               int64_t rows,
                               llvm::StringMap<int64_t> &symbols) {
  RowFixer fixer(graph, rows, symbols);
  interpreter::StepNames names = interpreter::nameStep(graph);
  for (auto [i, name] : llvm::enumerate(names.arguments)) {
    if (!StringRef(name).starts_with("input.") ||
        graph.getBody().getArgument(i).use_empty())
      continue;
    auto dim = splitDims.find(name);
    if (failed(fixer.fix(i, name, dim == splitDims.end() ? 0 : dim->second)))
      return failure();
  }
  if (fixer.hasInputs)
    return success();
  auto diagnostic = graph.emitError("no input of '")
                    << graph.getSymName() << "' is split into micro-batches";
  diagnostic.attachNote() << "leave --batch out, or give the dimension of an "
                             "input with --split-dim";
  return diagnostic;
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

/// "[4, 6]"
static std::string textOf(const std::vector<int64_t> &sizes) {
  std::string all = "[";
  for (int64_t size : sizes)
    all += (all.size() > 1 ? ", " : "") + std::to_string(size);
  return all + "]";
}

std::string cutback::compareSizes(const PipelineStage &larger,
                                  const PipelineStage &smaller,
                                  std::string &next) {
  for (auto [a, b] : llvm::zip(larger.inputs, smaller.inputs)) {
    if (areParts(a.splitDim, a.sizes, b.sizes))
      continue;
    next = "the rows of a batch are the size of one dimension of an input: "
           "export the others with a size of their own, or change --split-dim";
    return "'" + a.name + "' is " + textOf(a.sizes) + " or " + textOf(b.sizes) +
           ", and " +
           (a.splitDim < 0 ? "each micro-batch has all of it"
                           : "micro-batches are parts of it along dimension " +
                                 std::to_string(a.splitDim));
  }
  for (auto [a, b] : llvm::zip(larger.outputs, smaller.outputs)) {
    bool isJoined = a.merge == PipelineOutput::Concatenate;
    if (areParts(isJoined ? a.dim : -1, a.sizes, b.sizes))
      continue;
    next = "transpose it in the model so that rows come first, or leave this "
           "output out";
    return "'" + a.name + "' is " + textOf(a.sizes) + " or " + textOf(b.sizes) +
           ", and micro-batches are joined along dimension " +
           std::to_string(a.dim);
  }
  return "";
}
