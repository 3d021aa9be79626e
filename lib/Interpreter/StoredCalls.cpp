// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function is run as any other one: on tensors that look at the memory of the
// step, with results of its own, which are copied to where the step has them.
// A copy, because a result may lie where an operand does. What a diagnostic
// says goes to the caller as a string: there is no place to point to.

#include "cutback/Interpreter/StoredCalls.h"

#include "cutback/Dialect/Aten/Aten.h"
#include "cutback/Interpreter/Interpreter.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

/// Where a tensor lies in memory that is given later, or what a value is called
/// that is held.
struct Place {
  std::string heldAs;
  DType type = DType::F32;
  SmallVector<int64_t> sizes, strides;
  int64_t offset = 0;

  /// False for what is neither held nor a tensor with a layout.
  bool read(Type declared, Attribute layout, Attribute held) {
    if (auto name = dyn_cast_or_null<StringAttr>(held)) {
      heldAs = name.getValue().str();
      return !heldAs.empty();
    }
    auto tensor = dyn_cast<RankedTensorType>(declared);
    auto numbers = dyn_cast_or_null<DenseI64ArrayAttr>(layout);
    if (!tensor || !tensor.hasStaticShape() || !numbers ||
        numbers.size() != tensor.getRank() + 1)
      return false;
    std::optional<DType> element = dtypeOf(tensor.getElementType());
    if (!element)
      return false;
    type = *element;
    sizes.assign(tensor.getShape().begin(), tensor.getShape().end());
    offset = numbers[0];
    strides.assign(numbers.asArrayRef().begin() + 1,
                   numbers.asArrayRef().end());
    return true;
  }

  Tensor at(void *root, bool writable) const {
    Tensor tensor;
    tensor.type = type;
    tensor.sizes.assign(sizes.begin(), sizes.end());
    tensor.strides.assign(strides.begin(), strides.end());
    tensor.offset = offset;
    int64_t last = offset;
    for (auto [size, stride] : llvm::zip_equal(sizes, strides))
      last += size > 0 ? (size - 1) * stride : 0;
    tensor.storage = std::make_shared<Storage>();
    tensor.storage->data = static_cast<char *>(root);
    tensor.storage->bytes = (last + 1) * itemSize(type);
    tensor.storage->writable = writable;
    return tensor;
  }
};

} // namespace

struct StoredCalls::Function {
  func::FuncOp op;
  std::vector<Place> arguments, results;
};

StoredCalls::StoredCalls() = default;
StoredCalls::~StoredCalls() = default;

Attribute StoredCalls::describe(const Layout &layout, Builder &builder) {
  SmallVector<int64_t> numbers = {layout.offset};
  numbers.append(layout.strides.begin(), layout.strides.end());
  return builder.getDenseI64ArrayAttr(numbers);
}

/// Collects what is said while it lives, one sentence behind the other.
static ScopedDiagnosticHandler collect(MLIRContext &context,
                                       std::string &error) {
  return ScopedDiagnosticHandler(&context, [&error](Diagnostic &diagnostic) {
    error += (error.empty() ? "" : "; ") + diagnostic.str();
  });
}

std::unique_ptr<StoredCalls>
StoredCalls::read(MLIRContext &context, StringRef text, std::string &error) {
  ScopedDiagnosticHandler handler = collect(context, error);
  context
      .loadDialect<aten::AtenDialect, joint::JointDialect, func::FuncDialect>();
  std::unique_ptr<StoredCalls> calls(new StoredCalls);
  calls->module = parseSourceString<ModuleOp>(text, &context);
  if (!calls->module)
    return nullptr;
  for (auto op : calls->module->getOps<func::FuncOp>()) {
    auto function = std::make_unique<Function>();
    function->op = op;
    bool isRead = !op.isExternal();
    for (unsigned i = 0; i < op.getNumArguments(); ++i)
      isRead &= function->arguments.emplace_back().read(
          op.getArgumentTypes()[i], op.getArgAttr(i, kCallLayout),
          op.getArgAttr(i, kCallHeld));
    for (unsigned i = 0; i < op.getNumResults(); ++i)
      isRead &= function->results.emplace_back().read(
          op.getResultTypes()[i], op.getResultAttr(i, kCallLayout),
          op.getResultAttr(i, kCallHeld));
    if (!isRead) {
      error = "@" + op.getSymName().str() + " does not say how its tensors lie";
      return nullptr;
    }
    calls->functions[op.getSymName()] = std::move(function);
  }
  return calls;
}

std::string StoredCalls::run(StringRef name, void *const *operands) {
  auto found = functions.find(name);
  if (found == functions.end())
    return "there is no call '" + name.str() + "'";
  Function &function = *found->second;
  std::string error;
  ScopedDiagnosticHandler handler = collect(*function.op->getContext(), error);
  std::vector<RuntimeValue> arguments;
  for (const Place &place : function.arguments)
    if (place.heldAs.empty())
      arguments.emplace_back(place.at(*operands++, /*writable=*/false));
    else if (auto made = held.find(place.heldAs); made != held.end())
      arguments.push_back(made->second);
    else
      return "'" + name.str() + "' reads '" + place.heldAs +
             "', which no call has made";
  FailureOr<std::vector<RuntimeValue>> results =
      interpreter::run(function.op, arguments);
  if (failed(results))
    return error.empty() ? "the interpreter does not run it" : error;
  for (auto [place, value] : llvm::zip_equal(function.results, *results)) {
    auto *tensor = std::get_if<Tensor>(&value);
    if (!place.heldAs.empty()) // a view may be one of the step's memory
      held[place.heldAs] = tensor ? RuntimeValue(copyOf(*tensor)) : value;
    else if (tensor)
      copyElements(*tensor, place.at(*operands++, /*writable=*/true));
  }
  return "";
}
