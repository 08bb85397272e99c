// SPDX-License-Identifier: Apache-2.0
// runtime/include_scan.cpp — follows #include lines through files.
#include "runtime/include_scan.h"

#include <sys/stat.h>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_set>

namespace tilewright {
namespace {

struct Include {
  std::string name;
  bool is_quoted = false;
};

std::string_view without_blanks(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

// `#include "a.h"`, `# include <a.h>`, `#include_next <a.h>`; empty for any other line.
std::optional<Include> parse_include(std::string_view line) {
  line = without_blanks(line);
  if (!line.starts_with('#')) return std::nullopt;
  line = without_blanks(line.substr(1));
  constexpr std::string_view word = "include";
  if (!line.starts_with(word)) return std::nullopt;
  const auto open = line.find_first_of("\"<", word.size());
  if (open == std::string_view::npos) return std::nullopt;
  const bool is_quoted = line[open] == '"';
  const auto close = line.find(is_quoted ? '"' : '>', open + 1);
  if (close == std::string_view::npos) return std::nullopt;
  return Include{std::string(line.substr(open + 1, close - open - 1)), is_quoted};
}

std::vector<Include> includes_of(std::string_view text) {
  std::vector<Include> found;
  while (!text.empty()) {
    const auto end = text.find('\n');
    if (auto include = parse_include(text.substr(0, end))) found.push_back(std::move(*include));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return found;
}

std::optional<std::string> read_file(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                             std::fclose);
  if (!file) return std::nullopt;
  std::string text(static_cast<std::size_t>(info.st_size), '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  return text;
}

// Folders and forced includes that the user gave as plain compiler options.
struct OptionFiles {
  std::vector<std::string> folders;
  std::vector<std::string> files;
};

OptionFiles read_options(const std::vector<std::string>& options) {
  static constexpr std::string_view folder_options[] = {"-I", "-isystem", "-iquote", "-idirafter",
                                                        "--include-path"};
  static constexpr std::string_view file_options[] = {"-include", "--pre-include"};
  OptionFiles result;
  // The value stands behind the name, behind its '=', or in the next option.
  const auto match = [&](std::size_t& i, std::span<const std::string_view> names,
                         std::vector<std::string>& out) {
    for (const std::string_view name : names) {
      if (!options[i].starts_with(name)) continue;
      std::string value = options[i].substr(name.size());
      if (value.starts_with('=')) value.erase(0, 1);
      if (value.empty() && i + 1 < options.size()) value = options[++i];
      out.push_back(std::move(value));
      return true;
    }
    return false;
  };
  for (std::size_t i = 0; i < options.size(); ++i)
    if (!match(i, folder_options, result.folders)) match(i, file_options, result.files);
  return result;
}

class Scanner {
 public:
  explicit Scanner(const KernelSource& source) : folders_(source.include_folders) {
    const OptionFiles extra = read_options(source.options);
    folders_.insert(folders_.end(), extra.folders.begin(), extra.folders.end());
    for (const NamedFile& header : source.headers) headers_.insert(header.name);
    for (const std::string& file : extra.files) follow({file, true}, ".");
    scan(source.text,
         ".");  // compilers look for quoted names of a source without a file in the current folder
    for (const NamedFile& header : source.headers) scan(header.text, ".");
  }
  std::vector<IncludedFile> take() { return std::move(files_); }

 private:
  void scan(std::string_view text, const std::string& folder) {
    for (const Include& include : includes_of(text)) follow(include, folder);
  }

  void follow(const Include& include, const std::string& own_folder) {
    if (include.name.empty() || headers_.contains(include.name)) return;
    if (include.name.starts_with('/')) {
      visit(include.name);
      return;
    }
    if (include.is_quoted && visit(own_folder + "/" + include.name)) return;
    for (const std::string& folder : folders_)
      if (visit(folder + "/" + include.name)) return;
  }

  bool visit(const std::string& path) {
    if (seen_.contains(path)) return true;
    const auto text = read_file(path);
    if (!text) return false;
    seen_.insert(path);
    files_.push_back({path, hash_bytes(std::as_bytes(std::span(text->data(), text->size())))});
    scan(*text, path.substr(0, path.rfind('/')));
    return true;
  }

  std::vector<std::string> folders_;
  std::unordered_set<std::string> headers_;
  std::unordered_set<std::string> seen_;
  std::vector<IncludedFile> files_;
};

}  // namespace

std::vector<IncludedFile> included_files(const KernelSource& source) {
  return Scanner(source).take();
}

}  // namespace tilewright
