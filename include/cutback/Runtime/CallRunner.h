// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who runs the calls of a step that have no machine code.
#ifndef CUTBACK_RUNTIME_CALLRUNNER_H
#define CUTBACK_RUNTIME_CALLRUNNER_H

#include <memory>
#include <string>

namespace cutback {

class CallRunner {
public:
  virtual ~CallRunner();
  /// Runs the call `name` on the addresses of its operands. An empty string, or
  /// what went wrong. One at a time.
  virtual std::string run(const std::string &name, void *const *operands) = 0;
};

/// Makes one for the text of a step's calls; null, with why in `error`.
using MakeCallRunner = std::unique_ptr<CallRunner> (*)(const std::string &text,
                                                       std::string &error);

/// A program that has the interpreter itself says so, once. Without this it is
/// that of libcutback.so, which is looked for in $CUTBACK_LIBRARY and beside
/// the file that this is in.
void setCallRunner(MakeCallRunner make);

/// For the calls in `text`, a kCallsFile. Null, with "has calls ..." in
/// `error`.
std::unique_ptr<CallRunner> openCalls(const std::string &text,
                                      std::string &error);

} // namespace cutback

#endif // CUTBACK_RUNTIME_CALLRUNNER_H
