// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arguments of a collective as numbers: which ranks, what they add, and which
// bytes go where. Sizes of parts count rows in the op and bytes here.
// Reductions are those whose order and rounding a runtime has: sums and means
// of floats, in the order of the ranks, and maxima.

#include "CallGroup.h"

#include "StepPlaces.h"

#include "cutback/Dialect/Aten/CallReader.h"

using namespace mlir;
using namespace cutback;
using namespace cutback::aten;

bool cuda::waitsForCollective(Operation *op) {
  return op->getName().getStringRef() == "aten.c10d.wait_tensor";
}

/// Rows as bytes. False if they are not known.
static bool readParts(CallReader &call, ParamRef param, Value tensor,
                      std::vector<int64_t> &bytes) {
  auto rows = call.integers(param);
  if (!rows)
    return false;
  int64_t row = cuda::itemBytes(tensor);
  for (int64_t size :
       cast<RankedTensorType>(tensor.getType()).getShape().drop_front())
    row *= size;
  for (int64_t count : *rows)
    bytes.push_back(count * row);
  return true;
}

static std::optional<ArtifactCollective::Kind> kindOf(StringRef name) {
  for (int kind = 0; kind <= ArtifactCollective::Broadcast; ++kind)
    if (name == nameOf(static_cast<ArtifactCollective::Kind>(kind)))
      return static_cast<ArtifactCollective::Kind>(kind);
  return std::nullopt;
}

std::optional<ArtifactCollective>
cuda::describeCollective(CallOp op, std::string &problem) {
  CallReader call(op);
  StringRef name = op.getOperation()->getName().getStringRef();
  auto kind = kindOf(name.drop_front(StringRef("aten.c10d.").size()));
  Value input = op->getOperand(0), result = op->getResult(0);
  if (!kind) {
    problem = "is a collective that no runtime has";
    return std::nullopt;
  }
  ArtifactCollective made;
  made.kind = *kind;
  Type element = cast<RankedTensorType>(input.getType()).getElementType();
  made.dtype = dtypeText(element);
  made.group = call.string("group_name").str();
  made.reduction = call.string(optional("reduce_op")).lower();
  made.ranks = call.integer(optional("group_size")).value_or(0);
  made.root = call.integer(optional("src")).value_or(0);
  bool isKnown = made.reduction.empty() || made.reduction == "sum" ||
                 made.reduction == "avg" || made.reduction == "max";
  if (!isKnown)
    problem = "has the reduction '" + made.reduction +
              "' of a group; a runtime has 'sum', 'avg' and 'max'";
  else if (!made.reduction.empty() && !isa<FloatType>(element))
    problem = "reduces '" + made.dtype + "' over a group; a runtime has floats";
  else if (made.kind == ArtifactCollective::AllToAll &&
           (!readParts(call, "input_split_sizes", input, made.sends) ||
            !readParts(call, "output_split_sizes", result, made.takes)))
    problem = "has parts whose sizes are not known";
  return problem.empty() ? std::optional(made) : std::nullopt;
}
