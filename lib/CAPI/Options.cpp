// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C interface takes the options of the command line in its own words, so
// that there is one table of them and one set of messages: a plan can be moved
// from a shell to a program and back. What the command line takes besides, the
// input and --help, is refused here: the one has functions of its own, the
// other is a text for people.

#include "Options.h"

namespace cutback::capi {

CutbackStatus wrongUsage(CutbackContext &context, const std::string &message,
                         const char *next) {
  context.report(CUTBACK_ERROR, message.c_str());
  context.report(CUTBACK_NOTE, next);
  return CUTBACK_WRONG_USAGE;
}

std::optional<CommandLine> parseOptions(CutbackContext &context,
                                        std::vector<OptionSpec> specs,
                                        size_t numOptions,
                                        const char *const *options) {
  CommandSpec spec;
  spec.name = "report";
  spec.options = std::move(specs);
  spec.minArguments = spec.maxArguments = 0;
  std::vector<std::string_view> given;
  std::string error;
  for (size_t i = 0; i < numOptions; ++i) {
    if (!options || !options[i]) {
      wrongUsage(context, "option " + std::to_string(i) + " is a null pointer",
                 "give as many strings as numOptions says");
      return std::nullopt;
    }
    given.emplace_back(options[i]);
  }
  std::optional<CommandLine> line = parseCommandLine(spec, given, error);
  if (line && line->help) {
    line.reset();
    error = "--help is for people";
  }
  if (!line)
    wrongUsage(context, error, "`cutback report --help` describes all options");
  return line;
}

} // namespace cutback::capi
