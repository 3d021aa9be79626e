// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files that are either written whole or not at all, and what is no file.
#ifndef CUTBACK_SUPPORT_SAFEFILE_H
#define CUTBACK_SUPPORT_SAFEFILE_H

#include <string>
#include <string_view>
#include <vector>

namespace cutback {

/// A file of an output folder: its name in there, and its content.
struct NamedFile {
  std::string name;
  std::string_view data;
};

/// Writes `data` beside `path`, flushes it to the disk, and renames. Whatever
/// fails, an existing file keeps its content. A path that is no regular file
/// (a device, a pipe) is written directly; a symbolic link is followed.
/// Returns an empty string, or what failed and why.
std::string writeFileSafely(const std::string &path, std::string_view data);

/// Writes `files` into `folder`. A new folder appears with all of them at
/// once. In an existing one all are written and flushed under other names
/// before the first is renamed; files with other names stay. A name may have
/// folders ("stage0/forward/manifest.json"). Missing parent folders are made.
/// Returns an empty string, or what failed and why.
std::string writeFolderSafely(const std::string &folder,
                              const std::vector<NamedFile> &files);

/// Whether `path`, or what it links to, is a device such as /dev/zero, which
/// may never end.
bool isDevice(const std::string &path);

/// Writes all of `data` to an open file. Returns an empty string, or why not
/// ("No space left on device"). A reader that has gone away is no failure.
std::string writeAll(int file, std::string_view data);

} // namespace cutback

#endif // CUTBACK_SUPPORT_SAFEFILE_H
