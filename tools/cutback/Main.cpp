// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The driver `cutback`: finds the command, parses its options, runs it.
//
// Exit codes: 0 done, 1 the input is wrong, 2 the command line is wrong, 3 no
// plan or a failed check, 4 a defect of ours. A defect ends with one line that
// asks for a report, whatever it was: exceptions are caught here; fatal errors
// inside LLVM (which is built without exceptions) and signals end in handlers
// that print the line and leave. So there is never a stack dump, and no exit by
// a signal that a script would have to decode.
//
// Memory that runs out is what the input asked for: exit code 1, wherever it is
// noticed. C code that does not look at what malloc returned ends in a signal,
// so a signal where no memory is left counts as that.

#include "Commands.h"
#include "OwnInterpreter.h"

#include "cutback/Runtime/HookTable.h"
#include "cutback/Support/SafeFile.h"
#include "cutback/Support/Text.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/ErrorHandling.h"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <new>
#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>

using namespace cutback;

//===----------------------------------------------------------------------===//
// Defects
//===----------------------------------------------------------------------===//

static const char *const kAskForReport =
    "\ncutback: this is a defect of cutback, not of your input; please report"
    " it with the command line and, if you can share it, the input\n";

static const char *const kAskForMemory =
    "\ncutback: note: this input needs more than the machine, or a limit of the"
    " shell (ulimit -v), allows; raise the limit, or give a smaller input\n";

/// Uses nothing but write(2): it runs in signal handlers.
[[noreturn]] static void leave(int code,
                               std::initializer_list<const char *> parts) {
  for (const char *part : parts) {
    ssize_t ignored = ::write(STDERR_FILENO, part, std::strlen(part));
    (void)ignored;
  }
  ::_exit(code);
}

[[noreturn]] static void leaveWithDefect(const char *what, const char *detail) {
  leave(OurDefect, {"cutback: error: ", what, detail, kAskForReport});
}

[[noreturn]] static void leaveWithoutMemory() {
  leave(WrongInput, {"cutback: error: out of memory", kAskForMemory});
}

/// Whether what malloc asks the system for is still to be had.
static bool isMemoryLeft() {
  constexpr size_t size = 8 << 20;
  void *pages = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages != MAP_FAILED && ::munmap(pages, size) == 0;
}

static constexpr const char *kHookIsGiven =
    "\ncutback: note: its function is that of --hook, not of cutback\n";

static void onSignal(int number) {
  if (!isMemoryLeft())
    leaveWithoutMemory();
  const char *what = number == SIGSEGV || number == SIGBUS
                         ? "invalid memory access"
                     : number == SIGFPE ? "invalid arithmetic"
                     : number == SIGILL ? "invalid instruction"
                                        : "internal check failed";
  if (const char *hook = hookAtWork())
    leave(NoPlan, {"cutback: error: ", hook, " ends the process: ", what,
                   kHookIsGiven});
  leaveWithDefect(what, "");
}

static void onFatalError(void *, const char *reason, bool) {
  leaveWithDefect("", reason);
}

static void onBadAlloc(void *, const char *, bool) { leaveWithoutMemory(); }

/// Handlers run on a stack of their own, so that the end of the normal one can
/// be reported too.
static void installHandlers() {
  static char stack[64 * 1024];
  stack_t alternate = {};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof stack;
  ::sigaltstack(&alternate, nullptr);
  struct sigaction action = {};
  action.sa_handler = onSignal;
  action.sa_flags = SA_ONSTACK;
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    ::sigaction(number, &action, nullptr);
  // A reader that goes away (`cutback report | head`) is no failure.
  ::signal(SIGPIPE, SIG_IGN);
  llvm::install_fatal_error_handler(onFatalError);
  llvm::install_bad_alloc_error_handler(onBadAlloc);
  // In front of the exception, which would meet code that knows none.
  std::set_new_handler(leaveWithoutMemory);
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

static const Command kCommands[] = {
    {importSpec, runImport},   {reportSpec, runReport},
    {explainSpec, runExplain}, {compileSpec, runCompile},
    {runSpec, runRun},         {trainSpec, runTrain},
    {benchSpec, runBench},     {drawSpec, runDraw},
    {splitSpec, runSplit},     {scheduleSpec, runSchedule},
    {verifySpec, runVerify},   {reduceSpec, runReduce},
};

static void print(int file, const std::string &text) { writeAll(file, text); }

static std::string overview() {
  std::string out =
      "usage: cutback COMMAND ARGUMENTS [options]\n\n"
      "Splits the joint graph of a training step into a forward and a backward"
      " half,\nand decides what is saved between them and what is computed"
      " twice.\n\ncommands:\n";
  TextTable table({TextTable::Left, TextTable::Left});
  for (const Command &command : kCommands) {
    CommandSpec spec = command.spec();
    std::string_view summary = spec.summary;
    table.add({"  " + std::string(spec.name),
               std::string(summary.substr(0, summary.find('\n')))});
  }
  table.add({"  help", "Describe a command: its options, with examples."});
  table.add({"  version", "Print the version."});
  return out + table.str(0) +
         "\n`cutback help COMMAND` has options and examples. IN is a .pt2"
         " archive, FX text,\na trace log, MLIR text or bytecode, or a folder"
         " that `compile` wrote; `-` is\nstandard input.\n";
}

static int usage(const std::string &message, std::string_view command) {
  std::string name = command.empty() ? "" : " " + std::string(command);
  print(STDERR_FILENO, "cutback" + name + ": error: " + message + "\ncutback" +
                           name + ": note: see `cutback" + name + " --help`\n");
  return WrongUsage;
}

static int unknownCommand(const std::string &name) {
  std::vector<std::string> names;
  for (const Command &command : kCommands)
    names.emplace_back(command.spec().name);
  std::vector<std::string_view> views(names.begin(), names.end());
  auto near = nearestNames(name, views, 1);
  std::string hint = near.empty() ? "" : "; did you mean '" + near[0] + "'?";
  return usage("unknown command '" + name + "'" + hint, "");
}

static const Command *findCommand(std::string_view name) {
  for (const Command &command : kCommands)
    if (command.spec().name == name)
      return &command;
  return nullptr;
}

/// `help`, or `help COMMAND`.
static int help(const std::vector<std::string_view> &names) {
  if (names.empty() || names[0] == "--help" || names[0] == "-h" ||
      names[0] == "help") {
    print(STDOUT_FILENO, overview());
    return Done;
  }
  if (names[0] == "version") {
    print(STDOUT_FILENO, "usage: cutback version\n\nPrint the version.\n");
    return Done;
  }
  const Command *command = findCommand(names[0]);
  if (!command)
    return unknownCommand(std::string(names[0]));
  print(STDOUT_FILENO, commandHelp("cutback", command->spec()));
  return Done;
}

static int run(const Command &command,
               const std::vector<std::string_view> &args) {
  CommandSpec spec = command.spec();
  std::string error;
  auto line = parseCommandLine(spec, args, error);
  if (!line)
    return usage(error, spec.name);
  if (line->help) {
    print(STDOUT_FILENO, commandHelp("cutback", spec));
    return Done;
  }
  return command.run(*line);
}

static int dispatch(const std::vector<std::string_view> &args) {
  if (args.empty())
    return usage("expected a command", "");
  std::string name(args[0]);
  std::vector<std::string_view> rest(args.begin() + 1, args.end());
  if (name == "--help" || name == "-h" || name == "help")
    return help(rest);
  if (name == "--version" || name == "version") {
    print(STDOUT_FILENO,
          "cutback " CUTBACK_VERSION " (LLVM " LLVM_VERSION_STRING ")\n");
    return Done;
  }
  if (const Command *command = findCommand(name))
    return run(*command, rest);
  return unknownCommand(name);
}

int main(int argc, char **argv) {
  installHandlers();
  useOwnInterpreter();
  int code = OurDefect;
  try {
    code = dispatch(std::vector<std::string_view>(argv + 1, argv + argc));
  } catch (const std::bad_alloc &) {
    leaveWithoutMemory();
  } catch (const std::length_error &) { // a container beyond all memory
    leaveWithoutMemory();
  } catch (const std::exception &exception) {
    leaveWithDefect("", exception.what());
  } catch (...) {
    leaveWithDefect("unknown exception", "");
  }
  // The operating system frees what is left, faster than destructors would.
  ::_exit(code);
}
