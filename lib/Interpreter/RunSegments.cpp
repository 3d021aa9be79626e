// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Segment by segment: its arguments are what earlier ones handed over, and
// arguments of the step by their names. What is handed over and lies in an
// argument that a later segment writes is copied, unless it is that argument
// itself, which the segment reads and writes in its order. Linear.

#include "cutback/Interpreter/LaunchMemory.h"

#include "cutback/Dialect/Joint/CallArgs.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::interpreter;

namespace {

class SegmentRunner {
public:
  SegmentRunner(const kernel::StepSegments &step,
                const llvm::StringMap<RuntimeValue> &arguments,
                const InterpreterOptions &options)
      : step(step), arguments(arguments), options(options) {
    // order: of no importance, whether one of them has another name is asked.
    for (auto [argument, value] : step.handed)
      takers[value].push_back(cast<BlockArgument>(argument));
  }

  LogicalResult run(ArrayRef<StringRef> names) {
    SmallVector<size_t> numbers;
    for (size_t i = 0; i < step.ops.size(); ++i) {
      kernel::SegmentOp segment = step.ops[i];
      if (llvm::is_contained(names, segment.getName()))
        numbers.push_back(i);
    }
    for (size_t i = 0; i < numbers.size(); ++i)
      if (failed(runOne(numbers[i], ArrayRef(numbers).drop_front(i + 1))))
        return failure();
    return success();
  }

  std::vector<RuntimeValue> results;

private:
  LogicalResult runOne(size_t number, ArrayRef<size_t> behind) {
    func::FuncOp function = step.functions[number];
    std::vector<RuntimeValue> values;
    for (BlockArgument argument : function.getArguments()) {
      std::optional<RuntimeValue> value = find(argument);
      if (!value)
        return function.emitError()
               << "argument '" << joint::getValueName(argument)
               << "' is none of the step's";
      values.push_back(std::move(*value));
    }
    FailureOr<std::vector<RuntimeValue>> made =
        interpreter::run(function, values, options);
    if (failed(made))
      return failure();
    Operation *output = function.front().getTerminator();
    SmallVector<RuntimeValue> written = findWritten(behind);
    kernel::SegmentOp segment = step.ops[number];
    for (auto [operand, value] : llvm::zip_equal(output->getOperands(), *made))
      if (mustCopy(operand, value, written))
        value = copyOf(std::get<Tensor>(value));
    results.insert(results.end(), made->begin(),
                   made->begin() + segment.getKept());
    for (auto [operand, value] : llvm::zip_equal(output->getOperands(), *made))
      handed[operand] = value;
    return success();
  }

  std::optional<RuntimeValue> find(BlockArgument argument) {
    // What is handed on under its own name is the step's argument itself; a
    // copy of it is for takers of other names.
    auto isItself = [&](Value from) {
      return isa<BlockArgument>(from) &&
             joint::getValueName(from) == joint::getValueName(argument);
    };
    if (Value from = step.handed.lookup(argument); from && !isItself(from)) {
      auto found = handed.find(from);
      return found == handed.end() ? std::nullopt
                                   : std::optional(found->second);
    }
    auto found = arguments.find(joint::getValueName(argument));
    return found == arguments.end() ? std::nullopt
                                    : std::optional(found->second);
  }

  /// Arguments of the step that segments write.
  SmallVector<RuntimeValue> findWritten(ArrayRef<size_t> segments) {
    SmallVector<RuntimeValue> written;
    for (size_t number : segments) {
      func::FuncOp function = step.functions[number];
      function.walk([&](joint::WriteOp write) {
        Value root = kernel::locate(write.getDestination()).root;
        auto found = arguments.find(joint::getValueName(root));
        if (found != arguments.end())
          written.push_back(found->second);
      });
    }
    return written;
  }

  bool mustCopy(Value operand, const RuntimeValue &value,
                ArrayRef<RuntimeValue> written) {
    const auto *tensor = std::get_if<Tensor>(&value);
    if (!tensor || llvm::none_of(written, [&](const RuntimeValue &other) {
          const auto *argument = std::get_if<Tensor>(&other);
          return argument && sharesBytes(*tensor, *argument);
        }))
      return false;
    return !isa<BlockArgument>(operand) ||
           llvm::any_of(takers.lookup(operand), [&](BlockArgument taker) {
             return joint::getValueName(taker) != joint::getValueName(operand);
           });
  }

  const kernel::StepSegments &step;
  const llvm::StringMap<RuntimeValue> &arguments;
  const InterpreterOptions &options;
  llvm::DenseMap<Value, SmallVector<BlockArgument, 1>> takers;
  llvm::DenseMap<Value, RuntimeValue> handed; ///< by result of a segment
};

} // namespace

FailureOr<std::vector<RuntimeValue>>
interpreter::runSegments(kernel::ArenaOp arena, ArrayRef<StringRef> names,
                         const llvm::StringMap<RuntimeValue> &arguments,
                         const InterpreterOptions &options) {
  FailureOr<kernel::StepSegments> step = kernel::findSegments(arena);
  if (failed(step))
    return failure();
  SegmentRunner runner(*step, arguments, options);
  if (failed(runner.run(names)))
    return failure();
  return std::move(runner.results);
}
