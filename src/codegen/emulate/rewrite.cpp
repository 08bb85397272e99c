// SPDX-License-Identifier: Apache-2.0
// codegen/emulate/rewrite.cpp — the token rewriter, and the text around a rewritten source.
#include "codegen/emulate/rewrite.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/cpu_entry.h"
#include "base/embedded.h"
#include "base/quote.h"
#include "base/settings.h"
#include "codegen/emulate/check_marks.h"
#include "codegen/emulate/features.h"
#include "codegen/emulate/reach.h"
#include "codegen/text/cpp_tokens.h"

namespace tilewright {
namespace {

// With checks a kernel without barriers is watched as well: they may be what it lacks.
bool needs_fibers(std::string_view identifier) {
  return is_barrier(identifier) || (identifier == "__shared__" && is_emulation_checked());
}

class Rewriter {
 public:
  Rewriter(std::string_view text, std::string_view name)
      : text_(text), name_(name), tokens_(tokenize_cpp(text, name)) {}

  EmulatedSource run() {
    Mentions mentions = find_mentions(tokens_, needs_fibers);
    if (is_emulation_checked())
      for (TextInsertion& mark : check_marks(tokens_))
        edits_.push_back({mark.offset, 0, std::move(mark.text)});
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].kind == CppToken::Kind::Directive) directive(tokens_[i]);
      else if (tokens_[i].is_identifier()) identifier(i);
      else if (tokens_[i].is("{") || tokens_[i].is("}")) brace(i);
      else if (tokens_[i].is("<<<"))
        unsupported(tokens_[i], "launches from device code (dynamic parallelism)");
    }
    out_.defined = std::move(mentions.defined);
    out_.reaches_barrier = std::move(mentions.reaching);
    out_.text = line_directive(1, name_) + edited();
    return std::move(out_);
  }

 private:
  struct Edit {
    std::size_t offset;
    std::size_t length;
    std::string replacement;
  };

  void replace(const CppToken& token, std::string replacement) {
    edits_.push_back({token.offset, token.text.size(), std::move(replacement)});
  }

  // The text with all edits; a replacement has as many line ends as what it replaces.
  std::string edited() {
    std::stable_sort(edits_.begin(), edits_.end(),
                     [](const Edit& a, const Edit& b) { return a.offset < b.offset; });
    std::string out;
    std::size_t at = 0;
    for (const Edit& edit : edits_) {
      out.append(text_, at, edit.offset - at).append(edit.replacement);
      at = edit.offset + edit.length;
    }
    out.append(text_, at);
    if (!out.ends_with('\n')) out += '\n';
    return out;
  }

  // ---- Directives.

  void directive(const CppToken& token) {
    const std::string_view word = directive_word(token);
    if (word.starts_with("if")) groups_.push_back(braces_);
    else if (word.starts_with("el") && !groups_.empty()) braces_ = groups_.back();
    else if (word == "endif" && !groups_.empty()) groups_.pop_back();
    else if (const std::string_view header = included_header(token); !header.empty())
      include(token, header);
    else if (word == "define") note_half_names(token);
  }

  void include(const CppToken& token, std::string_view header) {
    if (const std::string_view feature = unsupported_header(header); !feature.empty())
      return unsupported(token, feature);
    if (has_stand_in(header)) {
      out_.has_half |= header.find("fp16") != std::string_view::npos ||
                       header.find("bf16") != std::string_view::npos;
      out_.has_groups |= header.find("cooperative_groups") != std::string_view::npos;
      out_.has_cub |= header.find("cub/") != std::string_view::npos;
      return replace(token, std::string(static_cast<std::size_t>(
                                            std::count(token.text.begin(), token.text.end(), '\n')),
                                        '\n'));
    }
    if (header.starts_with('<')) out_.needs_standard_library = true;
  }

  void note_half_names(const CppToken& token) {
    for (std::string_view name : {"half", "bfloat16"})
      if (token.text.find(name) != std::string_view::npos) out_.has_half = true;
  }

  // ---- Names.

  void identifier(std::size_t index) {
    const CppToken& token = tokens_[index];
    if (needs_fibers(token.text)) out_.has_barriers = true;
    if (is_half_name(token.text)) out_.has_half = true;
    if (is_copy_name(token.text)) out_.has_copies = true;
    if (token.is("__shared__")) return shared(index);
    if (token.is_one_of({"__global__", "__device__"})) return device_function(index);
    if (token.is("__noinline__")) return replace(token, "__attribute__((noinline))");
    if (token.is("cooperative_groups")) out_.has_groups = true;
    if (is_known_cub(index)) {
      out_.has_cub = true;
      return;
    }
    if (is_library_namespace(index))
      return unsupported(token, token.is("cub") ? fmt::format("cub::{}", tokens_[index + 2].text)
                                                : fmt::format("the {} library", token.text));
    if (token.is_one_of({"new", "malloc"})) out_.has_heap = true;
    if (const std::string_view feature = unsupported_feature(token.text); !feature.empty())
      unsupported(token, feature);
  }

  // A kernel or device function of C linkage that is called like a function which g++ knows (index,
  // gamma, tolower) would be taken for that one: its launch would run nothing. It gets the linkage
  // of C++, whether `extern "C"` stands before it or around it.
  void device_function(std::size_t index) {
    std::size_t first = index;
    while (first > 0 && !ends_declaration(tokens_[first - 1])) --first;
    for (std::size_t i = first; i < index; ++i)
      if (is_c_linkage(i)) return replace(tokens_[i + 1], "\"C++\"");
    if (first == 0 || first == relinked_ || !is_in_c_block(first)) return;
    for (std::size_t i = first; i < tokens_.size() && !tokens_[i].is("("); ++i)
      if (tokens_[i].is_one_of({";", "=", "{", "static", "extern", "template"})) return;
    relinked_ = first;
    edits_.push_back({tokens_[first].offset, 0, "extern \"C++\" "});
  }
  static bool ends_declaration(const CppToken& token) {
    return token.kind == CppToken::Kind::Directive || token.is_one_of({";", "{", "}"});
  }
  bool is_c_linkage(std::size_t index) const {
    return tokens_[index].is("extern") && index + 1 < tokens_.size() &&
           tokens_[index + 1].text == "\"C\"";
  }
  // Whether the innermost braces around the token are those of `extern "C" { ... }`.
  bool is_in_c_block(std::size_t index) const {
    int depth = 0;
    for (std::size_t i = index; i-- > 0;) {
      if (tokens_[i].is("}")) ++depth;
      else if (tokens_[i].is("{") && depth-- == 0) return i >= 2 && is_c_linkage(i - 2);
    }
    return false;
  }

  bool is_known_cub(std::size_t index) const {
    return tokens_[index].is("cub") && index + 2 < tokens_.size() && tokens_[index + 1].is("::") &&
           is_cub_name(tokens_[index + 2].text);
  }

  bool is_library_namespace(std::size_t index) const {
    const CppToken& token = tokens_[index];
    const bool qualifies = index + 2 < tokens_.size() && tokens_[index + 1].is("::");
    return qualifies && (token.is("cuda") || token.is("cub") || token.is("thrust") ||
                         token.is("cutlass") || token.is("cute"));
  }

  void unsupported(const CppToken& token, std::string_view feature) {
    const std::string message = fmt::format("emulation on the CPU does not support {}", feature);
    if (groups_.empty())
      throw SyntaxOrTypeError({std::string(name_), token.span(), message,
                               "run this kernel on a GPU, or write this part in CUDA C++"},
                              text_);
    // Which groups are compiled only the preprocessor knows.
    if (token.kind == CppToken::Kind::Directive) replace(token, fmt::format("#error {}", message));
    else replace(token, fmt::format("_Pragma(\"GCC error \\\"{}\\\"\") {}", message, token.text));
  }

  // ---- Shared memory.
  //
  //   static __shared__ float tile[8];  =>  __shared__ float tile[8];       (the macro says static)
  //   extern __shared__ float tile[];   =>  float (&tile)[] = tw_emulate::dynamic_shared;   in a
  //   function extern __shared__ float tile[];   =>  TW_EMULATE_EXTERN float tile[]
  //   __asm__("tw_dynamic_shared");   outside
  //
  // Outside of functions a reference would be found by its value at start-up, which no thread-local
  // has; inside, g++ loses the label when a template is instantiated.

  void shared(std::size_t index) {
    std::size_t begin = index;
    while (begin > 0 && !ends_statement(tokens_[begin - 1])) --begin;
    std::size_t end = index;
    while (end < tokens_.size() && !tokens_[end].is(";")) ++end;
    const auto find = [&](std::string_view word) {
      for (std::size_t i = begin; i < end; ++i)
        if (tokens_[i].is(word)) return i;
      return end;
    };
    if (const std::size_t word = find("static"); word < end) replace(tokens_[word], "");
    // Where __shared__ is an attribute, alignas(16) may follow it.
    if (const std::size_t word = find("alignas");
        word > index && word + 2 < end && tokens_[word + 2].kind == CppToken::Kind::Number)
      replace(tokens_[word], "__align__");
    const std::size_t word = find("extern");
    if (word == end || end == tokens_.size()) return;
    out_.has_dynamic_shared = true;
    replace(tokens_[word], in_function() ? "" : "TW_EMULATE_EXTERN");
    replace(tokens_[index], "");
    dynamic_shared(index, end);
  }

  static bool ends_statement(const CppToken& token) {
    return token.kind == CppToken::Kind::Directive || token.is(";") || token.is("{") ||
           token.is("}") || token.is(":");
  }

  // The declarators from `index` to the ';' at `end`: a name before '[', then a ',' or the end.
  void dynamic_shared(std::size_t index, std::size_t end) {
    bool is_open = false;
    for (std::size_t i = index; i <= end; ++i) {
      const CppToken& token = tokens_[i];
      if (token.is("(")) {
        i = matching_bracket(tokens_, i);
      } else if (token.is("[") && !is_open && tokens_[i - 1].is_identifier()) {
        is_open = true;
        if (in_function()) replace(tokens_[i - 1], fmt::format("(&{})", tokens_[i - 1].text));
      } else if (is_open && !in_function() && token.is("]") && !tokens_[i + 1].is("[")) {
        edits_.push_back({token.end(), 0, " __asm__(\"tw_dynamic_shared\")"});
        is_open = false;
      } else if (is_open && in_function() && (token.is(",") || i == end)) {
        edits_.push_back({token.offset, 0, " = tw_emulate::dynamic_shared"});
        is_open = false;
      }
    }
  }

  // Braces of namespaces and of extern "C" do not count: what they hold is not in a function.
  void brace(std::size_t index) {
    if (tokens_[index].is("}")) {
      if (!braces_.empty()) braces_.pop_back();
      return;
    }
    bool is_namespace = index >= 2 && tokens_[index - 2].is("extern") &&
                        tokens_[index - 1].kind == CppToken::Kind::String;
    for (std::size_t i = index; i > 0 && !ends_statement(tokens_[i - 1]); --i)
      is_namespace |= tokens_[i - 1].is("namespace");
    braces_.push_back(!is_namespace);
  }

  bool in_function() const {
    return std::find(braces_.begin(), braces_.end(), true) != braces_.end();
  }

  std::string_view text_;
  std::string_view name_;
  std::vector<CppToken> tokens_;
  std::vector<Edit> edits_;
  std::size_t relinked_ = 0;  // where the last declaration begins that got a linkage
  EmulatedSource out_;
  std::vector<bool> braces_;  // those open: does it count?
  std::vector<std::vector<bool>>
      groups_;  // braces_ at each #if that is open: its #else begins there again
};

}  // namespace

EmulatedSource emulate_cuda(std::string_view text, std::string_view name) {
  return Rewriter(text, name).run();
}

bool uses_barriers(const EmulatedSource& source, std::string_view kernel_expression) {
  if (!source.has_barriers) return false;
  for (const CppToken& token : tokenize_cpp(kernel_expression, "name expression"))
    if (token.is_identifier() && source.reaches_barrier.contains(std::string(token.text)))
      return true;
  // A kernel that was not found as a definition (a macro makes it) may do anything.
  const std::string_view bare = kernel_expression.substr(0, kernel_expression.find('<'));
  const std::size_t colon = bare.rfind(':');
  const std::string name(colon == std::string_view::npos ? bare : bare.substr(colon + 1));
  return !source.defined.contains(name);
}

std::string emulation_prelude(std::span<const EmulatedSource> sources) {
  const auto any = [&](bool EmulatedSource::*flag) {
    return std::any_of(sources.begin(), sources.end(),
                       [&](const EmulatedSource& source) { return source.*flag; });
  };
  std::string out = cpu_entry_text;
  if (any(&EmulatedSource::has_dynamic_shared)) out += "#define TW_EMULATE_DYNAMIC_SHARED 1\n";
  if (is_emulation_checked()) out += "#define TW_EMULATE_CHECK 1\n";
  if (any(&EmulatedSource::has_heap)) out += "#define TW_EMULATE_HEAP 1\n";
  const bool with_library = any(&EmulatedSource::needs_standard_library);
  const char* standard = with_library ? "standard_library.cuh" : "standard.cuh";
  std::vector<std::string_view> parts = {standard,   "core.cuh",    "types.cuh",
                                         "math.cuh", "threads.cuh", "atomics.cuh"};
  if (is_emulation_checked()) parts.push_back("check.cuh");
  if (any(&EmulatedSource::has_half)) parts.push_back("half.cuh");
  if (any(&EmulatedSource::has_groups)) {
    out += "#define TW_EMULATE_GROUPS 1\n";
    parts.push_back("cooperative_groups.cuh");
  }
  if (any(&EmulatedSource::has_copies)) parts.push_back("pipeline.cuh");
  if (any(&EmulatedSource::has_cub)) parts.push_back("cub.cuh");
  for (std::string_view part : parts)
    out += line_directive(1, fmt::format("tilewright/emulate/{}", part)) +
           std::string(embedded_file(fmt::format("device_lib/emulate/cuda/{}", part)));
  return out;
}

std::string emulated_entry(std::string_view symbol, std::string_view kernel_expression,
                           bool with_barriers) {
  return fmt::format(
      "extern \"C\" __attribute__((visibility(\"default\"))) void {0}(const TwCpuLaunch* launch, "
      "void* const* parameters, "
      "unsigned long first, unsigned long last) {{\n"
      "  tw_emulate::run<&{1}, {2}>({3}, launch, parameters, first, last);\n"
      "}}\n",
      symbol, kernel_expression, with_barriers || is_emulation_checked(),
      cpp_string(kernel_expression));
}

bool is_emulation_checked() {
#ifdef TW_SANITIZE
  return false;
#else
  return settings().emulate_check;
#endif
}

std::vector<std::string> emulation_options() {
  // What the compiler instruments calls check.cuh, so the sanitizer's library must stay away. At
  // -O1 no load is moved to where the text has none. Where a distribution asks for checked string
  // functions, their header has the memcpy and memset that check.cuh has.
  if (is_emulation_checked())
    return {"-O1",
            "-U_FORTIFY_SOURCE",
            "-fsanitize=thread",
            "-fsanitize=integer-divide-by-zero",
            "--param=tsan-distinguish-volatile=1",
            "-Wno-tsan",
            "-fvisibility=hidden",
            "-fno-strict-aliasing",
            "-nodefaultlibs",
            "-lstdc++",
            "-lm",
            "-lgcc_s",
            "-lc"};
  return {"-O2", "-fvisibility=hidden", "-fno-strict-aliasing", "-lm"};
}

}  // namespace tilewright
