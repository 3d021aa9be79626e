// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A command line as a table. llvm::cl is not used: its options are global
// objects, which cost start-up time, show up in every command's help, and
// clash when the project is linked into another program.
//
// Rules: `--name=value` or `--name value`; `-x value` for one letter; `--`
// ends the options; `-` alone is an argument (standard input). An option that
// may not be repeated and is given twice is an error, not the last one wins:
// the two values would hide each other in scripts.

#include "cutback/Support/CommandLine.h"

#include "cutback/Support/Text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace cutback {

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

std::optional<int64_t> parseInteger(std::string_view text) {
  int64_t value = 0;
  auto [end, code] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

std::optional<double> parseNumber(std::string_view text) {
  double value = 0;
  auto [end, code] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() ||
      !std::isfinite(value))
    return std::nullopt;
  return value;
}

std::optional<int64_t> parseBytes(std::string_view text) {
  double unit = 1;
  for (auto [name, bytes] :
       {std::pair("KiB", 0x1p10), {"MiB", 0x1p20}, {"GiB", 0x1p30}})
    if (text.size() > 3 && text.substr(text.size() - 3) == name) {
      unit = bytes;
      text.remove_suffix(3);
      break;
    }
  auto count = parseNumber(text);
  if (!count || *count < 0 || *count * unit > 0x1p50)
    return std::nullopt;
  return static_cast<int64_t>(std::llround(*count * unit));
}

static std::vector<std::string_view> words(std::string_view list) {
  std::vector<std::string_view> out;
  while (!list.empty()) {
    size_t end = std::min(list.find('|'), list.size());
    out.push_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return out;
}

bool CommandLine::has(std::string_view name) const {
  return get(name).has_value();
}

std::optional<std::string_view> CommandLine::get(std::string_view name) const {
  for (auto it = options.rbegin(); it != options.rend(); ++it)
    if (it->name == name)
      return it->value;
  return std::nullopt;
}

std::vector<std::string_view> CommandLine::all(std::string_view name) const {
  std::vector<std::string_view> out;
  for (const Given &given : options)
    if (given.name == name)
      out.push_back(given.value);
  return out;
}

std::optional<int64_t> CommandLine::integer(std::string_view name) const {
  std::optional<std::string_view> text = get(name);
  return text ? parseInteger(*text) : std::nullopt;
}

std::optional<double> CommandLine::number(std::string_view name) const {
  std::optional<std::string_view> text = get(name);
  return text ? parseNumber(*text) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

/// An entry without a name is a heading of the help, not an option.
static bool isHeading(const OptionSpec &spec) { return spec.name.empty(); }

static std::string dashed(std::string_view name) {
  return (name.size() == 1 ? "-" : "--") + std::string(name);
}

namespace {
struct Parser {
  const CommandSpec &command;
  const std::vector<std::string_view> &args;
  std::string &error;
  CommandLine line;
  size_t next = 0;

  bool fail(std::string message) {
    error = std::move(message);
    return false;
  }
  bool unknown(std::string_view given);
  bool checkValue(const OptionSpec &spec, std::string_view value);
  bool option(std::string_view arg);
  bool run();
};
} // namespace

bool Parser::unknown(std::string_view given) {
  std::vector<std::string> names;
  for (const OptionSpec &spec : command.options)
    if (!isHeading(spec))
      names.push_back(dashed(spec.name));
  std::vector<std::string_view> views(names.begin(), names.end());
  auto near = nearestNames(given, views, 1);
  std::string hint = near.empty() ? "" : "; did you mean '" + near[0] + "'?";
  return fail("unknown option '" + std::string(given) + "'" + hint);
}

bool Parser::checkValue(const OptionSpec &spec, std::string_view value) {
  std::string shown = "'" + std::string(value) + "'";
  std::string name = dashed(spec.name);
  if (spec.kind == OptionSpec::Choice) {
    auto choices = words(spec.value), former = words(spec.former);
    if (std::count(choices.begin(), choices.end(), value) ||
        std::count(former.begin(), former.end(), value))
      return true;
    auto near = nearestNames(value, choices, 1);
    std::string hint = near.empty() ? "" : "; did you mean '" + near[0] + "'?";
    return fail(shown + " is not one of " + std::string(spec.value) + " for " +
                name + hint);
  }
  if (spec.kind == OptionSpec::Integer) {
    std::optional<int64_t> number = parseInteger(value);
    if (!number || *number < spec.minimum)
      return fail(shown + " is not a whole number from " +
                  std::to_string(spec.minimum) + " on, for " + name);
    if (*number > spec.maximum)
      return fail(shown + " is more than " + std::to_string(spec.maximum) +
                  ", for " + name);
  }
  if (spec.kind == OptionSpec::Number) {
    std::optional<double> number = parseNumber(value);
    if (!number || *number < double(spec.minimum))
      return fail(shown + " is not a number from " +
                  std::to_string(spec.minimum) + " on, for " + name);
  }
  return true;
}

bool Parser::option(std::string_view arg) {
  size_t dashes = arg[1] == '-' ? 2 : 1;
  size_t equals = dashes == 2 ? arg.find('=') : std::string_view::npos;
  std::string_view name = arg.substr(dashes, equals - dashes);
  const OptionSpec *spec = nullptr;
  for (const OptionSpec &candidate : command.options)
    if (!isHeading(candidate) && candidate.name == name &&
        (name.size() == 1) == (dashes == 1))
      spec = &candidate;
  if (!spec)
    return unknown(arg.substr(0, equals));
  std::string shown = dashed(spec->name);
  bool hasValue = equals != std::string_view::npos;
  std::string_view value = hasValue ? arg.substr(equals + 1) : "";
  if (spec->kind == OptionSpec::Flag && hasValue)
    return fail("option '" + shown + "' takes no value");
  if (spec->kind != OptionSpec::Flag && !hasValue) {
    if (next == args.size())
      return fail("option '" + shown + "' needs a value, " +
                  std::string(spec->value));
    value = args[next++];
  }
  if (spec->kind != OptionSpec::Flag && value.empty())
    return fail("option '" + shown + "' has an empty value");
  if (!spec->repeatable && line.has(spec->name))
    return fail("option '" + shown + "' is given twice");
  if (!checkValue(*spec, value))
    return false;
  line.options.push_back({spec->name, value});
  return true;
}

bool Parser::run() {
  for (std::string_view arg : args)
    line.help |= arg == "--help" || arg == "-h";
  if (line.help)
    return true;
  bool options = true;
  while (next < args.size()) {
    std::string_view arg = args[next++];
    if (options && arg == "--")
      options = false;
    else if (options && arg.size() > 1 && arg[0] == '-') {
      if (!option(arg))
        return false;
    } else {
      line.arguments.emplace_back(arg);
    }
  }
  if (line.arguments.size() > command.maxArguments)
    return fail("unexpected argument '" + line.arguments[command.maxArguments] +
                "' after " + std::string(command.arguments));
  if (line.arguments.size() < command.minArguments)
    return fail("expected " + std::string(command.arguments));
  return true;
}

std::optional<CommandLine>
parseCommandLine(const CommandSpec &command,
                 const std::vector<std::string_view> &args,
                 std::string &error) {
  Parser parser{command, args, error, {}};
  if (!parser.run())
    return std::nullopt;
  return std::move(parser.line);
}

//===----------------------------------------------------------------------===//
// Help
//===----------------------------------------------------------------------===//

/// A command that is too long goes on behind a backslash, in front of an
/// option.
static std::string exampleText(std::string_view program,
                               std::string_view example) {
  std::string line = "  " + std::string(program), out;
  for (bool isFirst = true; !example.empty(); isFirst = false) {
    size_t end = std::min(example.find(" --", 1), example.size());
    std::string_view part = example.substr(0, end);
    example.remove_prefix(end);
    if (!isFirst &&
        displayWidth(line) + displayWidth(part) + 2 > kScreenWidth) {
      out += line + " \\\n";
      line = "     ";
    }
    line += (isFirst ? " " : "") + std::string(part);
  }
  return out + line + "\n";
}

std::string commandHelp(std::string_view program, const CommandSpec &command) {
  std::string own(command.name.empty() ? "" : " ");
  own += command.name;
  std::string out = "usage: " + std::string(program) + own + " " +
                    std::string(command.arguments) + " [options]\n\n" +
                    std::string(command.summary) + "\n\noptions:\n";
  constexpr size_t column = 27;
  for (const OptionSpec &spec : command.options) {
    if (isHeading(spec)) {
      out += "\n" + std::string(spec.help) + ":\n";
      continue;
    }
    std::string left = "  " + dashed(spec.name);
    if (spec.kind != OptionSpec::Flag)
      left += (spec.name.size() == 1 ? " " : "=") + std::string(spec.value);
    std::string_view help = spec.help;
    bool first = left.size() + 2 <= column;
    if (!first)
      out += left + "\n";
    while (!help.empty()) {
      size_t end = std::min(help.find('\n'), help.size());
      std::string start = first ? left : "";
      start.resize(column, ' ');
      out += start + std::string(help.substr(0, end)) + "\n";
      help.remove_prefix(std::min(end + 1, help.size()));
      first = false;
    }
  }
  if (!command.examples.empty())
    out += "\nexamples:\n";
  for (std::string_view example : command.examples)
    out += exampleText(program, example);
  return out;
}

} // namespace cutback
