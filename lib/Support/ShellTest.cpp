// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs shell commands on files. Each command is the leader of a process group,
// so that a timeout ends what it started as well, and the terminal's Ctrl-C
// reaches us alone. A file descriptor of the process is waited for (Linux 5.3
// and later): no polling, so that a command of a millisecond costs one.
//
// A command that cannot read its file because the disk is full would look like
// one that fails; so writing is checked, and ends the run with an error.

#include "cutback/Support/ShellTest.h"

#include "cutback/Support/SafeFile.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cutback {

static constexpr const char *kShell = "/bin/sh";

using Clock = std::chrono::steady_clock;

struct ShellTest::Child {
  pid_t pid = -1;
  int handle = -1; ///< readable when the process has ended
  Clock::time_point deadline;
  std::string error;
};

std::string ShellOutcome::describe(double timeoutSeconds) const {
  switch (kind) {
  case Exited:
    return "exit code " + std::to_string(code);
  case Signalled:
    return "signal " + std::to_string(code);
  case TimedOut:
    return "killed after " +
           std::to_string(static_cast<int64_t>(timeoutSeconds)) + " s";
  case Interrupted:
    return "interrupted";
  case NotStarted:
    break;
  }
  return error;
}

ShellTest::ShellTest(std::string command, std::string fileName,
                     double timeoutSeconds, const std::atomic<bool> &stop)
    : command(std::move(command)), fileName(std::move(fileName)),
      timeoutSeconds(timeoutSeconds), stop(stop) {
  const char *base = std::getenv("TMPDIR");
  folder = std::string(base && *base ? base : "/tmp") + "/cutback-XXXXXX";
  if (::mkdtemp(folder.data()))
    return;
  error = "cannot make a folder in '" + folder.substr(0, folder.rfind('/')) +
          "': " + std::strerror(errno);
  folder.clear();
}

ShellTest::~ShellTest() {
  std::error_code ignored;
  if (!folder.empty())
    std::filesystem::remove_all(folder, ignored);
}

std::string ShellTest::pathOf(size_t slot) const {
  return folder + "/" + std::to_string(slot) + "/" + fileName;
}

static std::string shellQuoted(const std::string &path) {
  std::string out = "'";
  for (char c : path)
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// In the child, between fork and exec: nothing but system calls.
[[noreturn]] static void becomeShell(const char *command) {
  ::setpgid(0, 0);
  for (int number : {SIGINT, SIGTERM, SIGPIPE, SIGHUP})
    ::signal(number, SIG_DFL);
  int null = ::open("/dev/null", O_RDWR);
  for (int file : {0, 1, 2})
    ::dup2(null, file);
  ::execl(kShell, "sh", "-c", command, static_cast<char *>(nullptr));
  ::_exit(127);
}

ShellTest::Child ShellTest::start(size_t slot, const std::string &text) {
  Child child;
  std::string path = pathOf(slot);
  if (slot >= slots) {
    std::error_code failed;
    std::filesystem::create_directory(folder + "/" + std::to_string(slot),
                                      failed);
    slots = slot + 1;
  }
  int file =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  std::string failure = file < 0 ? std::strerror(errno) : writeAll(file, text);
  if (file >= 0)
    ::close(file);
  if (!failure.empty()) {
    child.error = "cannot write '" + path + "': " + failure;
    return child;
  }
  std::string line = command;
  std::string name = shellQuoted(path);
  for (size_t at = 0; (at = line.find("{}", at)) != std::string::npos;
       at += name.size())
    line.replace(at, 2, name);
  child.pid = ::fork();
  if (child.pid == 0)
    becomeShell(line.c_str());
  if (child.pid < 0) {
    child.error = std::string(kShell) + ": " + std::strerror(errno);
    return child;
  }
  ::setpgid(child.pid, child.pid);
  child.handle = ::syscall(SYS_pidfd_open, child.pid, 0);
  child.deadline =
      Clock::now() +
      std::chrono::milliseconds(static_cast<int64_t>(timeoutSeconds * 1000));
  return child;
}

ShellOutcome ShellTest::finish(Child &child) const {
  ShellOutcome outcome;
  if (child.pid < 0) {
    outcome.error = child.error;
    return outcome;
  }
  using namespace std::chrono;
  bool ended = false, late = false;
  while (!ended && !late && !stop) {
    pollfd wait = {child.handle, POLLIN, 0};
    auto left = duration_cast<milliseconds>(child.deadline - Clock::now());
    // In steps, for a signal that comes between the check and the call.
    int step = std::max<int64_t>(0, std::min<int64_t>(left.count(), 200));
    ended = ::poll(&wait, 1, step) > 0;
    late = !ended && Clock::now() >= child.deadline;
  }
  // What the command left behind goes with it.
  ::kill(-child.pid, SIGKILL);
  int status = 0;
  while (::waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
  }
  ::close(child.handle);
  outcome.kind = late                ? ShellOutcome::TimedOut
                 : !ended            ? ShellOutcome::Interrupted
                 : WIFEXITED(status) ? ShellOutcome::Exited
                                     : ShellOutcome::Signalled;
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
  return outcome;
}

std::vector<ShellOutcome>
ShellTest::run(const std::vector<std::string> &texts) {
  std::vector<Child> children;
  for (size_t i = 0; i < texts.size(); ++i)
    children.push_back(start(i, texts[i]));
  std::vector<ShellOutcome> outcomes;
  for (Child &child : children)
    outcomes.push_back(finish(child));
  return outcomes;
}

} // namespace cutback
