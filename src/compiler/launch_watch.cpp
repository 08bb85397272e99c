// SPDX-License-Identifier: Apache-2.0
// compiler/launch_watch.cpp — the one watch of the process.
#include "compiler/launch_watch.h"

#include <atomic>

#include "base/check.h"
#include "base/settings.h"
#include "compiler/check_launch.h"

namespace tilewright {
namespace {

std::atomic<LaunchWatch*> the_watch{nullptr};

}  // namespace

LaunchWatch* launch_watch() {
  LaunchWatch* const watch = the_watch.load(std::memory_order_acquire);
  return watch != nullptr || settings().check_folder.empty() ? watch : program_check();
}

LaunchWatchScope::LaunchWatchScope(LaunchWatch& watch) {
  LaunchWatch* const before = the_watch.exchange(&watch);
  TW_CHECK(before == nullptr, "launches are watched twice");
}

LaunchWatchScope::~LaunchWatchScope() { the_watch.store(nullptr); }

}  // namespace tilewright
