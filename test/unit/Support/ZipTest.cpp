// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Archives as PyTorch and zip programs write them, and everything that a
// directory can lie about.

#include "ZipWriter.h"

#include "cutback/Support/Zip.h"

#include "gtest/gtest.h"

using namespace cutback;
using namespace cutback::test;

namespace {

/// "message (offset)" of the error, or "" if the archive reads.
std::string errorOf(const std::string &file) {
  ZipArchive archive;
  auto error = ZipArchive::read(file, archive);
  if (!error)
    return "";
  EXPECT_FALSE(error->next.empty());
  EXPECT_LE(error->offset, file.size());
  return error->message;
}

/// What is advised where the archive does not read.
std::string nextOf(const std::string &file) {
  ZipArchive archive;
  auto error = ZipArchive::read(file, archive);
  return error ? error->next : "";
}

std::string contentOf(const ZipArchive &archive, std::string_view name) {
  const ZipEntry *entry = archive.find(name);
  if (!entry)
    return "no entry";
  std::string buffer;
  std::string_view result;
  if (auto error = archive.content(*entry, true, buffer, result))
    return error->message;
  return std::string(result);
}

ZipWriter twoEntries() {
  ZipWriter zip;
  zip.add("r/a", "hello");
  zip.add("r/b", "");
  return zip;
}

} // namespace

TEST(Zip, EntriesAreReadWhereTheyLie) {
  std::string file = twoEntries().str();
  ZipArchive archive;
  ASSERT_FALSE(ZipArchive::read(file, archive));
  ASSERT_EQ(archive.entries().size(), 2u);
  EXPECT_EQ(archive.entries()[0].name, "r/a");
  EXPECT_EQ(contentOf(archive, "r/a"), "hello");
  EXPECT_EQ(contentOf(archive, "r/b"), "");
  EXPECT_EQ(archive.find("a"), nullptr);
  const char *data = archive.find("r/a")->data.data();
  EXPECT_EQ((data - file.data()) % 64, 0);
}

TEST(Zip, CommentsAndSixtyFourBits) {
  ZipWriter zip = twoEntries();
  zip.comment = "written by a test";
  zip.zip64 = true;
  std::string file = zip.str();
  ZipArchive archive;
  ASSERT_FALSE(ZipArchive::read(file, archive));
  EXPECT_EQ(contentOf(archive, "r/a"), "hello");
  size_t locator = file.find("PK\6\7");
  file[locator + 8] ^= 1;
  EXPECT_EQ(errorOf(file), "the archive's 64-bit directory record is not where "
                           "it is said to be");
}

TEST(Zip, CompressedEntriesAreUnpacked) {
  ZipWriter zip;
  std::string text(10000, 'x');
  zip.add("a", text, true);
  std::string file = zip.str();
  ZipArchive archive;
  ASSERT_FALSE(ZipArchive::read(file, archive));
  EXPECT_EQ(contentOf(archive, "a"), text);
  zip.entries[0].size -= 1;
  file = zip.str();
  ASSERT_FALSE(ZipArchive::read(file, archive));
  EXPECT_EQ(contentOf(archive, "a"),
            "entry 'a' does not unpack to its 9999 bytes");
  zip.entries[0].size += 2;
  file = zip.str();
  ASSERT_FALSE(ZipArchive::read(file, archive));
  EXPECT_EQ(contentOf(archive, "a"),
            "entry 'a' does not unpack to its 10001 bytes");
}

TEST(Zip, AChangedByteIsFoundByItsChecksum) {
  std::string file = twoEntries().str();
  file[file.find("hello")] = 'j';
  ZipArchive archive;
  ASSERT_FALSE(ZipArchive::read(file, archive));
  EXPECT_EQ(contentOf(archive, "r/a"),
            "entry 'r/a' does not have its checksum");
}

TEST(Zip, EveryPrefixIsAnError) {
  std::string file = twoEntries().str();
  for (size_t size = 0; size < file.size(); ++size)
    EXPECT_NE(errorOf(file.substr(0, size)), "") << size;
  EXPECT_EQ(errorOf(""), "the archive is cut off: it has no directory");
}

TEST(Zip, EveryChangedByteIsReadOrRefused) {
  ZipWriter zip = twoEntries();
  zip.zip64 = true;
  std::string file = zip.str();
  for (size_t i = 0; i < file.size(); ++i)
    for (char flip : {1, 0x40, -1}) {
      std::string changed = file;
      changed[i] = static_cast<char>(changed[i] ^ flip);
      ZipArchive archive;
      if (ZipArchive::read(changed, archive))
        continue;
      for (const ZipEntry &entry : archive.entries()) {
        std::string buffer;
        std::string_view result;
        (void)archive.content(entry, true, buffer, result);
      }
    }
}

TEST(Zip, LyingDirectories) {
  ZipWriter zip = twoEntries();
  zip.entries[0].compressed = zip.entries[0].size = 1 << 20;
  EXPECT_EQ(errorOf(zip.str()), "entry 'r/a' of 1048576 bytes goes beyond the "
                                "archive's data");
  zip = twoEntries();
  zip.entries[0].size = 6;
  EXPECT_EQ(errorOf(zip.str()),
            "entry 'r/a' is stored and has two sizes, 5 and 6");
  zip = twoEntries();
  zip.entries[0].localName = "r/c";
  EXPECT_EQ(errorOf(zip.str()),
            "entry 'r/a' has another name in front of its bytes");
  zip = twoEntries();
  std::string file = zip.str();
  file[file.find("PK\1\2", file.find("PK\1\2") + 4)] = 'Q';
  EXPECT_EQ(errorOf(file), "the archive's directory ends after 1 of 2 entries");
  zip.extraCount = 60000;
  EXPECT_EQ(errorOf(zip.str()), "the archive says to have 60002 entries, which "
                                "its directory cannot hold");
}

TEST(Zip, NamesMustStayInTheArchive) {
  for (const char *name : {"../a", "a/../b", "/a", "a\\b", "C:a", "a/..", ""}) {
    ZipWriter zip;
    zip.add(name, "x");
    EXPECT_EQ(errorOf(zip.str()), "entry '" + std::string(name) +
                                      "' has a name outside the archive");
  }
  ZipWriter zip = twoEntries();
  zip.add("r/a", "again");
  EXPECT_EQ(errorOf(zip.str()), "entry 'r/a' occurs twice");
  EXPECT_EQ(nextOf(zip.str()),
            "do not use this file: no exporter writes a name twice");
  ZipWriter outside;
  outside.add("../a", "x");
  EXPECT_EQ(nextOf(outside.str()),
            "do not use this file: no exporter writes such a name");
}

TEST(Zip, BombsAreRefused) {
  ZipWriter zip;
  zip.add("a", "x", true).size = uint64_t(1) << 31;
  EXPECT_EQ(errorOf(zip.str()), "entry 'a' unpacks from 3 to 2147483648 bytes");
  EXPECT_EQ(nextOf(zip.str()),
            "do not use this file: no model compresses like this");
  // Two entries on the same bytes.
  std::string file = twoEntries().str();
  size_t first = file.find("PK\1\2"), second = file.find("PK\1\2", first + 4);
  ZipWriter same;
  same.add("a", "12345");
  same.add("b", "12345");
  file = same.str();
  first = file.find("PK\1\2");
  second = file.find("PK\1\2", first + 4);
  for (int i = 0; i < 4; ++i)
    file[second + 42 + i] = file[first + 42 + i];
  file[second + 46] = 'a';
  EXPECT_EQ(errorOf(file), "entry 'a' occurs twice");
  // A long entry over a short one.
  ZipWriter over;
  over.add("a", std::string(500, 'a'));
  over.add("b", "b");
  over.entries[0].size = over.entries[0].compressed = 520;
  EXPECT_EQ(errorOf(over.str()), "two entries share bytes");
  EXPECT_EQ(nextOf(over.str()),
            "do not use this file: no exporter writes such an archive");
}

TEST(Zip, WhatIsNotReadIsNamed) {
  ZipWriter zip = twoEntries();
  zip.entries[0].flags |= 1;
  EXPECT_EQ(errorOf(zip.str()), "entry 'r/a' is encrypted");
  EXPECT_EQ(nextOf(zip.str()),
            "unpack it and pack it again with a plain zip program");
  zip = twoEntries();
  zip.entries[0].method = 14;
  EXPECT_EQ(errorOf(zip.str()),
            "entry 'r/a' is packed by method 14, which is not read");
  std::string file = twoEntries().str();
  size_t end = file.find("PK\5\6");
  file[end + 4] = 1;
  EXPECT_EQ(errorOf(file), "the archive is split over several files");
  file = twoEntries().str();
  file[end + 16] = static_cast<char>(file[end + 16] + 60);
  EXPECT_EQ(errorOf(file), "the archive's directory is not where it is said to "
                           "be");
  file = twoEntries().str();
  file[file.find("PK\1\2") + 42] = 1;
  EXPECT_EQ(errorOf(file), "entry 'r/a' is not where the directory says");
  file = twoEntries().str();
  file[file.find("PK\1\2") + 32] = 127; // a comment beyond the directory
  EXPECT_EQ(errorOf(file), "an entry of the archive's directory is cut off");
  ZipWriter wide = twoEntries();
  wide.entries[0].size = wide.entries[0].compressed = 0xffffffff;
  EXPECT_EQ(errorOf(wide.str()), "entry 'r/a' of 4294967295 bytes goes beyond "
                                 "the archive's data");
  wide.zip64 = true;
  file = wide.str();
  size_t extra = file.find("r/a", file.find("PK\1\2")) + 3;
  file[extra + 2] = 4; // the extra field's length
  EXPECT_EQ(errorOf(file), "entry 'r/a' lacks a size of its 64-bit record");
}
