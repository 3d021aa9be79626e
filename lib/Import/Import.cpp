// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The entry point of the import. What an input is follows from its content:
//
//   1. magic numbers: MLIR bytecode, zip archives; a JSON object with the keys
//      of an exported program
//   2. records of TORCH_TRACE at the front of lines
//   3. a line that begins, behind a logging prefix, with `def forward(`
//   4. words that MLIR text cannot do without
//
// Text with a zero byte is binary.

#include "cutback/Import/Import.h"

#include "MlirText.h"
#include "Scope.h"
#include "TorchExport/Reader.h"
#include "TraceLog.h"

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Dialect/Joint/Declared.h"
#include "cutback/Support/SafeFile.h"
#include "cutback/Support/Text.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::fx;

StringRef cutback::stringifyInputFormat(InputFormat format) {
  switch (format) {
  case InputFormat::FxText:
    return "fx-text";
  case InputFormat::TraceLog:
    return "trace-log";
  case InputFormat::MlirText:
    return "mlir";
  case InputFormat::MlirBytecode:
    return "mlir-bytecode";
  case InputFormat::Pt2:
    return "pt2";
  }
  return "";
}

StringRef cutback::stringifyGraphKind(GraphKind kind) {
  switch (kind) {
  case GraphKind::Joint:
    return "joint";
  case GraphKind::Forward:
    return "forward";
  case GraphKind::Backward:
    return "backward";
  case GraphKind::Inference:
    return "inference";
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Opening and telling apart
//===----------------------------------------------------------------------===//

/// No text, and no archive or bytecode: what follows does not matter.
static bool isUnknownBinary(StringRef text) {
  return text.take_front(1 << 16).contains('\0') &&
         !text.starts_with("ML\xefR") && !text.starts_with("PK");
}

/// Standard input to its end, which has to come: a device or a program may
/// write for ever.
static FailureOr<std::unique_ptr<llvm::MemoryBuffer>>
readStandardInput(MLIRContext &context, uint64_t mostBytes) {
  constexpr size_t kPiece = 1 << 16;
  auto fail = [&](const Twine &what, const Twine &next) {
    return emitAt(&context, SourceText("<stdin>", "", ""), "", what, next);
  };
  SmallVector<char, 0> bytes;
  while (true) {
    size_t size = bytes.size();
    // Doubled, so that the copies are linear too.
    if (bytes.capacity() - size < kPiece)
      bytes.reserve(2 * bytes.capacity() + kPiece);
    bytes.resize_for_overwrite(size + kPiece);
    llvm::Expected<size_t> read = llvm::sys::fs::readNativeFile(
        llvm::sys::fs::getStdinHandle(),
        llvm::MutableArrayRef(bytes).drop_front(size));
    if (!read)
      return fail("cannot read standard input: " +
                      llvm::toString(read.takeError()),
                  "give a file, or a program that writes one");
    bytes.truncate(size + *read);
    if (*read == 0 || isUnknownBinary({bytes.data(), bytes.size()}))
      break;
    if (bytes.size() > mostBytes)
      return fail("standard input has more than " + formatBytes(mostBytes),
                  "give the file by its name: then it is not copied");
  }
  return std::unique_ptr<llvm::MemoryBuffer>(new llvm::SmallVectorMemoryBuffer(
      std::move(bytes), "<stdin>", /*RequiresNullTerminator=*/true));
}

FailureOr<std::unique_ptr<llvm::MemoryBuffer>>
cutback::openInput(StringRef path, MLIRContext &context,
                   uint64_t mostOfStandardInput) {
  auto fail = [&](const Twine &what, const Twine &next) {
    return emitAt(&context, SourceText(path, "", ""), "", what, next);
  };
  if (path == "-")
    return readStandardInput(context, mostOfStandardInput);
  if (llvm::sys::fs::is_directory(path))
    return fail(path + " is a folder",
                "name a file: .pt2, FX text, a trace log, .mlir or .mlirbc");
  if (isDevice(path.str()))
    return fail(path + " is a device",
                "name a file: .pt2, FX text, a trace log, .mlir or .mlirbc");
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return fail("cannot read " + path + ": " + file.getError().message(),
                "check the path, and that the file may be read");
  return std::move(*file);
}

namespace {

/// A number that no content leads to: an error was emitted.
std::optional<InputFormat> failedFormat() { return std::nullopt; }

class Input {
public:
  Input(llvm::MemoryBufferRef buffer, MLIRContext &context)
      : text(withoutByteOrderMark(buffer.getBuffer())),
        name(buffer.getBufferIdentifier()), context(context),
        source(name, text, text) {}

  /// What there is to read, behind a byte order mark.
  llvm::MemoryBufferRef content() const { return {text, name}; }
  std::optional<InputFormat> detect();
  /// The graphs of FX text or of a log; fails with an error if there are none.
  LogicalResult findGraphs(InputFormat format);
  FailureOr<size_t> choose(const ImportOptions &options);
  LogicalResult readGraph(const FoundGraph &graph, const ImportOptions &options,
                          ModuleOp module, ImportCounts &counts,
                          Operation *&result);
  void readHalves(size_t chosen, ImportedModule &result);
  FailureOr<OwningOpRef<ModuleOp>> parseMlir(InputFormat format) {
    return fx::parseMlir(source, format == InputFormat::MlirText, context);
  }
  LogicalResult fail(const Twine &what, const Twine &next) {
    return emitAt(&context, source, text.begin(), what, next);
  }

  std::vector<FoundGraph> graphs;

private:
  std::string graphNames() const;

  StringRef text, name;
  MLIRContext &context;
  SourceText source;
  TraceLog log;
};

} // namespace

std::optional<InputFormat> Input::detect() {
  if (text.trim().empty()) {
    (void)fail("the input is empty",
               "expected .pt2, FX text, a trace log, or MLIR");
    return failedFormat();
  }
  if (text.starts_with("ML\xefR"))
    return InputFormat::MlirBytecode;
  if (pt2::isTorchExport(text))
    return InputFormat::Pt2;
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    (void)fail("this is text in UTF-16", "save it as UTF-8");
    return failedFormat();
  }
  if (isUnknownBinary(text)) {
    (void)fail("this is a binary file of unknown format",
               "expected .pt2, FX text, a trace log, or MLIR");
    return failedFormat();
  }
  if (isTraceLog(text))
    return InputFormat::TraceLog;
  for (StringRef word : {"def forward(", "(torch.nn.Module):", "torch.ops."})
    if (text.contains(word))
      return InputFormat::FxText;
  for (StringRef word : {"joint.graph", "func.func", "module", "loc("})
    if (text.contains(word))
      return InputFormat::MlirText;
  (void)fail("this is neither .pt2, nor FX text, nor a trace log, nor MLIR",
             "FX text has a line 'def forward(', a log records of "
             "TORCH_TRACE, MLIR a joint.graph");
  return failedFormat();
}

//===----------------------------------------------------------------------===//
// Graphs of text and logs
//===----------------------------------------------------------------------===//

LogicalResult Input::findGraphs(InputFormat format) {
  if (format == InputFormat::TraceLog) {
    log = readTraceLog(source);
    graphs = std::move(log.graphs);
    if (graphs.empty())
      return fail("this log holds no graph of AOTAutograd",
                  "a training step writes one when it runs under "
                  "torch.compile with TORCH_TRACE=DIR; caches must be off "
                  "(TORCHINDUCTOR_FORCE_DISABLE_CACHES=1)");
    return success();
  }
  if (std::shared_ptr<const StrippedLog> stripped = stripLog(text))
    source = SourceText(name, stripped->text, stripped->text, stripped);
  graphs = findTextGraphs(source);
  if (graphs.empty())
    return fail("there is no 'def forward(' at the beginning of a line", kCut);
  return success();
}

std::string Input::graphNames() const {
  constexpr size_t kMost = 12;
  std::string names;
  for (auto [i, graph] : llvm::enumerate(graphs)) {
    if (i == kMost)
      return names + ", ...";
    names += (i ? ", " : "") + std::to_string(i) + ": " + graph.info.name;
  }
  return names;
}

FailureOr<size_t> Input::choose(const ImportOptions &options) {
  if (options.graph.empty()) {
    for (auto [i, graph] : llvm::enumerate(graphs))
      if (graph.info.kind == GraphKind::Joint)
        return i;
    return size_t(0);
  }
  size_t number = 0;
  StringRef asked = options.graph;
  if (!asked.getAsInteger(10, number) && number < graphs.size())
    return number;
  SmallVector<size_t> matches;
  for (auto [i, graph] : llvm::enumerate(graphs)) {
    if (graph.info.name == asked)
      return i;
    if (StringRef(graph.info.name).split(' ').first == asked ||
        graph.info.compileId == asked)
      matches.push_back(i);
  }
  if (matches.size() == 1)
    return matches.front();
  return fail(
      (matches.empty() ? "there is no graph " : "there are several graphs ") +
          quoted(asked),
      "the graphs are " + graphNames());
}

/// "joint", or "joint_0_1" in a log.
static std::string symbolNameOf(const GraphInfo &info, GraphKind kind) {
  std::string name = stringifyGraphKind(kind).str();
  if (!info.compileId.empty())
    name += "_";
  for (char c : info.compileId)
    name += llvm::isAlnum(c) ? c : '_';
  return name;
}

LogicalResult Input::readGraph(const FoundGraph &graph,
                               const ImportOptions &options, ModuleOp module,
                               ImportCounts &counts, Operation *&result) {
  GraphHints hints = log.hintsFor(graph);
  GraphKind kind = options.kind.value_or(graph.info.kind);
  FxRequest request{graph.source,
                    kind,
                    options.forwardOutputs,
                    &hints,
                    symbolNameOf(graph.info, kind),
                    options.strict};
  OpBuilder builder(&context);
  builder.setInsertionPointToEnd(module.getBody());
  FailureOr<Operation *> op = importFxText(request, builder, counts);
  if (failed(op))
    return failure();
  result = *op;
  return success();
}

void Input::readHalves(size_t chosen, ImportedModule &result) {
  const FoundGraph *forward = nullptr, *backward = nullptr;
  for (size_t i = 0; i < graphs.size(); ++i) {
    const FoundGraph &graph = graphs[i];
    if (graph.frame != graphs[chosen].frame)
      continue;
    if (graph.info.kind == GraphKind::Forward && !forward)
      forward = &graph;
    if (graph.info.kind == GraphKind::Backward && !backward)
      backward = &graph;
  }
  if (!forward || !backward)
    return;
  auto module =
      ModuleOp::create(source.locate(&context, forward->source.text().begin()));
  OwningOpRef<ModuleOp> owner(module);
  // PyTorch's halves are for comparison: what is wrong with them must not keep
  // anyone from a plan.
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diag) {
    if (diag.getSeverity() != DiagnosticSeverity::Error)
      return failure();
    mlir::emitWarning(diag.getLocation())
        << "PyTorch's own partition is not read: " << diag.str();
    return success();
  });
  ImportCounts counts;
  Operation *first = nullptr, *second = nullptr;
  if (failed(readGraph(*forward, {}, module, counts, first)) ||
      failed(readGraph(*backward, {}, module, counts, second)))
    return;
  result.torchForward = dyn_cast<func::FuncOp>(first);
  result.torchBackward = dyn_cast<func::FuncOp>(second);
  result.torchModule = std::move(owner);
}

//===----------------------------------------------------------------------===//
// MLIR
//===----------------------------------------------------------------------===//

static GraphInfo describe(SymbolOpInterface symbol) {
  GraphInfo info;
  info.kind =
      isa<joint::GraphOp>(symbol) ? GraphKind::Joint : GraphKind::Inference;
  info.name = symbol.getName().str();
  if (auto place = symbol.getLoc()->findInstanceOf<FileLineColLoc>())
    info.line = place.getLine();
  return info;
}

static bool isGraph(Operation &op) {
  return isa<joint::GraphOp, func::FuncOp>(op);
}

/// Sets the graph of a module that `options` asks for.
static LogicalResult chooseSymbol(Input &input, const ImportOptions &options,
                                  ImportedModule &result) {
  StringRef asked = options.graph;
  asked.consume_front("@");
  Operation *chosen = nullptr;
  size_t number = 0, i = 0;
  bool isNumber = !asked.empty() && !asked.getAsInteger(10, number);
  for (Operation &op : *result.module->getBody()) {
    if (!isGraph(op))
      continue;
    bool matches = cast<SymbolOpInterface>(op).getName() == asked ||
                   (isNumber && number == i);
    if (asked.empty() ? isa<joint::GraphOp>(op) && !chosen : matches)
      chosen = &op;
    ++i;
  }
  if (!chosen && !asked.empty())
    return input.fail("the module has no graph " + quoted(asked),
                      "--list names the graphs of an input");
  if (!chosen)
    return success();
  result.info = describe(cast<SymbolOpInterface>(chosen));
  result.graph = dyn_cast<joint::GraphOp>(chosen);
  result.function = dyn_cast<func::FuncOp>(chosen);
  chosen->walk([&](Operation *op) { ++result.counts.ops; });
  --result.counts.ops;
  return success();
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

/// The first call of the module that is taken as declared, or null.
static joint::OpaqueOp firstTakenAsDeclared(ModuleOp module) {
  joint::OpaqueOp first;
  module.walk([&](joint::OpaqueOp op) {
    if (!joint::isTakenAsDeclared(op))
      return WalkResult::advance();
    first = op;
    return WalkResult::interrupt();
  });
  return first;
}

/// Says which calls are taken as declared. Of an MLIR file that has been said,
/// but with `strict` it is an error there too.
static LogicalResult tellDeclared(const ImportedModule &result,
                                  const ImportOptions &options) {
  uint64_t count = result.counts.asDeclared;
  if (!count && !options.strict)
    return success();
  joint::OpaqueOp op = firstTakenAsDeclared(*result.module);
  if (!op)
    return success();
  if (!count) {
    auto diag = mlir::emitError(op.getLoc())
                << "'" << op.getCallee() << "' is " << joint::declaredText(op);
    diag.attachNote() << "without --strict it is planned so";
    return diag;
  }
  op.getContext()->getDiagEngine().emit(*result.counts.firstAsDeclared,
                                        DiagnosticSeverity::Note)
      << (count == 1 ? Twine("1 op") : Twine(count) + " ops")
      << " taken as declared" << (count == 1 ? ": " : ", the first: ")
      << op.getCallee() << ": " << joint::declaredWhy(op)
      << " (--strict makes it an error)";
  return success();
}

/// What an input of this format cannot follow is not left out without a word.
static LogicalResult checkAsked(Input &input, InputFormat format,
                                const ImportOptions &options) {
  bool isText =
      format == InputFormat::FxText || format == InputFormat::TraceLog;
  if (!options.model.empty() && format != InputFormat::Pt2)
    return input.fail("there are no programs here to choose " +
                          quoted(options.model) + " from (--model)",
                      "only a .pt2 has some; --graph chooses a graph of a log "
                      "or of a module");
  if (options.forwardOutputs && !isText)
    return input.fail("the file says which outputs belong to the forward: a "
                      "number (--forward-outputs) would have no effect",
                      "it is for FX text and logs; leave it out");
  return success();
}

/// Reads an input; `owner`, if it is not null, owns its memory.
static FailureOr<ImportedModule>
readAny(llvm::MemoryBufferRef buffer, std::shared_ptr<llvm::MemoryBuffer> owner,
        MLIRContext &context, const ImportOptions &options) {
  Input input(buffer, context);
  std::optional<InputFormat> format = input.detect();
  if (!format)
    return failure();
  if (failed(checkAsked(input, *format, options)))
    return failure();
  if (*format == InputFormat::Pt2)
    return pt2::readTorchExport(input.content(), std::move(owner), context,
                                options);
  ImportedModule result;
  result.format = *format;
  if (*format == InputFormat::MlirText ||
      *format == InputFormat::MlirBytecode) {
    FailureOr<OwningOpRef<ModuleOp>> module = input.parseMlir(*format);
    if (failed(module))
      return failure();
    result.module = std::move(*module);
    if (failed(chooseSymbol(input, options, result)))
      return failure();
    return result;
  }
  context
      .loadDialect<aten::AtenDialect, joint::JointDialect, func::FuncDialect>();
  if (failed(input.findGraphs(*format)))
    return failure();
  FailureOr<size_t> chosen = input.choose(options);
  if (failed(chosen))
    return failure();
  const FoundGraph &graph = input.graphs[*chosen];
  if (options.forwardOutputs &&
      options.kind.value_or(graph.info.kind) != GraphKind::Joint)
    return input.fail("graph " + quoted(graph.info.name) +
                          " is no joint graph: a number of outputs of its "
                          "forward (--forward-outputs) would have no effect",
                      "leave it out, or choose another graph with --graph");
  result.info = graph.info;
  result.module = ModuleOp::create(
      graph.source.locate(&context, graph.source.text().begin()));
  Operation *op = nullptr;
  if (failed(
          input.readGraph(graph, options, *result.module, result.counts, op)))
    return failure();
  if (options.kind)
    result.info.kind = *options.kind;
  result.graph = dyn_cast<joint::GraphOp>(op);
  result.function = dyn_cast<func::FuncOp>(op);
  if (options.torchHalves)
    input.readHalves(*chosen, result);
  return result;
}

static FailureOr<ImportedModule>
readAndTell(llvm::MemoryBufferRef buffer,
            std::shared_ptr<llvm::MemoryBuffer> owner, MLIRContext &context,
            const ImportOptions &options) {
  FailureOr<ImportedModule> result =
      readAny(buffer, std::move(owner), context, options);
  if (failed(result) || failed(tellDeclared(*result, options)))
    return failure();
  return result;
}

FailureOr<ImportedModule> cutback::readInput(llvm::MemoryBufferRef buffer,
                                             MLIRContext &context,
                                             const ImportOptions &options) {
  return readAndTell(buffer, nullptr, context, options);
}

FailureOr<ImportedModule> cutback::readInput(StringRef path,
                                             MLIRContext &context,
                                             const ImportOptions &options) {
  FailureOr<std::unique_ptr<llvm::MemoryBuffer>> file =
      openInput(path, context);
  if (failed(file))
    return failure();
  std::shared_ptr<llvm::MemoryBuffer> owner = std::move(*file);
  return readAndTell(owner->getMemBufferRef(), owner, context, options);
}

FailureOr<std::vector<GraphInfo>>
cutback::listGraphs(llvm::MemoryBufferRef buffer, MLIRContext &context) {
  Input input(buffer, context);
  std::optional<InputFormat> format = input.detect();
  if (!format)
    return failure();
  if (*format == InputFormat::Pt2)
    return pt2::listTorchExport(input.content(), context);
  std::vector<GraphInfo> infos;
  if (*format == InputFormat::MlirText ||
      *format == InputFormat::MlirBytecode) {
    FailureOr<OwningOpRef<ModuleOp>> module = input.parseMlir(*format);
    if (failed(module))
      return failure();
    for (Operation &op : *(*module)->getBody())
      if (isGraph(op))
        infos.push_back(describe(cast<SymbolOpInterface>(op)));
    return infos;
  }
  if (failed(input.findGraphs(*format)))
    return failure();
  for (const FoundGraph &graph : input.graphs)
    infos.push_back(graph.info);
  return infos;
}
