// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a result of several micro-batches is. Its type says most of it: a
// dimension that is the batch is joined, and a number is a mean as a loss is.
// Where it does not, as of a mean over the batch with a dimension of its own,
// nothing is guessed: the user knows, and a wrong guess would be a wrong
// gradient too, as the gradient of a result is split as the result is merged
// (DescribeStage.cpp).

#include "cutback/Pipelining/MergeRules.h"

#include "cutback/Interpreter/Step.h"
#include "cutback/Runtime/Elements.h"
#include "cutback/Runtime/Pipeline/Sums.h"
#include "cutback/Support/Text.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace cutback;

std::string cutback::parseMergeRules(StringRef text, MergeRules &rules) {
  SmallVector<StringRef> entries;
  text.split(entries, ',');
  for (StringRef entry : entries) {
    auto [name, word] = entry.rsplit('=');
    auto [kind, dim] = word.split(':');
    MergeRule rule;
    bool isKnown = true;
    if (kind == "mean")
      rule.merge = PipelineOutput::Mean;
    else if (kind == "sum")
      rule.merge = PipelineOutput::Sum;
    else if (kind == "equal")
      rule.merge = PipelineOutput::Equal;
    else
      isKnown = kind == "cat";
    if (word.contains(':'))
      isKnown &=
          kind == "cat" && !dim.getAsInteger(10, rule.dim) && rule.dim >= 0;
    if (!isKnown || name.empty())
      return "--merge takes output.N=cat:D, mean, sum or equal, not '" +
             entry.str() + "'";
    rules[name.str()] = rule;
  }
  return "";
}

namespace {

class RuleFinder {
public:
  RuleFinder(joint::GraphOp program, const MergeRules &asked, StringRef loss)
      : program(program), asked(asked), loss(loss),
        names(interpreter::nameStep(program)) {
    names.results.resize(program.getNumForwardResults());
  }

  FailureOr<MergeRules> run(const std::map<std::string, int64_t> &splitDims);

private:
  void findRows(const std::map<std::string, int64_t> &splitDims);
  LogicalResult checkNames();
  FailureOr<MergeRule> ruleOf(const std::string &name, RankedTensorType type);
  LogicalResult checkAsked(const std::string &name, const MergeRule &rule,
                           RankedTensorType type);
  LogicalResult refuse(const Twine &what, const Twine &next) {
    auto diagnostic = program.emitError(what);
    diagnostic.attachNote() << next;
    return failure();
  }

  joint::GraphOp program;
  const MergeRules &asked;
  StringRef loss;
  interpreter::StepNames names;
  int64_t rows = 1; ///< of a micro-batch; 1: not known, or one
};

} // namespace

static std::string textOf(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

void RuleFinder::findRows(const std::map<std::string, int64_t> &splitDims) {
  std::optional<int64_t> found;
  for (unsigned i = 0; i < program.getNumArguments(); ++i) {
    auto type = dyn_cast<RankedTensorType>(program.getArgumentTypes()[i]);
    if (!type || type.getRank() == 0 || !type.hasStaticShape() ||
        !StringRef(names.arguments[i]).starts_with("input."))
      continue;
    auto asked = splitDims.find(names.arguments[i]);
    int64_t dim = asked == splitDims.end() ? 0 : asked->second;
    if (dim < 0 || dim >= type.getRank())
      continue;
    int64_t own = type.getDimSize(dim);
    rows = found.value_or(own) == own ? own : 1;
    found = rows;
  }
}

LogicalResult RuleFinder::checkNames() {
  std::vector<std::string_view> all;
  for (const std::string &name : names.results)
    if (name != loss)
      all.push_back(name);
  for (const auto &[name, rule] : asked) {
    if (llvm::is_contained(all, name))
      continue;
    auto near = nearestNames(name, all, 1);
    std::string next = all.empty() ? "it has none but the loss"
                       : near.empty()
                           ? "they are " + llvm::join(all, ", ")
                           : "did you mean '" + std::string(near[0]) + "'?";
    return refuse("--merge: the model has no output '" + name + "'", next);
  }
  return success();
}

LogicalResult RuleFinder::checkAsked(const std::string &name,
                                     const MergeRule &rule,
                                     RankedTensorType type) {
  std::string what = "--merge: '" + name + "' is " + textOf(type);
  auto dtype = interpreter::dtypeOf(type.getElementType());
  std::string word = dtype ? interpreter::nameOf(*dtype).str() : "";
  if (rule.merge == PipelineOutput::Concatenate && rule.dim >= type.getRank())
    return refuse(what + ", which has no dimension " + Twine(rule.dim),
                  "its dimensions are counted from 0");
  if (rule.merge == PipelineOutput::Mean && !Elements::isKnown(word))
    return refuse(what + ", which has no mean", "give sum or equal");
  if (rule.merge == PipelineOutput::Sum && !Elements::isKnown(word) &&
      !pipeline::isAddedAsInteger(word))
    return refuse(what + ", which is not added", "give cat:D or equal");
  return success();
}

FailureOr<MergeRule> RuleFinder::ruleOf(const std::string &name,
                                        RankedTensorType type) {
  if (auto found = asked.find(name); found != asked.end()) {
    if (failed(checkAsked(name, found->second, type)))
      return failure();
    return found->second;
  }
  MergeRule rule;
  // One element with dimensions may be one row.
  if (type.getRank() == 0 || (type.getNumElements() == 1 && rows > 1)) {
    rule.merge = isa<FloatType>(type.getElementType()) ? PipelineOutput::Mean
                                                       : PipelineOutput::Equal;
    return rule;
  }
  if (rows <= 1 || type.getDimSize(0) % rows == 0)
    return rule;
  SmallVector<int64_t> fitting;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.getDimSize(dim) == rows)
      fitting.push_back(dim);
  if (fitting.size() == 1) {
    rule.dim = fitting[0];
    return rule;
  }
  return refuse("'" + name + "' is " + textOf(type) +
                    ": which of its dimensions is that of micro-batches of " +
                    Twine(rows) + " rows is not known",
                "say what it becomes: --merge=" + name +
                    "=mean, sum, equal, or cat:D along dimension D");
}

FailureOr<MergeRules>
RuleFinder::run(const std::map<std::string, int64_t> &splitDims) {
  if (failed(checkNames()))
    return failure();
  findRows(splitDims);
  MergeRules rules;
  for (auto [name, type] : llvm::zip(names.results, program.getResultTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape() || name == loss)
      continue; // another error
    auto rule = ruleOf(name, tensor);
    if (failed(rule))
      return failure();
    rules[name] = *rule;
  }
  return rules;
}

FailureOr<MergeRules>
cutback::findMergeRules(joint::GraphOp program, const MergeRules &asked,
                        const std::map<std::string, int64_t> &splitDims,
                        StringRef loss) {
  return RuleFinder(program, asked, loss).run(splitDims);
}
