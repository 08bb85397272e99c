// SPDX-License-Identifier: Apache-2.0
// bench/suite/html.cpp — fills the page's template.
#include "bench/suite/html.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "base/check.h"
#include "base/embedded.h"
#include "bench/suite/record_json.h"
#include "tilewright/error.h"

namespace tilewright::suite {
namespace {

void put(std::string& page, std::string_view place, std::string_view text) {
  const std::size_t at = page.find(place);
  TW_CHECK(at != std::string::npos, "the report's template has no {}", place);
  page.replace(at, place.size(), text);
}

// Nothing in the data may end the script element that holds it.
std::string inside_script(std::string text) {
  for (std::size_t at = text.find("</"); at != std::string::npos; at = text.find("</", at + 3))
    text.replace(at, 2, "<\\/");
  return text;
}

[[noreturn]] void throw_not_writable(const std::string& path, int code) {
  throw EnvironmentError(fmt::format("cannot write '{}': {}", path, std::strerror(code)));
}

}  // namespace

// The data goes in last: it may hold anything, the names of the places too.
std::string report_html(const Report& report) {
  std::string page(embedded_file("suite/report.html"));
  put(page, "@CHART@", embedded_file("chart.js"));
  put(page, "@DATA@", inside_script(report_json(report)));
  return page;
}

void check_writable(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) throw_not_writable(path, EISDIR);
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const std::string where = folder.empty() ? "." : folder.string();
  if (access(where.c_str(), W_OK | X_OK) != 0) throw_not_writable(path, errno);
}

void write_file(const std::string& path, const std::string& text) {
  const std::string temporary = fmt::format("{}.{}.tmp", path, getpid());
  std::ofstream file(temporary, std::ios::binary);
  file << text;
  file.close();
  if (file && std::rename(temporary.c_str(), path.c_str()) == 0) return;
  const int code = errno;
  unlink(temporary.c_str());
  throw_not_writable(path, code);
}

}  // namespace tilewright::suite
