// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stored plan is checked by making it again, so the stored graph has to say
// by which options: those that were asked for, and what `planStep` chose under
// them. Comparing the plans among which it chose again would need the graph as
// it was read, which is not stored; the chosen one alone needs the prepared
// graph only.
//
// The options are kept in the words of the command line. So an option that is
// added there is recorded and read back without a line here.

#include "cutback/Pipelines/PlanRecord.h"

#include "Internal.h"

#include "cutback/Pipelines/PlanOptions.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace cutback;

static constexpr llvm::StringLiteral kDecomposed = "decomposed";

void cutback::recordPlan(joint::GraphOp graph, const PartitionResult &result) {
  Builder builder(graph.getContext());
  SmallVector<Attribute> asked;
  for (const std::string &option : result.options.asked)
    asked.push_back(builder.getStringAttr(option));
  NamedAttrList record;
  record.append("options", builder.getArrayAttr(asked));
  record.append("byte_price_ps",
                builder.getF64FloatAttr(result.options.bytePricePs));
  record.append("torch_graph", builder.getBoolAttr(result.isOfTorchGraph));
  record.append("torch_decision",
                builder.getBoolAttr(result.isTorchDecision()));
  if (result.given)
    record.append(kDecomposed, builder.getUnitAttr());
  if (const auto &passed = result.passedOver)
    record.append("passed_over", builder.getDenseI64ArrayAttr(
                                     {passed->peakBytes, passed->torchPeakBytes,
                                      passed->pricedPs}));
  graph->setAttr(kPlanRecord, record.getDictionary(graph.getContext()));
}

bool cutback::isPlannedInCoreOps(joint::GraphOp graph) {
  auto record = graph->getAttrOfType<DictionaryAttr>(kPlanRecord);
  return record && record.contains(kDecomposed);
}

namespace {

struct Record {
  PartitionOptions options;
  bool isOfTorchGraph = false;
  std::optional<PassedOver> passedOver;
};

} // namespace

/// The options in `texts`; false, with what is wrong in `error`, if they are
/// none.
static bool readAsked(ArrayAttr texts, PartitionOptions &options,
                      std::string &error) {
  CommandSpec spec;
  spec.name = "compile";
  spec.options = planOptions();
  spec.minArguments = spec.maxArguments = 0;
  std::vector<std::string_view> args;
  for (Attribute text : texts) {
    auto value = dyn_cast<StringAttr>(text);
    if (!value) {
      error = "an option is no string";
      return false;
    }
    args.emplace_back(value.data(), value.size());
  }
  std::optional<CommandLine> line = parseCommandLine(spec, args, error);
  return line && readPlanOptions(*line, options, error);
}

static FailureOr<Record> readRecord(joint::GraphOp graph) {
  auto fail = [&](const Twine &what) {
    InFlightDiagnostic diag = graph.emitError(what);
    diag.attachNote() << "store the plan again with `cutback compile`";
    return diag;
  };
  auto record = graph->getAttrOfType<DictionaryAttr>(kPlanRecord);
  if (!record)
    return fail("the graph has no record of a plan (joint.plan)");
  auto asked = record.getAs<ArrayAttr>("options");
  auto price = record.getAs<FloatAttr>("byte_price_ps");
  auto isOfTorchGraph = record.getAs<BoolAttr>("torch_graph");
  auto isDecision = record.getAs<BoolAttr>("torch_decision");
  bool isDecomposed = isPlannedInCoreOps(graph);
  auto passed = record.getAs<DenseI64ArrayAttr>("passed_over");
  bool hasPassed = record.contains("passed_over");
  if (!asked || !price || !isOfTorchGraph || !isDecision ||
      (hasPassed && (!passed || passed.size() != 3)) ||
      record.size() != 4u + hasPassed + isDecomposed)
    return fail("the graph's record of its plan (joint.plan) is damaged");
  Record read;
  std::string error;
  if (!readAsked(asked, read.options, error))
    return fail("the graph's record of its plan (joint.plan) has options that "
                "are not read: " +
                error);
  if (isDecision.getValue())
    read.options = torchDecision(read.options);
  read.options.decompose = isDecomposed;
  read.options.bytePricePs = price.getValueAsDouble();
  read.isOfTorchGraph = isOfTorchGraph.getValue();
  if (passed)
    read.passedOver = {passed[0], passed[1], passed[2]};
  return read;
}

FailureOr<std::unique_ptr<PartitionResult>>
cutback::planAsRecorded(joint::GraphOp graph) {
  FailureOr<Record> record = readRecord(graph);
  if (failed(record))
    return failure();
  record->options.memory.emplace();
  auto result = partitionGraph(graph, record->options);
  if (failed(result))
    return failure();
  (*result)->isOfTorchGraph = record->isOfTorchGraph;
  (*result)->passedOver = record->passedOver;
  return result;
}
