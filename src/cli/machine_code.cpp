// SPDX-License-Identifier: Apache-2.0
// cli/machine_code.cpp — the disassemblers, and the lines of the user's file in what they print.
#include "cli/machine_code.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "base/process.h"
#include "base/quote.h"
#include "runtime/components.h"
#include "tilewright/error.h"

namespace tilewright::cli {
namespace {

// A file that is gone when this goes.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::vector<std::byte>& bytes) {
    path_ = (std::filesystem::temp_directory_path() / "tilewright_XXXXXX").string();
    const int file = mkstemp(path_.data());
    if (file < 0) throw EnvironmentError("no temporary file can be made to disassemble from");
    close(file);
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  ~TemporaryFile() { std::remove(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string disassembler(const Target& target) {
  if (!target.is_cuda()) {
    const std::string path = find_program("objdump");
    if (path.empty())
      throw MissingError("--emit asm needs objdump, which is not in PATH; install binutils");
    return path;
  }
  for (const ComponentStatus& component : cuda_components())
    if (component.name == "nvdisasm") {
      if (!component.path.empty()) return component.path;
      throw MissingError(fmt::format(
          "--emit sass needs nvdisasm or cuobjdump, and neither was found; {}", component.remedy));
    }
  throw MissingError("--emit sass needs nvdisasm or cuobjdump, and neither was found");
}

std::vector<std::string> command_line(const std::string& program, const Target& target,
                                      const std::string& file) {
  if (!target.is_cuda())
    return {program, "-d", "--no-show-raw-insn", "-C", "--section=.text", file};
  if (program.ends_with("cuobjdump")) return {program, "-sass", file};
  return {program, "-c", "-gi", file};
}

// "softmax.py:13" => the text of that line.
std::map<std::string, std::string> texts_of_lines(const std::string& commented) {
  std::map<std::string, std::string> texts;
  std::istringstream in(commented);
  for (std::string line; std::getline(in, line);) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin == std::string::npos || line.compare(begin, 3, "// ") != 0) continue;
    const std::size_t end = line.find(": ", begin);
    if (end != std::string::npos)
      texts.try_emplace(line.substr(begin + 3, end - begin - 3), line.substr(end + 2));
  }
  return texts;
}

constexpr std::string_view line_mark = "\t//## File \"";

// `//## File "/home/me/softmax.py", line 13` => "softmax.py:13"; empty inside an inlined function
// (the line that called it follows). The generated text is named as the kernel, without an ending.
std::string place_of(std::string_view mark) {
  if (mark.find(" inlined at ") != std::string_view::npos) return {};
  const std::size_t end = mark.find("\", line ");
  if (end == std::string_view::npos) return {};
  const std::filesystem::path file(mark.substr(line_mark.size(), end - line_mark.size()));
  const std::string_view line = mark.substr(end + 8);
  if (!file.has_extension()) return fmt::format("line {} of --emit cuda", line);
  return fmt::format("{}:{}", file.filename().string(), line);
}

// nvdisasm names the whole chain of inlined functions before every few instructions; of it only the
// user's line is left, and only where it changes.
std::string with_source_lines(const std::string& code, const std::string& lines) {
  const std::map<std::string, std::string> texts = texts_of_lines(lines);
  std::string out, shown;
  std::istringstream in(code);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("nvdisasm warning")) {
      out += cpp_comment(line) + "\n";
    } else if (!line.starts_with(line_mark)) {
      out += line + "\n";
    } else if (const std::string place = place_of(line); !place.empty() && place != shown) {
      shown = place;
      const auto text = texts.find(place);
      const std::string line_text = text == texts.end() ? "" : ": " + text->second;
      out += cpp_comment(place + line_text) + "\n";
    }
  }
  return out;
}

}  // namespace

std::string disassemble(const Binary& binary, const Target& target, const std::string& lines) {
  const std::string program = disassembler(target);
  const TemporaryFile file(binary.bytes);
  const ProcessResult result =
      run_process({.arguments = command_line(program, target, file.path())});
  if (result.exit_code != 0)
    throw EnvironmentError(
        fmt::format("{} failed with exit code {}: {}", program, result.exit_code, result.output));
  return target.is_cuda() ? with_source_lines(result.output, lines) : result.output;
}

}  // namespace tilewright::cli
