// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// lld, called as a function. It reads and writes files: of a folder in the
// system's temporary one, which goes again. What kernels call of the C library
// and libm is looked for where this process has them from, so that no package
// for development is needed; a symbol that neither has is an error here and
// not where the step is loaded.
//
// lld has an optimizer for bitcode in it, which names all targets and plugins
// that LLVM was built with, and so would link their code generators into this
// program. Nobody gives it bitcode: those of other machines are empty here, and
// so is the parser of this machine's assembly.

#include "LinkLibrary.h"

#include "Precompiled.h"

#include "cutback/Runtime/Artifact.h"

#include "lld/Common/Driver.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Plugins/PassPlugin.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <cstdlib>
#include <dlfcn.h>

LLD_HAS_DRIVER(elf)

using namespace cutback;
using llvm::SmallString;
using llvm::StringRef;

#define CUTBACK_NO_PARSER(name)                                                \
  extern "C" void LLVMInitialize##name##AsmParser() {}
#define CUTBACK_OTHER_TARGET(name)                                             \
  extern "C" void LLVMInitialize##name##TargetInfo() {}                        \
  extern "C" void LLVMInitialize##name##Target() {}                            \
  extern "C" void LLVMInitialize##name##TargetMC() {}                          \
  extern "C" void LLVMInitialize##name##AsmPrinter() {}                        \
  CUTBACK_NO_PARSER(name)
#include "OtherTargets.inc"
#undef CUTBACK_OTHER_TARGET
#undef CUTBACK_NO_PARSER

llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "Polly", "none", [](llvm::PassBuilder &) {},
          nullptr};
}

namespace {

/// A folder that goes with its object.
class LinkFolder {
public:
  std::error_code open() {
    return llvm::sys::fs::createUniqueDirectory("cutback", path);
  }
  ~LinkFolder() {
    if (!path.empty())
      llvm::sys::fs::remove_directories(path);
  }
  std::string at(const llvm::Twine &name) const {
    return (path + "/" + name).str();
  }

private:
  SmallString<128> path;
};

} // namespace

/// The file that `symbol` of this process was loaded from.
static std::string libraryOf(const char *symbol) {
  void *address = ::dlsym(RTLD_DEFAULT, symbol);
  Dl_info found;
  return address && ::dladdr(address, &found) && found.dli_fname
             ? found.dli_fname
             : "";
}

static std::string writeObject(const std::string &path, StringRef bytes) {
  std::error_code error;
  llvm::raw_fd_ostream file(path, error);
  file << bytes;
  file.close();
  if (!error && !file.has_error())
    return "";
  file.clear_error();
  return "cannot write '" + path + "'";
}

/// Makes library.so in `folder`, with what lld says in `log`. An empty string,
/// or what went wrong.
static std::string link(llvm::ArrayRef<std::string> objects, LinkFolder &folder,
                        std::string &log) {
  if (std::error_code error = folder.open())
    return "cannot make a temporary folder: " + error.message();
  std::vector<std::string> arguments = {
      "ld.lld",       "-shared",         "-o", folder.at("library.so"),
      "--threads=1",  "--build-id=none", "-z", "defs",
      "--gc-sections"};
  for (size_t i = 0; i < objects.size(); ++i) {
    std::string path = folder.at(llvm::Twine(i) + ".o");
    if (std::string error = writeObject(path, objects[i]); !error.empty())
      return error;
    arguments.push_back(path);
  }
  // Not memcpy: sanitizers have their own, in the program.
  for (const char *symbol : {"erf", "gnu_get_libc_version"})
    if (std::string path = libraryOf(symbol); !path.empty())
      arguments.push_back(path);
  std::vector<const char *> list;
  for (const std::string &argument : arguments)
    list.push_back(argument.c_str());
  llvm::raw_string_ostream stream(log);
  lld::Result result =
      lld::lldMain(list, stream, stream, {{lld::Gnu, &lld::elf::link}});
  return result.retCode == 0 ? "" : "lld does not link the kernels";
}

std::string cpu::linkLibrary(llvm::ArrayRef<std::string> objects,
                             std::string &library, std::string &log) {
  LinkFolder folder;
  if (std::string error = link(objects, folder, log); !error.empty())
    return error;
  auto file = llvm::MemoryBuffer::getFile(folder.at("library.so"));
  if (!file)
    return "lld made no library";
  library = (*file)->getBuffer().str();
  return "";
}

std::unique_ptr<cpu::LoadedLibrary>
cpu::LoadedLibrary::link(llvm::ArrayRef<std::string> objects,
                         std::string &error) {
  LinkFolder folder;
  std::string log;
  error = ::link(objects, folder, log);
  if (!error.empty()) {
    error += log.empty() ? "" : ": " + log;
    return nullptr;
  }
  // Its file goes with the folder; what is loaded stays.
  void *handle =
      ::dlopen(folder.at("library.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    error = ::dlerror();
    return nullptr;
  }
  return std::unique_ptr<LoadedLibrary>(new LoadedLibrary(handle));
}

cpu::LoadedLibrary::~LoadedLibrary() { ::dlclose(handle); }

KernelCode cpu::LoadedLibrary::find(StringRef name) const {
  return reinterpret_cast<KernelCode>(
      ::dlsym(handle, (name + kCodeSuffix).str().c_str()));
}

std::unique_ptr<cpu::LoadedLibrary> cpu::loadCalls(const NamedCalls &calls,
                                                   mlir::Location loc,
                                                   std::string &error) {
  mlir::OwningOpRef<mlir::ModuleOp> none(mlir::ModuleOp::create(loc));
  mlir::FailureOr<KernelObject> object = compileKernelObject(*none, calls);
  if (mlir::failed(object))
    return nullptr;
  std::vector<std::string> objects = {std::move(object->bytes)};
  addPrecompiledObjects(objects);
  return LoadedLibrary::link(objects, error);
}
