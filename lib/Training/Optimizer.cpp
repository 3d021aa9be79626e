// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options of optimizers and learning rates.
//
// What one optimizer has and another does not is refused for the other, and all
// of it without an optimizer: a training with other constants than those that
// were asked for looks like one that works.

#include "cutback/Training/Optimizer.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/GlobPattern.h"

using namespace cutback;

std::vector<std::string> Optimizer::stateNames() const {
  if (kind == AdamW)
    return {"exp_avg", "exp_avg_sq"};
  return momentum != 0 ? std::vector<std::string>{"momentum_buffer"}
                       : std::vector<std::string>();
}

std::vector<OptionSpec> cutback::optimizerOptions() {
  return {
      {"optimizer", OptionSpec::Choice, "sgd|adamw",
       "update parameters after the step, as torch.optim"},
      {"weight-decay", OptionSpec::Number, "X",
       "default 0.01 of adamw, which decouples it; 0 of sgd"},
      {"no-decay", OptionSpec::Text, "NAME,...",
       "parameters without weight decay: names, * for any\n"
       "part of one; 1d: all of fewer than two dimensions,\n"
       "which are biases and factors of norms"},
      {"momentum", OptionSpec::Number, "X", "of sgd; default 0"},
      {"nesterov", OptionSpec::Flag, "", "of sgd with momentum"},
      {"betas", OptionSpec::Text, "A,B", "of adamw; default 0.9,0.999"},
      {"eps", OptionSpec::Number, "X", "of adamw; default 1e-8"},
      {"clip-norm", OptionSpec::Number, "X",
       "scale gradients down to this norm of all together"},
      {"scale-loss", OptionSpec::Flag, "",
       "take a scale of the loss, for gradients in 16 bits; a\n"
       "step whose gradients are not finite changes nothing"},
      {kUpdate, OptionSpec::Choice, "inside|after",
       "inside (default): in the backward, each parameter as\n"
       "soon as its gradient is there, whose memory is free\n"
       "then; but after it with --clip-norm, --scale-loss or\n"
       "--accumulate, which need all gradients first. after:\n"
       "never inside"},
  };
}

std::vector<OptionSpec> cutback::plannedOptimizerOptions() {
  std::vector<OptionSpec> options = optimizerOptions();
  options.push_back({kAccumulate, OptionSpec::Flag, "",
                     "keep sums of gradients, so that a step of `train` may\n"
                     "have several micro-batches"});
  return options;
}

/// Two numbers of [0, 1) with a comma.
static bool readBetas(llvm::StringRef text, Optimizer &optimizer) {
  auto [first, second] = text.split(',');
  return !first.getAsDouble(optimizer.beta1) &&
         !second.getAsDouble(optimizer.beta2) && optimizer.beta1 >= 0 &&
         optimizer.beta1 < 1 && optimizer.beta2 >= 0 && optimizer.beta2 < 1;
}

/// Patterns with commas. Which parameters fit is found when these are known.
static std::string readUndecayed(llvm::StringRef text, Optimizer &optimizer) {
  llvm::SmallVector<llvm::StringRef> patterns;
  text.split(patterns, ',');
  for (llvm::StringRef pattern : patterns) {
    llvm::Expected<llvm::GlobPattern> glob = llvm::GlobPattern::create(pattern);
    bool isPattern = static_cast<bool>(glob) && !pattern.empty();
    llvm::consumeError(glob.takeError());
    if (!isPattern)
      return "--no-decay takes patterns of names with commas, as 1d or "
             "*.bias,wte.*";
    optimizer.undecayed.push_back(pattern.str());
  }
  return optimizer.weightDecay == 0
             ? "--no-decay goes with a --weight-decay that is not 0"
             : "";
}

/// What the kind does not have, or has not without another option.
static std::string findConflict(const CommandLine &line,
                                const Optimizer &optimizer) {
  using List = std::initializer_list<const char *>;
  bool isAdam = optimizer.kind == Optimizer::AdamW;
  for (const char *name :
       isAdam ? List{"momentum", "nesterov"} : List{"betas", "eps"})
    if (line.has(name))
      return "--" + std::string(name) +
             " is none of --optimizer=" + (isAdam ? "adamw" : "sgd");
  if (optimizer.nesterov && optimizer.momentum == 0)
    return "--nesterov needs --momentum";
  return "";
}

std::optional<Optimizer> cutback::readOptimizer(const CommandLine &line,
                                                std::string &error) {
  if (!line.has("optimizer")) {
    // A number of micro-batches is of a training, and goes with a folder too.
    for (const OptionSpec &option : plannedOptimizerOptions())
      if (line.has(option.name) &&
          (option.name != kAccumulate || !line.integer(kAccumulate)))
        error = "--" + std::string(option.name) + " goes with --optimizer";
    return std::nullopt;
  }
  Optimizer optimizer;
  bool isAdam = line.get("optimizer") == "adamw";
  optimizer.kind = isAdam ? Optimizer::AdamW : Optimizer::Sgd;
  optimizer.weightDecay =
      line.number("weight-decay").value_or(isAdam ? 0.01 : 0);
  optimizer.momentum = line.number("momentum").value_or(0);
  optimizer.nesterov = line.has("nesterov");
  optimizer.epsilon = line.number("eps").value_or(optimizer.epsilon);
  optimizer.clipNorm = line.number("clip-norm").value_or(0);
  optimizer.scalesLoss = line.has("scale-loss");
  optimizer.accumulates = line.has(kAccumulate);
  if (line.has(kUpdate))
    optimizer.place =
        line.get(kUpdate) == "inside" ? Optimizer::Inside : Optimizer::After;
  error = findConflict(line, optimizer);
  if (error.empty() && line.has("clip-norm") && !(optimizer.clipNorm > 0))
    error = "--clip-norm takes a number greater than 0; leave it out for no "
            "clipping";
  if (auto betas = line.get("betas");
      error.empty() && betas &&
      !readBetas(llvm::StringRef(betas->data(), betas->size()), optimizer))
    error = "--betas takes two numbers from 0 up to 1, as 0.9,0.999";
  if (auto undecayed = line.get("no-decay"); error.empty() && undecayed)
    error = readUndecayed({undecayed->data(), undecayed->size()}, optimizer);
  return error.empty() ? std::optional(optimizer) : std::nullopt;
}

std::vector<std::string> cutback::optimizerText(const CommandLine &line) {
  std::vector<std::string> options;
  for (const OptionSpec &option : plannedOptimizerOptions()) {
    if (!line.has(option.name))
      continue;
    options.push_back("--" + std::string(option.name));
    if (option.kind != OptionSpec::Flag)
      options.back() += "=" + std::string(*line.get(option.name));
  }
  return options;
}

std::optional<Optimizer>
cutback::readOptimizer(const std::vector<std::string> &options,
                       std::string &error) {
  CommandSpec spec;
  spec.options = plannedOptimizerOptions();
  spec.minArguments = spec.maxArguments = 0;
  std::optional<CommandLine> line =
      parseCommandLine(spec, {options.begin(), options.end()}, error);
  return line ? readOptimizer(*line, error) : std::nullopt;
}
