// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A regular file is mapped, privately: who changes its memory changes no file,
// and pages without a reader are never loaded. Of what is no file (a pipe, a
// device, which may never end) nothing is read. An empty file has no memory.
//
// Files of tensors, of tokens, and manifests are read this way: who looks at a
// header loads one page of it.

#include "cutback/Runtime/MappedFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace cutback;

MappedFile::MappedFile(MappedFile &&other) noexcept
    : data(std::exchange(other.data, nullptr)),
      size(std::exchange(other.size, 0)) {}

MappedFile &MappedFile::operator=(MappedFile &&other) noexcept {
  std::swap(data, other.data);
  std::swap(size, other.size);
  return *this;
}

MappedFile::~MappedFile() {
  if (data)
    ::munmap(data, size);
}

std::string MappedFile::open(const std::string &path) {
  int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  struct stat status = {};
  if (file < 0 || ::fstat(file, &status) != 0) {
    std::string what = std::strerror(errno);
    if (file >= 0)
      ::close(file);
    return what;
  }
  std::string what;
  auto length = static_cast<size_t>(status.st_size);
  void *bytes = nullptr;
  if (!S_ISREG(status.st_mode))
    what = "this is not a file";
  else if (length > 0 &&
           (bytes = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE,
                           file, 0)) == MAP_FAILED)
    what = std::strerror(errno);
  ::close(file);
  if (what.empty()) {
    MappedFile before = std::move(*this);
    data = bytes;
    size = length;
  }
  return what;
}
