// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a program with in-place ops means, told naively: tensors are lists of
// places in storages.
#ifndef CUTBACK_TEST_UNIT_DECOMPOSE_STORAGEREFERENCE_H
#define CUTBACK_TEST_UNIT_DECOMPOSE_STORAGEREFERENCE_H

#include "cutback/Dialect/Aten/CallOp.h"
#include "cutback/Interpreter/Tensor.h"

#include "llvm/ADT/DenseMap.h"

#include <map>
#include <vector>

namespace cutback::test {

/// Runs a `joint.graph` op by op, on numbers that a double holds. A view lists
/// the places that it shows; an in-place op writes into them. Each op alone is
/// run by the interpreter: a view on the numbers of the places, an in-place op
/// in the form that is not in place.
class StorageReference {
public:
  explicit StorageReference(joint::GraphOp graph) : graph(graph) {}
  /// Results of the graph; `arguments` hold their new values after the run.
  std::vector<std::vector<double>>
  run(std::vector<interpreter::Tensor> &arguments);

private:
  struct View {
    interpreter::DType type = interpreter::DType::F64;
    size_t storage = 0;
    std::vector<int64_t> places;
    std::vector<int64_t> sizes;
  };

  interpreter::Tensor gather(const View &view) const;
  void runOp(aten::CallOp op);
  void writeInPlace(aten::CallOp op, const std::string &name,
                    llvm::ArrayRef<interpreter::Tensor> operands);
  std::vector<interpreter::Tensor>
  runAlone(aten::CallOp op, llvm::StringRef name,
           llvm::ArrayRef<interpreter::Tensor> operands);

  joint::GraphOp graph;
  std::vector<std::vector<double>> storages;
  llvm::DenseMap<mlir::Value, View> views;
};

} // namespace cutback::test

#endif // CUTBACK_TEST_UNIT_DECOMPOSE_STORAGEREFERENCE_H
