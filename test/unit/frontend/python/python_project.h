// SPDX-License-Identifier: Apache-2.0
// frontend/python/python_project.h — a folder of Python files for one test, removed with it.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <gtest/gtest.h>

namespace tilewright::python {

class PythonProject {
 public:
  explicit PythonProject(const std::map<std::string, std::string>& files) {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    root_ =
        std::filesystem::path(testing::TempDir()) / (std::string("python_project_") + test->name());
    std::filesystem::remove_all(root_);
    for (const auto& [name, text] : files) {
      std::filesystem::create_directories((root_ / name).parent_path());
      std::ofstream(root_ / name) << text;
    }
  }
  ~PythonProject() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  PythonProject(const PythonProject&) = delete;
  PythonProject& operator=(const PythonProject&) = delete;

  std::string path(const std::string& name) const { return (root_ / name).string(); }

 private:
  std::filesystem::path root_;
};

}  // namespace tilewright::python
