// SPDX-License-Identifier: Apache-2.0
// cli/profile.cpp — `tilewright profile`: runs a program, collects what its processes wrote, and
// prints where the time went.
#include <dlfcn.h>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "base/nearest.h"
#include "base/output_file.h"
#include "base/process.h"
#include "base/units.h"
#include "bench/json.h"
#include "bench/suite/ops.h"
#include "cli/prints_aside.h"
#include "cli/verbs.h"
#include "profile/trace_file.h"
#include "runtime/cpu/temporary_folder.h"
#include "runtime/cuda/cupti_api.h"
#include "tilewright/error.h"
#include "tilewright/profile.h"

namespace tilewright::cli {
namespace {

namespace fs = std::filesystem;

// The file of the library that this program uses, which the CUDA driver is told to load.
std::string library_file() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&read_trace_file), &info) == 0 || !info.dli_fname)
    throw InternalError("the library does not know its own file");
  return fs::canonical(info.dli_fname).string();
}

std::vector<std::string> environment_of(const std::string& folder) {
  std::vector<std::string> added = {"TILEWRIGHT_PROFILE=" + folder,
                                    "CUDA_INJECTION64_PATH=" + library_file()};
  // Ranges of NVTX reach us through CUPTI.
  if (const std::string path = cuda::cupti_path(); !path.empty())
    added.push_back("NVTX_INJECTION64_PATH=" + path);
  return added;
}

// A mistyped operation looks like a program that is not there.
void check_program(const std::string& name) {
  if (name.find('/') != std::string::npos || !find_program(name).empty()) return;
  std::vector<std::string> operations;
  for (const suite::Operation& known : suite::operations()) operations.emplace_back(known.name);
  if (!nearest_names(name, operations).empty())
    throw ArgumentError(fmt::format("there is neither a program nor an operation '{}'{}", name,
                                    suggest_names(name, operations)));
}

// `profile gelu` is short for a profile of `tilewright bench gelu`.
std::vector<std::string> full_command(const ProfileVerbOptions& options) {
  const std::vector<std::string>& command = options.command;
  if (options.print_loss && command.front() != "mlp")
    throw UsageError{
        "--print-loss goes with the operation mlp: tilewright profile mlp --print-loss"};
  const auto operations = suite::operations();
  const bool is_operation =
      command.front() == "mlp" || command.front() == "compile" ||
      std::any_of(operations.begin(), operations.end(),
                  [&](const suite::Operation& known) { return command.front() == known.name; });
  if (!is_operation) {
    check_program(command.front());
    return command;
  }
  std::vector<std::string> full = {fs::read_symlink("/proc/self/exe").string(), "bench"};
  full.insert(full.end(), command.begin(), command.end());
  if (options.print_loss) full.emplace_back("--print-loss");
  return full;
}

// The traces of all processes as one: their threads have numbers of their own.
std::shared_ptr<Trace> collect(const std::string& folder) {
  auto all = std::make_shared<Trace>();
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".trace") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    const Trace part = read_trace_file(file.string());
    for (TraceEvent event : part.events) {
      event.name = all->number_of(part.text(event.name));
      event.detail = all->number_of(part.text(event.detail));
      all->events.push_back(event);
    }
    for (const std::string& note : part.notes) all->notes.push_back(note);
    for (const TraceDevice& device : part.devices)
      if (!all->find_device(device.device)) all->devices.push_back(device);
  }
  all->finish();
  return all;
}

Json row_json(const ProfileRow& row) {
  return {{"name", row.name},
          {"kind", row.kind},
          {"calls", row.calls},
          {"host_seconds", row.host_seconds},
          {"self_host_seconds", row.self_host_seconds},
          {"device_seconds", row.device_seconds},
          {"self_device_seconds", row.self_device_seconds},
          {"bytes", row.bytes},
          {"shapes", row.shapes}};
}

void print_json(const Profile& profile, const ProfileTableOptions& table, int exit_code) {
  Json json = {{"exit_code", exit_code},   {"seconds", profile.seconds()},
               {"rows", Json::array()},    {"findings", profile.findings()},
               {"notes", profile.notes()}, {"peak_bytes", {{"host", profile.peak_bytes()}}}};
  for (const TraceDevice& device : profile.trace().devices)
    json["peak_bytes"][fmt::format("cuda:{}", device.device)] = profile.peak_bytes(device.device);
  for (const ProfileRow& row : profile.rows(table))
    if (table.row_limit == 0 || json["rows"].size() < static_cast<std::size_t>(table.row_limit))
      json["rows"].push_back(row_json(row));
  fmt::print("{}\n", text_of(json));
}

void print_text(const Profile& profile, const ProfileTableOptions& table) {
  fmt::print("{}", profile.table(table));
  for (int device = -1; device < 16; ++device)
    if (const std::int64_t peak = profile.peak_bytes(device); peak > 0)
      fmt::print("at most {} of this library's memory in use on {}\n",
                 format_bytes(static_cast<std::size_t>(peak)),
                 device < 0 ? "the host" : fmt::format("GPU {}", device));
  for (const std::string& finding : profile.findings()) fmt::print("* {}\n", finding);
  for (const std::string& note : profile.notes()) fmt::print("note: {}\n", note);
}

}  // namespace

void run_profile(const ProfileVerbOptions& options) {
  for (const std::string* path : {&options.trace, &options.stacks, &options.flame})
    if (!path->empty()) check_output(*path);
  const ProfileTableOptions table{.row_limit = options.row_limit,
                                  .sort_by = options.sort_by,
                                  .group_by_stack = options.by_stack};
  Profile().rows(table);  // a wrong sort key is found before the program runs
  const TemporaryFolder folder;
  std::optional<PrintsAside> aside;
  if (options.json) aside.emplace();
  const int code = run_in_foreground(
      {.arguments = full_command(options), .environment = environment_of(folder.path())});
  aside.reset();
  const Profile profile(collect(folder.path()));
  if (profile.trace().events.empty())
    fmt::print(stderr,
               "tilewright: '{}' did nothing that is recorded: it neither used this library nor "
               "CUDA\n",
               options.command.front());
  if (options.json) print_json(profile, table, code);
  else if (!profile.trace().events.empty()) print_text(profile, table);
  std::fflush(stdout);  // the table is shown even if a file cannot be written
  if (!options.trace.empty()) profile.chrome_trace(options.trace);
  if (!options.stacks.empty()) profile.folded_stacks(options.stacks);
  if (!options.flame.empty()) profile.flame_graph(options.flame);
  if (code != 0) {
    fmt::print(stderr, "tilewright: '{}' ended with exit code {}\n", options.command.front(), code);
    throw ExitWith{code};
  }
}

}  // namespace tilewright::cli
