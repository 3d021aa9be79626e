// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NVIDIA's run-time compiler (NVRTC), found at run time: machine code of the
// kernels' text where no nvcc made it.
#ifndef CUTBACK_RUNTIME_CUDA_DEVICECOMPILER_H
#define CUTBACK_RUNTIME_CUDA_DEVICECOMPILER_H

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cutback::cuda {

/// Names and texts.
using SourceFiles = std::vector<std::pair<std::string, std::string>>;

class DeviceCompiler {
public:
  /// Loads `libnvrtc.so.13` or `.12`, from where the system looks for libraries
  /// or from CUDA_HOME. Null, with `error` set, if there is none.
  static std::unique_ptr<DeviceCompiler> open(std::string &error);

  /// Machine code of `source` for one architecture ("sm_90"), with the flags
  /// that nvcc gets. `headers` are what it includes. An empty string, or the
  /// compiler's first lines.
  std::string compile(const std::pair<std::string, std::string> &source,
                      const SourceFiles &headers,
                      const std::string &architecture,
                      std::string &machineCode) const;

private:
  using Program = struct Opaque *;
  bool find(void *library, std::string &error);

  const char *(*nvrtcGetErrorString)(int);
  int (*nvrtcVersion)(int *major, int *minor);
  int (*nvrtcCreateProgram)(Program *, const char *text, const char *name,
                            int numHeaders, const char *const *headers,
                            const char *const *names);
  int (*nvrtcDestroyProgram)(Program *);
  int (*nvrtcCompileProgram)(Program, int numOptions,
                             const char *const *options);
  int (*nvrtcGetProgramLogSize)(Program, size_t *);
  int (*nvrtcGetProgramLog)(Program, char *);
  int (*nvrtcGetCUBINSize)(Program, size_t *);
  int (*nvrtcGetCUBIN)(Program, char *);
};

} // namespace cutback::cuda

#endif // CUTBACK_RUNTIME_CUDA_DEVICECOMPILER_H
