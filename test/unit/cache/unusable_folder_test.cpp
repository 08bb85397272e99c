// SPDX-License-Identifier: Apache-2.0
// cache/unusable_folder_test.cpp — folders that cannot or must not be used: everything works, one
// warning says why.
#include <sys/stat.h>
#include <unistd.h>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cache_testing.h"
#include "runtime/cache_folder.h"
#include "runtime/disk_cache.h"

namespace tilewright {
namespace {

// Uses a cache in `folder` in every way; returns how often something was compiled and whether all
// results were right.
std::string use_cache(const std::string& folder, std::size_t size = 300) {
  int made = 0;
  bool is_right = true;
  for (int repeat = 0; repeat < 2; ++repeat) {
    DiskCache cache(folder, megabyte);
    for (std::uint64_t key = 0; key < 4; ++key)
      is_right &=
          same(cache.find_or_make(test_key(key), [&] { return ++made, test_binary(key, size); }),
               test_binary(key, size));
    is_right &= std::filesystem::is_directory(cache.temporary_folder());
    cache.clear();
  }
  return fmt::format("{} made, {}", made, is_right ? "right" : "wrong");
}

void expect_used_without(const std::string& folder, const std::string& warning) {
  const ChildResult child = run_in_child([&] { return use_cache(folder); });
  EXPECT_EQ(child.result, "8 made, right");
  EXPECT_EQ(child.errors, "tilewright: warning: kernels are not kept on disk: " + warning + "\n");
  EXPECT_EQ(child.exit_code, 0);
}

TEST(UnusableFolder, NoFolderIsKnown) {
  expect_used_without("",
                      "no cache folder is known because TILEWRIGHT_CACHE_DIR, XDG_CACHE_HOME and "
                      "HOME are not set; set "
                      "TILEWRIGHT_CACHE_DIR");
  EXPECT_FALSE(DiskCache("", megabyte).info().is_usable);
}

TEST(UnusableFolder, IsAFile) {
  const TestFolder folder;
  write_text(folder / "c", "text");
  expect_used_without(
      folder / "c",
      fmt::format(
          "the cache folder {}/c is not a folder; set TILEWRIGHT_CACHE_DIR to a folder of your own",
          folder.path()));
  EXPECT_EQ(read_text(folder / "c"), "text");
}

TEST(UnusableFolder, IsBelowAFile) {
  const TestFolder folder;
  write_text(folder / "f", "text");
  expect_used_without(folder / "f/c",
                      fmt::format("the cache folder {}/f/c cannot be used (Not a directory); set "
                                  "TILEWRIGHT_CACHE_DIR to a folder of your own",
                                  folder.path()));
}

TEST(UnusableFolder, CanBeWrittenByOthers) {
  const TestFolder folder;
  for (const mode_t mode : {0770, 0777, 01777, 0720, 0702}) {
    std::filesystem::create_directories(folder / "c");
    ASSERT_EQ(chmod((folder / "c").c_str(), mode), 0);
    expect_used_without(
        folder / "c",
        fmt::format(
            "the cache folder {}/c can be written by others (mode {:04o}); run 'chmod go-w' on "
            "it or set TILEWRIGHT_CACHE_DIR to a folder of your own",
            folder.path(), mode));
    EXPECT_TRUE(names_in(folder / "c").empty());
    EXPECT_FALSE(DiskCache(folder / "c", megabyte).info().is_usable);
  }
}

TEST(UnusableFolder, ReadableByOthersIsFine) {
  const TestFolder folder;
  std::filesystem::create_directories(folder / "c");
  ASSERT_EQ(chmod((folder / "c").c_str(), 0755), 0);
  DiskCache cache(folder / "c", megabyte);
  cache.store(test_key(1), test_binary(1));
  EXPECT_TRUE(cache.find(test_key(1)));
}

// ---- As another user, since root may write everywhere.

TEST(UnusableFolder, BelongsToAnotherUser) {
  const TestFolder folder;
  ASSERT_EQ(chmod(folder.path().c_str(), 0755), 0);
  DiskCache ours(folder / "c", megabyte);
  ours.store(test_key(1), test_binary(1));
  ASSERT_EQ(chmod((folder / "c").c_str(), 0755), 0);
  ASSERT_EQ(chmod((folder / "c/entries").c_str(), 0755), 0);
  ASSERT_EQ(chmod(entry_path(folder / "c", test_key(1)).c_str(), 0644), 0);
  const ChildResult child = run_in_child([&] {
    if (const std::string reason = become_nobody(); !reason.empty()) return skip_mark + reason;
    return use_cache(folder / "c");
  });
  if (child.result.starts_with(skip_mark)) GTEST_SKIP() << child.result;
  EXPECT_EQ(child.result, "8 made, right");
  EXPECT_EQ(child.errors,
            fmt::format("tilewright: warning: kernels are not kept on disk: the cache folder {}/c "
                        "belongs to user 0, "
                        "not to user 65534; set TILEWRIGHT_CACHE_DIR to a folder of your own\n",
                        folder.path()));
  EXPECT_EQ(ours.info().entries, 1);
}

TEST(UnusableFolder, CannotBeMade) {
  const TestFolder folder;
  ASSERT_EQ(chmod(folder.path().c_str(), 0755), 0);
  const ChildResult child = run_in_child([&] {
    if (const std::string reason = become_nobody(); !reason.empty()) return skip_mark + reason;
    return use_cache(folder / "deep/c");
  });
  if (child.result.starts_with(skip_mark)) GTEST_SKIP() << child.result;
  EXPECT_EQ(child.result, "8 made, right");
  EXPECT_EQ(child.errors,
            fmt::format("tilewright: warning: kernels are not kept on disk: the cache folder "
                        "{}/deep/c cannot be made "
                        "(Permission denied); set TILEWRIGHT_CACHE_DIR to a folder of your own\n",
                        folder.path()));
}

// A cache that was filled and then made read-only still serves what it has.
TEST(UnusableFolder, ReadOnlyServesWhatItHas) {
  const TestFolder folder;
  ASSERT_EQ(chmod(folder.path().c_str(), 0777), 0);
  const ChildResult child = run_in_child([&]() -> std::string {
    if (const std::string reason = become_nobody(); !reason.empty()) return skip_mark + reason;
    DiskCache(folder / "c", megabyte).store(test_key(0), test_binary(0));
    for (const char* name : {"c/entries", "c/tmp", "c"}) chmod((folder / name).c_str(), 0500);
    const std::string problem = DiskCache(folder / "c", megabyte).info().problem;
    const std::string used = use_cache(folder / "c");
    return used + "; " + problem;
  });
  if (child.result.starts_with(skip_mark)) GTEST_SKIP() << child.result;
  EXPECT_EQ(
      child.result,
      fmt::format("6 made, right; the cache folder {}/c cannot be written (Permission denied); set "
                  "TILEWRIGHT_CACHE_DIR to another folder",
                  folder.path()));
  EXPECT_EQ(
      child.errors,
      fmt::format(
          "tilewright: warning: kernels are not kept on disk: the cache folder {}/c cannot be "
          "written "
          "(Permission denied); make it writable or set TILEWRIGHT_CACHE_DIR to another folder\n",
          folder.path()));
}

// ---- Full disk.

TEST(UnusableFolder, FullDisk) {
  const TestFolder folder;
  const ChildResult child = run_in_child([&]() -> std::string {
    if (const std::string reason = mount_small_disk(folder.path(), "64k"); !reason.empty())
      return skip_mark + reason;
    DiskCache cache(folder / "c", megabyte);
    int right = 0;
    for (std::uint64_t key = 0; key < 20; ++key)
      right += same(cache.find_or_make(test_key(key), [&] { return test_binary(key, 9000); }),
                    test_binary(key, 9000));
    const bool is_elsewhere = !cache.temporary_folder().starts_with(folder.path());
    const DiskCache::Info full = cache.verify();
    cache.clear();
    cache.store(test_key(1), test_binary(1));
    return fmt::format(
        "{} right, {} kept, {} damaged, {} temporaries, compilers elsewhere {}, after clearing {}",
        right, full.entries >= 3 && full.entries <= 6, full.damaged, full.temporaries, is_elsewhere,
        cache.info().entries);
  });
  if (child.result.starts_with(skip_mark)) GTEST_SKIP() << child.result;
  EXPECT_EQ(
      child.result,
      "20 right, true kept, 0 damaged, 0 temporaries, compilers elsewhere true, after clearing 1");
  EXPECT_EQ(
      child.errors,
      fmt::format(
          "tilewright: warning: kernels are not kept on disk: the cache folder {}/c cannot be "
          "written (No "
          "space left on device); make room there or set TILEWRIGHT_CACHE_DIR to another folder\n",
          folder.path()));
}

}  // namespace
}  // namespace tilewright
