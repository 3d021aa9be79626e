// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file of tokens is cut into windows, which go to inputs of integers. Which
// of these take tokens, and which the tokens after those, is not guessed where
// there are several: a model that shifts by itself takes the same ones twice,
// another does not, and both train.
//
// What is held out for evaluation must bring the same inputs.

#include "cutback/Runtime/TrainInputs.h"

#include "cutback/Support/ExitCode.h"
#include "cutback/Support/Text.h"

#include <algorithm>

using namespace cutback;

OptionSpec cutback::validTokensOption() {
  return {"valid-tokens", OptionSpec::Text, "NAME[:NUMBER]",
          "of micro-batches: losses are means over the elements\n"
          "of this input that are not NUMBER (default -100), and\n"
          "so is that of the step, over all of them. NAME+1: but\n"
          "the first of each row, of a model that shifts them"};
}

std::vector<OptionSpec> cutback::batchOptions() {
  return {
      {"tokens", OptionSpec::Text, "F",
       "a flat file of token ids, without a header: batches\n"
       "are cut from it, a window a row, for the inputs of\n"
       "integers that --inputs does not have"},
      {"token-type", OptionSpec::Choice, "u16|u32",
       "of such files; default u16"},
      {"token-inputs", OptionSpec::Text, "NAME[+N],...",
       "the inputs that take tokens, where there are several;\n"
       "input.0,input.1+1: the second one the next tokens"},
      {"token-order", OptionSpec::Choice, "file|shuffled",
       "of windows: of the file (default), or another one\n"
       "each time through it, by --seed"},
      {"eval-inputs", OptionSpec::Text, "F",
       "batches that are held out, as in --inputs"},
      {"eval-tokens", OptionSpec::Text, "F",
       "tokens that are held out, as in --tokens"},
      {"eval-every", OptionSpec::Integer, "N",
       "after every so many steps, and the last one: the mean\n"
       "loss of the batches that are held out, by the forward\n"
       "as it was exported (dropout, batch statistics), with\n"
       "equal draws each time. Changes nothing",
       false, 1},
      {"eval-batches", OptionSpec::Integer, "N",
       "of these at most; default: all", false, 1},
  };
}

std::string cutback::readBatchOptions(const CommandLine &line,
                                      TrainInputOptions &options) {
  auto text = [&](const char *name) {
    return std::string(line.get(name).value_or(""));
  };
  options.tokens = text("tokens");
  options.heldInputs = text("eval-inputs");
  options.heldTokens = text("eval-tokens");
  options.tokenInputs = text("token-inputs");
  if (line.get("token-type") == "u32")
    options.width = TokenBatches::Width::U32;
  options.isShuffled = line.get("token-order") == "shuffled";
  options.evalEvery = line.integer("eval-every").value_or(0);
  options.evalBatches = line.integer("eval-batches").value_or(INT64_MAX);
  bool hasTokens = line.has("tokens") || line.has("eval-tokens");
  for (const char *name : {"token-type", "token-inputs", "token-order"})
    if (line.has(name) && !hasTokens)
      return "--" + std::string(name) + " goes with --tokens";
  bool isHeld = line.has("eval-inputs") || line.has("eval-tokens");
  if (line.has("eval-every") == isHeld && (isHeld || !line.has("eval-batches")))
    return "";
  return "an evaluation takes --eval-inputs=F or --eval-tokens=F, and "
         "--eval-every=N";
}

//===----------------------------------------------------------------------===//
// Inputs that take tokens
//===----------------------------------------------------------------------===//

static std::vector<std::string> splitAt(const std::string &text, char mark) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= text.size();) {
    size_t end = std::min(text.find(mark, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

static std::string join(const std::vector<std::string> &parts) {
  std::string text;
  for (const std::string &part : parts)
    text += (text.empty() ? "" : ", ") + part;
  return text;
}

using IsInFile = std::function<bool(const std::string &)>;

/// `NAME` or `NAME+N` of --token-inputs.
static int readTokenInput(const std::string &text,
                          const std::vector<StepInput> &inputs,
                          const IsInFile &isInFile, TokenInput &input,
                          StepError &error) {
  input.name = text.substr(0, text.find('+'));
  if (input.name.size() < text.size()) {
    auto ahead = parseInteger(text.substr(input.name.size() + 1));
    if (!ahead || *ahead < 0) {
      error = {"--token-inputs takes NAME or NAME+N with commas, as "
               "input.0,input.1+1",
               ""};
      return WrongUsage;
    }
    input.ahead = *ahead;
  }
  bool isSized = true;
  for (const StepInput &one : inputs)
    if (one.name == input.name) {
      static_cast<ArtifactTensor &>(input) = one;
      isSized = one.isSized;
    }
  std::string quoted = "'" + input.name + "'";
  if (!TokenBatches::isTokenType(input.dtype))
    error = {"--token-inputs: " + quoted + " is " +
                 (input.dtype.empty() ? "no input of the step"
                                      : "an input of " + input.dtype),
             "tokens go to inputs of i64 or i32"};
  else if (isInFile(input.name))
    error = {quoted + " is to take tokens, and the file of tensors has it too",
             "leave one of the two out"};
  else if (!isSized)
    error = {"the size of " + quoted +
                 " is open, and tokens have none of their own",
             "give sizes as --sym=NAME=N; `cutback import` prints their names"};
  else
    return Done;
  return WrongInput;
}

/// The inputs that take tokens: those that the line names, or the only one of
/// integers that the file of tensors does not have.
static int chooseTokenInputs(const std::string &named,
                             const std::vector<StepInput> &inputs,
                             const IsInFile &isInFile,
                             std::vector<TokenInput> &chosen,
                             StepError &error) {
  std::vector<std::string> texts;
  if (!named.empty())
    texts = splitAt(named, ',');
  else
    for (const StepInput &input : inputs)
      if (TokenBatches::isTokenType(input.dtype) && !isInFile(input.name))
        texts.push_back(input.name);
  if (texts.empty()) {
    error = {"no input of the step takes tokens",
             "tokens go to inputs of i64 or i32 that the file of tensors does "
             "not have"};
    return WrongInput;
  }
  if (named.empty() && texts.size() > 1) {
    error = {"the step has " + std::to_string(texts.size()) +
                 " inputs that may take tokens: " + join(texts),
             "say which, and how many tokens ahead, as --token-inputs=" +
                 texts[0] + "," + texts[1] + "+1"};
    return WrongInput;
  }
  for (const std::string &text : texts)
    if (int code = readTokenInput(text, inputs, isInFile, chosen.emplace_back(),
                                  error))
      return code;
  return Done;
}

int cutback::openTokens(const TrainInputOptions &options, bool isHeld,
                        const std::vector<StepInput> &inputs,
                        const IsInFile &isInFile,
                        std::optional<TokenBatches> &batches,
                        StepError &error) {
  const std::string &path = isHeld ? options.heldTokens : options.tokens;
  if (path.empty())
    return Done;
  std::vector<TokenInput> chosen;
  if (int code = chooseTokenInputs(options.tokenInputs, inputs, isInFile,
                                   chosen, error))
    return code;
  batches.emplace();
  error.what = batches->open(path, options.width, options.isShuffled && !isHeld,
                             std::move(chosen));
  error.next = std::string(isHeld ? "--eval-tokens" : "--tokens") +
               " takes token ids one after the other, each of --token-type, "
               "least byte first";
  return error.what.empty() ? Done : WrongInput;
}

int cutback::checkRowCounts(
    const char *option,
    const std::vector<std::pair<std::string, int64_t>> &rows,
    StepError &error) {
  const std::pair<std::string, int64_t> *first = nullptr;
  for (const auto &one : rows) {
    if (one.second == 1)
      continue;
    if (!first)
      first = &one;
    if (one.second == first->second)
      continue;
    error = {std::string(option) + ": '" + first->first + "' has " +
                 formatCount(first->second, "row") + ", and '" + one.first +
                 "' has " + formatCount(one.second, "row"),
             "each batch takes one row of both: give as many, or one row for "
             "all batches"};
    return WrongInput;
  }
  return Done;
}

int cutback::checkHeld(const std::vector<std::string> &names,
                       const std::vector<std::string> &held, int64_t heldCount,
                       StepError &error) {
  if (held == names && heldCount > 0)
    return Done;
  if (held == names)
    error = {"no batch is held out",
             "tensors of --eval-inputs have a row a batch"};
  else
    error = {"what is held out has " + join(held) +
                 ", and the training takes " + join(names),
             "an evaluation takes the same inputs as a step"};
  return WrongInput;
}

int cutback::checkBatchCount(const char *option, int64_t microBatches,
                             int64_t batches, StepError &error) {
  if (microBatches <= 1 || microBatches <= batches)
    return Done;
  error = {std::string(option) + "=" + std::to_string(microBatches) +
               " is more than the batches, of which there are " +
               std::to_string(batches),
           "a step takes each batch once: give more of them, or a smaller "
           "number"};
  return WrongInput;
}
