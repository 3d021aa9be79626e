// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text goes into a new folder of the system's temporary one; what comes out
// is read back, and the folder goes. So a failed compiler leaves nothing
// behind, and the artifact is written whole or not at all.
//
// Flags that results depend on: no contraction of multiplications and additions
// (an op computed again elsewhere would differ), IEEE division and root, no
// flush of subnormal numbers. The host compiler has the same ones. CXXFLAGS are
// added behind them (sanitizers).
//
// GCC 11 and 12, and others before its bug 110702 was fixed, lose calls. Where
// variables of loops are chosen anew (-fivopts), the address of a store may
// become a null pointer and a number. Behind that GCC asks whether a function
// has effects, a store to null is none, and the caller drops the call: a
// product did not fetch its factors and gave zeros. No text is safe from it, so
// that pass does not run.

#include "cutback/Target/CUDA/Toolchain.h"

#include "cutback/Runtime/Artifact.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace cutback;
using llvm::ArrayRef;
using llvm::SmallString;
using llvm::SmallVector;
using llvm::StringRef;

static std::string inEnvironment(const char *name) {
  return llvm::sys::Process::GetEnv(name).value_or("");
}

static std::string findProgram(StringRef name) {
  auto path = llvm::sys::findProgramByName(name);
  return path && llvm::sys::fs::can_execute(*path) ? *path : "";
}

std::string cutback::findNvcc() {
  if (std::string given = inEnvironment("CUDACXX"); !given.empty())
    return findProgram(given);
  if (std::string home = inEnvironment("CUDA_HOME"); !home.empty()) {
    std::string path = home + "/bin/nvcc";
    return llvm::sys::fs::can_execute(path) ? path : "";
  }
  if (std::string path = findProgram("nvcc"); !path.empty())
    return path;
  const char *usual = "/usr/local/cuda/bin/nvcc";
  return llvm::sys::fs::can_execute(usual) ? usual : "";
}

std::string cutback::findHostCompiler() {
  if (std::string given = inEnvironment("CXX"); !given.empty())
    return findProgram(given);
  for (const char *name : {"c++", "g++", "clang++"})
    if (std::string path = findProgram(name); !path.empty())
      return path;
  return "";
}

bool cutback::isArchitecture(StringRef name) {
  return name == "sm_80" || name == "sm_86" || name == "sm_89" ||
         name == "sm_90" || name == "sm_100" || name == "sm_120";
}

namespace {

/// A folder that goes with its object.
class WorkFolder {
public:
  std::string open(const std::vector<TextFile> &files) {
    if (std::error_code error =
            llvm::sys::fs::createUniqueDirectory("cutback", path))
      return "cannot make a temporary folder: " + error.message();
    for (const auto &[name, text] : files) {
      std::error_code error;
      llvm::raw_fd_ostream file(at(name), error);
      file << text;
      file.close();
      if (error || file.has_error()) {
        file.clear_error();
        return "cannot write '" + at(name) + "'";
      }
    }
    return "";
  }
  ~WorkFolder() {
    if (!path.empty())
      llvm::sys::fs::remove_directories(path);
  }
  std::string at(StringRef name) const { return (path + "/" + name).str(); }

private:
  SmallString<128> path;
};

/// Whether what refused our text is a compiler, which takes an empty one.
bool isCompiler(const std::string &program) {
  StringRef language = StringRef(program).contains("nvcc") ? "cu" : "c++";
  SmallVector<StringRef> list = {program, "-x", language, "-E", "/dev/null"};
  std::optional<StringRef> nowhere[] = {StringRef(""), StringRef(""),
                                        StringRef("")};
  return llvm::sys::ExecuteAndWait(program, list, std::nullopt, nowhere) == 0;
}

/// Runs `arguments`, of which the first is the program, and takes `made`.
std::string runTool(ArrayRef<std::string> arguments, const WorkFolder &folder,
                    StringRef made, ToolResult &result) {
  SmallVector<StringRef> list(arguments.begin(), arguments.end());
  std::string log = folder.at("log"), error;
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(log),
                                          StringRef(log)};
  int code = llvm::sys::ExecuteAndWait(arguments[0], list, std::nullopt,
                                       redirects, 0, 0, &error);
  if (code < 0)
    return "cannot run '" + arguments[0] + "': " + error;
  if (code != 0) {
    if (auto text = llvm::MemoryBuffer::getFile(log)) {
      StringRef rest = (*text)->getBuffer();
      for (unsigned line = 0; line < 12 && !rest.empty(); ++line) {
        auto [first, behind] = rest.split('\n');
        result.log += first.str() + "\n";
        rest = behind;
      }
    }
    result.isRejected = isCompiler(arguments[0]);
    return "'" + arguments[0] + "' does not compile " +
           (result.isRejected ? "the text"
                              : "an empty text either: it is no compiler that "
                                "works here; name another one in CXX (of "
                                "--target=cuda-host) or CUDACXX");
  }
  auto file = llvm::MemoryBuffer::getFile(folder.at(made));
  if (!file)
    return "'" + arguments[0] + "' made no '" + made.str() + "'";
  result.files.emplace_back(made.str(), (*file)->getBuffer().str());
  return "";
}

} // namespace

ToolResult cutback::buildFatBinaries(const std::string &nvcc,
                                     const std::vector<TextFile> &files,
                                     ArrayRef<std::string> architectures) {
  ToolResult result;
  WorkFolder folder;
  result.error = folder.open(files);
  for (const auto &[name, text] : files) {
    StringRef segment = name;
    if (!segment.consume_back(".cu"))
      continue;
    if (!result.error.empty())
      return result;
    std::string made = segment.str() + ".fatbin";
    SmallVector<std::string> arguments = {
        nvcc,       "-std=c++17", "--fmad=false", "-lineinfo",
        "--fatbin", "-o",         folder.at(made)};
    for (StringRef architecture : architectures) {
      StringRef number = architecture.drop_front(3);
      arguments.push_back("-gencode");
      arguments.push_back(
          ("arch=compute_" + number + ",code=sm_" + number).str());
    }
    arguments.push_back(folder.at(name));
    result.error = runTool(arguments, folder, made, result);
  }
  return result;
}

ToolResult cutback::buildHostLibrary(const std::string &compiler,
                                     const std::vector<TextFile> &files) {
  ToolResult result;
  WorkFolder folder;
  result.error = folder.open(files);
  if (!result.error.empty())
    return result;
  SmallVector<std::string> arguments = {
      compiler,  "-std=c++17",           "-fno-ivopts", "-ffp-contract=off",
      "-fwrapv", "-fno-strict-aliasing", "-fPIC",       "-w",
      "-O2",     "-march=native",        "-shared"};
  SmallVector<StringRef> given;
  std::string flags = inEnvironment("CXXFLAGS");
  StringRef(flags).split(given, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef flag : given)
    arguments.push_back(flag.str());
  arguments.push_back("-o");
  arguments.push_back(folder.at(kHostLibrary));
  arguments.push_back(folder.at("host.cpp"));
  result.error = runTool(arguments, folder, kHostLibrary, result);
  return result;
}
