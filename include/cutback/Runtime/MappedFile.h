// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file as memory.
#ifndef CUTBACK_RUNTIME_MAPPEDFILE_H
#define CUTBACK_RUNTIME_MAPPEDFILE_H

#include <string>
#include <string_view>

namespace cutback {

class MappedFile {
public:
  MappedFile() = default;
  MappedFile(MappedFile &&other) noexcept;
  MappedFile &operator=(MappedFile &&other) noexcept;
  ~MappedFile();

  /// Maps all of a regular file, for as long as this lives: memory of the
  /// process alone, which may be written. An empty string, or why not.
  std::string open(const std::string &path);
  std::string_view bytes() const {
    return {static_cast<const char *>(data), size};
  }

private:
  void *data = nullptr;
  size_t size = 0;
};

} // namespace cutback

#endif // CUTBACK_RUNTIME_MAPPEDFILE_H
