// SPDX-License-Identifier: Apache-2.0
// cli/step_page.cpp — the trace as data of cli/trace.html.
#include "cli/step_page.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/embedded.h"
#include "base/input_file.h"
#include "base/page_template.h"
#include "base/quote.h"
#include "bench/json.h"
#include "tilewright/error.h"

namespace tilewright::cli {
namespace {

// A file that is gone is shown without its lines.
std::string text_of_file(const std::string& path) {
  try {
    return read_input(path);
  } catch (const Error&) {
    return "";
  }
}

// As arrays: there are thousands.
Json json_of(const TracedAccess& access) {
  Json runs = Json::array();
  for (const TracedRun& run : access.runs)
    for (const std::int64_t part : {run.first, run.count, run.rows, run.stride})
      runs.push_back(part);
  return Json::array({access.program, access.file, access.line, static_cast<int>(access.kind),
                      access.tensor, std::move(runs), access.masked_off, access.outside,
                      access.value});
}

Json json_of(const LaunchTrace& trace) {
  Json files = Json::array(), tensors = Json::array(), accesses = Json::array();
  for (const std::string& file : trace.files)
    files.push_back({{"name", file}, {"text", text_of_file(file)}});
  for (const TracedTensor& tensor : trace.tensors)
    tensors.push_back(
        {{"name", tensor.name}, {"dtype", name_of(tensor.dtype)}, {"shape", tensor.shape}});
  for (const TracedAccess& access : trace.accesses) accesses.push_back(json_of(access));
  return {{"kernel", trace.kernel},          {"grid", trace.grid},
          {"files", std::move(files)},       {"tensors", std::move(tensors)},
          {"accesses", std::move(accesses)}, {"whole", trace.is_whole}};
}

std::string subtitle_of(const LaunchTrace& trace) {
  const std::int64_t programs = trace.grid[0] * trace.grid[1] * trace.grid[2];
  std::string text =
      fmt::format("{} program{} in a grid of {}, {} accesses to memory", programs,
                  programs == 1 ? "" : "s", fmt::join(trace.grid, " x "), trace.accesses.size());
  if (!trace.is_whole)
    text += fmt::format("; the record ends with program {} of {}: launch less to see all of it",
                        trace.accesses.back().program + 1, programs);
  return text;
}

}  // namespace

std::string trace_page(const LaunchTrace& trace, const std::string& command) {
  const std::string name = xml_text(trace.kernel);
  PageTemplate page(embedded_file("trace.html"));
  page.put("@TITLE@", name);
  page.put("@TITLE@", name);
  page.put("@SUBTITLE@", xml_text(subtitle_of(trace)));
  page.put("@COMMAND@", xml_text(command));
  page.put("@DATA@",
           json_in_script(json_of(trace).dump(-1, ' ', false, Json::error_handler_t::replace)));
  return page.finish();
}

}  // namespace tilewright::cli
