// SPDX-License-Identifier: Apache-2.0
// fuzz/kernels/keep.cpp — kernel.py, launch.json, and the bytes of each memory.
#include "keep.h"

#include <filesystem>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/output_file.h"
#include "launch.h"

namespace tilewright::fuzz {
namespace {

std::string launch_json(const Program& program) {
  std::vector<std::string> memory, pointers, integers;
  for (const Memory& each : program.memory)
    memory.push_back(
        fmt::format("{{\"dtype\": \"{}\", \"count\": {}}}", name_of(each.dtype), each.count));
  for (const PointerArgument& each : program.pointers)
    pointers.push_back(fmt::format("\"{}\": {{\"memory\": {}, \"start\": {}}}", each.name,
                                   each.memory, each.start));
  for (const IntegerArgument& each : program.integers)
    integers.push_back(fmt::format("\"{}\": {{\"value\": {}, \"is_constant\": {}}}", each.name,
                                   each.value, each.is_constant));
  return fmt::format(
      "{{\"kernel\": \"{}\", \"grid\": {}, \"num_warps\": {}, \"memory\": [{}],\n"
      "\"pointers\": {{{}}},\n\"integers\": {{{}}}}}\n",
      program.name, program.grid, program.warps > 0 ? program.warps : 4, fmt::join(memory, ", "),
      fmt::join(pointers, ", "), fmt::join(integers, ", "));
}

void write_images(const Launch::Images& images, const std::string& folder,
                  std::string_view moment) {
  for (std::size_t i = 0; i < images.size(); ++i)
    write_output(fmt::format("{}/{}.{}.bin", folder, i, moment),
                 {reinterpret_cast<const char*>(images[i].data()), images[i].size()});
}

}  // namespace

void keep(const Program& program, const std::string& folder) {
  const std::string own = fmt::format("{}/{}", folder, program.name);
  const Launch launch(program);
  std::filesystem::create_directories(own);
  write_output(own + "/kernel.py", source_of(program));
  write_images(launch.initial(), own, "before");
  write_images(launch.expected(), own, "after");
  write_output(own + "/launch.json", launch_json(program));
}

}  // namespace tilewright::fuzz
