// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lines of a training. The one for people has what changes from step to step;
// norm, scale and skipped steps only where the training has such. The one for
// programs has the same figures with their names, and `null` for a number that
// JSON does not have. A log is appended to, so that a training that goes on
// writes on.

#include "TrainLines.h"

#include "cutback/Support/SafeFile.h"
#include "cutback/Support/Text.h"

#include "llvm/Support/FormatVariadic.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <sys/resource.h>

using cutback::interpreter::DType;

namespace cutback {

/// The most bytes of memory that the process has had.
static int64_t mostMemory() {
  rusage usage;
  return ::getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss * 1024 : 0;
}

std::string lineOf(const TrainedStep &step) {
  std::string text =
      llvm::formatv("step {0}/{1}  loss {2}  lr {3}", step.number, step.steps,
                    llvm::format("%.9g", step.result.loss),
                    llvm::format("%.6g", step.learningRate));
  if (step.result.gradientNorm)
    text += llvm::formatv("  norm {0}",
                          llvm::format("%.6g", *step.result.gradientNorm));
  if (step.lossScale != 1)
    text += llvm::formatv("  scale {0}", llvm::format("%.6g", step.lossScale));
  if (step.skipped)
    text += llvm::formatv("  skipped {0}", step.skipped);
  text += llvm::formatv("  {0} ms  memory {1}\n",
                        llvm::format("%.1f", step.seconds * 1000),
                        formatBytes(mostMemory()));
  return text;
}

std::string jsonOf(const TrainedStep &step) {
  auto number = [](double value) {
    return std::isfinite(value)
               ? llvm::formatv("{0}", llvm::format("%.9g", value)).str()
               : "null";
  };
  std::string text = "{\"step\": " + std::to_string(step.number) +
                     ", \"steps\": " + std::to_string(step.steps) +
                     ", \"loss\": " + number(step.result.loss) +
                     ", \"lr\": " + number(step.learningRate);
  if (step.held)
    text += ", \"eval_loss\": " + number(*step.held);
  if (step.result.gradientNorm)
    text += ", \"norm\": " + number(*step.result.gradientNorm);
  if (step.lossScale != 1)
    text += ", \"scale\": " + number(step.lossScale);
  text += ", \"seconds\": " + number(step.seconds);
  if (step.tokens)
    text += ", \"tokens_per_second\": " +
            number(static_cast<double>(step.tokens) / step.seconds);
  return text + ", \"seconds_left\": " + number(step.secondsLeft) +
         ", \"memory_bytes\": " + std::to_string(mostMemory()) + "}\n";
}

int64_t tokensOf(const TrainingInputs &inputs) {
  for (const auto &[name, tensor] : inputs.tensors)
    if (name == "input.0" &&
        (tensor.type == DType::I64 || tensor.type == DType::I32))
      return tensor.numel();
  return 0;
}

int openLog(Session &session, int &file) {
  auto path = session.line.get("log");
  file = -1;
  if (!path)
    return Done;
  file = ::open(std::string(*path).c_str(),
                O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  return file >= 0 ? Done
                   : session.failedWrite("cannot write '" + std::string(*path) +
                                         "': " + std::strerror(errno));
}

int writeLog(Session &session, int log, const std::string &text) {
  std::string error = log >= 0 ? writeAll(log, text) : "";
  return error.empty()
             ? Done
             : session.failedWrite("cannot write '" +
                                   std::string(*session.line.get("log")) +
                                   "': " + error);
}

} // namespace cutback
