// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all programs that measure do with --help, and with an option that they
// do not have: measuring something else for minutes helps nobody. And how
// programs whose only arguments are options read them.
#ifndef CUTBACK_BENCHMARKS_USAGE_H
#define CUTBACK_BENCHMARKS_USAGE_H

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string_view>

namespace cutback::bench {

/// The exit code, if the program ends here: 0 after --help or -h, which print
/// `usage`; 2 after an option that `usage` does not name, which is an error.
inline std::optional<int> checkUsage(int argc, char **argv,
                                     std::string_view usage) {
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i];
    if (argument == "--help" || argument == "-h") {
      std::printf("usage: %.*s\n", static_cast<int>(usage.size()),
                  usage.data());
      return 0;
    }
    if (argument.substr(0, 2) != "--")
      continue;
    size_t length = argument.find('=');
    std::string_view name = argument.substr(0, length);
    size_t at = usage.find(name);
    // Whole names only: what follows is a value, or the end of the option.
    size_t end = at == std::string_view::npos ? at : at + name.size();
    if (end < usage.size() &&
        std::string_view("=] |\n").find(usage[end]) != std::string_view::npos)
      continue;
    std::fprintf(stderr, "error: unknown option '%s'\nusage: %.*s\n", argv[i],
                 static_cast<int>(usage.size()), usage.data());
    return 2;
  }
  return std::nullopt;
}

/// What the last argument `option` has behind its `=`, nothing where there is
/// none; null if the option is not given.
inline std::optional<std::string_view> valueOf(int argc, char **argv,
                                               std::string_view option) {
  for (int i = argc; --i > 0;) {
    std::string_view argument = argv[i];
    size_t length = std::min(argument.find('='), argument.size());
    if (argument.substr(0, length) == option)
      return argument.substr(std::min(length + 1, argument.size()));
  }
  return std::nullopt;
}

inline bool isGiven(int argc, char **argv, std::string_view option) {
  return valueOf(argc, argv, option).has_value();
}

} // namespace cutback::bench

#endif // CUTBACK_BENCHMARKS_USAGE_H
