// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files that are either written whole or not at all.
//
//   1. write and fsync `.NAME.PID.RANDOM.tmp` in the folder of the target, a
//      new file that is locked meanwhile; what dead processes have left of
//      such files goes
//   2. rename it over the target, which POSIX makes atomic
//   3. fsync the folder, so that the new name survives a power failure
//
// A new folder is filled under a temporary name and renamed as a whole. Two
// folders cannot be swapped without moving what else lies in the old one, so
// in an existing folder the files are renamed one by one, after all of them
// have been written. Signals that would end the process wait meanwhile: a
// kill -9 leaves temporary files, which the next write to the same place
// removes, and, within those few microseconds, files of two runs, each whole,
// which the certificate refuses.

#include "cutback/Support/SafeFile.h"

#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cutback {

namespace {
/// Holds back the signals that end a process while temporary files exist: any
/// thread may get one, so a handler notes it, and it is raised again when the
/// files are gone. A signal that the process handles or ignores is left alone.
class SignalsHeld {
public:
  SignalsHeld() {
    std::lock_guard<std::mutex> lock(mutex);
    if (holders++)
      return;
    for (size_t i = 0; i < std::size(kEnding); ++i) {
      noted[i] = 0;
      struct sigaction own = {};
      isHeld[i] = ::sigaction(kEnding[i], nullptr, &before[i]) == 0 &&
                  !(before[i].sa_flags & SA_SIGINFO) &&
                  before[i].sa_handler == SIG_DFL;
      own.sa_handler = note;
      own.sa_flags = SA_RESTART;
      if (isHeld[i])
        ::sigaction(kEnding[i], &own, nullptr);
    }
  }
  ~SignalsHeld() {
    std::lock_guard<std::mutex> lock(mutex);
    if (--holders)
      return;
    for (size_t i = 0; i < std::size(kEnding); ++i)
      if (isHeld[i])
        ::sigaction(kEnding[i], &before[i], nullptr);
    for (size_t i = 0; i < std::size(kEnding); ++i)
      if (isHeld[i] && noted[i])
        ::kill(::getpid(), kEnding[i]);
  }
  SignalsHeld(const SignalsHeld &) = delete;
  SignalsHeld &operator=(const SignalsHeld &) = delete;

private:
  static constexpr int kEnding[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  static void note(int number) {
    for (size_t i = 0; i < std::size(kEnding); ++i)
      if (kEnding[i] == number)
        noted[i] = 1;
  }

  static inline std::mutex mutex;
  static inline unsigned holders = 0;
  static inline struct sigaction before[std::size(kEnding)];
  static inline bool isHeld[std::size(kEnding)];
  static inline volatile sig_atomic_t noted[std::size(kEnding)];
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

/// Behind the number of the process: what nobody can have made a file of.
static std::string randomDigits() {
  uint64_t number = 0;
  if (::getentropy(&number, sizeof number) != 0)
    number = std::chrono::steady_clock::now().time_since_epoch().count();
  char text[20];
  std::snprintf(text, sizeof text, "%016llx",
                static_cast<unsigned long long>(number));
  return text;
}

/// What a temporary name of `path` begins with, without its folder.
static std::string temporaryPrefix(const std::string &path) {
  size_t slash = path.rfind('/');
  return "." + path.substr(slash == std::string::npos ? 0 : slash + 1) + ".";
}

static std::string temporaryName(const std::string &path) {
  return folderOf(path) + "/" + temporaryPrefix(path) +
         std::to_string(::getpid()) + "." + randomDigits() + ".tmp";
}

/// The process that a temporary name is of, 0 for any other name.
static pid_t ownerOf(std::string_view name, std::string_view prefix) {
  constexpr size_t digits = 16;
  constexpr std::string_view suffix = ".tmp";
  size_t tail = 1 + digits + suffix.size();
  if (name.size() <= prefix.size() + tail ||
      name.substr(0, prefix.size()) != prefix ||
      name.substr(name.size() - suffix.size()) != suffix)
    return 0;
  std::string number(
      name.substr(prefix.size(), name.size() - prefix.size() - tail));
  bool isNumber = number.size() < 10 &&
                  number.find_first_not_of("0123456789") == std::string::npos;
  return isNumber && name[name.size() - tail] == '.'
             ? static_cast<pid_t>(std::stol(number))
             : 0;
}

/// Removes what a process that was killed has left beside `path`. A process
/// that lives, and one of another machine that holds its file, keeps it.
static void removeLeftOvers(const std::string &path) {
  std::string folder = folderOf(path), prefix = temporaryPrefix(path);
  DIR *listed = ::opendir(folder.c_str());
  if (!listed)
    return;
  std::vector<std::string> dead;
  while (const dirent *entry = ::readdir(listed)) {
    pid_t owner = ownerOf(entry->d_name, prefix);
    if (owner > 0 && ::kill(owner, 0) != 0 && errno == ESRCH)
      dead.push_back(folder + "/" + entry->d_name);
  }
  ::closedir(listed);
  for (const std::string &name : dead) {
    int file =
        ::open(name.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    bool isHeld = file >= 0 && ::flock(file, LOCK_EX | LOCK_NB) != 0;
    std::error_code ignored;
    if (!isHeld)
      std::filesystem::remove_all(name, ignored);
    if (file >= 0)
      ::close(file);
  }
}

/// Writes and flushes a new file with the access rights `mode`. Whatever has
/// its name already, a link too, stays and is an error.
static std::string writeNew(const std::string &path, std::string_view data,
                            mode_t mode) {
  int file = ::open(path.c_str(),
                    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  if (file < 0)
    return std::strerror(errno);
  ::flock(file, LOCK_EX | LOCK_NB);
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
  removeLeftOvers(target);
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

/// Writes all of `files` into `folder`, under the names in `paths`.
static std::string writeFiles(const std::string &folder,
                              const std::vector<NamedFile> &files,
                              const std::vector<std::string> &paths) {
  for (size_t i = 0; i < files.size(); ++i) {
    std::error_code code;
    std::filesystem::create_directories(folderOf(paths[i]), code);
    std::string error =
        code ? code.message() : writeNew(paths[i], files[i].data, 0666);
    if (error.empty())
      continue;
    for (size_t j = 0; j < i; ++j)
      ::unlink(paths[j].c_str());
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
  removeLeftOvers(folder);
  std::string temporary = temporaryName(folder);
  if (::mkdir(temporary.c_str(), 0777) != 0)
    return "cannot make folder '" + folder + "': " + std::strerror(errno);
  int lock = ::open(temporary.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock >= 0)
    ::flock(lock, LOCK_EX | LOCK_NB);
  std::vector<std::string> paths;
  for (const NamedFile &file : files)
    paths.push_back(temporary + "/" + file.name);
  std::string error = writeFiles(folder, files, paths);
  if (lock >= 0)
    ::close(lock);
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
  std::vector<std::string> paths;
  for (const NamedFile &file : files) {
    std::string path = target + "/" + file.name;
    if (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode))
      return cannotWrite(path, EISDIR);
    removeLeftOvers(path);
    paths.push_back(temporaryName(path));
  }
  std::string error = writeFiles(target, files, paths);
  if (!error.empty())
    return error;
  for (size_t i = 0; i < files.size(); ++i) {
    std::string path = target + "/" + files[i].name;
    if (::rename(paths[i].c_str(), path.c_str()) != 0 && error.empty())
      error = cannotWrite(path, errno);
    ::unlink(paths[i].c_str());
  }
  syncFolder(target);
  return error;
}

} // namespace cutback
