// SPDX-License-Identifier: Apache-2.0
// cli/step_source.cpp — functions by the indentation of their lines.
#include "cli/step_source.h"

#include <sstream>

#include "base/input_file.h"
#include "tilewright/error.h"

namespace tilewright::cli {
namespace {

std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> lines;
  try {
    std::istringstream text(read_input(path));
    for (std::string line; std::getline(text, line);) lines.push_back(line);
  } catch (const Error&) {  // a file that is gone has no lines to show
  }
  return lines;
}

}  // namespace

StepSource::StepSource(const ir::Kernel& kernel) {
  names_.emplace_back("module");
  for (const std::string& name : kernel.files) {
    File file{name, lines_of(name), {}};
    std::vector<std::pair<std::size_t, int>> open = {{0, 0}};  // indentation of `def`, function
    for (const std::string& line : file.lines) {
      const std::size_t indent = line.find_first_not_of(" \t");
      if (indent != std::string::npos && line[indent] != '#') {
        while (open.size() > 1 && indent <= open.back().first && line[indent] != ')')
          open.pop_back();
        if (line.compare(indent, 4, "def ") == 0) {
          const std::size_t end = line.find('(', indent);
          names_.push_back(line.substr(indent + 4, end - indent - 4));
          open.emplace_back(indent, static_cast<int>(names_.size()) - 1);
        }
      }
      file.functions.push_back(open.back().second);
    }
    files_.push_back(std::move(file));
  }
  ir::walk(kernel.body, [&](const ir::Op& op) {
    if (op.location.line > 0 && op.location.file == 0) lines_.insert(op.location.line);
  });
}

std::string StepSource::line(int file, int number) const {
  const auto& lines = files_[static_cast<std::size_t>(file)].lines;
  return number < 1 || number > static_cast<int>(lines.size())
             ? ""
             : lines[static_cast<std::size_t>(number) - 1];
}

int StepSource::function_at(int file, int line) const {
  const auto& functions = files_[static_cast<std::size_t>(file)].functions;
  return line < 1 || line > static_cast<int>(functions.size())
             ? 0
             : functions[static_cast<std::size_t>(line) - 1];
}

std::string StepSource::function_name(int function) const {
  return names_[static_cast<std::size_t>(function)];
}

int StepSource::line_from(int wanted) const {
  const auto found = lines_.lower_bound(wanted);
  return found == lines_.end() ? 0 : *found;
}

}  // namespace tilewright::cli
