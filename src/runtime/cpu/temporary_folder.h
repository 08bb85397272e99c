// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/temporary_folder.h — a private folder that goes away with its owner.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

class TemporaryFolder {
 public:
  // Throws EnvironmentError when none can be made.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  // Writes a file, with the folders in its name; returns its path. Throws EnvironmentError (a full
  // disk).
  std::string write(const std::string& name, std::span<const std::byte> bytes) const;
  std::string write(const std::string& name, std::string_view text) const;
  std::vector<std::byte> read(const std::string& name) const;

 private:
  std::string path_;
};

}  // namespace tilewright
