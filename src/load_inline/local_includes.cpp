// SPDX-License-Identifier: Apache-2.0
// load_inline/local_includes.cpp — replaces includes line by line; comments and strings are left to
// the tokenizer.
#include "load_inline/local_includes.h"

#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "base/input_file.h"
#include "base/quote.h"
#include "codegen/text/cpp_tokens.h"
#include "load_inline/inline_source.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

class LocalIncludes {
 public:
  std::string expand(const fs::path& file, const std::string& name) {
    const std::string text = read_input(file.string());
    std::string out;
    std::size_t at = 0;
    for (const CppToken& token : tokenize_cpp(text, name)) {
      const std::string_view header = included_header(token);
      if (!header.starts_with('"')) continue;
      const fs::path found = file.parent_path() / std::string(header.substr(1, header.size() - 2));
      if (!fs::is_regular_file(found)) continue;
      out.append(text, at, token.offset - at);
      at = token.end();
      if (!seen_.insert(fs::weakly_canonical(found).string()).second) continue;
      const std::string inner = std::string(header.substr(1, header.size() - 2));
      out += line_directive(1, inner) + expand(found, inner);
      if (!out.ends_with('\n')) out += '\n';
      out += line_directive(token.line, name);
    }
    return out.append(text, at);
  }

 private:
  std::set<std::string> seen_;
};

}  // namespace

std::string read_with_local_includes(const std::string& path) {
  return LocalIncludes().expand(path, fs::path(path).filename().string());
}

}  // namespace tilewright
