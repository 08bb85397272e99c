// SPDX-License-Identifier: Apache-2.0
// runtime/process_folder.h — the one folder of a process for temporary files of compilers.
#pragma once

#include <sys/types.h>
#include <mutex>
#include <optional>
#include <string>

#include "runtime/cache_folder.h"

namespace tilewright {

// Made when it is first asked for; a forked child gets one of its own. May be used from many
// threads.
class ProcessFolder {
 public:
  ~ProcessFolder() { remove(); }

  // In the cache folder, held against sweeping, or in the system's place for temporaries when
  // `cache_folder` is empty or has no room. Throws EnvironmentError when neither can be.
  std::string path(const std::string& cache_folder);
  // Removes what this process made.
  void remove();

 private:
  std::string path_in_cache(const std::string& cache_folder);
  std::string path_in_system();

  std::mutex mutex_;  // guards all below
  std::optional<Held> in_cache_;
  std::string in_system_;
  pid_t in_system_owner_ = 0;
};

}  // namespace tilewright
