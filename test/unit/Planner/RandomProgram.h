// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Seeded random joint graphs that can be executed: pointwise ops, products,
// reductions, ops with several results, views, gathers, random draws, symbolic
// sizes, buffers that are read and written in between; if asked for, tensors
// whose size depends on data, branches and scans. They compute nothing
// sensible; what counts is that each op has a meaning, so that two ways of
// running a graph can be compared to the bit.
#ifndef CUTBACK_TEST_UNIT_PLANNER_RANDOMPROGRAM_H
#define CUTBACK_TEST_UNIT_PLANNER_RANDOMPROGRAM_H

#include "cutback/Dialect/Aten/CallBuilder.h"
#include "cutback/Dialect/Joint/Joint.h"
#include "cutback/Interpreter/Interpreter.h"
#include "cutback/Interpreter/Step.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/DenseMap.h"

#include <random>
#include <string>
#include <vector>

namespace cutback::test {

/// A row by a number that only a run knows, read when the bytes of what it is
/// taken from may serve others.
inline constexpr const char *kRowThatATensorNames = R"(
joint.graph @g(%x: tensor<4x64xf32> {joint.role = #joint.role<input>}, %n: tensor<i64> {joint.role = #joint.role<input>}, %t: tensor<64xf32> {joint.role = #joint.role<tangent of 0>}) -> (tensor<64xf32>) gradients (tensor<4x64xf32>) {
  %a = aten.exp(%x) : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %i = aten.item(%n) : (tensor<i64>) -> index
  %row = aten.select.int(%a, 0, %i) : (tensor<4x64xf32>, index) -> tensor<64xf32>
  %b = aten.cumsum(%x, 0) : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %c = aten.cumsum(%b, 1) : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %s = aten.sum.dim_IntList(%c, [0]) : (tensor<4x64xf32>) -> tensor<64xf32>
  %y = aten.mul.Tensor(%row, %s) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %g = aten.mul.Tensor(%t, %row) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %dx = aten.expand(%g, [4, 64]) : (tensor<64xf32>) -> tensor<4x64xf32>
  joint.output %y gradients(%dx of 0) : tensor<64xf32>, tensor<4x64xf32>
})";

struct RandomProgramOptions {
  unsigned numForward = 25, numBackward = 35;
  unsigned numParams = 4, numBuffers = 2;
  unsigned percentWrite = 8, percentRandom = 6;
  /// Sizes that depend on data; calls of graphs.
  unsigned percentUnknown = 0, percentNested = 0;
  /// Sizes that are asked of tensors, and numbers that are made with them.
  unsigned percentSizes = 0;
  /// Value of the one symbolic size, s0.
  int64_t size = 3;
};

class RandomProgram {
public:
  RandomProgram(uint64_t seed, const RandomProgramOptions &options,
                mlir::MLIRContext &context);

  /// The module with one graph, @g; null if an op could not be built.
  mlir::OwningOpRef<mlir::ModuleOp> build();

private:
  using Value = mlir::Value;
  using Sizes = llvm::SmallVector<int64_t, 4>;

  unsigned pick(unsigned n) { return static_cast<unsigned>(random() % n); }
  bool chance(unsigned percent) { return pick(100) < percent; }

  void addArguments();
  void addArgument(const std::string &name, const std::string &role,
                   mlir::Type type, llvm::ArrayRef<int64_t> sizes);
  void addOps(unsigned count, bool inBackward);
  void writeBuffer(bool inBackward);

  /// Adds one op or a few; each may find nothing to work on.
  void addPointwise();
  void addProduct();
  void addReduction();
  void addManyResults();
  void addView();
  void addGather();
  void addCreation();
  void addRandom();
  void addJoining();
  void addUnknown();
  void addSizes();
  void addNested();
  void addBranch(Value a, Value b);
  void addScan(Value a);
  /// A graph of a call: some ops on two tensors of the type of `like`. Gives
  /// what the first became, and with `isScan` a second tensor of the type.
  void fillGraph(mlir::Region &graph, Value like, bool isScan);
  Value addInside(aten::CallBuilder &inside, llvm::ArrayRef<Value> values);

  /// Takes what `builder` just made into the pool, with its sizes under s0.
  void keep(llvm::ArrayRef<Value> results);
  void keep(Value result) { keep(llvm::ArrayRef<Value>(result)); }
  /// A recent float tensor of at least `rank` dimensions; null if none.
  Value anyTensor(int64_t minRank = 0, int64_t maxRank = 4);
  Value sameType(Value like);
  const Sizes &sizesOf(Value value) { return sizes[value]; }

  std::mt19937_64 random;
  RandomProgramOptions options;
  mlir::OpBuilder builder;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  joint::GraphOp graph;
  std::unique_ptr<aten::ValueNamer> namer;
  std::unique_ptr<aten::CallBuilder> call;
  llvm::SmallVector<mlir::DictionaryAttr> argAttrs;
  std::vector<Value> params, buffers, pool, sizeValues;
  Value ids, sizeArg, lossTangent, tangent;
  std::vector<bool> writtenInForward;
  llvm::DenseMap<Value, Sizes> sizes;
  llvm::DenseMap<Value, int64_t> ints;
};

/// Arguments for a run of `graph`, always the same for one seed: floats from
/// -1 to 1, indices 0 and 1. A test fails, a fuzzer stops, if they do not bind.
mlir::FailureOr<std::vector<interpreter::RuntimeValue>>
randomArguments(joint::GraphOp graph, const interpreter::StepNames &names,
                int64_t size, uint64_t seed);

/// Puts hooks of any kind on a third of the gradients of `graph`, by `seed`;
/// readers of a gradient read what its hook gives, if it does. How many.
uint64_t addRandomHooks(joint::GraphOp graph, uint64_t seed);

/// What functions at all hook points see. Those of points that give a gradient,
/// which have even keys, change it.
struct HookRecord {
  std::vector<int64_t> keys;
  std::vector<interpreter::RuntimeValue> seen;

  /// It must not outlive the record.
  interpreter::RunHook hook();
};

} // namespace cutback::test

#endif // CUTBACK_TEST_UNIT_PLANNER_RANDOMPROGRAM_H
