// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// This program has the interpreter, so it loads no libcutback.so for the calls
// of a step that have no machine code (Runtime/CallRunner.h). They are read in
// a context of their own: a step that was opened outlives no session, and what
// its calls say goes to the caller as text, not to the handler that a session
// prints by.

#include "OwnInterpreter.h"

#include "cutback/Interpreter/StoredCalls.h"
#include "cutback/Runtime/CallRunner.h"

using namespace mlir;

namespace cutback {

namespace {

class OwnRunner : public CallRunner {
public:
  bool read(const std::string &text, std::string &error) {
    calls = interpreter::StoredCalls::read(context, text, error);
    return calls != nullptr;
  }
  std::string run(const std::string &name, void *const *operands) override {
    return calls->run(name, operands);
  }

private:
  MLIRContext context{MLIRContext::Threading::DISABLED};
  std::unique_ptr<interpreter::StoredCalls> calls;
};

} // namespace

void useOwnInterpreter() {
  setCallRunner([](const std::string &text,
                   std::string &error) -> std::unique_ptr<CallRunner> {
    auto runner = std::make_unique<OwnRunner>();
    if (!runner->read(text, error))
      return nullptr;
    return runner;
  });
}

} // namespace cutback
