// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An archive of torch.export: container, tensors, program.
//
//   1. The directory of the archive tells its programs.
//   2. The directory of the tensors is read; their bytes are not.
//   3. The program becomes a graph, which knows by then which parameters are
//      one tensor.
//
// A program without its archive (models/model.json alone) has no tensors.

#include "Reader.h"

#include "Payloads.h"
#include "Program.h"

#include "cutback/Dialect/Aten/Aten.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::pt2;

bool pt2::isTorchExport(StringRef text) {
  if (text.starts_with("PK\x03\x04") || text.starts_with("PK\x05\x06"))
    return true;
  return text.ltrim().starts_with("{") && text.contains("\"graph_module\"") &&
         text.contains("\"schema_version\"");
}

namespace {

/// The programs of an input.
class Input {
public:
  Input(llvm::MemoryBufferRef buffer, MLIRContext &context)
      : bytes(buffer.getBuffer()), name(buffer.getBufferIdentifier()),
        context(context), archive(&context, name),
        isArchive(bytes.starts_with("PK")) {}

  LogicalResult open();
  FailureOr<const ArchiveModel *> choose(const ImportOptions &options) const;
  /// The text of the program `model`.
  FailureOr<fx::SourceText> source(const ArchiveModel &model);

  StringRef bytes, name;
  MLIRContext &context;
  Archive archive;
  Package package;
  bool isArchive;
};

} // namespace

LogicalResult Input::open() {
  if (!isArchive) {
    package.models.push_back({"model", nullptr});
    return success();
  }
  return success(succeeded(archive.open(bytes)) &&
                 succeeded(package.read(archive)));
}

FailureOr<const ArchiveModel *>
Input::choose(const ImportOptions &options) const {
  StringRef asked = options.model.empty() ? options.graph : options.model;
  if (asked.empty())
    return &package.models.front();
  size_t number = 0;
  if (!asked.getAsInteger(10, number) && number < package.models.size())
    return &package.models[number];
  std::string names;
  for (auto [i, model] : llvm::enumerate(package.models)) {
    if (model.name == asked)
      return &model;
    names += (i ? ", " : "") + model.name;
  }
  return archive.fail("there is no model " + fx::quoted(asked),
                      "the models are: " + names);
}

FailureOr<fx::SourceText> Input::source(const ArchiveModel &model) {
  if (!model.program)
    return fx::SourceText(name, bytes, bytes);
  FailureOr<StringRef> text = archive.content(*model.program, true);
  if (failed(text))
    return failure();
  std::string place = archive.nameOf(*model.program);
  // Interned: it must outlive this.
  StringRef kept = StringAttr::get(&context, place).getValue();
  return fx::SourceText(kept, *text, *text);
}

/// "model" → "model"; a name that is no identifier is made one.
static std::string symbolOf(StringRef model) {
  std::string symbol;
  for (char c : model)
    symbol += llvm::isAlnum(c) ? c : '_';
  return symbol.empty() ? "model" : symbol;
}

FailureOr<ImportedModule>
pt2::readTorchExport(llvm::MemoryBufferRef buffer,
                     std::shared_ptr<llvm::MemoryBuffer> owner,
                     MLIRContext &context, const ImportOptions &options) {
  context.loadDialect<aten::AtenDialect, joint::JointDialect>();
  Input input(buffer, context);
  if (failed(input.open()))
    return failure();
  FailureOr<const ArchiveModel *> model = input.choose(options);
  if (failed(model))
    return failure();
  FailureOr<fx::SourceText> source = input.source(**model);
  if (failed(source))
    return failure();
  // Unpacked programs live as long as the reading, tensors longer.
  std::vector<std::unique_ptr<std::string>> texts =
      std::move(input.archive.unpacked);
  input.archive.unpacked.clear();
  ImportedModule result;
  result.format = InputFormat::Pt2;
  if (input.isArchive) {
    FailureOr<std::shared_ptr<WeightFile>> weights =
        readPayloads(input.archive, input.package, (*model)->name);
    if (failed(weights))
      return failure();
    result.weights = std::move(*weights);
    if (result.weights && owner)
      result.weights->keep(std::move(owner));
  }
  result.module =
      ModuleOp::create(source->locate(&context, source->text().begin()));
  OpBuilder builder(&context);
  builder.setInsertionPointToEnd(result.module->getBody());
  std::string symbol = symbolOf((*model)->name);
  ProgramRequest request{*source, symbol, result.weights.get(), options.strict};
  result.info.name = (*model)->name;
  result.info.bytes = source->text().size();
  FailureOr<joint::GraphOp> graph =
      importProgram(request, builder, result.counts, result.info.kind);
  if (failed(graph))
    return failure();
  result.graph = *graph;
  return result;
}

FailureOr<std::vector<GraphInfo>>
pt2::listTorchExport(llvm::MemoryBufferRef buffer, MLIRContext &context) {
  Input input(buffer, context);
  if (failed(input.open()))
    return failure();
  std::vector<GraphInfo> infos;
  for (const ArchiveModel &model : input.package.models) {
    FailureOr<fx::SourceText> source = input.source(model);
    if (failed(source))
      return failure();
    GraphInfo info;
    info.kind = sniffProgramKind(source->text());
    info.name = model.name;
    info.bytes = source->text().size();
    infos.push_back(std::move(info));
  }
  return infos;
}
