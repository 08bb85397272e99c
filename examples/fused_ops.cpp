// SPDX-License-Identifier: Apache-2.0
// examples/fused_ops.cpp — a program that makes kernels itself: a list of elementwise steps becomes
// one kernel in the tile IR, compiled for the device that is there.
//
//   y = relu(x * x + b)    from the steps    square, add b, relu
#include "check.h"

// One step as ops of the IR: the first makes %v1 of %v0, the next %v2 of %v1, and so on.
struct Step {
  const char* name;
  const char* ops;
};

const Step square{"square", "  %v1 = mul %v0, %v0 : f32[1024]\n"};
const Step add_b{"add b", R"(  %b_start = splat %b : *f32[1024]
  %b_at = offset %b_start, %i : *f32[1024]
  %b_value = load %b_at, %inside : f32[1024]
  %v2 = add %v1, %b_value : f32[1024]
)"};
const Step relu{"relu", R"(  %nothing = constant {value = 0.0} : f32[1024]
  %v3 = max %v2, %nothing {nan = "propagate"} : f32[1024]
)"};

// A kernel that loads an element of x, takes all steps and stores one of y.
std::string fused(const std::vector<Step>& steps) {
  std::string text = R"(kernel @fused(%x: *f32, %b: *f32, %y: *f32, %n: i32) source {
  %id = program_id {axis = 0} : i32
  %size = constant {value = 1024} : i32
  %first = mul %id, %size : i32
  %from = splat %first : i32[1024]
  %lane = arange {start = 0} : i32[1024]
  %i = add %from, %lane : i32[1024]
  %end = splat %n : i32[1024]
  %inside = compare %i, %end {is = "lt"} : b1[1024]
  %x_start = splat %x : *f32[1024]
  %x_at = offset %x_start, %i : *f32[1024]
  %v0 = load %x_at, %inside : f32[1024]
)";
  for (const Step& step : steps) text += std::string("  // ") + step.name + "\n" + step.ops;
  return text + "  %y_start = splat %y : *f32[1024]\n  %y_at = offset %y_start, %i : *f32[1024]\n" +
         "  store %y_at, %v" + std::to_string(steps.size()) + ", %inside\n}\n";
}

int run() {
  const std::int64_t n = 98432;  // no multiple of the tile: the mask matters
  const auto x = tw::randn({n});
  const auto b = tw::randn({n});
  const auto y = tw::empty_like(x);

  const tw::IrKernel kernel = tw::load_ir(fused({square, add_b, relu}), "fused.tir");
  kernel[{.grid = tw::cdiv(n, 1024)}](x, b, y, n);

  // The interpreter runs the same kernel, op by op, in float64: what every device must give.
  const auto reference = tw::empty({n}, {tw::f32, tw::Device::cpu()});
  kernel[{.grid = tw::cdiv(n, 1024), .interpret = true, .float64 = true}](x.cpu(), b.cpu(),
                                                                          reference, n);
  const auto want = reference.to_vector<float>();
  const double error = largest_error(y, [&](std::size_t i) { return double{want[i]}; });
  return report("fused ops", y, error, 1e-6);
}

int main() { return guarded(run); }
