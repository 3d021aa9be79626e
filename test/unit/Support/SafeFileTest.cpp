// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cutback/Support/SafeFile.h"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace cutback;
namespace fs = std::filesystem;

namespace {

class SafeFile : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "cutback-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder = pattern;
  }
  void TearDown() override { fs::remove_all(folder); }

  std::string path(const std::string &name) { return folder + "/" + name; }
  std::string read(const std::string &name) {
    std::ifstream file(path(name));
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  size_t entries(const std::string &of = "") {
    return std::distance(fs::directory_iterator(folder + "/" + of),
                         fs::directory_iterator());
  }

  std::string folder;
};

} // namespace

TEST_F(SafeFile, writesAndReplaces) {
  EXPECT_EQ(writeFileSafely(path("a"), "one"), "");
  EXPECT_EQ(read("a"), "one");
  ::chmod(path("a").c_str(), 0640);
  EXPECT_EQ(writeFileSafely(path("a"), "two"), "");
  EXPECT_EQ(read("a"), "two");
  struct stat info;
  ASSERT_EQ(::stat(path("a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u) << "access rights stay";
  EXPECT_EQ(entries(), 1u) << "no temporary file is left";
}

TEST_F(SafeFile, aLinkToNothingMakesWhatItNames) {
  fs::create_symlink("second", path("first"));
  fs::create_symlink(path("target"), path("second"));
  EXPECT_EQ(writeFileSafely(path("first"), "one"), "");
  EXPECT_EQ(read("target"), "one");
  EXPECT_TRUE(fs::is_symlink(path("first"))) << "the link stays";
  EXPECT_EQ(entries(), 3u);
  fs::create_symlink("made", path("folder"));
  EXPECT_EQ(writeFolderSafely(path("folder"), {{"a", "two"}}), "");
  EXPECT_EQ(read("made/a"), "two");
}

TEST_F(SafeFile, aLinkThatLeadsNowhereIsAnErrorAndStays) {
  fs::create_symlink("none/target", path("link"));
  EXPECT_EQ(writeFileSafely(path("link"), "one"),
            "cannot write '" + path("link") + "' -> '" + folder +
                "/none/target': No such file or directory");
  fs::create_symlink("loop", path("loop"));
  EXPECT_EQ(writeFileSafely(path("loop"), "one"),
            "cannot write '" + path("loop") +
                "': Too many levels of symbolic links");
  EXPECT_EQ(writeFolderSafely(path("loop"), {{"a", "one"}}),
            "cannot write '" + path("loop") +
                "': Too many levels of symbolic links");
  EXPECT_TRUE(fs::is_symlink(path("link")) && fs::is_symlink(path("loop")));
  EXPECT_EQ(entries(), 2u) << "no temporary file is left";
}

TEST_F(SafeFile, followsALink) {
  EXPECT_EQ(writeFileSafely(path("a"), "one"), "");
  fs::create_symlink("a", path("link"));
  EXPECT_EQ(writeFileSafely(path("link"), "two"), "");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read("a"), "two");
}

TEST_F(SafeFile, namesWhatIsWrong) {
  EXPECT_EQ(writeFileSafely(folder, "x"),
            "cannot write '" + folder + "': Is a directory");
  EXPECT_EQ(writeFileSafely(path("none/a"), "x"),
            "cannot write '" + path("none/a") + "': No such file or directory");
  EXPECT_EQ(writeFileSafely("/dev/full", "x"),
            "cannot write '/dev/full': No space left on device");
  EXPECT_EQ(writeFileSafely("/dev/null", "x"), "");
}

TEST_F(SafeFile, aFailedWriteLeavesTheOldFile) {
  EXPECT_EQ(writeFileSafely(path("a"), "old"), "");
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  ::getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = {1000, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  std::string error = writeFileSafely(path("a"), std::string(5000, 'x'));
  std::string folderError =
      writeFolderSafely(folder, {{"a", "new"}, {"b", std::string(5000, 'x')}});
  std::string newError = writeFolderSafely(
      path("new"), {{"a", "new"}, {"b", std::string(5000, 'x')}});
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(error, "cannot write '" + path("a") + "': File too large");
  EXPECT_NE(folderError.find("File too large"), std::string::npos);
  EXPECT_NE(newError.find("File too large"), std::string::npos);
  EXPECT_EQ(read("a"), "old");
  EXPECT_EQ(entries(), 1u) << "nothing half-written is left";
}

TEST_F(SafeFile, aNewFolderAppearsWhole) {
  EXPECT_EQ(writeFolderSafely(path("out/deep/"), {{"a", "1"}, {"b", "2"}}), "");
  EXPECT_EQ(read("out/deep/a"), "1");
  EXPECT_EQ(read("out/deep/b"), "2");
  EXPECT_EQ(entries("out"), 1u);
}

TEST_F(SafeFile, anExistingFolderKeepsOtherFiles) {
  fs::create_directory(path("out"));
  EXPECT_EQ(writeFileSafely(path("out/mine"), "mine"), "");
  EXPECT_EQ(writeFileSafely(path("out/a"), "old"), "");
  EXPECT_EQ(writeFolderSafely(path("out"), {{"a", "1"}, {"b", "2"}}), "");
  EXPECT_EQ(read("out/mine"), "mine");
  EXPECT_EQ(read("out/a"), "1");
  EXPECT_EQ(entries("out"), 3u);
}

/// A number that no process has.
std::string deadProcess() {
  pid_t child = ::fork();
  if (child == 0)
    ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return std::to_string(child);
}

TEST_F(SafeFile, whatDeadProcessesLeftGoesAndNothingElse) {
  std::string tail = "." + std::string(16, 'a') + ".tmp";
  std::string dead = deadProcess() + tail;
  std::string alive = std::to_string(::getppid()) + tail;
  for (const std::string &name : std::vector<std::string>{
           ".a." + dead, ".a." + alive, ".b." + dead, ".a.tmp", ".a.x" + tail})
    std::ofstream(path(name)) << "left";
  fs::create_directory(path(".out." + dead));
  std::ofstream(path(".out." + dead + "/big")) << "left";
  EXPECT_EQ(writeFileSafely(path("a"), "x"), "");
  EXPECT_EQ(writeFolderSafely(path("out"), {{"f", "1"}}), "");
  EXPECT_FALSE(fs::exists(path(".a." + dead)));
  EXPECT_FALSE(fs::exists(path(".out." + dead)));
  EXPECT_TRUE(fs::exists(path(".a." + alive)));
  EXPECT_TRUE(fs::exists(path(".b." + dead))) << "of another file";
  EXPECT_TRUE(fs::exists(path(".a.tmp")) && fs::exists(path(".a.x" + tail)));
}

TEST_F(SafeFile, aLinkThatWasPlantedIsNotWritten) {
  // The names of before, for each process that this one could be.
  std::ofstream(path("victim")) << "mine";
  fs::create_symlink(path("victim"),
                     path(".a." + std::to_string(::getpid()) + ".tmp"));
  EXPECT_EQ(writeFileSafely(path("a"), "x"), "");
  EXPECT_EQ(read("victim"), "mine");
  EXPECT_EQ(read("a"), "x");
}

/// Ends with a signal that another thread gets while files are written again
/// and again.
[[noreturn]] void writeUntilEnded(const std::string &folder, bool toFolder) {
  std::thread other([] { ::sleep(10); });
  std::string data(1 << 20, 'x');
  for (int i = 0; i < 10000; ++i)
    toFolder ? writeFolderSafely(folder + "/new" + std::to_string(i),
                                 {{"a", data}, {"b", data}})
             : writeFileSafely(folder + "/a", data);
  ::_exit(1);
}

TEST_F(SafeFile, aSignalToAnyThreadLeavesNothing) {
  for (bool toFolder : {false, true}) {
    pid_t child = ::fork();
    if (child == 0)
      writeUntilEnded(folder, toFolder);
    ::usleep(60000);
    ::kill(child, SIGTERM);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    for (const auto &entry : fs::directory_iterator(folder))
      EXPECT_NE(entry.path().extension(), ".tmp") << entry.path();
  }
}

TEST_F(SafeFile, aFolderIsNoFile) {
  EXPECT_EQ(writeFileSafely(path("a"), "x"), "");
  EXPECT_EQ(writeFolderSafely(path("a"), {{"b", "1"}}),
            "cannot write '" + path("a") + "': Not a directory");
  EXPECT_NE(
      writeFolderSafely(path("a/b"), {{"c", "1"}}).find("cannot make folder"),
      std::string::npos);
  fs::create_directories(path("out/a"));
  EXPECT_EQ(writeFolderSafely(path("out"), {{"a", "1"}}),
            "cannot write '" + path("out/a") + "': Is a directory");
}

TEST_F(SafeFile, devicesAreToldFromFiles) {
  EXPECT_TRUE(isDevice("/dev/null"));
  fs::create_symlink("/dev/zero", path("zero"));
  EXPECT_TRUE(isDevice(path("zero")));
  EXPECT_EQ(writeFileSafely(path("a"), "x"), "");
  EXPECT_FALSE(isDevice(path("a")));
  EXPECT_FALSE(isDevice(path("none")));
}

TEST_F(SafeFile, aReaderThatLeavesIsNoFailure) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  ::signal(SIGPIPE, SIG_IGN);
  EXPECT_EQ(writeAll(ends[1], "text"), "");
  ::close(ends[1]);
  EXPECT_EQ(writeAll(-1, "text"), "Bad file descriptor");
}
