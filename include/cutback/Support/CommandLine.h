// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A command line as a table: what a command takes, what was given, and the
// help text, all from one declaration. No global state.
#ifndef CUTBACK_SUPPORT_COMMANDLINE_H
#define CUTBACK_SUPPORT_COMMANDLINE_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cutback {

/// One option, written `--name=VALUE`, `--name VALUE`, or `--name` for a flag.
/// An option with a one-letter name is written `-o VALUE`.
struct OptionSpec {
  enum Kind {
    Flag,    ///< no value
    Text,    ///< any text
    Choice,  ///< one of the words of `value`, which are separated by `|`
    Integer, ///< a whole number from `minimum` to `maximum`
    Number,  ///< a decimal number from `minimum` on
  };
  std::string_view name;
  Kind kind;
  std::string_view value; ///< how --help calls the value
  std::string_view help;  ///< one or more lines
  bool repeatable = false;
  int64_t minimum = 0;
  std::string_view former = ""; ///< further words of a choice, not in --help
  int64_t maximum = INT32_MAX;  ///< a count, unless it says otherwise
};

/// One command: `cutback NAME ARGUMENTS [options]`; without a name, of a
/// program that has no others.
struct CommandSpec {
  std::string_view name;
  std::string_view arguments; ///< "IN", for the usage line
  std::string_view summary;   ///< a sentence for the list of commands
  std::vector<OptionSpec> options;
  std::vector<std::string_view> examples;
  unsigned minArguments = 1, maxArguments = 1;
};

/// What was given. Accessors ask by option name; asking for an option that the
/// command does not declare gives nothing.
struct CommandLine {
  struct Given {
    std::string_view name, value;
  };
  std::vector<Given> options;
  std::vector<std::string> arguments;
  bool help = false;

  bool has(std::string_view name) const;
  /// The last value of `name`.
  std::optional<std::string_view> get(std::string_view name) const;
  std::vector<std::string_view> all(std::string_view name) const;
  std::optional<int64_t> integer(std::string_view name) const;
  std::optional<double> number(std::string_view name) const;
};

/// Parses `args`, which do not contain program and command. Returns nothing
/// and sets `error` to a sentence if they do not fit; the views in the result
/// point into `args`. `--help` and `-h` win over anything that is missing.
std::optional<CommandLine>
parseCommandLine(const CommandSpec &command,
                 const std::vector<std::string_view> &args, std::string &error);

/// Usage, options and examples of one command, 80 columns wide.
std::string commandHelp(std::string_view program, const CommandSpec &command);

/// A whole number, and nothing after it, within 64 bits.
std::optional<int64_t> parseInteger(std::string_view text);
/// A finite decimal number, and nothing after it.
std::optional<double> parseNumber(std::string_view text);

/// Bytes: "4096", "1.5MiB", "24GiB"; nothing for anything else, and from 1 PiB
/// on.
std::optional<int64_t> parseBytes(std::string_view text);

} // namespace cutback

#endif // CUTBACK_SUPPORT_COMMANDLINE_H
