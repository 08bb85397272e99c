// SPDX-License-Identifier: Apache-2.0
// hygiene/op_lists_test.cpp — what is known of ops is in ir/ops.def: no `switch` over kinds of op
// has a default, no other file lists kinds that have something in common, and a row that lacks a
// column, or a new op that a printer does not know, does not compile.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/process.h"

namespace tilewright {
namespace {

namespace op_fs = std::filesystem;

std::string op_text_of(const op_fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

// With blanks for comments and for what stands in quotes; lines stay where they are.
std::string code_alone(std::string text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::size_t end = i;
    if (text.compare(i, 2, "//") == 0) end = text.find('\n', i);
    else if (text[i] == '"')
      for (++end; end < text.size() && text[end] != '"' && text[end] != '\n'; ++end)
        if (text[end] == '\\') ++end;
    for (; i < end && i < text.size(); ++i)
      if (text[i] != '\n') text[i] = ' ';
  }
  return text;
}

int line_at(const std::string& text, std::size_t at) {
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<long>(at), '\n'));
}

// ---- Switches

// What stands in the braces of the switch at `at` and in none inside them.
std::string own_body(const std::string& code, std::size_t at) {
  std::string body;
  int depth = 0;
  for (std::size_t i = code.find('{', at); i < code.size(); ++i) {
    depth += code[i] == '{' ? 1 : code[i] == '}' ? -1 : 0;
    if (depth == 0) break;
    if (depth == 1) body += code[i];
  }
  return body;
}

// The lines of switches over kinds or families of ops that have a default.
std::vector<int> defaults_in(const std::string& text) {
  static const std::regex over_ops(
      R"(case\s+(ir::)?(OpKind|Family|(Source|View|Elementwise|Access|Final|Across|Control|Sync|Check)Op|LibraryFamily|(Value|Host|Thread|Together)Call)::)");
  const std::string code = code_alone(text);
  std::vector<int> found;
  for (std::size_t at = code.find("switch ("); at != std::string::npos;
       at = code.find("switch (", at + 1)) {
    const std::string body = own_body(code, at);
    if (body.find("default:") != std::string::npos && std::regex_search(body, over_ops))
      found.push_back(line_at(code, at));
  }
  return found;
}

// ---- Lists

constexpr std::size_t fewest_in_list = 3;

bool has_many_labels(const std::string& part) {
  static const std::regex labels(R"((case\s+(ir::)?OpKind::\w+:\s*){3})");
  static const std::regex row(
      R"((ir::)?OpKind::\w+\s*,\s*(ir::)?OpKind::\w+\s*,\s*(ir::)?OpKind::)");
  return std::regex_search(part, labels) || std::regex_search(part, row);
}

// Whether one thing is compared with three kinds.
bool has_many_comparisons(const std::string& part) {
  static const std::regex comparison(R"(([\w.\->\[\]]*kind)\s*[!=]=\s*(ir::)?OpKind::)");
  std::map<std::string, std::size_t> counts;
  for (std::sregex_iterator i(part.begin(), part.end(), comparison), end; i != end; ++i)
    if (++counts[(*i)[1]] == fewest_in_list) return true;
  return false;
}

// The lines of statements that list kinds of op.
std::vector<int> lists_in(const std::string& text) {
  const std::string code = code_alone(text);
  std::vector<int> found;
  std::size_t begin = 0;
  while (begin < code.size()) {
    const std::size_t end = std::min(code.find_first_of(";{}", begin), code.size());
    const std::string part = code.substr(begin, end - begin);
    if (part.find("OpKind::") != std::string::npos &&
        (has_many_labels(part) || has_many_comparisons(part)))
      found.push_back(line_at(code, end));
    begin = end + 1;
  }
  return found;
}

std::vector<op_fs::path> compiler_sources() {
  std::vector<op_fs::path> found;
  for (const auto& entry :
       op_fs::recursive_directory_iterator(op_fs::path(TW_SOURCE_FOLDER) / "src")) {
    const std::string path = entry.path().string();
    if ((path.ends_with(".cpp") || path.ends_with(".h")) &&
        path.find("/device_lib/") == std::string::npos)
      found.push_back(entry.path());
  }
  return found;
}

TEST(OpLists, NoSwitchOverKindsHasADefault) {
  for (const op_fs::path& file : compiler_sources())
    for (const int line : defaults_in(op_text_of(file)))
      ADD_FAILURE() << file.string() << ":" << line
                    << ": a switch over ops has a default; name the others, or ask the op table";
}

TEST(OpLists, KindsAreListedInTheTableAlone) {
  int files = 0;
  for (const op_fs::path& file : compiler_sources()) {
    const std::string name = op_fs::relative(file, TW_SOURCE_FOLDER).string();
    ++files;
    for (const int line : lists_in(op_text_of(file)))
      ADD_FAILURE() << name << ":" << line
                    << ": what these kinds of op have in common is a column of ir/ops.def";
  }
  EXPECT_GT(files, 400);
}

TEST(OpLists, WhatIsForbiddenIsFound) {
  EXPECT_EQ(defaults_in("a;\nswitch (op.kind) {\n case OpKind::Add: f();\n default: g(); }\n"),
            std::vector{2});
  EXPECT_EQ(defaults_in("switch (k) { case ir::ElementwiseOp::Add: { f(); } default: break; }"),
            std::vector{1});
  EXPECT_TRUE(defaults_in("switch (k) { case OpKind::Add: switch (n) { default: f(); } }").empty());
  EXPECT_TRUE(defaults_in("switch (k) { case py::Kind::Add: default: f(); }").empty());
  EXPECT_TRUE(defaults_in("switch (k) { case OpKind::Add: }  // default: none").empty());

  EXPECT_EQ(lists_in("f();\nreturn op.kind == OpKind::Add ||\n op.kind == OpKind::Or || "
                     "op.kind == OpKind::Xor;\n"),
            std::vector{3});
  EXPECT_EQ(lists_in("if (a->kind != ir::OpKind::If && a->kind != ir::OpKind::For && b &&\n"
                     "    a->kind != ir::OpKind::While) return;")
                .size(),
            1u);
  EXPECT_EQ(lists_in("case OpKind::Add:\ncase OpKind::Or:\ncase OpKind::Xor: f();").size(), 1u);
  EXPECT_EQ(lists_in("constexpr OpKind all[] = {OpKind::Add, OpKind::Or, OpKind::Xor};").size(),
            1u);
  EXPECT_TRUE(
      lists_in("a.kind == OpKind::If && b.kind == OpKind::If && c.kind == OpKind::If;").empty());
  EXPECT_TRUE(lists_in("if (k.kind == OpKind::A || k.kind == OpKind::B) f();").empty());
}

// ---- Rows

// What the compiler says of a file of src/ir or src/codegen when the table ends in one more row.
ProcessResult compile_with_row(const std::string& row, const std::string& file) {
  std::string name = testing::TempDir() + "op_lists_test.XXXXXX";  // tests run side by side
  const op_fs::path folder = mkdtemp(name.data());
  op_fs::create_directories(folder / "ir");
  std::string table = op_text_of(op_fs::path(TW_SOURCE_FOLDER) / "src/ir/ops.def");
  table.insert(table.find("#undef OP\n"), row + "\n");
  std::ofstream(folder / "ir/ops.def") << table;
  const std::string source = TW_SOURCE_FOLDER;
  ProcessResult result =
      run_process({.arguments = {TW_CXX_COMPILER, "-std=c++20", "-fsyntax-only", "-Wall",
                                 "-Werror=switch", "-I" + folder.string(), "-I" + source + "/src",
                                 "-I" + source + "/include", source + "/src/" + file},
                   .environment = {"LC_ALL=C"}});
  op_fs::remove_all(folder);
  return result;
}

constexpr const char* whole_row =
    R"row(ELEMENTWISE(Frobnicate, "frobnicate", 1, 0, Data, NoNumber, 1, 1, HasVector, "", "Nothing."))row";

TEST(OpLists, ARowWithoutAColumnDoesNotCompile) {
  const ProcessResult whole = compile_with_row(whole_row, "ir/op.cpp");
  EXPECT_EQ(whole.exit_code, 0) << whole.output;
  std::string lacking = whole_row;
  lacking.erase(lacking.find("HasVector, "), 11);
  const ProcessResult result = compile_with_row(lacking, "ir/op.cpp");
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.output, testing::HasSubstr("arguments"));
}

TEST(OpLists, AnOpThatIsNotPrintedDoesNotCompile) {
  const ProcessResult result = compile_with_row(whole_row, "codegen/text/expressions.cpp");
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.output, testing::HasSubstr("'Frobnicate' not handled in switch"));
}

}  // namespace
}  // namespace tilewright
