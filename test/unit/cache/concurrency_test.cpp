// SPDX-License-Identifier: Apache-2.0
// cache/concurrency_test.cpp — many threads and processes on one folder, some of them killed.
#include <sys/wait.h>
#include <unistd.h>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <random>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cache_testing.h"
#include "runtime/cache_folder.h"
#include "runtime/disk_cache.h"

namespace tilewright {
namespace {

// Starts a child that runs `work` and ends without running anything else of this program.
pid_t start_child(const std::function<void()>& work) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  try {
    work();
  } catch (const std::exception& error) {
    fmt::print(stderr, "child: {}\n", error.what());
    _exit(1);
  }
  _exit(0);
}

int exit_code_of(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void pause_microseconds(int count) {
  std::this_thread::sleep_for(std::chrono::microseconds(count));
}

TEST(CacheConcurrency, ThreadsOnOneKeyMakeItOnce) {
  const TestFolder folder;
  DiskCache cache(folder / "c", megabyte);
  for (int round = 0; round < 5; ++round) {
    std::atomic<int> made = 0;
    std::atomic<int> right = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&, round] {
        const Binary binary = cache.find_or_make(test_key(round), [&] {
          ++made;
          pause_microseconds(2000);
          return test_binary(round);
        });
        right += same(binary, test_binary(round));
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(made, 1);
    EXPECT_EQ(right, 8);
  }
  EXPECT_EQ(cache.info().temporaries, 0);
}

TEST(CacheConcurrency, ThreadsOnManyKeysWithEviction) {
  const TestFolder folder;
  DiskCache cache(folder / "c", 20'000);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int i = 0; i < 100; ++i) {
        const auto key = random() % 30;
        wrong += !same(cache.find_or_make(test_key(key), [&] { return test_binary(key, 1000); }),
                       test_binary(key, 1000));
        if (i % 20 == 0) cache.info();
        if (i % 50 == 49) cache.clear();
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(cache.verify().damaged, 0);
  EXPECT_EQ(cache.info().temporaries, 0);
}

TEST(CacheConcurrency, ProcessesOnOneKeyMakeItOnce) {
  const TestFolder folder;
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i)
    children.push_back(start_child([&, i] {
      DiskCache cache(folder / "c", megabyte);
      for (int key = 0; key < 10; ++key) {
        const Binary binary = cache.find_or_make(test_key(key), [&] {
          write_text(folder / fmt::format("made-{}-{}", key, i), "");
          pause_microseconds(2000);
          return test_binary(key);
        });
        if (!same(binary, test_binary(key))) _exit(2);
      }
    }));
  for (const pid_t child : children) EXPECT_EQ(exit_code_of(child), 0);
  int made = 0;
  for (const std::string& name : names_in(folder.path())) made += name.starts_with("made-");
  EXPECT_EQ(made, 10);
  EXPECT_EQ(DiskCache(folder / "c", megabyte).info().temporaries, 0);
}

TEST(CacheConcurrency, KilledHolderLeavesNoLock) {
  const TestFolder folder;
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = start_child([&] {
    DiskCache cache(folder / "c", megabyte);
    cache.find_or_make(test_key(1), [&]() -> Binary {
      cache.temporary_folder();
      if (write(ready[1], "x", 1) != 1) _exit(3);
      while (true) pause();
    });
  });
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  close(ready[0]);
  close(ready[1]);
  DiskCache waiting(folder / "c", megabyte);
  EXPECT_FALSE(
      waiting.find(test_key(1)));  // this is its start: it sweeps nothing of a living process
  EXPECT_EQ(waiting.info().temporaries, 2);  // the lock and the folder
  bool was_found = true;
  std::thread killer([&] {
    pause_microseconds(5000);
    kill(child, SIGKILL);
  });
  EXPECT_TRUE(same(waiting.find_or_make(
                       test_key(1), [] { return test_binary(1); }, &was_found),
                   test_binary(1)));
  killer.join();
  EXPECT_FALSE(was_found);
  EXPECT_EQ(exit_code_of(child), 128 + SIGKILL);
  EXPECT_EQ(waiting.info().temporaries, 1);  // the dead one's folder
  DiskCache next(folder / "c", megabyte);
  EXPECT_TRUE(next.find(test_key(1)));
  EXPECT_EQ(next.info().temporaries, 0);
}

TEST(CacheConcurrency, StoppedHolderDelaysOthersForALimitedTime) {
  const TestFolder folder;
  DiskCache holder(folder / "c", megabyte);
  DiskCache hasty(folder / "c", megabyte, 0.05);
  bool was_found = true;
  holder.find_or_make(test_key(1), [&] {
    EXPECT_TRUE(same(hasty.find_or_make(
                         test_key(1), [] { return test_binary(1); }, &was_found),
                     test_binary(1)));
    return test_binary(1);
  });
  EXPECT_FALSE(was_found);
  EXPECT_EQ(hasty.verify().damaged, 0);
  EXPECT_EQ(hasty.info().temporaries, 0);
}

// A child that was forked while a lock was held has a copy of its descriptor, which must not keep
// the lock.
TEST(CacheConcurrency, ForkedChildDoesNotKeepAParentsLock) {
  const TestFolder folder;
  DiskCache cache(folder / "c", megabyte);
  int done[2];
  ASSERT_EQ(pipe(done), 0);
  pid_t child = -1;
  cache.find_or_make(test_key(1), [&] {
    child = start_child([&] {
      close(done[1]);
      char byte = 0;
      if (read(done[0], &byte, 1) != 0) _exit(1);  // until the parent closes its end
    });
    return test_binary(1);
  });
  cache.clear();
  DiskCache hasty(folder / "c", megabyte, 5);
  EXPECT_TRUE(hold_name(folder / "c/tmp", test_key(1).hex() + ".lock", 0));
  close(done[1]);
  close(done[0]);
  EXPECT_EQ(exit_code_of(child), 0);
}

// Two that sweep, and others that make and drop temporaries: nobody loses what it holds.
TEST(CacheConcurrency, SweepingNeverTakesWhatIsHeld) {
  const TestFolder folder;
  const std::string c = folder / "c";
  ASSERT_EQ(prepare_cache_folder(c), "");
  const std::string tmp = temporaries_folder(c);
  std::atomic<bool> is_over = false;
  std::atomic<int> lost = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&] {
      while (!is_over) sweep_temporaries(tmp);
    });
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&, i] {
      for (int k = 0; k < 100; ++k) {
        const auto held = i == 0   ? hold_new_file(tmp)
                          : i == 1 ? hold_new_folder(tmp)
                                   : hold_name(tmp, fmt::format("name-{}", k % 3), 30);
        std::this_thread::yield();
        lost += !held || !std::filesystem::exists(held->path());
      }
    });
  for (std::size_t i = 2; i < threads.size(); ++i) threads[i].join();
  is_over = true;
  threads[0].join();
  threads[1].join();
  EXPECT_EQ(lost, 0);
  EXPECT_EQ(count_temporaries(tmp), 0);
}

// Kills at random moments of storing, evicting and locking: what remains is whole, and the next
// start leaves nothing over.
TEST(CacheConcurrency, KilledAtAnyMomentEveryEntryIsWhole) {
  const TestFolder folder;
  std::mt19937 random(12345);
  constexpr std::int64_t limit = 60'000, entry = 4000;
  std::int64_t survived = 0, before = 0;
  unsigned longest = 8000;  // microseconds
  for (int round = 0; round < 60; ++round) {
    const pid_t child = start_child([&, round] {
      DiskCache cache(folder / "c", 60'000);
      for (std::uint64_t i = 0;; ++i) {
        const std::uint64_t key = (i + static_cast<std::uint64_t>(round)) % 50;
        cache.find_or_make(test_key(key),
                           [&] { return cache.temporary_folder(), test_binary(key, 3000); });
      }
    });
    pause_microseconds(static_cast<int>(random() % longest));
    kill(child, SIGKILL);
    EXPECT_EQ(exit_code_of(child), 128 + SIGKILL);
    const DiskCache cache(folder / "c", 60'000);
    const DiskCache::Info info = cache.verify();
    EXPECT_EQ(info.damaged, 0) << "round " << round;
    // One that is killed between its store and the eviction leaves an entry more than it found.
    EXPECT_LE(info.bytes, std::max(limit, before) + entry) << "round " << round;
    before = info.bytes;
    survived = std::max(survived, info.entries);
    // On a busy machine a child may need longer than that to begin at all.
    if (survived == 0) longest = std::min(longest * 2, 1'000'000U);
  }
  EXPECT_GT(survived, 0);
  DiskCache next(folder / "c", 60'000);
  for (std::uint64_t key = 0; key < 50; ++key)
    EXPECT_TRUE(same(next.find_or_make(test_key(key), [&] { return test_binary(key, 3000); }),
                     test_binary(key, 3000)));
  EXPECT_LE(next.info().bytes, limit + entry);
  EXPECT_EQ(next.info().temporaries, 0);
  EXPECT_EQ(next.info().damaged_removed, 0);
}

}  // namespace
}  // namespace tilewright
