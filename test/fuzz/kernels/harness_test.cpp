// SPDX-License-Identifier: Apache-2.0
// fuzz/kernels/harness_test.cpp — planted bugs are found at the place where they are, made smaller,
// and a kernel that is right is not accused.
#include <functional>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/settings.h"
#include "generate.h"
#include "minimise.h"
#include "roles.h"

namespace tilewright::fuzz {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// Scans, reductions and stores, written down: right with every compiler that is right.
Program small_program(const std::string& name) {
  Program program;
  program.name = name;
  program.memory = {{i32, 128}, {i32, 128, Memory::Fill::Zero}};
  program.pointers = {{"a", 0, 0}, {"out", 1, 0}};
  program.warps = 4;
  program.body = {{{"i = tl.arange(0, 128)"}},
                  {{"x = tl.load(a + i)"}},
                  {{"unused = x * 3"}},
                  {{"y = tl.sort(x)"}},
                  {{"tl.store(out + i, y + tl.gather(y, 127 - i, 0))"}},
                  {{"tl.store(a + i, unused)"}}};
  return program;
}

void replace_first(std::string& text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << "'" << from << "' is not in\n" << text;
  text.replace(at, from.size(), to);
}

const std::string& name_of(const KernelSource& source) { return source.kernels.front().name; }

// Every barrier of the kernel's own text.
void remove_barriers(Place place, KernelSource& source) {
  if (place != Place::Emulated) return;
  for (std::size_t at = 0; (at = source.text.find("__syncthreads();")) != std::string::npos;)
    source.text.erase(at, 16);
}

TEST(RandomKernels, TheSameSeedGivesTheSameKernel) {
  for (unsigned seed = 0; seed < 50; ++seed)
    EXPECT_EQ(source_of(generate(seed, Kinds::all())), source_of(generate(seed, Kinds::all())));
  EXPECT_NE(source_of(generate(1, Kinds::all())), source_of(generate(2, Kinds::all())));
}

TEST(RandomKernels, AKernelThatIsRightIsNotAccused) {
  const std::vector<Failure> failures = evaluate({small_program("one"), small_program("two")}, {});
  EXPECT_THAT(failures, IsEmpty()) << failures.front().message;
}

TEST(RandomKernels, AMissingBarrierIsFoundInTheOneKernelThatLacksIt) {
  EvaluateOptions options;
  options.tamper = [](Place place, KernelSource& source) {
    if (name_of(source) == "two") remove_barriers(place, source);
  };
  const auto failures = evaluate({small_program("one"), small_program("two")}, options);
  ASSERT_THAT(failures, SizeIs(1));
  EXPECT_EQ(failures[0].program, 1u);
  EXPECT_EQ(failures[0].place, Place::Emulated);
  EXPECT_EQ(failures[0].kind, Failure::Kind::Fault);
  EXPECT_THAT(failures[0].message, HasSubstr("shared"));
}

TEST(RandomKernels, AWrongElementIsNamedAndTheKernelMadeSmaller) {
  EvaluateOptions options;
  options.tamper = [](Place place, KernelSource& source) {
    if (place == Place::Cpu && source.text.find("* 3;") != std::string::npos)
      replace_first(source.text, "* 3;", "* 4;");
  };
  const Program program = small_program("wrong");
  const auto failures = evaluate({program}, options);
  ASSERT_THAT(failures, SizeIs(1));
  EXPECT_EQ(failures[0].place, Place::Cpu);
  EXPECT_EQ(failures[0].kind, Failure::Kind::Differs);
  EXPECT_THAT(failures[0].message, HasSubstr("elements differ, first ["));
  const Minimised smaller = minimise(program, failures[0], options, 40);
  EXPECT_EQ(statement_count(smaller.program.body), 4u) << source_of(smaller.program);
  EXPECT_THAT(source_of(smaller.program), Not(HasSubstr("tl.sort")));
}

TEST(RandomKernels, ACrashIsThatOfOneKernel) {
  EvaluateOptions options;
  options.places = {Place::Cpu};
  options.tamper = [](Place, KernelSource& source) {
    if (name_of(source) == "two")
      replace_first(source.text,
                    "const i32 programs[3] =", "__builtin_trap(); const i32 programs[3] =");
  };
  const auto failures =
      evaluate({small_program("one"), small_program("two"), small_program("three")}, options);
  ASSERT_THAT(failures, SizeIs(1));
  EXPECT_EQ(failures[0].program, 1u);
  EXPECT_EQ(failures[0].kind, Failure::Kind::Crash);
}

TEST(RandomKernels, TextThatDoesNotCompileIsThatOfOneKernel) {
  EvaluateOptions options;
  options.places = {Place::Cpu};
  options.tamper = [](Place, KernelSource& source) {
    if (name_of(source) == "two")
      replace_first(source.text, "for (i32 ", "no_such_type x; for (i32 ");
  };
  const auto failures = evaluate({small_program("one"), small_program("two")}, options);
  ASSERT_THAT(failures, SizeIs(1));
  EXPECT_EQ(failures[0].program, 1u);
  EXPECT_EQ(failures[0].kind, Failure::Kind::NoCompile);
}

// The generator's own kernels need their barriers: without any, most of those that have one fail.
TEST(RandomKernels, GeneratedKernelsNoticeMissingBarriers) {
  std::vector<Program> programs;
  for (unsigned seed = 0; seed < 40; ++seed)
    programs.push_back(generate(seed, parse_kinds("loops,reductions,scans,sorts,matrices")));
  EvaluateOptions options;
  options.places = {Place::Emulated};
  options.tamper = remove_barriers;
  int noticed = 0;
  for (const Failure& failure : evaluate(programs, options))
    noticed += failure.kind == Failure::Kind::Fault || failure.kind == Failure::Kind::Differs;
  EXPECT_GE(noticed, 5);
}

// ---- Roles

// Behind the first `call`, what stands before `end` of its statement.
void insert_before(std::string& text, const std::string& call, const std::string& end,
                   const std::string& inserted) {
  const std::size_t at = text.find(call);
  ASSERT_NE(at, std::string::npos) << text;
  text.insert(text.find(end, at), inserted);
}

// Of its one loop over all keys; 0: it has several.
std::int64_t most_rounds(const Program& program) {
  const std::string source = source_of(program), header = "for start in range(0, keys, ";
  const std::size_t at = source.find(header);
  return at == std::string::npos
             ? 0
             : program.integers[0].value / std::stoi(source.substr(at + header.size()));
}

void drop_releases(std::string& text) {
  for (std::size_t at = 0; (at = text.find("tw::release<", at)) != std::string::npos; at += 24)
    text.insert(at, "if (false) ");
}

// All of these have roles, and more rounds than slots.
void expect_noticed(const std::function<void(std::string&)>& spoil) {
  Settings changed = settings();
  changed.extra_passes = "split_roles,delay_products";
  const SettingsOverride with_roles(changed);
  std::vector<Program> programs;
  for (unsigned seed = 0; programs.size() < 3; ++seed) {
    Program program = generate_attention_roles(seed);
    if (most_rounds(program) > 3) programs.push_back(std::move(program));
  }
  EvaluateOptions options;
  options.places = {Place::Emulated};
  options.tamper = [&](Place, KernelSource& source) { spoil(source.text); };
  std::set<std::size_t> noticed;
  for (const Failure& failure : evaluate(programs, options)) noticed.insert(failure.program);
  EXPECT_THAT(noticed, SizeIs(programs.size()));
}

TEST(RandomRoles, ReleasesThatAreMissingAreNoticed) { expect_noticed(drop_releases); }

TEST(RandomRoles, AWrongParityIsNoticed) {
  expect_noticed([](std::string& text) { insert_before(text, "tw::await<", "));", " + 3"); });
}

TEST(RandomRoles, AWrongNumberOfBytesIsNoticed) {
  expect_noticed([](std::string& text) { insert_before(text, "tw::acquire<", ");", " + 16"); });
}

}  // namespace
}  // namespace tilewright::fuzz
