// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan options of the command line as options of a pass: those of the one
// table (PlanOptions.h), by the same names, read by the same code.
#ifndef CUTBACK_LIB_PLANNER_PLANPASSOPTIONS_H
#define CUTBACK_LIB_PLANNER_PLANPASSOPTIONS_H

#include "cutback/Planner/PlanOptions.h"

#include "mlir/Pass/Pass.h"

#include <memory>

namespace cutback {

/// Reads words such as "--strategy=eager", of options that decide a plan.
mlir::LogicalResult readPlanWords(
    const std::vector<std::string> &words, PartitionOptions &options,
    llvm::function_ref<mlir::LogicalResult(const llvm::Twine &)> errorHandler);

/// A pass that plans. `Base` is what TableGen makes of a pass without options;
/// only the pass of the whole step prepares the graph and compares plans.
template <typename Base, bool IsStep> class WithPlanOptions : public Base {
public:
  WithPlanOptions() { declare(); }
  explicit WithPlanOptions(PartitionOptions options)
      : given(std::move(options)) {
    declare();
  }
  /// Options belong to one pass; MLIR copies their values.
  WithPlanOptions(const WithPlanOptions &other)
      : Base(other), given(other.given) {
    declare();
  }

  mlir::LogicalResult
  initializeOptions(llvm::StringRef text,
                    llvm::function_ref<mlir::LogicalResult(const llvm::Twine &)>
                        errorHandler) override {
    if (failed(mlir::Pass::initializeOptions(text, errorHandler)))
      return mlir::failure();
    std::vector<std::string> words;
    auto add = [&](llvm::StringRef name, const std::string &value) {
      words.push_back("--" + name.str() + "=" + value);
    };
    for (const auto &option : single)
      if (option->hasValue())
        add(option->getArgStr(), option->getValue());
    for (const auto &flag : flags)
      if (flag->getValue())
        words.push_back("--" + flag->getArgStr().str());
    for (const auto &option : repeatable)
      for (const std::string &value : **option)
        add(option->getArgStr(), value);
    return readPlanWords(words, given, errorHandler);
  }

protected:
  PartitionOptions given;

private:
  using Flag = typename Base::template Option<bool>;
  using Single = typename Base::template Option<std::string>;
  using Repeatable = typename Base::template ListOption<std::string>;

  void declare() {
    for (const OptionSpec &option : planOptions()) {
      bool isOfStep = option.name == "minimize" ||
                      option.name == "memory-limit" ||
                      option.name == "effort" || option.name == "bounds" ||
                      option.name == "split" || option.name == "budget" ||
                      option.name == "keep-composites";
      if (!isOfPlan(option) || (isOfStep && !IsStep))
        continue;
      llvm::cl::desc help(option.help);
      if (option.kind == OptionSpec::Flag)
        flags.push_back(std::make_unique<Flag>(*this, option.name, help));
      else if (option.repeatable)
        repeatable.push_back(
            std::make_unique<Repeatable>(*this, option.name, help));
      else
        single.push_back(std::make_unique<Single>(*this, option.name, help));
    }
  }

  std::vector<std::unique_ptr<Flag>> flags;
  std::vector<std::unique_ptr<Single>> single;
  std::vector<std::unique_ptr<Repeatable>> repeatable;
};

} // namespace cutback

#endif // CUTBACK_LIB_PLANNER_PLANPASSOPTIONS_H
