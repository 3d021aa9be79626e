// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report for programs, schema 1; docs/ReportJson.md describes every key.
// Within a schema number keys may be added, none removed or given another
// meaning. Keys are written in a fixed order and numbers as whole bytes and
// picoseconds, so that two reports of one plan differ in "seconds" only.

#include "cutback/Planner/PlanRecord.h"
#include "cutback/Planner/Planner.h"
#include "cutback/Report/KernelReport.h"
#include "cutback/Report/PartitionFiles.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using llvm::StringRef;
using llvm::json::OStream;

namespace cutback {

static void writeText(OStream &json, StringRef key, StringRef text) {
  json.attribute(key, llvm::json::isUTF8(text) ? text.str()
                                               : llvm::json::fixUTF8(text));
}

static void writeSaved(OStream &json, const PartitionResult &result,
                       const ReportExtras &extras) {
  json.attributeArray("saved", [&] {
    for (size_t i = 0; i < result.saved.size(); ++i)
      json.object([&] {
        const SavedValue &saved = result.saved[i];
        writeText(json, "value", saved.name);
        writeText(json, "kind", spell(saved.kind));
        json.attribute("bytes", saved.bytes);
        json.attribute("argument", saved.argument);
        writeText(json, "reason", saved.reason);
        writeText(json, "location", saved.location);
        writeText(json, "module", saved.module);
        if (i < extras.items.size())
          writeText(json, "op", extras.items[i].what);
      });
  });
}

static void writeCounts(OStream &json, StringRef key,
                        const std::vector<OpCount> &counts) {
  json.attributeArray(key, [&] {
    for (const OpCount &entry : counts)
      json.object([&] {
        writeText(json, "op", entry.op);
        json.attribute("count", entry.count);
      });
  });
}

static void writeDeclared(OStream &json, const std::vector<DeclaredOps> &ops) {
  json.attributeArray("as_declared", [&] {
    for (const DeclaredOps &entry : ops)
      json.object([&] {
        writeText(json, "op", entry.op);
        json.attribute("count", entry.count);
        writeText(json, "place", entry.place);
        writeText(json, "why", entry.why);
      });
  });
}

static void writePeak(OStream &json, const PartitionResult &result,
                      const ReportExtras &extras) {
  const PeakResult &peak = result.peak;
  const std::string &problem = result.memoryProblem;
  json.attributeObject("peak", [&] {
    json.attribute("model", peak.isPlanned ? "planned" : "op-by-op");
    json.attribute("bytes", peak.bytes);
    writeText(json, "at", peak.at);
    json.attribute("lower_bound", peak.lowerBound);
    if (peak.isPlanned)
      json.attribute("in_any_order", peak.isLeastOrder);
    json.attribute("half", peak.inBackward ? "backward" : "forward");
    json.attribute("saved_bytes", peak.savedBytes);
    json.attribute("gradient_bytes", peak.gradientBytes);
    if (peak.isPlanned)
      json.attribute("result_bytes", peak.resultBytes);
    json.attribute("temporary_bytes", peak.temporaryBytes);
    if (extras.fit)
      json.attribute("floor_bytes", extras.fit->floorBytes);
    if (!problem.empty())
      writeText(json, "not_planned", problem);
  });
}

static void writeBounds(OStream &json, const PlanBounds &bounds) {
  json.attributeObject("bound", [&] {
    json.attribute("peak_bytes", bounds.peakBytes);
    writeText(json, "peak_at", bounds.peakAt);
    json.attributeArray("at_peak", [&] {
      for (const PlanBounds::Value &value : bounds.atPeak)
        json.object([&] {
          writeText(json, "value", value.name);
          json.attribute("bytes", value.bytes);
          writeText(json, "location", value.location);
        });
    });
    json.attribute("time_ps", bounds.timePs);
    json.attribute("limit_bytes", bounds.limitBytes);
    json.attributeArray("prices", [&] {
      for (const PlanBounds::MomentPrice &price : bounds.prices)
        json.object([&] {
          writeText(json, "at", price.at);
          json.attribute("ps", price.ps);
        });
    });
  });
  json.attribute("gap", bounds.gap);
}

static void writeLine(OStream &json, const PartitionResult &result,
                      const StrategyLine &line) {
  json.attribute("chosen", line.chosen);
  json.attribute("possible", line.possible);
  if (!line.possible)
    return;
  json.attribute("saved_bytes", line.savedBytes);
  json.attribute("peak_bytes", line.peakBytes);
  if (line.isPlanned != result.peak.isPlanned)
    json.attribute("peak_model", line.isPlanned ? "planned" : "op-by-op");
  json.attribute("recomputed", line.recomputed);
  json.attribute("priced_ps", line.extraPs);
}

static void writeStrategies(OStream &json, const PartitionResult &result,
                            const ReportExtras &extras) {
  json.attributeArray("strategies", [&] {
    for (const StrategyLine &line : extras.strategies)
      json.object([&] {
        writeText(json, "strategy", spell(line.strategy));
        writeLine(json, result, line);
      });
  });
  if (extras.torch)
    json.attributeObject("torch_compile",
                         [&] { writeLine(json, result, *extras.torch); });
}

static void writeEager(OStream &json, const AutogradSaves &eager) {
  json.attributeObject("eager_pytorch", [&] {
    json.attribute("storages", eager.storages);
    json.attribute("saved_bytes", eager.savedBytes);
    if (eager.peakBytes)
      json.attribute("peak_bytes", *eager.peakBytes);
  });
}

static void writeFit(OStream &json, const DeviceFit &fit) {
  json.attributeObject("device", [&] {
    writeText(json, "name", fit.device);
    json.attribute("resident_bytes", fit.residentBytes);
    if (fit.hasOptimizer)
      json.attribute("optimizer_bytes", fit.stateBytes);
    json.attribute("needed_bytes", fit.neededBytes());
    if (fit.memoryBytes == 0)
      return;
    json.attribute("memory_bytes", fit.memoryBytes);
    json.attribute("fits", fit.fits());
  });
}

static void writeOther(OStream &json, const OtherPartition &other) {
  json.attributeObject("other", [&] {
    writeText(json, "origin", other.origin);
    json.attribute("saved", other.saved);
    json.attribute("saved_bytes", other.savedBytes);
    json.attribute("saved_plain_bytes", other.plainBytes);
    json.attribute("argument_bytes", other.argumentBytes);
    json.attribute("recomputed", other.recomputed);
    if (other.peakBytes)
      json.attribute("peak_bytes", *other.peakBytes);
    if (other.pricedPs)
      json.attribute("priced_ps", *other.pricedPs);
    json.attribute("verified", other.accepted);
    writeText(json, "verdict", other.verdict);
  });
}

static void writeBudget(OStream &json, const PartitionResult &result) {
  const BudgetDecision &budget = *result.budget;
  const TorchBudget &asked = *result.options.activationBudget;
  json.attributeObject("activation_budget", [&] {
    json.attribute("fraction", asked.fraction);
    writeText(json, "solver", spell(asked.solver));
    writeText(json, "answer", std::string(textOf(budget.answer).word));
    json.attribute("has_effect", budget.hasEffect);
    json.attribute("candidates", budget.candidates);
    json.attribute("released", budget.released.size());
    json.attribute("kept_runtime", budget.keptRuntime);
    json.attribute("input_bytes", budget.inputBytes);
    json.attribute("default_bytes", budget.defaultBytes);
    json.attribute("saved_bytes", budget.savedBytes);
    if (std::optional<double> ratio = budget.ratio())
      json.attribute("ratio", *ratio);
    json.attributeArray("drawn_alike", [&] {
      for (const std::string &name : result.drawnAlike)
        json.value(llvm::json::fixUTF8(name));
    });
  });
}

static void writeHead(OStream &json, const PartitionResult &result,
                      const ReportExtras &extras) {
  json.attribute("schema", 1);
  writeText(json, "graph", result.graph);
  writeText(json, "strategy", spell(result.choice.strategy));
  writeText(json, "cost_model", spell(result.choice.costModel));
  writeText(json, "rules", spell(result.choice.rules));
  writeText(json, "minimize",
            result.options.minimize == Minimize::Peak ? "peak" : "time");
  json.attribute("byte_price_ps", result.bytePricePs);
  if (result.search && result.search->limitBytes)
    json.attribute("limit", *result.search->limitBytes);
  if (result.budget)
    writeBudget(json, result);
  if (!result.regionBudgets.empty())
    json.attributeArray("region_budgets", [&] {
      for (const RegionBudget &budget : result.regionBudgets)
        json.object([&] {
          writeText(json, "region", budget.region);
          json.attribute("fraction", budget.fraction);
          json.attribute("savable_bytes", budget.savableBytes);
          json.attribute("kept_bytes", budget.keptBytes);
        });
    });
  if (result.search)
    json.attributeObject("search", [&] {
      json.attribute("plans", result.search->plans);
      json.attribute("whole", result.search->isWhole);
      json.attributeArray("recompute", [&] {
        for (const std::string &name : result.choice.recompute)
          json.value(llvm::json::fixUTF8(name));
      });
      const RegionRequest &regions = result.choice.regions;
      if (regions.empty())
        return;
      json.attributeArray("checkpoint", [&] {
        for (const std::string &pattern : regions.modules)
          json.value(llvm::json::fixUTF8(pattern));
      });
      json.attribute("checkpoint_segments", regions.segments);
    });
  if (std::optional<SplitRecord> split = splitRecordOf(result.view.graph))
    json.attributeObject("split", [&] {
      json.attribute("parts", split->parts);
      writeText(json, "product", split->product);
    });
  if (result.isOfTorchGraph)
    json.attribute("torch_decision", result.isTorchDecision());
  if (const auto &passed = result.passedOver)
    json.attributeObject("passed_over", [&] {
      json.attribute("peak_bytes", passed->peakBytes);
      json.attribute("torch_peak_bytes", passed->torchPeakBytes);
      if (!passed->isByOps)
        json.attribute("priced_ps", passed->pricedPs);
      json.attribute("byte_price_ps", passed->bytePricePs);
      if (passed->isByOps)
        json.attribute("by_ops", true);
    });
  if (!result.refused.empty())
    json.attributeArray("refused", [&] {
      for (const std::string &why : result.refused)
        json.value(why);
    });
  writeText(json, "solver", result.solver);
  json.attribute("ops", result.ops);
  json.attribute("forward_ops", result.forwardOps);
  json.attribute("backward_ops", result.backwardOps);
  json.attributeObject("symbols", [&] {
    for (const auto &[name, size] : extras.symbols)
      json.attribute(name, size);
  });
  json.attributeArray("unknown_symbols", [&] {
    for (const std::string &name : extras.unknownSymbols)
      json.value(name);
  });
}

static void writeSeconds(OStream &json, const PhaseSeconds &seconds) {
  json.attributeObject("seconds", [&] {
    json.attribute("import", seconds.import);
    json.attribute("prepare", seconds.prepare);
    json.attribute("kernels", seconds.kernels);
    json.attribute("network", seconds.network);
    json.attribute("solve", seconds.solve);
    json.attribute("extract", seconds.extract);
    json.attribute("memory", seconds.memory);
    json.attribute("compare", seconds.compare);
    json.attribute("verify", seconds.verify);
  });
}

/// What both documents have, in the order of the schema.
static void writeBody(OStream &json, const PartitionResult &result,
                      const ReportExtras &extras) {
  writeHead(json, result, extras);
  writeSaved(json, result, extras);
  json.attribute("saved_bytes", result.savedBytes);
  json.attribute("saved_plain_bytes", result.savedPlainBytes);
  json.attribute("saved_storage_bytes", result.savedStorageBytes);
  json.attribute("argument_bytes", result.argumentBytes);
  json.attribute("cut_value", result.cutValue);
  json.attributeObject("network", [&] {
    json.attribute("vertices", result.networkVertices);
    json.attribute("arcs", result.networkArcs);
  });
  json.attributeArray("recomputed", [&] {
    for (const std::string &name : result.recomputed)
      json.value(name);
  });
  writeCounts(json, "recomputed_by_kind", result.recomputedByKind);
  writeCounts(json, "opaque", result.opaque);
  writeDeclared(json, result.asDeclared);
  writePeak(json, result, extras);
  if (extras.fit)
    writeFit(json, *extras.fit);
  json.attributeObject("time", [&] {
    json.attribute("model_ps", result.modelPs);
    json.attribute("priced_ps", result.pricedPs);
  });
  if (result.bounds)
    writeBounds(json, *result.bounds);
  writeKernels(json, result);
  if (result.update)
    json.attributeArray("optimizer", [&] {
      for (const std::string &option : result.update->options)
        json.value(llvm::json::fixUTF8(option));
    });
  if (result.update)
    json.attributeObject("update", [&] {
      json.attribute("inside", result.update->segments.empty());
      if (std::string why = whyUpdateAfter(result); !why.empty())
        writeText(json, "why_after", why);
    });
  json.attribute("verified", result.verified);
}

static void writeFiles(OStream &json, llvm::ArrayRef<StringRef> files) {
  json.attributeObject("files", [&] {
    for (size_t i = 0; i < files.size(); ++i)
      json.attributeObject(kPartitionFiles[i], [&] {
        StringRef text = files[i];
        llvm::XXH128_hash_t hash =
            llvm::xxh3_128bits(llvm::arrayRefFromStringRef(text));
        json.attribute("bytes", uint64_t(text.size()));
        json.attribute(
            "xxh3_128",
            llvm::formatv("{0:x-16}{1:x-16}", hash.high64, hash.low64).str());
      });
  });
}

static void writeFront(OStream &json, llvm::ArrayRef<FrontPoint> front) {
  json.attributeArray("front", [&] {
    for (const FrontPoint &point : front)
      json.object([&] {
        json.attribute("limit", point.limitBytes);
        json.attribute("peak_bytes", point.peakBytes);
        json.attribute("priced_ps", point.pricedPs);
      });
  });
}

std::string reportJson(const PartitionResult &result,
                       const ReportExtras &extras) {
  std::string text;
  llvm::raw_string_ostream os(text);
  OStream json(os);
  json.object([&] {
    writeBody(json, result, extras);
    if (!extras.strategies.empty())
      writeStrategies(json, result, extras);
    if (!extras.front.empty())
      writeFront(json, extras.front);
    if (extras.eager)
      writeEager(json, *extras.eager);
    if (extras.other)
      writeOther(json, *extras.other);
    writeSeconds(json, result.seconds);
  });
  return text + "\n";
}

std::string planJson(const PartitionResult &result, const ReportExtras &extras,
                     llvm::ArrayRef<StringRef> files) {
  std::string text;
  llvm::raw_string_ostream os(text);
  OStream json(os);
  json.object([&] {
    writeBody(json, result, extras);
    writeSegments(json, result);
    if (result.memory) {
      json.attributeBegin("memory");
      result.memory->writeJson(json);
      json.attributeEnd();
    }
    json.attributeArray("options", [&] {
      for (const std::string &option : result.options.asked)
        json.value(llvm::json::fixUTF8(option));
    });
    writeFiles(json, files);
  });
  return text + "\n";
}

} // namespace cutback
