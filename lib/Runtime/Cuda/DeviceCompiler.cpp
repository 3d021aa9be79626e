// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The library has a second one beside it, which it looks for only where the
// system looks: that one is loaded first, by the path of the first.
//
// Flags that results depend on are those of nvcc (Target/CUDA/Toolchain.cpp):
// no contraction; IEEE division and root, and no flush of subnormal numbers,
// are what the compiler does unless told otherwise.

#include "cutback/Runtime/Cuda/DeviceCompiler.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>

using namespace cutback::cuda;

template <typename Call>
static bool findCall(void *library, Call &call, const char *name) {
  call = reinterpret_cast<Call>(::dlsym(library, name));
  return call != nullptr;
}

static void *load(const std::string &folder) {
  for (const char *name : {"libnvrtc.so.13", "libnvrtc.so.12"})
    if (void *library = ::dlopen((folder + name).c_str(), RTLD_NOW))
      return library;
  return nullptr;
}

std::unique_ptr<DeviceCompiler> DeviceCompiler::open(std::string &error) {
  void *library = load("");
  if (const char *home = std::getenv("CUDA_HOME"))
    for (const char *folder : {"/lib64/", "/lib/"})
      if (!library)
        library = load(std::string(home) + folder);
  if (!library) {
    error = "there is no libnvrtc.so.13 or .12, where the system looks for "
            "libraries or in CUDA_HOME";
    return nullptr;
  }
  auto compiler = std::make_unique<DeviceCompiler>();
  return compiler->find(library, error) ? std::move(compiler) : nullptr;
}

bool DeviceCompiler::find(void *library, std::string &error) {
  bool hasAll =
      findCall(library, nvrtcGetErrorString, "nvrtcGetErrorString") &
      findCall(library, nvrtcVersion, "nvrtcVersion") &
      findCall(library, nvrtcCreateProgram, "nvrtcCreateProgram") &
      findCall(library, nvrtcDestroyProgram, "nvrtcDestroyProgram") &
      findCall(library, nvrtcCompileProgram, "nvrtcCompileProgram") &
      findCall(library, nvrtcGetProgramLogSize, "nvrtcGetProgramLogSize") &
      findCall(library, nvrtcGetProgramLog, "nvrtcGetProgramLog") &
      findCall(library, nvrtcGetCUBINSize, "nvrtcGetCUBINSize") &
      findCall(library, nvrtcGetCUBIN, "nvrtcGetCUBIN");
  if (!hasAll) {
    error = "the libnvrtc that is there is none of CUDA 12 or 13";
    return false;
  }
  int major = 0, minor = 0;
  (void)nvrtcVersion(&major, &minor);
  Dl_info info;
  if (::dladdr(reinterpret_cast<void *>(nvrtcVersion), &info)) {
    std::string path = info.dli_fname;
    path.resize(path.rfind('/') + 1);
    (void)::dlopen((path + "libnvrtc-builtins.so." + std::to_string(major) +
                    "." + std::to_string(minor))
                       .c_str(),
                   RTLD_NOW | RTLD_GLOBAL);
  }
  return true;
}

/// The first lines of what the compiler says.
static std::string firstLines(const std::string &text) {
  size_t end = 0;
  for (int line = 0; line < 12 && end < text.size(); ++line)
    end = std::min(text.find('\n', end), text.size() - 1) + 1;
  return text.substr(0, end);
}

std::string
DeviceCompiler::compile(const std::pair<std::string, std::string> &source,
                        const SourceFiles &headers,
                        const std::string &architecture,
                        std::string &machineCode) const {
  std::vector<const char *> names, texts;
  for (const auto &[name, text] : headers) {
    names.push_back(name.c_str());
    texts.push_back(text.c_str());
  }
  Program program = nullptr;
  int status = nvrtcCreateProgram(
      &program, source.second.c_str(), source.first.c_str(),
      static_cast<int>(names.size()), texts.data(), names.data());
  if (status != 0)
    return nvrtcGetErrorString(status);
  std::string architectureOption = "--gpu-architecture=" + architecture;
  const char *options[] = {architectureOption.c_str(), "--std=c++17",
                           "--fmad=false", "--generate-line-info"};
  status = nvrtcCompileProgram(program, 4, options);
  std::string error;
  size_t size = 0;
  if (status != 0) {
    error = nvrtcGetErrorString(status);
    if (nvrtcGetProgramLogSize(program, &size) == 0 && size > 1) {
      std::string log(size, '\0');
      bool isRead = nvrtcGetProgramLog(program, log.data()) == 0;
      log.pop_back(); // the size counts the 0 at the end
      if (isRead)
        error += "\n" + firstLines(log);
    }
  } else if (nvrtcGetCUBINSize(program, &size) == 0) {
    machineCode.resize(size);
    status = nvrtcGetCUBIN(program, machineCode.data());
    error = status ? nvrtcGetErrorString(status) : "";
  }
  (void)nvrtcDestroyProgram(&program);
  return error;
}
