// SPDX-License-Identifier: Apache-2.0
// bench/compile_time.cpp — how long a kernel takes from Triton text to CUDA or C++ text, stage by
// stage, before any other compiler sees it; and how many ops it has at each stage.
#include <time.h>

#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/embedded.h"
#include "compiler/triton/compile.h"
#include "compiler/triton/parameters.h"
#include "compiler/triton/resolve.h"
#include "frontend/python/evaluate.h"
#include "report.h"
#include "tilewright/error.h"

namespace tilewright::bench {
namespace {

constexpr const char* help =
    "compile_time [--json]: CPU times from Triton text to CUDA or C++ text, without NVRTC and the "
    "host\n"
    "compiler, of the kernels of `tilewright bench`; the note has the number of ops at each "
    "stage\n";

struct Work {
  const char* name;
  const char* file;  // of src/bench/kernels
  const char* kernel;
  const char* signature;
  const char* target;
  KernelOptions options;
  double goal_seconds;  // passes, lowering and printing
};

const Work works[] = {
    {"softmax, sm_90a",
     "softmax.py",
     "softmax_kernel",
     "*fp32:16, *fp32:16, i32:16, 4096",
     "sm_90a",
     {.num_warps = 8},
     1.5e-3},
    {"matmul, sm_90a",
     "matmul.py",
     "matmul_kernel",
     "*fp16:16, *fp16:16, *fp16:16, i32:16, i32:16, i32:16, 128, 256, 64, 8",
     "sm_90a",
     {.num_warps = 8},
     3e-3},
    {"matmul, sm_80",
     "matmul.py",
     "matmul_kernel",
     "*fp16:16, *fp16:16, *fp16:16, i32:16, i32:16, i32:16, 128, 128, 32, 8",
     "sm_80",
     {.num_warps = 4},
     3e-3},
    {"attention, sm_90a",
     "attention.py",
     "attention_kernel",
     "*fp16:16, *fp16:16, *fp16:16, *fp16:16, i32:16, fp32, 128, 128, 128",
     "sm_90a",
     {.num_warps = 8, .num_stages = 2},
     5e-3},
    {"softmax, avx512",
     "softmax.py",
     "softmax_kernel",
     "*fp32:16, *fp32:16, i32:16, 4096",
     "avx512",
     {},
     1.5e-3},
    {"matmul, avx512",
     "matmul.py",
     "matmul_kernel",
     "*fp32:16, *fp32:16, *fp32:16, i32:16, i32:16, i32:16, 64, 64, 64, 8",
     "avx512",
     {},
     3e-3},
    {"attention, avx512",
     "attention.py",
     "attention_kernel",
     "*fp32:16, *fp32:16, *fp32:16, *fp32:16, i32:16, fp32, 64, 64, 64",
     "avx512",
     {},
     5e-3},
};

std::int64_t count_ops(const ir::Kernel& kernel) {
  std::int64_t count = 0;
  ir::walk(kernel.body, [&](const ir::Op&) { ++count; });
  return count;
}

// CPU time of the thread: machines that compile are busy.
double seconds_now() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Times {
  std::vector<double> front, passes, text, middle;  // the middle: passes, lowering and text
};

// Times of one run of everything, and the numbers of ops.
std::string run_once(const Work& work, Times& times) {
  const Target target = Target::parse(work.target);
  const auto start = seconds_now();
  python::ModuleLoader loader;
  const python::LoadedModule& module =
      loader.load_text(work.file, embedded_file(fmt::format("kernels/{}", work.file)));
  const python::DecoratedFunction function = find_kernel(loader, module, work.kernel);
  python::Evaluator evaluator(loader, {.facts = facts_of(target)});
  const std::vector<TritonParameter> parameters = read_parameters(loader, evaluator, function);
  const TritonSignature signature = parse_signature(work.kernel, parameters, work.signature);
  TileKernel kernel = lower_to_source(loader, function, signature, target, work.options);
  times.front.push_back(seconds_now() - start);

  const std::int64_t source_ops = count_ops(kernel.lowered.kernel);
  const auto passes = seconds_now();
  kernel.passes = run_passes(kernel.lowered.kernel, target, work.options);
  times.passes.push_back(seconds_now() - passes);
  const auto text = seconds_now();
  const KernelSource source = emit_source(loader, kernel, target, work.options);
  times.text.push_back(seconds_now() - text);
  times.middle.push_back(times.passes.back() + times.text.back());

  const ir::Kernel laid = laid_for(kernel.lowered.kernel, target, work.options);
  const ir::Kernel last = final_for(laid, target, work.options);
  return fmt::format("ops: source {}, tile {}, laid {}, final {}; {} bytes", source_ops,
                     count_ops(kernel.lowered.kernel), count_ops(laid), count_ops(last),
                     source.text.size());
}

Report measure() {
  constexpr int runs = 41;
  Report report{.title = "from Triton text to CUDA or C++ text", .machine = machine_name()};
  for (const Work& work : works) {
    Times times;
    std::string note;
    for (int run = 0; run < runs; ++run) note = run_once(work, times);
    report.rows.push_back(row_of(fmt::format("{}: front end", work.name), times.front));
    report.rows.push_back(row_of(fmt::format("{}: passes", work.name), times.passes));
    report.rows.push_back(
        row_of(fmt::format("{}: lowering and text", work.name), times.text, note));
    report.rows.push_back(row_of(fmt::format("{}: passes, lowering, text", work.name), times.middle,
                                 {}, work.goal_seconds));
  }
  return report;
}

}  // namespace
}  // namespace tilewright::bench

int main(int count, char** arguments) {
  return tilewright::bench::run_program(count, arguments, tilewright::bench::help,
                                        tilewright::bench::measure);
}
