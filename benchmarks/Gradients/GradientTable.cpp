// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// gradient-table GOLDEN [--only=NAME]: each model of small, bench and plan of
// the unpacked reference data twice, as model.pt2 differentiated here and as
// the joint graph that PyTorch made of it (joint.txt). Both are prepared and
// cut by the roofline model; a Markdown table of ops and saved bytes goes to
// the standard output.
//
// Symbols of the joint graph take the sizes that the program has: of the user
// inputs, in their order. What the program leaves open has its own hint.
//
// Exit code 1 if a graph cannot be planned, one made here has more ops than
// PyTorch's + 5 %, or it saves more bytes and does not save time by that.

#include "../Usage.h"

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Import/Import.h"
#include "cutback/Planner/PartitionPipeline.h"
#include "cutback/Planner/TrainingGraph.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace cutback;

namespace {

using Symbols = llvm::StringMap<int64_t>;

struct Model {
  std::string name, program, joint;
};

std::vector<Model> findModels(const std::string &folder) {
  std::vector<Model> models;
  for (const char *part : {"small", "bench", "plan"}) {
    std::vector<std::string> paths;
    std::error_code code;
    for (llvm::sys::fs::directory_iterator it(folder + "/" + part, code), end;
         it != end && !code; it.increment(code))
      paths.push_back(it->path());
    llvm::sort(paths);
    for (const std::string &path : paths)
      if (llvm::sys::fs::exists(path + "/model.pt2") &&
          llvm::sys::fs::exists(path + "/joint.txt"))
        models.push_back({llvm::sys::path::filename(path).str(),
                          path + "/model.pt2", path + "/joint.txt"});
  }
  return models;
}

/// Sizes of the user inputs; kDynamic where nobody knows them.
std::vector<SmallVector<int64_t>> inputSizes(joint::GraphOp graph) {
  std::vector<SmallVector<int64_t>> sizes;
  DictionaryAttr symbols = graph.getSymbolsAttr();
  for (unsigned i = 0; i < graph.getNumArguments(); ++i) {
    auto type = dyn_cast<RankedTensorType>(graph.getArgumentTypes()[i]);
    if (!type || graph.getRole(i).getKind() != joint::RoleKind::Input)
      continue;
    SmallVector<int64_t> &own = sizes.emplace_back(type.getShape());
    auto dims =
        graph.getArgAttrOfType<ArrayAttr>(i, joint::JointDialect::kDims);
    for (unsigned d = 0; dims && symbols && d < own.size(); ++d)
      if (auto text = dyn_cast<StringAttr>(dims[d]))
        if (auto symbol = dyn_cast_or_null<joint::SymbolAttr>(
                symbols.get(text.getValue()));
            symbol && symbol.getHint())
          own[d] = *symbol.getHint();
  }
  return sizes;
}

/// The symbols of `graph` for inputs of the sizes `given`.
Symbols matchSymbols(joint::GraphOp graph,
                     const std::vector<SmallVector<int64_t>> &given) {
  Symbols symbols;
  size_t input = 0;
  for (unsigned i = 0; i < graph.getNumArguments(); ++i) {
    auto type = dyn_cast<RankedTensorType>(graph.getArgumentTypes()[i]);
    if (!type || graph.getRole(i).getKind() != joint::RoleKind::Input)
      continue;
    auto dims =
        graph.getArgAttrOfType<ArrayAttr>(i, joint::JointDialect::kDims);
    if (input >= given.size())
      break;
    ArrayRef<int64_t> sizes = given[input++];
    for (unsigned d = 0; dims && d < sizes.size() && d < dims.size(); ++d)
      if (auto text = dyn_cast<StringAttr>(dims[d]);
          text && !ShapedType::isDynamic(sizes[d]) &&
          graph.getSymbolsAttr().contains(text.getValue()))
        symbols[text.getValue()] = sizes[d];
  }
  return symbols;
}

struct Figures {
  uint64_t ops = 0;
  int64_t savedBytes = 0, pricedPs = 0;
};

std::optional<Figures> plan(joint::GraphOp graph, const Symbols &symbols) {
  PartitionOptions options;
  options.symbols = symbols;
  PhaseSeconds seconds;
  auto prepared = preparePartition(graph, options, seconds);
  if (failed(prepared))
    return std::nullopt;
  auto result = partitionGraph(graph, options, std::move(*prepared));
  if (failed(result))
    return std::nullopt;
  return Figures{(*result)->ops, (*result)->savedBytes, (*result)->pricedPs};
}

/// One line of the table. False if a bar is missed.
bool printRow(const Model &model) {
  MLIRContext context;
  registerTrainingGraph(context);
  context
      .loadDialect<aten::AtenDialect, joint::JointDialect, func::FuncDialect>();
  auto program = readInput(model.program, context, ImportOptions());
  auto joint = readInput(model.joint, context, ImportOptions());
  if (failed(program) || failed(joint) || !program->graph || !joint->graph)
    return false;
  Symbols symbols = matchSymbols(joint->graph, inputSizes(program->graph));
  if (failed(makeTrainingGraph(program->graph)))
    return false;
  std::optional<Figures> own = plan(program->graph, {});
  std::optional<Figures> torch = plan(joint->graph, symbols);
  if (!own || !torch)
    return false;
  llvm::outs() << "| " << model.name << " | " << own->ops << " | " << torch->ops
               << " | " << own->savedBytes << " | " << torch->savedBytes
               << " | " << own->savedBytes - torch->savedBytes
               << llvm::format(" | %.2f | %.2f |\n",
                               static_cast<double>(own->pricedPs) * 1e-6,
                               static_cast<double>(torch->pricedPs) * 1e-6);
  return static_cast<double>(own->ops) <= 1.05 * double(torch->ops) &&
         (own->savedBytes <= torch->savedBytes ||
          own->pricedPs < torch->pricedPs);
}

} // namespace

int main(int argc, char **argv) {
  static constexpr char usage[] =
      "gradient-table GOLDEN [--only=NAME]\n"
      "models of the folder GOLDEN differentiated here and by PyTorch, as a "
      "table";
  if (std::optional<int> code = bench::checkUsage(argc, argv, usage))
    return *code;
  std::string folder, only;
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef argument = argv[i];
    if (argument.consume_front("--only="))
      only = argument.str();
    else
      folder = argument.str();
  }
  if (folder.empty()) {
    llvm::errs() << "usage: " << usage << "\n";
    return 2;
  }
  llvm::outs() << "| model | ops | PyTorch | saved | PyTorch | difference | "
                  "time, us | PyTorch |\n|---|--:|--:|--:|--:|--:|--:|--:|\n";
  bool ok = true;
  for (const Model &model : findModels(folder))
    if (only.empty() || model.name == only) {
      bool isRight = printRow(model);
      if (!isRight)
        llvm::errs() << model.name << ": over the bar, or not planned\n";
      ok &= isRight;
    }
  return ok ? 0 : 1;
}
