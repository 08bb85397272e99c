// SPDX-License-Identifier: Apache-2.0
// runtime_cuda/library_search_test.cpp — libraries are found in made-up trees, in the right order.
#include "runtime/cuda/library_search.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "runtime/cuda/driver_api.h"

namespace tilewright::cuda {
namespace {

namespace fs = std::filesystem;

class LibrarySearch : public ::testing::Test {
 protected:
  LibrarySearch() {
    std::string pattern = (fs::temp_directory_path() / "tw_search_XXXXXX").string();
    root_ = mkdtemp(pattern.data());
    places_.root = root_;
    places_.use_loaded = false;
  }
  ~LibrarySearch() override { fs::remove_all(root_); }

  // Makes an empty file; `path` starts with '/'.
  std::string put(const std::string& path) {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path).put('\n');
    return root_ + path;
  }
  std::string nvrtc() { return find_library(places_, "libnvrtc"); }

  std::string root_;
  SearchPlaces places_;
};

TEST_F(LibrarySearch, NothingAnywhere) {
  EXPECT_EQ(nvrtc(), "");
  EXPECT_EQ(find_driver(places_), "libcuda.so.1") << "the dynamic linker is asked last";
}

TEST_F(LibrarySearch, NoneHidesEverything) {
  put("/usr/local/cuda/lib64/libnvrtc.so.13");
  put("/usr/lib/x86_64-linux-gnu/libcuda.so.1");
  places_.cuda_home = "none";
  EXPECT_EQ(nvrtc(), "");
  EXPECT_EQ(find_driver(places_), "");
}

TEST_F(LibrarySearch, BuiltinsAreNotTheLibrary) {
  put("/usr/local/cuda/lib64/libnvrtc-builtins.so.13.0");
  put("/usr/local/cuda/lib64/libnvrtc.alt.so.13");
  EXPECT_EQ(nvrtc(), "");
}

TEST_F(LibrarySearch, NamedToolkitComesFirst) {
  put("/usr/lib/x86_64-linux-gnu/libnvrtc.so.13");
  places_.cuda_home = root_ + "/opt/mine";
  EXPECT_EQ(nvrtc(), root_ + "/usr/lib/x86_64-linux-gnu/libnvrtc.so.13")
      << "a toolkit without it is passed over";
  const std::string in_targets = put("/opt/mine/targets/x86_64-linux/lib/libnvrtc.so.12");
  EXPECT_EQ(nvrtc(), in_targets);
  const std::string in_lib = put("/opt/mine/lib/libnvrtc.so.12");
  EXPECT_EQ(nvrtc(), in_lib);
  const std::string in_lib64 = put("/opt/mine/lib64/libnvrtc.so.12");
  EXPECT_EQ(nvrtc(), in_lib64);
}

TEST_F(LibrarySearch, NewestOfAFolder) {
  const std::string plain = put("/usr/local/cuda/lib64/libnvrtc.so");
  EXPECT_EQ(nvrtc(), plain);
  const std::string twelve = put("/usr/local/cuda/lib64/libnvrtc.so.12");
  EXPECT_EQ(nvrtc(), twelve);
  const std::string thirteen = put("/usr/local/cuda/lib64/libnvrtc.so.13");
  EXPECT_EQ(nvrtc(), thirteen);
}

TEST_F(LibrarySearch, NewestInstalledToolkit) {
  put("/usr/local/cuda-12.9/lib64/libnvrtc.so.12");
  const std::string newest = put("/usr/local/cuda-12.10/lib64/libnvrtc.so.12");
  put("/usr/local/cuda-11.8/lib64/libnvrtc.so.11.2");
  EXPECT_EQ(nvrtc(), newest) << "12.10 is newer than 12.9";
  const std::string chosen = put("/usr/local/cuda/lib64/libnvrtc.so.12");
  EXPECT_EQ(nvrtc(), chosen)
      << "the link that the machine's owner set comes before the numbered folders";
}

TEST_F(LibrarySearch, LinkerFolders) {
  put("/usr/local/cuda/lib64/libnvrtc.so.13");
  const std::string configured = put("/some/place/libnvrtc.so.12");
  put("/etc/ld.so.conf.d/x.conf");
  std::ofstream(root_ + "/etc/ld.so.conf.d/x.conf") << "# a comment\n/some/place\n";
  EXPECT_EQ(nvrtc(), configured);
  const std::string on_path = put("/libs/b/libnvrtc.so.12");
  places_.library_path = "relative::" + root_ + "/libs/a:" + root_ + "/libs/b";
  EXPECT_EQ(nvrtc(), on_path);
}

TEST_F(LibrarySearch, PythonPackages) {
  const std::string in_opt =
      put("/opt/torch/.venv/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13");
  EXPECT_EQ(nvrtc(), in_opt);
  const std::string in_debian =
      put("/usr/local/lib/python3.11/dist-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
  EXPECT_EQ(nvrtc(), in_debian);
  places_.home = root_ + "/home/me";
  const std::string in_home =
      put("/home/me/.local/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
  EXPECT_EQ(nvrtc(), in_home);
  put("/env/bin/python3");
  places_.search_path = root_ + "/nothing:" + root_ + "/env/bin";
  const std::string of_python =
      put("/env/lib/python3.13/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
  EXPECT_EQ(nvrtc(), of_python);
  places_.conda_prefix = root_ + "/conda";
  const std::string in_conda = put("/conda/lib/libnvrtc.so.12");
  EXPECT_EQ(nvrtc(), in_conda);
  fs::remove(in_conda);
  places_.virtual_env = root_ + "/venv";
  put("/venv/lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
  const std::string newest =
      put("/venv/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13");
  EXPECT_EQ(nvrtc(), newest);
}

TEST_F(LibrarySearch, DriverIsNeverTheStandIn) {
  put("/usr/lib/x86_64-linux-gnu/libcuda.so");
  put("/usr/local/cuda/lib64/stubs/libcuda.so");
  EXPECT_EQ(find_driver(places_), "libcuda.so.1");
  const std::string driver = put("/usr/lib/wsl/lib/libcuda.so.1");
  EXPECT_EQ(find_driver(places_), driver);
}

TEST_F(LibrarySearch, HeadersBesideTheLibrary) {
  const std::string library = put("/usr/local/cuda/lib64/libnvrtc.so.13");
  EXPECT_TRUE(include_folders_of(library).empty());
  put("/usr/local/cuda/include/cuda_fp16.h");
  EXPECT_EQ(include_folders_of(library),
            std::vector<std::string>{root_ + "/usr/local/cuda/include"});
  put("/usr/local/cuda/include/cccl/cuda/barrier");
  EXPECT_EQ(include_folders_of(library).size(), 2u);
  const std::string packaged = put("/p/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
  put("/p/nvidia/cuda_runtime/include/cuda_fp16.h");
  EXPECT_EQ(include_folders_of(packaged),
            std::vector<std::string>{root_ + "/p/nvidia/cuda_runtime/include"});
}

TEST_F(LibrarySearch, VersionFromName) {
  const std::string real = put("/l/libcublasLt.so.13.0.0.19");
  fs::create_symlink(real, root_ + "/l/libcublasLt.so.13");
  EXPECT_EQ(version_from_name(root_ + "/l/libcublasLt.so.13"), "13.0.0.19");
  EXPECT_EQ(version_from_name(put("/l/libx.so")), "");
}

TEST_F(LibrarySearch, LoadedLibrariesAreFound) {
  places_.use_loaded = true;
  EXPECT_NE(find_library(places_, "libtilewright"), "") << "this very process has it loaded";
}

// A file that is no library must be reported, not crash.
TEST_F(LibrarySearch, DriverThatIsNoLibrary) {
  DriverApi api;
  const std::string path = put("/usr/lib/libcuda.so.1");
  EXPECT_NE(load_driver(path, api, nullptr), "");
  EXPECT_EQ(api.cuInit, nullptr);
}

}  // namespace
}  // namespace tilewright::cuda
