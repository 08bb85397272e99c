// SPDX-License-Identifier: Apache-2.0
// cli/guess_cuda.cpp — arguments by the types of parameters: large tensors, small numbers, blocks
// of one or two dimensions by what the kernel's text asks for.
#include "cli/guess_cuda.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "base/nearest.h"
#include "base/text.h"
#include "cli/cuda_call.h"
#include "tilewright/error.h"
#include "tilewright/load_inline.h"

namespace tilewright::cli {
namespace {

namespace fs = std::filesystem;

// An index over three dimensions of `guessed_size` is still inside.
constexpr std::int64_t guessed_elements = 1 << 16;
constexpr std::int64_t guessed_size = 32;

std::vector<std::string> cuda_files(const std::string& path) {
  const std::size_t colon = path.find(".cu:");
  const std::string file = colon == std::string::npos ? path : path.substr(0, colon + 3);
  if (file.ends_with(".cu") && fs::is_regular_file(file)) return {path};
  std::vector<std::string> files;
  if (!fs::is_directory(path)) return files;
  const auto options = fs::directory_options::skip_permission_denied;
  for (const auto& entry : fs::recursive_directory_iterator(path, options))
    if (entry.is_regular_file() && entry.path().extension() == ".cu")
      files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

// ---- One piece of work: a program, or a kernel of a file.

struct CudaWork {
  std::shared_ptr<const CudaFile> shared;
  const Declaration* kernel = nullptr;  // of the file; null: the program
  const CudaFile& file() const { return *shared; }
};

// A compiler's first error says more than that there was one.
std::string short_reason(const std::string& text) {
  const std::string first = first_line(text);
  const std::size_t error = text.find("error: ");
  if (error == std::string::npos || error < first.size()) return first;
  return fmt::format("{}: {}", first, first_line(std::string_view(text).substr(error)));
}

// "kernel", or "kernel<float>" where every parameter of the template is a type.
std::string instance_of(const Declaration& kernel) {
  std::string arguments;
  for (const TemplateParameter& parameter : kernel.template_parameters) {
    if (!parameter.default_text.empty()) break;
    if (parameter.kind != TemplateParameter::Kind::Type || parameter.is_pack)
      throw ArgumentError(
          fmt::format("its template parameter '{}' is no type; name the kernel "
                      "with its arguments",
                      parameter.name));
    arguments += arguments.empty() ? "float" : ", float";
  }
  return arguments.empty() ? kernel.qualified_name
                           : fmt::format("{}<{}>", kernel.qualified_name, arguments);
}

std::string tensor_text(const Parameter& parameter) {
  const DType dtype = parameter.any_pointee ? DType::UInt8 : parameter.dtype;
  const char* maker = is_floating(dtype) ? "randn" : "zeros";
  return fmt::format("{}:{}[{}]", maker, name_of(dtype), guessed_elements);
}

std::vector<std::string> guessed_arguments(const Function& function) {
  std::vector<std::string> texts;
  for (const Parameter& parameter : function.parameters()) {
    if (parameter.kind == Parameter::Kind::Opaque)
      throw ArgumentError(fmt::format("its parameter '{}' is a struct", parameter.name));
    const std::string value = parameter.kind == Parameter::Kind::Pointer ? tensor_text(parameter)
                              : is_floating(parameter.dtype)             ? std::string("0.5")
                                                             : fmt::format("{}", guessed_size);
    texts.push_back(fmt::format("{}={}", parameter.name, value));
  }
  return texts;
}

CudaShape guessed_shape(const CudaWork& work) {
  const std::string_view text =
      std::string_view(work.file().source.text)
          .substr(work.kernel->range.begin, work.kernel->range.end - work.kernel->range.begin);
  const bool is_flat = text.find("threadIdx.y") == std::string_view::npos;
  const bool is_dynamic = text.find("extern __shared__") != std::string_view::npos;
  return {.grid = is_flat ? "4" : "2, 2",
          .block = is_flat ? "256" : "16, 16",
          .shared_bytes = is_dynamic ? 32768u : 0u};
}

std::string join(const std::vector<std::string>& texts, const CudaShape& shape) {
  std::string out = fmt::format("grid={} block={}", shape.grid, shape.block);
  for (const std::string& text : texts) out += " " + text;
  return out;
}

// ---- Running.

std::vector<NamedValue> values_after(const CudaWork& work, const std::string& name,
                                     const CudaShape& shape, Device device, CudaGuess& guess) {
  CudaFile file = work.file();
  file.wanted = name;
  CudaCall call(file, device);
  const std::vector<std::string> texts = guessed_arguments(call.kernel());
  guess.arguments = join(texts, shape);
  const std::vector<NamedValue> values =
      values_for(texts, name, call.parameters(), {.device = device, .seed = 0});
  call.bind(values, shape);
  call.run();
  device.synchronize();
  return values;
}

// The name of the first tensor in which two devices differ by more than sums in another order do.
std::string first_difference(const std::vector<NamedValue>& a, const std::vector<NamedValue>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!a[i].tensor()) continue;
    const auto wide = [](const Tensor& tensor) {
      return tensor.to(Device::cpu()).to(DType::Float64).contiguous().to_vector<double>();
    };
    const std::vector<double> x = wide(*a[i].tensor()), y = wide(*b[i].tensor());
    for (std::size_t j = 0; j < x.size(); ++j) {
      const bool is_same = x[j] == y[j] || (std::isnan(x[j]) && std::isnan(y[j]));
      if (!is_same && !(std::abs(x[j] - y[j]) <= 1e-3 * (1 + std::abs(x[j]))))
        return fmt::format("element {} of '{}' is {} emulated and {} on the GPU", j, a[i].name,
                           x[j], y[j]);
    }
  }
  return {};
}

void run_guessed_kernel(const CudaWork& work, Device device, CudaGuess& guess) {
  std::string name;
  try {
    name = instance_of(*work.kernel);
  } catch (const ArgumentError& error) {
    guess.result = "cannot be guessed";
    guess.reason = error.what();
    return;
  }
  const CudaShape shape = guessed_shape(work);
  const auto emulated = values_after(work, name, shape, Device::cpu(), guess);
  guess.result = "runs";
  if (device.is_cpu()) return;
  guess.reason = first_difference(emulated, values_after(work, name, shape, device, guess));
  guess.result = guess.reason.empty() ? "agrees" : "disagrees";
}

void run_guessed_program(const CudaWork& work, Device device, CudaGuess& guess) {
  const int code = run_program(inline_options(work.file(), device), {});
  guess.result = code == 0 ? "runs" : "fails";
  if (code != 0) guess.reason = fmt::format("exit code {}", code);
}

// In the child: result, reason and arguments, a line each.
std::string run_work(const CudaWork& work, Device device) {
  if (std::freopen("/dev/null", "w", stdout) == nullptr)
    throw EnvironmentError("/dev/null cannot be opened");
  CudaGuess guess;
  try {
    work.kernel ? run_guessed_kernel(work, device, guess)
                : run_guessed_program(work, device, guess);
  } catch (const std::exception& error) {
    guess.result = "fails";
    guess.reason = short_reason(error.what());
  }
  return fmt::format("{}\n{}\n{}", guess.result, guess.reason, guess.arguments);
}

CudaGuess guess_of(const CudaWork& work, const IsolatedResult& result) {
  CudaGuess guess{.file = work.file().path,
                  .kernel = work.kernel ? work.kernel->qualified_name : "main",
                  .result = "does not end well",
                  .reason = result.problem,
                  .arguments = "",
                  .seconds = result.seconds};
  if (!result.finished) return guess;
  const std::size_t first = result.text.find('\n'), second = result.text.find('\n', first + 1);
  guess.result = result.text.substr(0, first);
  guess.reason = result.text.substr(first + 1, second - first - 1);
  guess.arguments = result.text.substr(second + 1);
  return guess;
}

void add_work(const std::string& path, std::vector<CudaWork>& all,
              std::vector<CudaGuess>& unreadable) {
  try {
    const auto shared = std::make_shared<const CudaFile>(read_cuda_file(path));
    const CudaFile& file = *shared;
    const std::size_t before = all.size();
    if (file.wanted.empty() && file.has_main()) all.push_back({shared, nullptr});
    for (const Declaration& d : file.source.outline)
      if (d.kind == Declaration::Kind::Kernel && d.has_body() && !d.is_specialization &&
          (file.wanted.empty() || d.qualified_name == file.wanted))
        all.push_back({shared, &d});
    if (all.size() == before && !file.wanted.empty())
      throw ArgumentError(fmt::format("{} has no kernel '{}'{}", file.path, file.wanted,
                                      suggest_names(file.wanted, file.kernels())));
  } catch (const UserError& error) {
    if (path.find(".cu:") != std::string::npos) throw;  // the one that was asked for
    unreadable.push_back({.file = path,
                          .kernel = "",
                          .result = "cannot be read",
                          .reason = short_reason(error.what()),
                          .arguments = ""});
  }
}

}  // namespace

bool has_cuda_files(const std::string& path) { return !cuda_files(path).empty(); }

std::vector<CudaGuess> guess_cuda(const std::string& path, Device device,
                                  const Isolation& isolation,
                                  const std::function<void(const std::string&)>& show) {
  std::vector<CudaGuess> guesses;
  std::vector<CudaWork> all;
  for (const std::string& file : cuda_files(path)) add_work(file, all, guesses);
  const std::size_t first = guesses.size();
  guesses.resize(first + all.size());
  std::size_t ended = 0;
  run_isolated(
      all.size(), isolation, [&](std::size_t i) { return run_work(all[i], device); },
      [&](std::size_t i, const IsolatedResult& result) {
        guesses[first + i] = guess_of(all[i], result);
        show(fmt::format("{} of {}: {}", ++ended, all.size(), guesses[first + i].kernel));
      });
  return guesses;
}

}  // namespace tilewright::cli
