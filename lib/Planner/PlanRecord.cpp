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

#include "cutback/Planner/PlanRecord.h"

#include "Internal.h"

#include "cutback/Partition/RandomStates.h"
#include "cutback/Planner/OptionText.h"
#include "cutback/Planner/PlanOptions.h"
#include "cutback/Planner/Planner.h"

#include "mlir/IR/Builders.h"

#include <cmath>

using namespace mlir;
using namespace cutback;

static constexpr llvm::StringLiteral kDecomposed = "decomposed",
                                     kPassedOverPrice =
                                         "passed_over_byte_price_ps",
                                     kRandomStates = "random_states",
                                     kRefused = "refused", kSaved = "saved",
                                     kRegions = "regions",
                                     kSegments = "region_segments";

void cutback::recordPlan(joint::GraphOp graph, const PartitionResult &result) {
  Builder builder(graph.getContext());
  SmallVector<Attribute> asked;
  for (const std::string &option : result.options.asked)
    asked.push_back(builder.getStringAttr(option));
  NamedAttrList record;
  record.append("options", builder.getArrayAttr(asked));
  const PlanChoice &chosen = result.choice;
  record.append("strategy", builder.getStringAttr(spell(chosen.strategy)));
  record.append("cost_model", builder.getStringAttr(spell(chosen.costModel)));
  record.append("rules", builder.getStringAttr(spell(chosen.rules)));
  record.append("byte_price_ps", builder.getF64FloatAttr(result.bytePricePs));
  record.append("recompute",
                builder.getStrArrayAttr(SmallVector<StringRef>(
                    chosen.recompute.begin(), chosen.recompute.end())));
  auto names = [&](const std::vector<std::string> &list) {
    return builder.getStrArrayAttr(
        SmallVector<StringRef>(list.begin(), list.end()));
  };
  if (chosen.saved)
    record.append(kSaved, names(*chosen.saved));
  if (!chosen.regions.empty()) {
    record.append(kRegions, names(chosen.regions.modules));
    record.append(kSegments,
                  builder.getI64IntegerAttr(chosen.regions.segments));
  }
  record.append("torch_graph", builder.getBoolAttr(result.isOfTorchGraph));
  if (result.given)
    record.append(kDecomposed, builder.getUnitAttr());
  if (result.partition.link && exposesRandomStates(result.partition.link))
    record.append(kRandomStates, builder.getUnitAttr());
  if (const auto &passed = result.passedOver)
    record.append(kPassedOverPrice,
                  builder.getF64FloatAttr(passed->bytePricePs));
  if (const auto &passed = result.passedOver)
    record.append("passed_over", builder.getDenseI64ArrayAttr(
                                     {passed->peakBytes, passed->torchPeakBytes,
                                      passed->pricedPs, passed->isByOps}));
  if (const auto &search = result.search) {
    SmallVector<int64_t> figures{static_cast<int64_t>(search->plans),
                                 search->isWhole};
    if (search->limitBytes)
      figures.push_back(*search->limitBytes);
    record.append("search", builder.getDenseI64ArrayAttr(figures));
  }
  if (!result.refused.empty())
    record.append(kRefused, builder.getStrArrayAttr(SmallVector<StringRef>(
                                result.refused.begin(), result.refused.end())));
  graph->setAttr(kPlanRecord, record.getDictionary(graph.getContext()));
}

std::optional<SplitRecord> cutback::splitRecordOf(joint::GraphOp graph) {
  auto record = graph ? graph->getAttrOfType<DictionaryAttr>(kSplitRecord)
                      : DictionaryAttr();
  auto parts = record ? record.getAs<IntegerAttr>("parts") : IntegerAttr();
  auto product = record ? record.getAs<StringAttr>("product") : StringAttr();
  if (!parts || !product)
    return std::nullopt;
  return SplitRecord{parts.getInt(), product.str()};
}

bool cutback::isPlannedInCoreOps(joint::GraphOp graph) {
  auto record = graph->getAttrOfType<DictionaryAttr>(kPlanRecord);
  return record && record.contains(kDecomposed);
}

namespace {

struct Record {
  PartitionOptions asked;
  PlanChoice choice;
  bool isDecomposed = false, isOfTorchGraph = false, exposesStates = false;
  std::optional<PassedOver> passedOver;
  std::optional<PlanSearch> search;
  std::vector<std::string> refused;
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

/// Whether a byte can have this price.
static bool isPrice(FloatAttr ps) {
  return std::isfinite(ps.getValueAsDouble()) && ps.getValueAsDouble() >= 0;
}

static bool readNames(DictionaryAttr record, StringRef key,
                      std::vector<std::string> &names) {
  auto list = record.getAs<ArrayAttr>(key);
  if (!list || !llvm::all_of(list, llvm::IsaPred<StringAttr>))
    return false;
  for (StringAttr name : list.getAsRange<StringAttr>())
    names.push_back(name.str());
  return true;
}

/// What was chosen; false if the record has no such words.
static bool readChosen(DictionaryAttr record, PlanChoice &choice) {
  auto strategy = record.getAs<StringAttr>("strategy");
  auto model = record.getAs<StringAttr>("cost_model");
  auto rules = record.getAs<StringAttr>("rules");
  auto price = record.getAs<FloatAttr>("byte_price_ps");
  auto recompute = record.getAs<ArrayAttr>("recompute");
  std::string error;
  if (!strategy || !model || !rules || !price || !recompute ||
      !isPrice(price) || !llvm::all_of(recompute, llvm::IsaPred<StringAttr>) ||
      !parseStrategy(strategy.getValue(), choice.strategy, error) ||
      !parseCostModel(model.getValue(), choice.costModel, error) ||
      !parseRules(rules.getValue(), choice.rules, error))
    return false;
  choice.bytePrice = price.getValueAsDouble();
  for (StringAttr name : recompute.getAsRange<StringAttr>())
    choice.recompute.push_back(name.str());
  if (record.contains(kSaved) &&
      !readNames(record, kSaved, choice.saved.emplace()))
    return false;
  auto segments = record.getAs<IntegerAttr>(kSegments);
  if (record.contains(kSegments) != record.contains(kRegions) ||
      (record.contains(kSegments) &&
       (!segments || segments.getInt() < 0 || segments.getInt() > UINT32_MAX)))
    return false;
  if (segments)
    choice.regions.segments = static_cast<unsigned>(segments.getInt());
  return !segments || readNames(record, kRegions, choice.regions.modules);
}

/// What the record says of plans that were not taken.
static bool readOthers(DictionaryAttr record, Record &read) {
  auto passed = record.getAs<DenseI64ArrayAttr>("passed_over");
  auto search = record.getAs<DenseI64ArrayAttr>("search");
  auto price = record.getAs<FloatAttr>(kPassedOverPrice);
  auto refused = record.getAs<ArrayAttr>(kRefused);
  if (record.contains(kRefused) &&
      (!refused || !llvm::all_of(refused, llvm::IsaPred<StringAttr>)))
    return false;
  if (refused)
    for (StringAttr why : refused.getAsRange<StringAttr>())
      read.refused.push_back(why.str());
  if (record.contains("passed_over") &&
      (!passed || passed.size() != 4 || !price || !isPrice(price)))
    return false;
  if (record.contains("search") &&
      (!search || search.size() < 2 || search.size() > 3))
    return false;
  if (passed)
    read.passedOver = {passed[0], passed[1], passed[2], passed[3] != 0,
                       price.getValueAsDouble()};
  if (search)
    read.search = {static_cast<uint64_t>(search[0]), std::nullopt,
                   search[1] != 0};
  if (search && search.size() == 3)
    read.search->limitBytes = search[2];
  return record.size() ==
         7u + 2 * read.passedOver.has_value() + read.search.has_value() +
             record.contains(kDecomposed) + record.contains(kRandomStates) +
             record.contains(kSaved) + 2 * record.contains(kRegions) +
             record.contains(kRefused);
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
  auto isOfTorchGraph = record.getAs<BoolAttr>("torch_graph");
  Record read;
  if (!asked || !isOfTorchGraph || !readChosen(record, read.choice) ||
      !readOthers(record, read))
    return fail("the graph's record of its plan (joint.plan) is damaged");
  std::string error;
  if (!readAsked(asked, read.asked, error))
    return fail("the graph's record of its plan (joint.plan) has options that "
                "are not read: " +
                error);
  read.isDecomposed = isPlannedInCoreOps(graph);
  read.isOfTorchGraph = isOfTorchGraph.getValue();
  read.exposesStates = record.contains(kRandomStates);
  return read;
}

FailureOr<std::unique_ptr<PartitionResult>>
cutback::planAsRecorded(joint::GraphOp graph) {
  FailureOr<Record> record = readRecord(graph);
  if (failed(record))
    return failure();
  record->asked.memory.emplace();
  PartitionOptions stored = record->asked;
  stored.decompose = record->isDecomposed;
  auto result = partitionGraph(graph, stored, record->choice);
  if (failed(result))
    return failure();
  (*result)->options = std::move(record->asked);
  (*result)->search = record->search;
  if ((*result)->bounds && record->search && record->search->limitBytes)
    (*result)->bounds = findBounds(**result, *record->search->limitBytes);
  (*result)->isOfTorchGraph = record->isOfTorchGraph;
  (*result)->passedOver = record->passedOver;
  (*result)->refused = std::move(record->refused);
  if (record->exposesStates)
    exposeRandomStates((*result)->partition.link);
  return result;
}
