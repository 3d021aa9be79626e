// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the text of --hook to functions at points.
//
// The functions that are built in go over the elements in their order and sum
// in double, so that norms, and what is clipped by them, have the same bits
// wherever the step runs. Libraries stay loaded as long as their functions are
// at a point.

#include "cutback/Runtime/HookOption.h"

#include "cutback/Runtime/Elements.h"
#include "cutback/Support/Text.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

using namespace cutback;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// "tensor-pre" or "tensor_pre".
static std::optional<HookKind> readKind(std::string_view text) {
  std::string name(text);
  for (char &c : name)
    c = c == '-' ? '_' : c;
  return hookKindNamed(name);
}

static bool readFunction(std::string_view text, HookOption &option) {
  if (text == "log-norm" || text == "check-finite") {
    option.function =
        text == "log-norm" ? HookOption::LogNorm : HookOption::CheckFinite;
    return true;
  }
  constexpr std::string_view clip = "clip-norm=";
  if (text.substr(0, clip.size()) == clip) {
    std::string number(text.substr(clip.size()));
    char *end = nullptr;
    option.function = HookOption::ClipNorm;
    option.limit = std::strtod(number.c_str(), &end);
    return !number.empty() && *end == 0 && std::isfinite(option.limit) &&
           option.limit > 0;
  }
  size_t colon = text.rfind(':');
  if (colon == std::string_view::npos)
    return false;
  option.function = HookOption::Library;
  option.library = text.substr(0, colon);
  option.symbol = text.substr(colon + 1);
  return !option.library.empty() && !option.symbol.empty();
}

bool cutback::readHookOption(std::string_view text, HookOption &option,
                             std::string &error) {
  option = HookOption();
  std::string_view rest = text;
  auto next = [&] {
    size_t colon = rest.find(':');
    std::string_view part = rest.substr(0, colon);
    rest = colon == std::string_view::npos ? std::string_view()
                                           : rest.substr(colon + 1);
    return part;
  };
  std::string_view first = next();
  if (auto kind = readKind(first)) {
    option.kind = *kind;
    first = next();
  }
  option.name = first;
  bool hasFunction = !rest.empty();
  if (!option.name.empty() && text.back() != ':' &&
      (!hasFunction || readFunction(rest, option)))
    return true;
  error = "a hook is given as [KIND:]NAME[:FUNCTION], where FUNCTION is "
          "log-norm, clip-norm=X, check-finite or LIB.so:SYMBOL; not '" +
          std::string(text) + "'";
  return false;
}

OptionSpec cutback::hookOption() {
  return {"hook", OptionSpec::Text, "[KIND:]NAME[:FUNCTION]",
          "run a function on the gradient of a parameter,\n"
          "input.N, value of the graph, or pattern of parameters\n"
          "(*.weight): log-norm, clip-norm=X, check-finite, or\n"
          "LIB.so:SYMBOL (cutback-c/Hook.h). `compile` makes the\n"
          "point, whatever FUNCTION. KIND: tensor-pre (default),\n"
          "retains-grad, node-pre, node-post, post-accumulate;\n"
          "repeatable, in their order",
          true};
}

bool cutback::readHookOptions(const CommandLine &line,
                              std::vector<HookOption> &options,
                              std::string &error) {
  for (std::string_view given : line.all("hook"))
    if (!readHookOption(given, options.emplace_back(), error))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Functions that are built in
//===----------------------------------------------------------------------===//

static double normOf(const Elements &elements) {
  double sum = 0;
  for (int64_t i = 0; i < elements.count(); ++i)
    sum += elements[i] * elements[i];
  return std::sqrt(sum);
}

static std::string numberText(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

static std::string sizesText(const HookBuffer &buffer) {
  std::string text;
  for (int64_t size : *buffer.sizes)
    text += std::to_string(size) + "x";
  return text + buffer.type;
}

/// By PyTorch's rule (clip_grad_norm_): times limit / (norm + 1e-6), if that is
/// less than one.
static int64_t clipNorm(const HookBuffer &buffer, double limit) {
  Elements elements(buffer.data, buffer.bytes, buffer.type);
  double scale = limit / (normOf(elements) + 1e-6);
  if (!(scale < 1))
    return 0;
  for (int64_t i = 0; i < elements.count(); ++i)
    elements.set(i, elements[i] * scale);
  return buffer.bytes;
}

static int64_t checkFinite(const HookBuffer &buffer, std::string &why) {
  Elements elements(buffer.data, buffer.bytes, buffer.type);
  for (int64_t i = 0; i < elements.count(); ++i)
    if (!std::isfinite(elements[i])) {
      why = "element " + std::to_string(i) + " of " + sizesText(buffer) +
            " is " + numberText(elements[i]);
      return -1;
    }
  return 0;
}

static HookFunction ownFunction(const HookOption &option, const HookLog &log) {
  HookFunction function;
  HookOption::Function which = option.function;
  function.own = [which, limit = option.limit,
                  log](const HookPoint &point, const HookBuffer &buffer,
                       std::string &why) -> int64_t {
    if (!Elements::isKnown(buffer.type)) {
      why = std::string("elements of type ") + buffer.type +
            " are not known to functions that are built in";
      return -1;
    }
    if (which == HookOption::ClipNorm)
      return clipNorm(buffer, limit);
    if (which == HookOption::CheckFinite)
      return checkFinite(buffer, why);
    log("hook " + describeHook(point) + ": norm " +
        numberText(normOf(Elements(buffer.data, buffer.bytes, buffer.type))) +
        " of " + sizesText(buffer));
    return 0;
  };
  return function;
}

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

static std::string loadFunction(const HookOption &option,
                                HookFunction &function) {
  // A name without a folder is one beside us, not one of the system's.
  std::string path = option.library.find('/') == std::string::npos
                         ? "./" + option.library
                         : option.library;
  void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *why = ::dlerror();
    return "cannot load the library of hook '" + option.name +
           "': " + (why ? why : option.library);
  }
  function.owner = std::shared_ptr<void>(library, ::dlclose);
  void *symbol = ::dlsym(library, option.symbol.c_str());
  if (!symbol)
    return "the library '" + option.library + "' has no function '" +
           option.symbol + "' for hook '" + option.name + "'";
  function.call = reinterpret_cast<CutbackHook>(symbol);
  return "";
}

/// `*` is any text, `?` a character.
static bool fits(std::string_view pattern, std::string_view name) {
  if (pattern.empty())
    return name.empty();
  if (pattern[0] == '*')
    return fits(pattern.substr(1), name) ||
           (!name.empty() && fits(pattern, name.substr(1)));
  return !name.empty() && (pattern[0] == '?' || pattern[0] == name[0]) &&
         fits(pattern.substr(1), name.substr(1));
}

static std::string failMissing(const HookOption &option,
                               const HookTable &table) {
  std::string asked =
      option.name + " (" + std::string(nameOf(option.kind)) + ")";
  if (table.points().empty())
    return "the step has no points for hooks, and one is asked for: " + asked +
           "; give --hook to `cutback compile` too";
  std::vector<std::string> names;
  for (const HookPoint &point : table.points())
    names.push_back(describeHook(point));
  std::vector<std::string_view> candidates(names.begin(), names.end());
  std::vector<std::string> near = nearestNames(asked, candidates, 3);
  std::string list;
  for (const std::string &name : near.empty() ? names : near)
    if (list.size() < 100)
      list += (list.empty() ? "" : ", ") + name;
  return "the step has no point for hook " + asked + "; it has " + list;
}

std::string cutback::addHooks(const std::vector<HookOption> &options,
                              HookTable &table, const HookLog &log) {
  for (const HookOption &option : options) {
    HookFunction function;
    if (option.function == HookOption::Library) {
      if (std::string error = loadFunction(option, function); !error.empty())
        return error;
    } else if (option.function != HookOption::None) {
      function = ownFunction(option, log);
    }
    bool any = false;
    for (size_t i = 0; i < table.points().size(); ++i) {
      const HookPoint &point = table.points()[i];
      if (point.kind != option.kind || !fits(option.name, point.name))
        continue;
      any = true;
      if (option.function != HookOption::None)
        table.add(i, function);
    }
    if (!any)
      return failMissing(option, table);
  }
  return "";
}
