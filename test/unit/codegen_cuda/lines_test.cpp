// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/lines_test.cpp — cubins say which line of the .py file an instruction comes from.
#include <algorithm>
#include <cstring>
#include <set>

#include <gtest/gtest.h>

#include "codegen/cuda/source_lines.h"
#include "kernel_sources.h"
#include "runtime/compile.h"
#include "runtime/cuda/nvrtc_api.h"
#include "tile_program.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

TEST(SourceLines, EveryLineOfCodeIsAnnounced) {
  const std::string text =
      "int a;\n// c\n  #line 7 \"a.py\"\n  x;\n\n  // d\n  #pragma unroll\n  for (;;) {\n    y;\n  "
      "}\n"
      "#line 9 \"b.py\"\nz;\n";
  const std::string repeated = repeat_line_directives(text);
  EXPECT_EQ(
      repeated,
      "int a;\n// c\n#line 7 \"a.py\"\n  x;\n\n  // d\n#line 6 \"a.py\"\n  #pragma unroll\n"
      "  for (;;) {\n#line 7 \"a.py\"\n    y;\n#line 7 \"a.py\"\n  }\n#line 9 \"b.py\"\nz;\n");
  EXPECT_EQ(without_line_directives(repeated),
            "int a;\n// c\n  x;\n\n  // d\n  #pragma unroll\n  for (;;) {\n    y;\n  }\nz;\n");
}

// ---- The line table of a cubin: DWARF 2, section 6.2.

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  template <class T>
  T read() {
    T value{};
    std::memcpy(&value, bytes_.substr(at_, sizeof value).data(), sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::uint64_t leb() {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = read<std::uint8_t>();
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
  }
  std::int64_t signed_leb() {
    const std::size_t begin = at_;
    const std::uint64_t value = leb();
    const unsigned bits = 7 * static_cast<unsigned>(at_ - begin);
    const bool is_negative = bits < 64 && (value >> (bits - 1) & 1);
    return static_cast<std::int64_t>(is_negative ? value | ~std::uint64_t{0} << bits : value);
  }
  std::string string() {
    std::string out(bytes_.substr(at_).data());
    at_ += out.size() + 1;
    return out;
  }
  std::size_t at_ = 0;

 private:
  std::string_view bytes_;
};

std::string_view section(std::string_view elf, std::string_view wanted) {
  const auto read = [&](std::size_t at, auto value) {
    std::memcpy(&value, elf.data() + at, sizeof value);
    return value;
  };
  const auto headers = read(0x28, std::uint64_t{});
  const auto names = read(headers + 64 * read(0x3e, std::uint16_t{}) + 24, std::uint64_t{});
  for (std::size_t i = 0; i < read(0x3c, std::uint16_t{}); ++i) {
    const std::size_t header = headers + 64 * i;
    if (elf.substr(names + read(header, std::uint32_t{})).data() != wanted) continue;
    return elf.substr(read(header + 24, std::uint64_t{}), read(header + 32, std::uint64_t{}));
  }
  return {};
}

// The lines of one file that the table's rows name.
std::set<std::int64_t> lines_of(std::string_view table, std::string_view wanted_file) {
  Reader in(table);
  in.read<std::uint32_t>();                // length
  EXPECT_EQ(in.read<std::uint16_t>(), 2);  // version
  const auto header = in.read<std::uint32_t>();
  const std::size_t program = in.at_ + header;
  in.read<std::uint8_t>();  // shortest instruction
  in.read<std::uint8_t>();  // is_stmt
  const auto line_base = in.read<std::int8_t>();
  const auto line_range = in.read<std::uint8_t>();
  const auto first_special = in.read<std::uint8_t>();
  std::vector<std::uint8_t> operands(1);
  for (int i = 1; i < first_special; ++i) operands.push_back(in.read<std::uint8_t>());
  while (!in.string().empty()) {
  }
  std::size_t file_number = 0;
  for (std::size_t i = 1;; ++i) {
    const std::string name = in.string();
    if (name.empty()) break;
    if (name.ends_with(wanted_file)) file_number = i;
    for (int field = 0; field < 3; ++field) in.leb();
  }
  EXPECT_NE(file_number, 0u);
  in.at_ = program;
  std::set<std::int64_t> lines;
  std::uint64_t file = 1;
  std::int64_t line = 1;
  const auto row = [&] {
    if (file == file_number) lines.insert(line);
  };
  while (in.at_ < table.size()) {
    const auto opcode = in.read<std::uint8_t>();
    if (opcode >= first_special) {
      line += line_base + (opcode - first_special) % line_range;
      row();
    } else if (opcode == 0) {
      const std::size_t next = in.leb() + in.at_;
      if (in.read<std::uint8_t>() == 1) file = 1, line = 1;
      in.at_ = next;
    } else if (opcode == 1) {
      row();
    } else if (opcode == 3) {
      line += in.signed_leb();
    } else if (opcode == 4) {
      file = in.leb();
    } else if (opcode == 9) {
      in.read<std::uint16_t>();
    } else {
      for (int i = 0; i < operands[opcode]; ++i) in.leb();
    }
  }
  return lines;
}

KernelSource with_lines(const TileProgram& program) {
  return emit_cuda(program.kernel(), {.target = Target::parse("sm_90a"), .line_directives = true});
}

TEST(SourceLines, InstructionsOfACubinHaveLinesOfThePythonFile) {
  if (cuda::nvrtc_path().empty()) GTEST_SKIP() << "NVRTC is not on this machine";
  const TileProgram program(softmax_source, "softmax_kernel", "*fp32:16, *fp32:16, i32, i32, 512");
  const Binary binary = compile(with_lines(program), Target::parse("sm_90a"));
  const std::string_view elf(reinterpret_cast<const char*>(binary.bytes.data()),
                             binary.bytes.size());
  // Lines of kernels.py: 5 the decorator, 7 the program's number, 10 the load, 11 to 13 the rest.
  const std::set<std::int64_t> lines = lines_of(section(elf, ".debug_line"), "kernels.py");
  for (std::int64_t line : {10, 11, 12, 13}) EXPECT_TRUE(lines.contains(line)) << line;
  EXPECT_GE(*lines.begin(), 6);
  EXPECT_LE(*lines.rbegin(), 13);
}

TEST(SourceLines, ErrorsOfTheCompilerNameTheSourceLine) {
  if (cuda::nvrtc_path().empty()) GTEST_SKIP() << "NVRTC is not on this machine";
  const TileProgram program(softmax_source, "softmax_kernel", "*fp32:16, *fp32:16, i32, i32, 512");
  KernelSource source = with_lines(program);
  source.text.replace(source.text.find("tw::exp("), 8, "tw::exq(");
  try {
    compile(source, Target::parse("sm_90a"));
    FAIL();
  } catch (const CompileError& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("kernels.py(12): error: namespace \"tw\" has no member \"exq\""),
              std::string::npos)
        << what;
  }
}

}  // namespace
}  // namespace tilewright
