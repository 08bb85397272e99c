// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/components.cpp — looks for each part of CUDA and asks its version.
#include "runtime/components.h"

#include <unistd.h>

#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "base/process.h"
#include "base/settings.h"
#include "runtime/backend.h"
#include "runtime/cuda/driver_api.h"
#include "runtime/cuda/library_search.h"
#include "runtime/cuda/nvrtc_api.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

using namespace cuda;

struct LibraryComponent {
  const char* name;
  const char* stem;
  const char* purpose;
  const char* remedy;
};

constexpr LibraryComponent libraries[] = {
    {"CUPTI", "libcupti", "reads the GPU's counters and timelines for profiles",
     "install a CUDA toolkit or `pip install nvidia-cuda-cupti`"},
    {"cuBLASLt", "libcublasLt", "NVIDIA's matrix products, for tw::matmul",
     "install a CUDA toolkit or `pip install nvidia-cublas`"},
    {"cuDNN", "libcudnn", "NVIDIA's convolutions, for tw::conv2d",
     "`pip install nvidia-cudnn-cu13`"},
    {"nvJitLink", "libnvJitLink", "links separately compiled GPU code",
     "install a CUDA toolkit or `pip install nvidia-nvjitlink`"},
};

// "580.95.05" of "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Release Build ..."
std::string kernel_module_version() {
  std::ifstream in("/proc/driver/nvidia/version");
  std::string line;
  std::getline(in, line);
  std::istringstream words(line);
  for (std::string word; words >> word;)
    if (word.find('.') != std::string::npos &&
        word.find_first_not_of("0123456789.") == std::string::npos)
      return word;
  return "";
}

ComponentStatus driver_status() {
  ComponentStatus status{
      .name = "NVIDIA driver",
      .purpose = "runs kernels on a GPU",
      .remedy = "install NVIDIA's driver, or start the container with access to the GPU"};
  if (!cuda_backend(&status.problem)) return status;
  status.path = driver_path();
  int version = 0;
  driver().cuDriverGetVersion(&version);
  status.version = fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
  if (const std::string module = kernel_module_version(); !module.empty())
    status.version = fmt::format("{} ({})", module, status.version);
  return status;
}

ComponentStatus nvrtc_status() {
  ComponentStatus status{
      .name = "NVRTC",
      .purpose = "compiles CUDA source",
      .remedy = "`apt install nvidia-cuda-toolkit` or `pip install nvidia-cuda-nvrtc`"};
  status.path = nvrtc_path();
  try {
    const NvrtcApi& api = nvrtc();
    status.version = fmt::format("{}.{}", api.major, api.minor);
  } catch (const MissingError& error) {
    status.problem = error.what();
  }
  return status;
}

std::string why_not_found(const char* name) {
  if (settings().hides_cuda())
    return fmt::format("{} is hidden by TILEWRIGHT_CUDA_HOME=none", name);
  return fmt::format("{} was not found", name);
}

ComponentStatus library_status(const SearchPlaces& places, const LibraryComponent& library) {
  ComponentStatus status{
      .name = library.name, .purpose = library.purpose, .remedy = library.remedy};
  status.path = find_library(places, library.stem);
  if (status.path.empty()) status.problem = why_not_found(library.name);
  else status.version = version_from_name(status.path);
  return status;
}

ComponentStatus disassembler_status(const SearchPlaces& places) {
  ComponentStatus status{.name = "nvdisasm",
                         .purpose = "shows the machine code of a kernel",
                         .remedy = "install a CUDA toolkit or `pip install nvidia-cuda-nvdisasm`"};
  // Either shows a cubin; toolkits may have one without the other.
  const std::string homes[] = {places.cuda_home, "/usr/local/cuda"};
  for (const char* program : {"nvdisasm", "cuobjdump"}) {
    for (const std::string& home : homes)
      if (const std::string path = home + "/bin/" + program;
          status.path.empty() && !home.empty() && access(path.c_str(), X_OK) == 0)
        status.path = path;
    if (status.path.empty()) status.path = find_program(program);
  }
  if (places.cuda_home == "none") status.path.clear();
  if (status.path.empty()) status.problem = why_not_found("nvdisasm");
  return status;
}

}  // namespace

std::vector<ComponentStatus> cuda_components() {
  const SearchPlaces places = search_places();
  std::vector<ComponentStatus> all = {driver_status(), nvrtc_status()};
  for (const LibraryComponent& library : libraries) all.push_back(library_status(places, library));
  all.push_back(disassembler_status(places));
  return all;
}

}  // namespace tilewright
