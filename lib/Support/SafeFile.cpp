// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files that are either written whole or not at all.
//
//   1. write and fsync `.NAME.PID.tmp` in the folder of the target
//   2. rename it over the target, which POSIX makes atomic
//   3. fsync the folder, so that the new name survives a power failure
//
// A new folder is filled under a temporary name and renamed as a whole. Two
// folders cannot be swapped without moving what else lies in the old one, so
// in an existing folder the files are renamed one by one, after all of them
// have been written. Signals that would end the process wait meanwhile: only a
// kill -9 within those few microseconds leaves files of two runs, each whole,
// and the certificate refuses them.

#include "cutback/Support/SafeFile.h"

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace cutback {

namespace {
/// Holds back the signals that end a process while temporary files exist.
class SignalsHeld {
public:
  SignalsHeld() {
    sigset_t held;
    sigemptyset(&held);
    for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT})
      sigaddset(&held, number);
    pthread_sigmask(SIG_BLOCK, &held, &before);
  }
  ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }

private:
  sigset_t before;
};
} // namespace

static std::string cannotWrite(const std::string &path, int code) {
  return "cannot write '" + path + "': " + std::strerror(code);
}

bool isDevice(const std::string &path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 &&
         (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode));
}

std::string writeAll(int file, std::string_view data) {
  while (!data.empty()) {
    ssize_t written = ::write(file, data.data(), data.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0 && errno == EPIPE)
      return "";
    if (written < 0)
      return std::strerror(errno);
    data.remove_prefix(written);
  }
  return "";
}

static void syncFolder(const std::string &folder) {
  int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0)
    return;
  ::fsync(file);
  ::close(file);
}

static std::string folderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  if (slash == std::string::npos)
    return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

static std::string temporaryName(const std::string &path) {
  size_t slash = path.rfind('/');
  size_t name = slash == std::string::npos ? 0 : slash + 1;
  return path.substr(0, name) + "." + path.substr(name) + "." +
         std::to_string(::getpid()) + ".tmp";
}

/// Writes and flushes a new file with the access rights `mode`.
static std::string writeNew(const std::string &path, std::string_view data,
                            mode_t mode) {
  int file =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
  if (file < 0)
    return std::strerror(errno);
  std::string error = writeAll(file, data);
  if (error.empty() && ::fsync(file) != 0)
    error = std::strerror(errno);
  if (::close(file) != 0 && error.empty())
    error = std::strerror(errno);
  if (!error.empty())
    ::unlink(path.c_str());
  return error;
}

/// Where symbolic links lead; the last one may name what is not there yet.
static std::string resolved(std::string path) {
  constexpr int maxLinks = 40;
  char buffer[PATH_MAX];
  for (int i = 0; i < maxLinks; ++i) {
    if (::realpath(path.c_str(), buffer))
      return buffer;
    ssize_t length = ::readlink(path.c_str(), buffer, sizeof buffer);
    if (length < 0)
      return path;
    std::string to(buffer, static_cast<size_t>(length));
    path = to[0] == '/' ? to : folderOf(path) + "/" + to;
  }
  return path;
}

/// What to call the target of a link in a message.
static std::string shownTarget(const std::string &path,
                               const std::string &target) {
  struct stat info;
  bool isLink = ::lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode);
  return isLink ? path + "' -> '" + target : path;
}

std::string writeFileSafely(const std::string &path, std::string_view data) {
  std::string target = resolved(path);
  struct stat info;
  bool exists = ::stat(target.c_str(), &info) == 0;
  if (!exists && errno == ELOOP)
    return cannotWrite(path, ELOOP);
  if (exists && S_ISDIR(info.st_mode))
    return cannotWrite(path, EISDIR);
  if (exists && !S_ISREG(info.st_mode)) {
    int file = ::open(target.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0)
      return cannotWrite(path, errno);
    std::string error = writeAll(file, data);
    ::close(file);
    return error.empty() ? "" : "cannot write '" + path + "': " + error;
  }
  SignalsHeld held;
  std::string temporary = temporaryName(target);
  mode_t mode = exists ? info.st_mode & 07777 : 0666;
  std::string error = writeNew(temporary, data, mode);
  if (!error.empty())
    return "cannot write '" + shownTarget(path, target) + "': " + error;
  if (::rename(temporary.c_str(), target.c_str()) != 0) {
    int code = errno;
    ::unlink(temporary.c_str());
    return cannotWrite(path, code);
  }
  syncFolder(folderOf(target));
  return "";
}

/// Writes all of `files` into `folder`, under the names that `nameOf` gives.
template <typename NameOf>
static std::string writeFiles(const std::string &folder,
                              const std::vector<NamedFile> &files,
                              NameOf nameOf) {
  for (size_t i = 0; i < files.size(); ++i) {
    std::string path = nameOf(folder + "/" + files[i].name);
    std::string error = writeNew(path, files[i].data, 0666);
    if (error.empty())
      continue;
    for (size_t j = 0; j < i; ++j)
      ::unlink(nameOf(folder + "/" + files[j].name).c_str());
    return "cannot write '" + folder + "/" + files[i].name + "': " + error;
  }
  return "";
}

static std::string writeNewFolder(const std::string &folder,
                                  const std::vector<NamedFile> &files) {
  std::error_code code;
  std::filesystem::create_directories(folderOf(folder), code);
  if (code)
    return "cannot make folder '" + folderOf(folder) + "': " + code.message();
  std::string temporary = temporaryName(folder);
  if (::mkdir(temporary.c_str(), 0777) != 0)
    return "cannot make folder '" + folder + "': " + std::strerror(errno);
  std::string error =
      writeFiles(temporary, files, [](std::string path) { return path; });
  if (error.empty()) {
    syncFolder(temporary);
    if (::rename(temporary.c_str(), folder.c_str()) == 0) {
      syncFolder(folderOf(folder));
      return "";
    }
    error = cannotWrite(folder, errno);
  }
  std::filesystem::remove_all(temporary, code);
  return error;
}

std::string writeFolderSafely(const std::string &folder,
                              const std::vector<NamedFile> &files) {
  std::string target = folder;
  while (target.size() > 1 && target.back() == '/')
    target.pop_back();
  target = resolved(target);
  SignalsHeld held;
  struct stat info;
  if (::stat(target.c_str(), &info) != 0)
    return errno == ELOOP ? cannotWrite(folder, ELOOP)
                          : writeNewFolder(target, files);
  if (!S_ISDIR(info.st_mode))
    return cannotWrite(folder, ENOTDIR);
  for (const NamedFile &file : files) {
    std::string path = target + "/" + file.name;
    if (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode))
      return cannotWrite(path, EISDIR);
  }
  std::string error = writeFiles(target, files, temporaryName);
  if (!error.empty())
    return error;
  for (const NamedFile &file : files) {
    std::string path = target + "/" + file.name;
    if (::rename(temporaryName(path).c_str(), path.c_str()) != 0 &&
        error.empty())
      error = cannotWrite(path, errno);
    ::unlink(temporaryName(path).c_str());
  }
  syncFolder(target);
  return error;
}

} // namespace cutback
