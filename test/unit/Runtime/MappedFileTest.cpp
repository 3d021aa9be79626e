// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files as memory.

#include "cutback/Runtime/MappedFile.h"

#include "gtest/gtest.h"

#include <cstdio>
#include <unistd.h>
#include <utility>

using namespace cutback;

namespace {

TEST(MappedFileTest, AFileIsItsBytesWhoeverHasIt) {
  char name[] = "/tmp/mapped-XXXXXX";
  int file = ::mkstemp(name);
  ASSERT_EQ(::write(file, "bytes", 5), 5);
  ::close(file);
  MappedFile first;
  EXPECT_EQ(first.open(name), "");
  MappedFile second = std::move(first);
  EXPECT_EQ(second.bytes(), "bytes");
  EXPECT_TRUE(first.bytes().empty());
  EXPECT_EQ(second.open("/nowhere"), "No such file or directory");
  EXPECT_EQ(second.bytes(), "bytes") << "what was open stays";
  EXPECT_EQ(::truncate(name, 0), 0);
  EXPECT_EQ(first.open(name), "");
  EXPECT_TRUE(first.bytes().empty());
  std::remove(name);
}

TEST(MappedFileTest, WhatIsNoFileIsNotRead) {
  MappedFile file;
  EXPECT_EQ(file.open("/dev/zero"), "this is not a file");
  EXPECT_EQ(file.open("/"), "this is not a file");
}

} // namespace
