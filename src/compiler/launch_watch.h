// SPDX-License-Identifier: Apache-2.0
// compiler/launch_watch.h — whoever looks on while launches of this process are interpreted:
// `check` and `step`.
//
// While there is one, every kernel is interpreted as its front end made it, without passes: a user
// is told of lines that were written, not of what was left of them.
#pragma once

#include <span>

#include "compiler/specialization.h"
#include "ir/interpret/interpret.h"

namespace tilewright {

class LaunchWatch {
 public:
  virtual ~LaunchWatch() = default;
  // Runs the launch by ir::interpret, with a watch of its own. Called by one thread at a time.
  virtual void run(const ir::Kernel& kernel, std::span<const ir::InterpretBuffer> buffers,
                   std::span<const ir::InterpretArgument> arguments,
                   ir::InterpretOptions options) = 0;
};

// Null: nobody. With TILEWRIGHT_CHECK it is one that checks every launch (check_program.cpp).
LaunchWatch* launch_watch();
inline bool is_watched(const LaunchPlace& place) {
  return place.interpret && launch_watch() != nullptr;
}

// While one lives, launches are watched; one at a time.
class LaunchWatchScope {
 public:
  explicit LaunchWatchScope(LaunchWatch& watch);
  ~LaunchWatchScope();
  LaunchWatchScope(const LaunchWatchScope&) = delete;
  LaunchWatchScope& operator=(const LaunchWatchScope&) = delete;
};

}  // namespace tilewright
