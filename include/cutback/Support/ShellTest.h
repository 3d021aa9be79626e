// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asks a shell command about files, several at a time.
#ifndef CUTBACK_SUPPORT_SHELLTEST_H
#define CUTBACK_SUPPORT_SHELLTEST_H

#include <atomic>
#include <string>
#include <vector>

namespace cutback {

/// What came of one run of the command.
struct ShellOutcome {
  enum Kind {
    Exited,      ///< with `code`
    Signalled,   ///< by signal `code`
    TimedOut,    ///< and was killed
    Interrupted, ///< we were asked to stop; it was killed
    NotStarted   ///< `error` says why
  } kind = NotStarted;
  int code = 0;
  std::string error;
  bool succeeded() const { return kind == Exited && code == 0; }
  /// "exit code 2", "signal 11", "killed after 30 s".
  std::string describe(double timeoutSeconds) const;
};

/// Runs `sh -c COMMAND` with every `{}` in it replaced by the quoted path of a
/// file that holds a text; input and output of the command are /dev/null.
/// Files lie in a folder of their own below $TMPDIR, which the destructor
/// removes.
class ShellTest {
public:
  /// `stop` may be set at any time, in a signal handler too: commands that run
  /// are killed then.
  ShellTest(std::string command, std::string fileName, double timeoutSeconds,
            const std::atomic<bool> &stop);
  ~ShellTest();
  ShellTest(const ShellTest &) = delete;
  ShellTest &operator=(const ShellTest &) = delete;

  /// Empty, or why there is no folder for files.
  const std::string &failure() const { return error; }

  /// Runs the command on all texts at the same time. A command, and whatever it
  /// started and left, is killed after the timeout. One outcome a text.
  std::vector<ShellOutcome> run(const std::vector<std::string> &texts);

private:
  struct Child;
  Child start(size_t slot, const std::string &text);
  ShellOutcome finish(Child &child) const;
  std::string pathOf(size_t slot) const;

  std::string command, fileName, folder, error;
  double timeoutSeconds;
  const std::atomic<bool> &stop;
  size_t slots = 0; ///< folders made
};

} // namespace cutback

#endif // CUTBACK_SUPPORT_SHELLTEST_H
