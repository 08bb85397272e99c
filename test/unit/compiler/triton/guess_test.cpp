// SPDX-License-Identifier: Apache-2.0
// unit/compiler/guess_test.cpp — what is guessed for parameters that nobody gave a type.
#include "compiler/triton/guess/guess.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

std::string guessed(const std::string& body) {
  python::ModuleLoader loader;
  const python::LoadedModule& module =
      loader.load_text("guess_me.py", "import triton\nimport triton.language as tl\n" + body);
  const python::DecoratedFunction function = find_kernel(loader, module, "k");
  Guesser guesser(loader);
  python::Evaluator evaluator(loader);
  return signature_text(
      read_parameters(loader, evaluator, function),
      guesser.guess(function, guess_choices().front(), python::nvidia_facts(9, 0)).signature);
}

TEST(Guesses, PointersByUse) {
  EXPECT_EQ(guessed(R"(
@triton.jit
def k(A, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    p = A + i
    tl.store(p, tl.load(p, mask=i < n))
)"),
            "*float32:16, int32, 64");
}

TEST(Guesses, OneOfTheNumbersThatAKindIsTestedFor) {
  EXPECT_EQ(guessed(R"(
@triton.jit
def k(out, KIND: tl.constexpr, LONG: tl.constexpr):
    if KIND == 3:
        value = 1.0
    elif KIND == 5:
        value = 2.0
    if LONG == 1:
        value += 1.0
    tl.store(out, value)
)"),
            "*float32:16, 3, 64");
}

TEST(Guesses, NumbersOfAddressesAndTablesOfPointers) {
  EXPECT_EQ(guessed(R"(
@triton.jit
def k(out, table, VAL_BYTES: tl.constexpr, N_FACTOR: tl.constexpr, scale: tl.constexpr):
    base = tl.program_id(0) // N_FACTOR + VAL_BYTES
    x = tl.load(table).to(tl.pointer_type(tl.float16))
    tl.store(out + base, tl.load(x) * scale)
)"),
            "*float32:16, *int64:16, 64, 4, 0.5");
}

TEST(Guesses, TheLastStrideOfADescriptorIsOne) {
  EXPECT_EQ(guessed(R"(
@triton.jit
def k(x, n, stride_row, stride_column, out):
    block = tl.make_tensor_descriptor(x, [n, n], [stride_row, stride_column], [16, 16])
    tl.store(out, tl.sum(block.load([0, 0])))
)"),
            "*float32:16, int32, int32, 1, *float32:16");
}

TEST(Guesses, WordsFlagsAndValuesByTheArgumentsThatTheyStandFor) {
  EXPECT_EQ(guessed(R"(
LIMIT = ask_the_machine()

@triton.jit
def k(out, valid, PRECISION: tl.constexpr, ORDER: tl.constexpr, START: tl.constexpr,
      fp8_dtype_max: tl.constexpr, TOP: tl.constexpr = LIMIT):
    is_valid = tl.load(valid)
    if not is_valid:
        return
    x = tl.full((16, 16), START, tl.float32)
    x = tl.minimum(tl.dot(x, x, input_precision=PRECISION), fp8_dtype_max + TOP)
    tl.atomic_add(out, tl.sum(x), sem=ORDER)
)"),
            "*float32:16, *bool:16, 'ieee', 'relaxed', 64, 64, 64");
}

TEST(Guesses, PointersThroughHelpersAndIndicesFromMemory) {
  EXPECT_EQ(guessed(R"(
@triton.jit
def fetch(base, at):
    return tl.load(base + at)

@triton.jit
def k(X, rows, scale):
    tl.store(X, fetch(X, fetch(rows, 0)) * scale)
)"),
            "*float32:16, *int64:16, float32");
}

TEST(Guesses, ConstantsFromConfigsHeuristicsLaunchesAndUses) {
  EXPECT_EQ(guessed(R"(
@triton.autotune(configs=[triton.Config({"BM": 32}), triton.Config({"BM": 64})], key=[])
@triton.heuristics({"HAS_B": lambda args: args["b"] is not None})
@triton.jit
def k(a, b, BM: tl.constexpr, HAS_B: tl.constexpr, MODE: tl.constexpr, T: tl.constexpr,
      UNROLL: tl.constexpr, CAUSAL: tl.constexpr, D: tl.constexpr = 3):
    x = tl.load(a + tl.arange(0, BM))
    if HAS_B:
        x += tl.load(b)
    if MODE == "fast":
        x = x.to(T)
    for i in tl.static_range(UNROLL):
        x += i
    if CAUSAL:
        x += 1
    tl.store(a + tl.arange(0, BM), x)

def host(a):
    k[(1,)](a, a, CAUSAL=True)
)"),
            "*float32:16, *float32:16, 32, true, 'fast', float32, 2, true");
}

}  // namespace
}  // namespace tilewright
