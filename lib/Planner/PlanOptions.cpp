// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a parsed command line to the options of a plan and of reading. An
// option that the chosen cost model would ignore is an error: a sweep in which
// one option did nothing is worse than a message.
//
// The tables are the only place that knows the names; driver, help text and
// the C interface read them.

#include "cutback/Planner/PlanOptions.h"

#include "cutback/Analysis/Device.h"
#include "cutback/Dialect/Joint/InsideUpdate.h"
#include "cutback/Partition/Strategies.h"
#include "cutback/Planner/OptionText.h"
#include "cutback/Support/MLIR/Silence.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using llvm::StringRef;

namespace cutback {

/// What is decided, and at what costs.
static std::vector<OptionSpec> decisionOptions() {
  return {
      {"strategy", OptionSpec::Choice, "min-cut|eager|precompute|recompute-all",
       "what to save for the backward:\n"
       "min-cut (the default): save or recompute each value,\n"
       "whichever costs less;\n"
       "eager: save what the decomposed backward reads, as\n"
       "AOTAutograd's default partitioner: more than eager\n"
       "PyTorch, which keeps what whole ops read;\n"
       "precompute: as eager, but first do in the forward all\n"
       "that needs no gradient (a mask in place of what it is\n"
       "made from);\n"
       "recompute-all: save inputs and what must not run\n"
       "twice, as checkpointing the whole model",
       false, 0, "default|save-all"},
      {"cost-model", OptionSpec::Choice, "roofline|pytorch",
       "what saving and recomputing cost: time on a\n"
       "device (the default), or PyTorch's heuristics"},
      {"device", OptionSpec::Text, "NAME|F.json",
       "the device of the roofline: h100 (the default),\n"
       "h200, a100, l4, rtx4090, cpu, or a description"},
      {"byte-price", OptionSpec::Text, "Fx|PS",
       "what a saved byte is worth (roofline): 2x, twice the\n"
       "default price, saves less, 0.5x more; or picoseconds.\n"
       "The default, which the report shows, makes all bytes\n"
       "that the backward reads worth a ninth of the step's\n"
       "time; 0: time alone"},
      {"minimize", OptionSpec::Choice, "time|peak",
       "what min-cut is best at: the time of a step, or its\n"
       "planned peak: several byte prices and PyTorch's\n"
       "decision are tried (roofline); default: time and\n"
       "saved bytes, no larger peak than PyTorch's decision"},
      {"memory-limit", OptionSpec::Text, "SIZE|SHARE",
       "the fastest plan that is found whose planned peak is\n"
       "not above it: 24GiB, 300MiB, or a share of the peak\n"
       "of saving everything, 0.6. Exit code 3 if none is"},
      {"effort", OptionSpec::Integer, "1|2|3",
       "how long --memory-limit and --minimize=peak search:\n"
       "each step four times as long"},
      {"split", OptionSpec::Text, "off|loss|auto",
       "run the ops around the largest product of the forward\n"
       "in parts along its rows, one part after the other, so\n"
       "that its result (the logits of a loss) is never there\n"
       "as a whole; loss:8 in 8 parts. Sums over rows are\n"
       "those of parts then: bits depend on how many.\n"
       "off (the default): not"},
      {"rules", OptionSpec::Choice, "torch-2.13|torch-2.3",
       "whose heuristics (pytorch; default torch-2.13)"},
      {"free-parameters", OptionSpec::Text, "auto|none|0,2,5-22",
       "arguments that cost nothing to save (pytorch);\n"
       "auto: those known to be parameters or buffers"},
      {"activation-budget", OptionSpec::Text, "F",
       "PyTorch's activation_memory_budget, to compare with:\n"
       "0 saves what the inputs take, 1, the default, what\n"
       "its decision saves (pytorch, torch-2.13)"},
      {"budget-solver", OptionSpec::Choice, "dp|greedy|ilp",
       "PyTorch's activation_memory_budget_solver, which\n"
       "chooses what such a budget keeps; dp is the default"},
  };
}

/// What the backward computes again, whatever it costs.
static std::vector<OptionSpec> checkpointOptions() {
  return {
      {"checkpoint", OptionSpec::Text, "MODULES[,NAME=V]",
       "checkpoint regions: modules by their paths, * for any\n"
       "part of a name ('blocks.*' is a region a block, with\n"
       "'blocks.*.mlp' one in each); then with commas what\n"
       "differs of early_stop=true, preserve_rng=true,\n"
       "reentrant=false, advise=false; repeatable",
       true},
      {"budget", OptionSpec::Text, "MODULES=F",
       "each of these modules, patterns as for --checkpoint,\n"
       "keeps at most the fraction F of the bytes that the\n"
       "fastest plan would save of it (roofline); repeatable",
       true},
      {"checkpoint-sequential", OptionSpec::Integer, "N",
       "the longest numbered list of modules in N segments,\n"
       "all but the last checkpoint regions",
       false, 1},
      {"checkpoint-policy", OptionSpec::Text, "POLICY:OP",
       "what an op of checkpoint regions does: save:mm,\n"
       "save:matmul (all matrix products), recompute:gelu;\n"
       "repeatable",
       true},
  };
}

/// What is known about the graph, and how the network is solved.
static std::vector<OptionSpec> graphOptions() {
  return {
      {"torch-config", OptionSpec::Text, "NAME=VALUE",
       "a flag of PyTorch's partitioner by the name that\n"
       "torch._functorch.config has for it (pytorch):\n"
       "aggressive_recomputation=true, max_dist_from_bw=3;\n"
       "a wrong name prints them all; repeatable",
       true},
      {"recomputable", OptionSpec::Text, "OP",
       "this op of yours may run twice, a plan may recompute\n"
       "it; called as in the graph: mylib.gelu; repeatable",
       true},
      {"sym", OptionSpec::Text, "NAME=SIZE",
       "the size that a symbol has; repeatable", true},
      {"policy", OptionSpec::Text, "VALUE=POLICY",
       "what to do with the op that computes VALUE:\n"
       "must-save: never run it again (what the backward\n"
       "reads of it is saved; of a view, its base);\n"
       "prefer-save: as must-save under torch-2.3, else no\n"
       "effect; must-recompute, prefer-recompute: save\n"
       "none of its results; repeatable",
       true},
      {"solver", OptionSpec::Choice,
       "auto|boykov-kolmogorov|push-relabel|boost-push-relabel|edmonds-karp",
       "the maximum-flow algorithm; the plan is the same.\n"
       "auto: Boost.Graph's boykov-kolmogorov, and our\n"
       "push-relabel from where that gets slow; the last\n"
       "two are for comparison, edmonds-karp is very slow"},
      {"bounds", OptionSpec::Flag, "",
       "also compute what no plan comes below: the peak, and\n"
       "the time within this plan's peak, and how far the\n"
       "plan is from that"},
      {"keep-composites", OptionSpec::Flag, "",
       "leave composite ops (a loss, a norm) whole, for a\n"
       "plan whose ops somebody else will run; by default\n"
       "their parts are saved or recomputed one by one"},
      {"dump-network", OptionSpec::Text, "F",
       "write the flow network that was solved, as JSON"},
      {"remarks", OptionSpec::Flag, "", "print a remark for every decision"},
  };
}

std::vector<OptionSpec> planOptions() {
  std::vector<OptionSpec> options = decisionOptions();
  llvm::append_range(options, checkpointOptions());
  llvm::append_range(options, graphOptions());
  return options;
}

std::vector<OptionSpec> withPlanOptions(std::vector<OptionSpec> own) {
  // In the order in which they are most often asked for.
  std::pair<const char *, std::vector<OptionSpec>> groups[] = {
      {"the plan", decisionOptions()},
      {"the input", inputOptions()},
      {"sizes, values and the search", graphOptions()},
      {"checkpoint regions", checkpointOptions()},
      {"gradients, of an input without a backward", gradientOptions()}};
  for (auto &[heading, list] : groups) {
    own.push_back({"", OptionSpec::Flag, "", heading});
    own.insert(own.end(), list.begin(), list.end());
  }
  return own;
}

static StringRef ref(std::string_view text) {
  return StringRef(text.data(), text.size());
}

static bool readPolicies(const CommandLine &line, PartitionOptions &options,
                         std::string &error) {
  for (std::string_view given : line.all("policy")) {
    auto [name, policy] = ref(given).rsplit('=');
    bool known = llvm::StringSwitch<bool>(policy)
                     .Cases({"must-save", "prefer-save", "must-recompute",
                             "prefer-recompute"},
                            true)
                     .Default(false);
    if (name.consume_front("%"), name.empty() || !known) {
      error = "'" + std::string(given) +
              "' is not VALUE=must-save, prefer-save, must-recompute or "
              "prefer-recompute, for --policy";
      return false;
    }
    std::string &asked = options.policies[name];
    if (!asked.empty() && asked != policy) {
      error = "'" + name.str() + "' has two policies, " + asked + " and " +
              policy.str() + ", for --policy";
      return false;
    }
    asked = policy.str();
  }
  return true;
}

static void readCheckpoints(const CommandLine &line,
                            PartitionOptions &options) {
  for (std::string_view given : line.all("checkpoint"))
    options.checkpoint.emplace_back(given);
  for (std::string_view given : line.all("budget")) {
    auto [modules, fraction] = ref(given).rsplit('=');
    options.checkpoint.push_back((modules + ",budget=" + fraction).str());
  }
  for (std::string_view given : line.all("checkpoint-policy"))
    options.checkpointPolicies.emplace_back(given);
  options.checkpointSegments = static_cast<unsigned>(std::min<int64_t>(
      line.integer("checkpoint-sequential").value_or(0), UINT32_MAX));
}

/// Options that the chosen cost model or strategy would not look at.
static bool checkUse(const CommandLine &line, const PartitionOptions &options,
                     std::string &error) {
  for (const std::string &region : options.checkpoint)
    if (line.has("grad-of") && StringRef(region).contains("reentrant=true")) {
      error = "a reentrant checkpoint region runs its own backward: --grad-of "
              "cannot ask for gradients of chosen arguments";
      return false;
    }
  bool torch = options.costModel == CostModel::PyTorch;
  for (const char *name :
       {"rules", "free-parameters", "torch-config", "activation-budget"})
    if (line.has(name) && !torch) {
      error = "--" + std::string(name) + " needs --cost-model=pytorch";
      return false;
    }
  if (line.has("budget") &&
      (torch || options.strategy != Strategy::MinCut ||
       options.minimize == Minimize::Peak || options.memoryLimit)) {
    error = "--budget needs --strategy=min-cut and --cost-model=roofline, no "
            "--minimize=peak and no --memory-limit: other plans have no price "
            "of a region's bytes";
    return false;
  }
  if (line.has("byte-price") && torch) {
    error = "--byte-price needs --cost-model=roofline";
    return false;
  }
  for (const char *name : {"byte-price", "solver", "activation-budget"})
    if (line.has(name) && options.strategy != Strategy::MinCut) {
      error = "--" + std::string(name) +
              " needs --strategy=min-cut: other strategies compare no prices";
      return false;
    }
  if (options.strategy != Strategy::MinCut && line.has("dump-network")) {
    error = "--dump-network needs --strategy=min-cut: other strategies build "
            "no network";
    return false;
  }
  return true;
}

/// "off", or "loss" and "auto", each with ":N" behind it.
static bool readSplit(const CommandLine &line, PartitionOptions &options,
                      std::string &error) {
  options.split.reset();
  auto given = line.get("split");
  if (!given)
    return true;
  auto [word, number] = ref(*given).split(':');
  auto kind = llvm::StringSwitch<std::optional<PartsRequest::Kind>>(word)
                  .Case("off", PartsRequest::Off)
                  .Case("loss", PartsRequest::Loss)
                  .Case("auto", PartsRequest::Auto)
                  .Default(std::nullopt);
  unsigned parts = 0;
  bool hasNumber = ref(*given).contains(':');
  if (!kind || (hasNumber && (*kind == PartsRequest::Off ||
                              number.getAsInteger(10, parts) || parts < 2))) {
    error = "'" + std::string(*given) +
            "' is not off, loss or auto, nor one of the latter with a number "
            "of parts from 2 on, such as loss:8, for --split";
    return false;
  }
  if (*kind != PartsRequest::Off && options.costModel == CostModel::PyTorch) {
    error = "--split needs --cost-model=roofline";
    return false;
  }
  options.split = PartsRequest{*kind, parts};
  return true;
}

/// "2x", a multiple of the graph's own price, or picoseconds.
static bool readBytePrice(const CommandLine &line, PartitionOptions &options,
                          std::string &error) {
  options.bytePrice.reset();
  auto given = line.get("byte-price");
  if (!given)
    return true;
  StringRef text = ref(*given);
  bool isFactor = text.consume_back("x");
  double number = 0;
  // No "0x10", and no factor of nothing: that is 0 picoseconds.
  bool isNumber = !text.contains_insensitive("x") &&
                  !text.getAsDouble(number) && std::isfinite(number);
  if (!isNumber || number < 0 || (isFactor && number == 0)) {
    error = "'" + std::string(*given) +
            "' is not a factor of the default price, such as 2x, and no number "
            "of picoseconds from 0 on, for --byte-price";
    return false;
  }
  options.bytePrice = isFactor ? BytePrice::ownTimes(number) : number;
  return true;
}

/// A size, or a share of what saving everything needs.
static bool readMemoryLimit(const CommandLine &line, PartitionOptions &options,
                            std::string &error) {
  options.memoryLimit.reset();
  auto given = line.get("memory-limit");
  if (!given)
    return true;
  if (options.costModel != CostModel::Roofline ||
      options.strategy != Strategy::MinCut)
    error = "--memory-limit needs --cost-model=roofline and "
            "--strategy=min-cut: PyTorch's rules and other strategies are one "
            "plan each";
  else if (line.has("byte-price") || line.has("minimize"))
    error = "--memory-limit chooses what is saved: leave out --byte-price and "
            "--minimize";
  else if (line.has("dump-network"))
    error = "--dump-network has no effect with --memory-limit: the plan that "
            "is found is no minimum cut of one network";
  if (!error.empty())
    return false;
  std::optional<double> share = parseNumber(*given);
  if (share && *share > 0 && *share <= 1) {
    options.memoryLimit = MemoryLimit{0, *share};
    return true;
  }
  // No arena is so small: a number that is neither.
  std::optional<int64_t> bytes = parseBytes(*given);
  if (!bytes || *bytes < 1024) {
    error = "'" + std::string(*given) +
            "' is no size, such as 300MiB or 24GiB, and no share above 0 and "
            "up to 1, for --memory-limit";
    return false;
  }
  options.memoryLimit = MemoryLimit{*bytes, std::nullopt};
  return true;
}

static bool readEffort(const CommandLine &line, PartitionOptions &options,
                       std::string &error) {
  options.effort = 1;
  std::optional<int64_t> effort = line.integer("effort");
  if (!effort)
    return true;
  if (*effort < 1 || *effort > 3)
    error = "--effort is 1, 2 or 3";
  else if (!options.memoryLimit && options.minimize != Minimize::Peak)
    error = "--effort is of a search: give it with --memory-limit or "
            "--minimize=peak";
  options.effort = static_cast<unsigned>(*effort);
  return error.empty();
}

bool isOfPlan(const OptionSpec &option) {
  return option.name != "remarks" && option.name != "dump-network";
}

/// What a stored plan says about itself.
static void rememberAsked(const CommandLine &line, PartitionOptions &options) {
  options.asked.clear();
  for (const OptionSpec &option : planOptions())
    for (std::string_view value : line.all(option.name)) {
      std::string text = "--" + std::string(option.name);
      if (option.name == "device")
        text += "=" + options.device;
      else if (option.kind != OptionSpec::Flag)
        text += "=" + std::string(value);
      if (isOfPlan(option))
        options.asked.push_back(std::move(text));
    }
}

static bool readBudget(const CommandLine &line, PartitionOptions &options,
                       std::string &error) {
  options.activationBudget.reset();
  auto given = line.get("activation-budget");
  auto solver = line.get("budget-solver");
  if (solver && !given)
    error = "--budget-solver needs --activation-budget";
  else if (given && options.rules != Rules::Torch2_13 &&
           options.costModel == CostModel::PyTorch)
    error = "--activation-budget needs --rules=torch-2.13: PyTorch 2.3 has no "
            "such budget";
  else if (!given ||
           parseActivationBudget(ref(*given), ref(solver.value_or("dp")),
                                 options.activationBudget, error))
    return true;
  return false;
}

static bool readTorchOptions(const CommandLine &line, PartitionOptions &options,
                             std::string &error) {
  if (!readBudget(line, options, error))
    return false;
  for (std::string_view given : line.all("torch-config"))
    if (!parseTorchConfig(ref(given), options, error)) {
      error += ", for --torch-config";
      return false;
    }
  for (std::string_view given : line.all("recomputable"))
    if (!parseRecomputable(ref(given), options, error)) {
      error += ", for --recomputable";
      return false;
    }
  return true;
}

bool readPlanOptions(const CommandLine &line, PartitionOptions &options,
                     std::string &error) {
  auto word = [&](const char *name, const char *otherwise) {
    return ref(line.get(name).value_or(otherwise));
  };
  std::vector<std::string> symbols;
  for (std::string_view given : line.all("sym"))
    symbols.emplace_back(given);
  if (!parseStrategy(word("strategy", "min-cut"), options.strategy, error) ||
      !parseCostModel(word("cost-model", "roofline"), options.costModel,
                      error) ||
      !parseRules(word("rules", "torch-2.13"), options.rules, error) ||
      !parseSolver(word("solver", "auto"), options.solver, error) ||
      !parseFreeParameters(word("free-parameters", "auto"),
                           options.freeParameters, error) ||
      !parseSymbols(symbols, options.symbols, error))
    return false;
  if (auto device = line.get("device"))
    options.device = std::string(*device);
  options.decompose = !line.has("keep-composites");
  options.bounds = line.has("bounds");
  if (!readBytePrice(line, options, error) ||
      !readSplit(line, options, error) ||
      !readObjective(word("minimize", ""), line.has("byte-price"), options,
                     error) ||
      !readMemoryLimit(line, options, error) ||
      !readEffort(line, options, error))
    return false;
  options.dumpNetwork = std::string(line.get("dump-network").value_or(""));
  Device device;
  if (line.has("device") && (!Device::embed(options.device, error) ||
                             !Device::load(options.device, device, error)))
    return false;
  readCheckpoints(line, options);
  rememberAsked(line, options);
  return readTorchOptions(line, options, error) &&
         readPolicies(line, options, error) && checkUse(line, options, error);
}

std::vector<OptionSpec> inputOptions() {
  return {
      {"graph", OptionSpec::Text, "NAME|N",
       "which graph of an input with several\n(`cutback import IN --list`)"},
      {"model", OptionSpec::Text, "NAME",
       "which program of a .pt2 with several"},
      {"forward-outputs", OptionSpec::Integer, "N",
       "the first N outputs belong to the forward, the\nothers are gradients"},
      {"strict", OptionSpec::Flag, "",
       "refuse ops whose arguments or declared types are\n"
       "not those of the releases that are known"},
      {"progress", OptionSpec::Flag, "",
       "say what is done if it takes more than a second"},
  };
}

ImportOptions importOptionsOf(const CommandLine &line) {
  ImportOptions options;
  if (auto graph = line.get("graph"))
    options.graph = std::string(*graph);
  if (auto model = line.get("model"))
    options.model = std::string(*model);
  options.forwardOutputs = line.integer("forward-outputs");
  options.strict = line.has("strict");
  return options;
}

void enablePlanRemarks(mlir::MLIRContext &context) {
  mlir::remark::RemarkCategories categories;
  categories.passed = categories.missed = categories.analysis =
      categories.failed = "cutback-partition";
  (void)mlir::remark::enableOptimizationRemarks(
      context, nullptr,
      std::make_unique<mlir::remark::RemarkEmittingPolicyAll>(), categories,
      /*printAsEmitRemarks=*/true);
}

bool inputAllowsPlan(joint::GraphOp graph, const PartitionOptions &options) {
  Silence silence(*graph.getContext());
  GraphView view = GraphView::build(graph);
  return succeeded(GraphSets::compute(view)) &&
         succeeded(ValueSizes::compute(view, options.symbols)) &&
         succeeded(collectPolicies(view, options.policies)) &&
         joint::hasBackward(graph);
}

} // namespace cutback
