// SPDX-License-Identifier: Apache-2.0
// cache/disk_cache_test.cpp — finding, storing, evicting, damage, temporaries, in one process.
#include "runtime/disk_cache.h"

#include <sys/stat.h>
#include <filesystem>

#include <gtest/gtest.h>

#include "base/settings.h"
#include "cache_testing.h"
#include "runtime/cache_folder.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

mode_t mode_of(const std::string& path) {
  struct stat info {};
  stat(path.c_str(), &info);
  return info.st_mode & 07777;
}

TEST(DiskCache, RoundTrip) {
  const TestFolder folder;
  DiskCache cache(folder / "c", megabyte);
  EXPECT_FALSE(cache.find(test_key(1)));
  cache.store(test_key(1), test_binary(1));
  cache.store(test_key(2), test_binary(2, 0));
  DiskCache another(folder / "c", megabyte);
  ASSERT_TRUE(another.find(test_key(1)));
  EXPECT_TRUE(same(*another.find(test_key(1)), test_binary(1)));
  EXPECT_TRUE(same(*another.find(test_key(2)), test_binary(2, 0)));
  EXPECT_FALSE(another.find(test_key(3)));
}

TEST(DiskCache, StoringAgainReplaces) {
  const TestFolder folder;
  DiskCache cache(folder / "c", megabyte);
  cache.store(test_key(1), test_binary(1));
  cache.store(test_key(1), test_binary(2));
  EXPECT_TRUE(same(*cache.find(test_key(1)), test_binary(2)));
  EXPECT_EQ(cache.info().entries, 1);
}

TEST(DiskCache, FoldersAndFilesArePrivate) {
  const TestFolder folder;
  DiskCache cache(folder / "a/b/c", megabyte);
  cache.store(test_key(1), test_binary(1));
  for (const char* name : {"a", "a/b", "a/b/c", "a/b/c/entries", "a/b/c/tmp"})
    EXPECT_EQ(mode_of(folder / name), 0700u) << name;
  EXPECT_EQ(mode_of(entry_path(folder / "a/b/c", test_key(1))), 0600u);
  EXPECT_EQ(mode_of(cache.temporary_folder()), 0700u);
}

TEST(DiskCache, NothingIsMadeBeforeItIsUsed) {
  const TestFolder folder;
  const DiskCache cache(folder / "c", megabyte);
  const DiskCache::Info info = cache.info();
  EXPECT_TRUE(info.is_usable);
  EXPECT_EQ(info.problem, "");
  EXPECT_EQ(info.entries, 0);
  EXPECT_FALSE(std::filesystem::exists(folder / "c"));
}

TEST(DiskCache, RelativeFolderStaysWhenTheProcessMoves) {
  const TestFolder folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  DiskCache cache("c/./d/../", megabyte);
  std::filesystem::current_path(before);
  cache.store(test_key(1), test_binary(1));
  EXPECT_TRUE(std::filesystem::exists(entry_path(folder / "c", test_key(1))));
}

TEST(DiskCache, InfoCountsAndClearRemoves) {
  const TestFolder folder;
  DiskCache cache(folder / "c", megabyte);
  for (int i = 0; i < 5; ++i) cache.store(test_key(i), test_binary(i));
  write_text(folder / "c/entries/README", "not an entry");
  DiskCache::Info info = cache.info();
  EXPECT_EQ(info.folder, folder / "c");
  EXPECT_EQ(info.entries, 5);
  EXPECT_EQ(info.max_bytes, megabyte);
  EXPECT_EQ(info.bytes, static_cast<std::int64_t>(
                            5 * std::filesystem::file_size(entry_path(folder / "c", test_key(0)))));
  EXPECT_EQ(info.temporaries, 0);
  EXPECT_EQ(cache.clear(), 5);
  info = cache.info();
  EXPECT_EQ(info.entries, 0);
  EXPECT_EQ(info.bytes, 0);
  EXPECT_EQ(names_in(folder / "c/entries"), std::vector<std::string>{"README"});
  EXPECT_FALSE(cache.find(test_key(0)));
  EXPECT_EQ(cache.clear(), 0);
}

TEST(DiskCache, FindOrMakeMakesOnce) {
  const TestFolder folder;
  DiskCache cache(folder / "c", megabyte);
  int made = 0;
  const auto make = [&] { return ++made, test_binary(1); };
  bool was_found = true;
  EXPECT_TRUE(same(cache.find_or_make(test_key(1), make, &was_found), test_binary(1)));
  EXPECT_FALSE(was_found);
  EXPECT_TRUE(same(cache.find_or_make(test_key(1), make, &was_found), test_binary(1)));
  EXPECT_TRUE(was_found);
  EXPECT_EQ(made, 1);
  EXPECT_EQ(cache.info().temporaries, 0);  // the key's lock is gone, too
}

TEST(DiskCache, WhatFailedIsNotKept) {
  const TestFolder folder;
  DiskCache cache(folder / "c", megabyte);
  const auto fail = []() -> Binary { throw CompileError("k does not compile", "log"); };
  EXPECT_THROW(cache.find_or_make(test_key(1), fail), CompileError);
  EXPECT_THROW(cache.find_or_make(test_key(1), fail), CompileError);
  EXPECT_EQ(cache.info().entries, 0);
  EXPECT_EQ(cache.info().temporaries, 0);
  EXPECT_TRUE(same(cache.find_or_make(test_key(1), [] { return test_binary(1); }), test_binary(1)));
}

TEST(DiskCache, MakeMayUseTheCacheForAnotherKey) {
  const TestFolder folder;
  DiskCache cache(folder / "c", megabyte);
  const auto outer = [&] { return cache.find_or_make(test_key(2), [] { return test_binary(2); }); };
  EXPECT_TRUE(same(cache.find_or_make(test_key(1), outer), test_binary(2)));
  EXPECT_EQ(cache.info().entries, 2);
}

// ---- Damage.

TEST(DiskCache, DamagedEntryIsRemovedCountedAndMadeAgain) {
  const TestFolder folder;
  DiskCache cache(folder / "c", megabyte);
  const std::string path = entry_path(folder / "c", test_key(1));
  cache.store(test_key(1), test_binary(1, 40));
  const std::string good = read_text(path);
  int made = 0;
  for (std::size_t i = 0; i < good.size(); i += 13) {  // entry_test.cpp tries every bit
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    write_text(path, bad);
    EXPECT_EQ(cache.verify().damaged, 1) << i;
    EXPECT_TRUE(same(cache.find_or_make(test_key(1), [&] { return ++made, test_binary(1, 40); }),
                     test_binary(1, 40)));
    EXPECT_EQ(read_text(path), good) << i;
  }
  EXPECT_GT(made, 10);
  EXPECT_EQ(cache.info().damaged_removed, made);
  EXPECT_EQ(cache.verify().damaged, 0);
}

TEST(DiskCache, TruncatedEntryIsRemoved) {
  const TestFolder folder;
  DiskCache cache(folder / "c", megabyte);
  const std::string path = entry_path(folder / "c", test_key(1));
  cache.store(test_key(1), test_binary(1));
  const std::string good = read_text(path);
  for (std::size_t size = 0; size < good.size(); ++size) {
    write_text(path, good.substr(0, size));
    EXPECT_FALSE(cache.find(test_key(1))) << size;
    EXPECT_FALSE(std::filesystem::exists(path)) << size;
  }
}

TEST(DiskCache, EntryOfAnotherKeyIsRefused) {
  const TestFolder folder;
  DiskCache cache(folder / "c", megabyte);
  cache.store(test_key(1), test_binary(1));
  std::filesystem::rename(entry_path(folder / "c", test_key(1)),
                          entry_path(folder / "c", test_key(2)));
  EXPECT_EQ(cache.verify().damaged, 1);
  EXPECT_FALSE(cache.find(test_key(2)));
}

TEST(DiskCache, LinkOrFolderInPlaceOfAnEntryIsNotRead) {
  const TestFolder folder;
  DiskCache cache(folder / "c", megabyte);
  cache.store(test_key(1), test_binary(1));
  std::filesystem::create_symlink(entry_path(folder / "c", test_key(1)),
                                  entry_path(folder / "c", test_key(2)));
  std::filesystem::create_directory(entry_path(folder / "c", test_key(3)));
  EXPECT_FALSE(cache.find(test_key(2)));
  EXPECT_FALSE(cache.find(test_key(3)));
  EXPECT_EQ(cache.verify().damaged, 2);
  EXPECT_TRUE(same(cache.find_or_make(test_key(2), [] { return test_binary(7); }), test_binary(7)));
}

// ---- Eviction.

TEST(DiskCache, EvictsWhatWasNotUsedForLongest) {
  const TestFolder folder;
  const std::string c = folder / "c";
  const auto size = [] {
    const TestFolder other;
    DiskCache cache(other / "c", megabyte);
    cache.store(test_key(0), test_binary(100, 1000));
    return cache.info().bytes;
  }();
  DiskCache cache(c, 10 * size);
  for (int i = 0; i < 10; ++i) cache.store(test_key(i), test_binary(100 + i, 1000));
  EXPECT_EQ(cache.info().entries, 10);
  for (int i = 0; i < 10; ++i)
    set_age(entry_path(c, test_key(i)), 10'000 - 100 * i);  // 0 is the oldest
  ASSERT_TRUE(cache.find(test_key(0)));                     // now 1 is
  cache.store(test_key(10), test_binary(110, 1000));
  EXPECT_EQ(cache.info().entries, 8);
  EXPECT_LE(cache.info().bytes, cache.info().max_bytes * 8 / 10);
  for (int i = 0; i <= 10; ++i)
    EXPECT_EQ(cache.find(test_key(i)).has_value(), i == 0 || i > 3) << i;
}

TEST(DiskCache, StaysBelowItsLimitOverManyStores) {
  const TestFolder folder;
  DiskCache cache(folder / "c", 20'000);
  for (int i = 0; i < 80; ++i) {
    cache.store(test_key(i), test_binary(i, 1000));
    EXPECT_TRUE(cache.find(test_key(i))) << i;
    EXPECT_LE(cache.info().bytes, 20'000) << i;
  }
}

TEST(DiskCache, TwoThatShareAFolderStayNearTheLimit) {
  const TestFolder folder;
  DiskCache a(folder / "c", 40'000);
  DiskCache b(folder / "c", 40'000);
  for (int i = 0; i < 120; ++i) {
    (i % 2 ? a : b).store(test_key(i), test_binary(i, 1000));
    EXPECT_LE(a.info().bytes, 46'000) << i;
  }
}

TEST(DiskCache, EntryLargerThanTheLimitIsNotKept) {
  const TestFolder folder;
  DiskCache cache(folder / "c", 10'000);
  cache.store(test_key(1), test_binary(1, 1000));
  EXPECT_TRUE(same(cache.find_or_make(test_key(2), [] { return test_binary(2, 10'000); }),
                   test_binary(2, 10'000)));
  EXPECT_FALSE(cache.find(test_key(2)));
  EXPECT_TRUE(cache.find(test_key(1)));
}

TEST(DiskCache, LimitZeroTurnsItOff) {
  const TestFolder folder;
  DiskCache cache(folder / "c", 0);
  int made = 0;
  for (int i = 0; i < 2; ++i)
    cache.find_or_make(test_key(1), [&] { return ++made, test_binary(1); });
  EXPECT_EQ(made, 2);
  EXPECT_FALSE(std::filesystem::exists(folder / "c"));
  EXPECT_FALSE(cache.info().is_usable);
  EXPECT_EQ(cache.info().problem,
            "the cache is off because its size limit is 0; set TILEWRIGHT_CACHE_SIZE");
}

TEST(DiskCache, UseIsRecordedOnlyWhenTheLastOneIsOld) {
  const TestFolder folder;
  DiskCache cache(folder / "c", megabyte);
  cache.store(test_key(1), test_binary(1));
  const std::string path = entry_path(folder / "c", test_key(1));
  const auto time = [&] { return std::filesystem::last_write_time(path); };
  set_age(path, 30);
  const auto recent = time();
  cache.find(test_key(1));
  EXPECT_EQ(time(), recent);
  set_age(path, 3600);
  cache.find(test_key(1));
  EXPECT_GT(time(), recent);
}

// ---- Temporaries.

TEST(DiskCache, AbandonedTemporariesAreSweptAtTheNextStart) {
  const TestFolder folder;
  DiskCache alive(folder / "c", megabyte);
  const std::string kept = alive.temporary_folder();
  write_text(kept + "/x.o", "object");
  write_text(folder / "c/tmp/4711-0", "half an entry");
  write_text(folder / "c/tmp/0123456789abcdef0123456789abcdef.lock", "");
  std::filesystem::create_directories(folder / "c/tmp/4711-1/deep/er");
  write_text(folder / "c/tmp/4711-1/deep/er/cc1.s", "assembly");
  EXPECT_EQ(alive.info().temporaries, 4);
  DiskCache next(folder / "c", megabyte);
  EXPECT_FALSE(next.find(test_key(1)));
  EXPECT_EQ(next.info().temporaries, 1);
  EXPECT_EQ(read_text(kept + "/x.o"), "object");  // its owner lives
}

TEST(DiskCache, TemporaryFolderGoesWithItsOwner) {
  const TestFolder folder;
  std::string path;
  {
    const DiskCache cache(folder / "c", megabyte);
    path = cache.temporary_folder();
    EXPECT_TRUE(path.starts_with(folder / "c/tmp/"));
    EXPECT_EQ(cache.temporary_folder(), path);
    write_text(path + "/x.o", "object");
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(DiskCache, TemporaryFolderWithoutACacheIsInTheSystemsPlace) {
  std::string path;
  {
    const DiskCache cache("", 0);
    path = cache.temporary_folder();
    EXPECT_TRUE(path.starts_with((std::filesystem::temp_directory_path() / "tilewright-").string()))
        << path;
    EXPECT_EQ(mode_of(path), 0700u);
    EXPECT_EQ(cache.temporary_folder(), path);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(DiskCache, ForkedChildHasItsOwnTemporaryFolder) {
  const TestFolder folder;
  const DiskCache cache(folder / "c", megabyte);
  const std::string ours = cache.temporary_folder();
  const ChildResult child = run_in_child([&] { return cache.temporary_folder(); });
  EXPECT_TRUE(child.result.starts_with(folder / "c/tmp/")) << child.result;
  EXPECT_NE(child.result, ours);
  EXPECT_TRUE(std::filesystem::exists(ours));
}

TEST(DiskCache, WorksOnAfterItsFolderWasRemoved) {
  const TestFolder folder;
  DiskCache cache(folder / "c", megabyte);
  cache.store(test_key(1), test_binary(1));
  cache.temporary_folder();
  std::filesystem::remove_all(folder / "c");
  EXPECT_FALSE(cache.find(test_key(1)));
  cache.store(test_key(1), test_binary(1));
  EXPECT_TRUE(cache.find(test_key(1)));
  std::filesystem::remove_all(folder / "c");
  EXPECT_TRUE(same(cache.find_or_make(test_key(1), [] { return test_binary(1); }), test_binary(1)));
  EXPECT_TRUE(cache.find(test_key(1)));
  std::filesystem::remove_all(folder / "c");
  EXPECT_TRUE(std::filesystem::is_directory(cache.temporary_folder()));
}

TEST(DiskCache, SharedFollowsTheSettings) {
  const TestFolder folder;
  Settings changed = settings();
  changed.cache_folder = folder / "one";
  changed.cache_max_bytes = megabyte;
  DiskCache* one = nullptr;
  {
    const SettingsOverride scope(changed);
    one = &DiskCache::shared();
    EXPECT_EQ(one->info().folder, folder / "one");
    EXPECT_EQ(one, &DiskCache::shared());
  }
  changed.cache_folder = folder / "two";
  const SettingsOverride scope(changed);
  EXPECT_EQ(DiskCache::shared().info().folder, folder / "two");
  EXPECT_EQ(one->info().folder, folder / "one");
}

}  // namespace
}  // namespace tilewright
