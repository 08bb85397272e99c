// SPDX-License-Identifier: Apache-2.0
// compiler/numba/numba_source.cpp — from a kernel's text to what the runtime compiles.
#include <fmt/format.h>

#include "base/cpu_entry.h"
#include "base/embedded.h"
#include "base/quote.h"
#include "compiler/numba/numba_state.h"
#include "tilewright/load_inline.h"

namespace tilewright {
namespace {

using numba::Slot;

std::string file_label(const NumbaKernel::State& state) {
  const std::string& file = state.module->file;
  const std::size_t slash = file.rfind('/');
  return slash == std::string::npos ? file : file.substr(slash + 1);
}

std::string argument_list(const std::vector<Slot>& slots, const char* x = "tw_x") {
  std::string list = fmt::format("{{{{{}, tw_y, tw_z}}, tw_block, tw_threads, tw_grid}}", x);
  for (const Slot& slot : slots) list += ", " + slot.name;
  return list;
}

// Threads of one row of a block are the loop that may become vector code.
std::string loop_entry(const numba::KernelText& text, const std::string& symbol) {
  std::string out = line_directive(1, "entry") +
                    fmt::format(
                        "extern \"C\" void {}(const TwCpuLaunch* launch, void* const* parameters,\n"
                        "    unsigned long tw_first, unsigned long tw_last) {{\n",
                        symbol);
  for (std::size_t i = 0; i < text.slots.size(); ++i) {
    const Slot& slot = text.slots[i];
    const std::string type = numba::cpp_type(slot.dtype);
    if (slot.kind != Slot::Kind::Data && slot.dtype == DType::Bool)
      out += fmt::format("  const bool {} = *(const unsigned char*)parameters[{}] != 0;\n",
                         slot.name, i);
    else
      out += fmt::format("  {0}{1} const {2} = *({0}{1}*)parameters[{3}];\n", type,
                         slot.kind == Slot::Kind::Data ? "*" : "", slot.name, i);
  }
  std::string inside;
  if (text.has_guard)
    inside = fmt::format(R"(        if ({0}<2>({1})) {{
#pragma omp simd
          for (long long tw_x = 0; tw_x < tw_threads.x; ++tw_x) {0}<1>({2});
          continue;
        }}
)",
                         text.entry, argument_list(text.slots, "tw_threads.x - 1"),
                         argument_list(text.slots));
  out += fmt::format(
      R"(  const TwIndex tw_grid = {{launch->grid[0], launch->grid[1], launch->grid[2]}};
  const TwIndex tw_threads = {{launch->block[0], launch->block[1], launch->block[2]}};
  for (unsigned long tw_number = tw_first; tw_number < tw_last; ++tw_number) {{
    const TwIndex tw_block = {{(long long)(tw_number % tw_grid.x), (long long)(tw_number / tw_grid.x % tw_grid.y),
                              (long long)(tw_number / tw_grid.x / tw_grid.y)}};
    for (long long tw_z = 0; tw_z < tw_threads.z; ++tw_z)
      for (long long tw_y = 0; tw_y < tw_threads.y; ++tw_y) {{
{2}#pragma omp simd
        for (long long tw_x = 0; tw_x < tw_threads.x; ++tw_x) {0}<0>({1});
      }}
  }}
}}
)",
      text.entry, argument_list(text.slots), inside);
  return out;
}

KernelSource loop_source(const numba::KernelText& text, const std::string& label) {
  KernelSource source;
  source.language = Language::Cpp;
  source.name = label;
  std::vector<std::string> headers = {"core.h", "floats.h"};
  if (text.uses_half) headers.emplace_back("small_floats.h");
  if (text.uses_math) headers.insert(headers.end(), {"exponentials.h", "math.h"});
  for (const std::string& header : headers) {
    source.text += fmt::format("#include \"tw/{}\"\n", header);
    source.headers.push_back(
        {"tw/" + header, std::string(embedded_file("device_lib/cpu/" + header))});
  }
  source.headers.push_back({"tw/entry.h", cpu_entry_text});
  const std::string symbol = "tw_loop_" + text.entry;
  source.text += "#include \"tw/entry.h\"\n" + text.text + "\n" + loop_entry(text, symbol);
  // As codegen/cpu/emit.cpp has them, with its reasons.
  source.options = {"-fopenmp-simd",
                    "-fwrapv",
                    "-ffp-contract=fast",
                    "-fno-trapping-math",
                    "-fno-math-errno",
                    "-fno-strict-aliasing",
                    "-w",
                    "-fno-tree-loop-distribute-patterns",
                    "-fno-tree-loop-distribution",
                    "-fno-loop-interchange",
                    "-fno-loop-unroll-and-jam",
                    "-nostdlib",
                    "-lm",
                    "-lgcc",
                    "-O2",
                    "-ftree-vectorize",
                    "-fsplit-loops",
                    "-fvect-cost-model=dynamic"};
  if (text.uses_fast_math) source.options.emplace_back("-ffast-math");
  KernelSource::Kernel kernel{.name = text.entry};
  for (const Slot& slot : text.slots)
    kernel.parameters.push_back(
        {.name = slot.name,
         .kind = slot.kind == Slot::Kind::Data ? Parameter::Kind::Pointer : Parameter::Kind::Scalar,
         .dtype = slot.dtype,
         .is_const = slot.is_const});
  kernel.variants.push_back(direct_plan(symbol, text.slots.size()));
  source.kernels.push_back(std::move(kernel));
  return source;
}

}  // namespace

std::optional<NumbaSource> numba_source(NumbaKernel::State& state,
                                        const std::vector<numba::Type>& types, NumbaPlace place,
                                        NumbaPromises promises) {
  const bool is_loop = place == NumbaPlace::Loop;
  NumbaSource made;
  made.text =
      numba::write_kernel({state.loader, *state.module, *state.function, state.name, types,
                           is_loop ? numba::Dialect::Loop : numba::Dialect::Cuda,
                           promises.is_narrow, promises.are_apart, place == NumbaPlace::Emulated});
  if (is_loop && made.text.needs_threads) return {};
  if (is_loop) {
    made.source = loop_source(made.text, file_label(state));
    return made;
  }
  InlineOptions options{.cuda_sources = {made.text.text}, .name = file_label(state)};
  if (made.text.uses_fast_math) options.extra_cuda_cflags = {"--use_fast_math"};
  made.source = inline_kernel_source(options, place == NumbaPlace::Gpu ? "sm_90a" : "cpu");
  for (std::size_t i = 0; i < made.text.slots.size(); ++i)
    made.source.kernels.front().parameters[i].is_const = made.text.slots[i].is_const;
  return made;
}

}  // namespace tilewright
