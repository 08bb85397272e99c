// SPDX-License-Identifier: Apache-2.0
// codegen/device_lib/emulate/module_memory.cpp — asks the dynamic linker.
#include "codegen/device_lib/emulate/module_memory.h"

#include <link.h>

#include <algorithm>

namespace tilewright {
namespace {

struct Search {
  std::uint64_t code = 0;
  TwRange image = {};
  TwRange locals = {};
};

int visit_module(dl_phdr_info* info, std::size_t, void* argument) {
  auto& search = *static_cast<Search*>(argument);
  TwRange image{~std::uint64_t{0}, 0};
  TwRange locals{};
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    const std::uint64_t begin = info->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD)
      image = {std::min(image.begin, begin), std::max(image.end, begin + header.p_memsz)};
    if (header.p_type == PT_TLS && info->dlpi_tls_data != nullptr) {
      const auto data = reinterpret_cast<std::uintptr_t>(info->dlpi_tls_data);
      locals = {data, data + header.p_memsz};
    }
  }
  if (search.code < image.begin || search.code >= image.end) return 0;
  search.image = image;
  search.locals = locals;
  return 1;
}

}  // namespace

void find_module(const void* code, TwRange& image, TwRange& locals) {
  Search search{.code = reinterpret_cast<std::uintptr_t>(code)};
  dl_iterate_phdr(visit_module, &search);
  image = search.image;
  locals = search.locals;
}

}  // namespace tilewright
