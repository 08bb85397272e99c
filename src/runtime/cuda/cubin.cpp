// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/cubin.cpp — reads the assembler's report in the log, and the sizes of code in the
// ELF file.
//
// The log has, for each kernel:
//   ptxas info    : Compiling entry function 'k' for 'sm_90a'
//   ptxas info    : Function properties for k
//   ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//   ptxas info    : Used 22 registers, used 1 barriers, 256 bytes smem
#include "runtime/cuda/cubin.h"

#include <elf.h>

#include <cctype>
#include <charconv>
#include <cstring>
#include <map>
#include <string_view>

namespace tilewright {
namespace {

// The number that stands before `unit`; 0 when there is none.
std::size_t number_before(std::string_view line, std::string_view unit) {
  const auto at = line.find(unit);
  if (at == std::string_view::npos) return 0;
  auto start = at;
  while (start > 0 && std::isdigit(static_cast<unsigned char>(line[start - 1]))) --start;
  std::size_t value = 0;
  std::from_chars(line.data() + start, line.data() + at, value);
  return value;
}

std::string_view between_quotes(std::string_view line) {
  const auto open = line.find('\'');
  if (open == std::string_view::npos) return {};
  return line.substr(open + 1, line.find('\'', open + 1) - open - 1);
}

void read_line(std::string_view line, std::vector<KernelResources>& kernels) {
  if (line.find("Compiling entry function '") != std::string_view::npos) {
    KernelResources kernel;
    kernel.name = kernel.symbol = between_quotes(line);
    kernels.push_back(std::move(kernel));
  }
  if (kernels.empty()) return;
  KernelResources& kernel = kernels.back();
  if (line.find(" bytes stack frame") != std::string_view::npos) {
    // Device functions that were not inlined report theirs too: the deepest counts.
    kernel.stack_bytes = std::max(kernel.stack_bytes, number_before(line, " bytes stack frame"));
    kernel.spill_store_bytes += number_before(line, " bytes spill stores");
    kernel.spill_load_bytes += number_before(line, " bytes spill loads");
  }
  if (line.find("Used ") != std::string_view::npos &&
      line.find(" registers") != std::string_view::npos) {
    kernel.registers = static_cast<int>(number_before(line, " registers"));
    kernel.barriers = static_cast<int>(number_before(line, " barriers"));
    kernel.shared_bytes = number_before(line, " bytes smem");
  }
}

template <class T>
bool read_at(std::span<const std::byte> bytes, std::size_t offset, T& value) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof value) return false;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return true;
}

// Sizes of all sections named .text.SYMBOL. A file that is no ELF has none.
std::map<std::string, std::size_t> code_sizes(std::span<const std::byte> bytes) {
  std::map<std::string, std::size_t> sizes;
  Elf64_Ehdr header;
  Elf64_Shdr names;
  if (!read_at(bytes, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return sizes;
  const auto section_offset = [&](std::size_t index) {
    return header.e_shoff + index * sizeof(Elf64_Shdr);
  };
  if (!read_at(bytes, section_offset(header.e_shstrndx), names)) return sizes;
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    if (!read_at(bytes, section_offset(i), section)) break;
    const std::size_t at = names.sh_offset + section.sh_name;
    if (at >= bytes.size()) continue;
    const char* const start = reinterpret_cast<const char*>(bytes.data()) + at;
    const std::string name(start, strnlen(start, bytes.size() - at));
    if (name.starts_with(".text.")) sizes[name.substr(6)] = section.sh_size;
  }
  return sizes;
}

}  // namespace

std::vector<KernelResources> resources_of(const Binary& binary) {
  std::vector<KernelResources> kernels;
  for (std::string_view rest = binary.log; !rest.empty();) {
    const auto end = rest.find('\n');
    read_line(rest.substr(0, end), kernels);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  const auto sizes = code_sizes(binary.bytes);
  for (KernelResources& kernel : kernels) {
    if (const auto found = sizes.find(kernel.symbol); found != sizes.end())
      kernel.code_bytes = found->second;
    for (const auto& [expression, symbol] : binary.symbols)
      if (symbol == kernel.symbol) kernel.name = expression;
  }
  return kernels;
}

}  // namespace tilewright
