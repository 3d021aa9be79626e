// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "cutback/Support/ShellTest.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

using namespace cutback;

namespace {
std::atomic<bool> never{false};

ShellOutcome runOne(const std::string &command, const std::string &text,
                    double timeout = 20) {
  ShellTest test(command, "file.txt", timeout, never);
  EXPECT_EQ(test.failure(), "");
  return test.run({text}).front();
}
} // namespace

TEST(ShellTest, theCommandReadsTheText) {
  EXPECT_TRUE(runOne("grep -q needle {}", "hay needle hay").succeeded());
  ShellOutcome outcome = runOne("grep -q needle {}", "hay");
  EXPECT_FALSE(outcome.succeeded());
  EXPECT_EQ(outcome.describe(1), "exit code 1");
  EXPECT_TRUE(runOne("cmp {} {}", "twice").succeeded());
}

TEST(ShellTest, aSignalIsNoSuccess) {
  ShellOutcome outcome = runOne("kill -9 $$; : {}", "");
  EXPECT_EQ(outcome.kind, ShellOutcome::Signalled);
  EXPECT_EQ(outcome.describe(1), "signal 9");
}

TEST(ShellTest, aHangingCommandAndItsChildrenAreKilled) {
  auto start = std::chrono::steady_clock::now();
  ShellOutcome outcome = runOne("sleep 60 & sleep 60; : {}", "", 0.3);
  EXPECT_EQ(outcome.kind, ShellOutcome::TimedOut);
  EXPECT_EQ(outcome.describe(1), "killed after 1 s");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(ShellTest, severalTextsHaveTheirOwnFiles) {
  ShellTest test("grep -q b {}", "file.txt", 20, never);
  std::vector<ShellOutcome> outcomes = test.run({"a", "b", "c", "b"});
  ASSERT_EQ(outcomes.size(), 4u);
  EXPECT_FALSE(outcomes[0].succeeded());
  EXPECT_TRUE(outcomes[1].succeeded());
  EXPECT_FALSE(outcomes[2].succeeded());
  EXPECT_TRUE(outcomes[3].succeeded());
}

TEST(ShellTest, aRequestToStopEndsTheWait) {
  std::atomic<bool> stop{false};
  ShellTest test("sleep 60; : {}", "file.txt", 60, stop);
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    stop = true;
  });
  ShellOutcome outcome = test.run({""}).front();
  later.join();
  EXPECT_EQ(outcome.kind, ShellOutcome::Interrupted);
  EXPECT_EQ(outcome.describe(1), "interrupted");
}

TEST(ShellTest, nothingIsLeftBehind) {
  std::string folder = ::testing::TempDir() + "shell-test";
  std::filesystem::create_directory(folder);
  const char *before = std::getenv("TMPDIR");
  std::string old = before ? before : "/tmp";
  ::setenv("TMPDIR", folder.c_str(), 1);
  EXPECT_TRUE(runOne("touch {}.more", "text").succeeded());
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  ::setenv("TMPDIR", (folder + "/none").c_str(), 1);
  ShellTest test(": {}", "file.txt", 1, never);
  EXPECT_EQ(test.failure(), "cannot make a folder in '" + folder +
                                "/none': No such file or directory");
  ::setenv("TMPDIR", old.c_str(), 1);
  std::filesystem::remove_all(folder);
}
