// SPDX-License-Identifier: Apache-2.0
// runtime/module_test.cpp — loading: names, the cache in memory, and what cannot be loaded.
#include <thread>

#include "cpu_sources.h"
#include "expect_error.h"
#include "runtime/module_key.h"

namespace tilewright {
namespace {

TEST(Module, UnknownNamesGetASuggestion) {
  const Module module = Module::load(add_source(), Device::cpu());
  EXPECT_EQ(module.names(), std::vector<std::string>{"add"});
  expect_error("source 'add.cpp' has no kernel 'ad'; did you mean 'add'?",
               [&] { module.function("ad"); });
  expect_error("an empty Module has no functions; load one first",
               [] { Module().function("add"); });
}

TEST(Module, EntriesThatTheSourceLacksAreNamed) {
  KernelSource source = add_source();
  source.kernels[0].name = "missing";
  expect_error(
      "source 'add.cpp' compiles but has no kernel 'missing'; check the name, and extern \"C\" "
      "where it is used",
      [&] { Module::load(source, Device::cpu()); });
}

TEST(Module, LanguageMustFitTheDevice) {
  KernelSource source = add_source();
  source.language = Language::Cuda;
  expect_error("source 'add.cpp' is CUDA C++ and cannot be loaded on cpu",
               [&] { Module::load(source, Device::cpu()); });
}

TEST(Module, TheSameSourceIsLoadedOnce) {
  KernelSource source = cpu_source("state.cpp", "static long count;" + cpu_kernel_text("next", R"(
  **(long**)parameters[0] = ++count;)"));
  source.kernels = {{"next", {pointer("out", i64)}, {}, {}}};
  long value = 0;
  Module::load(source, Device::cpu()).function("next")[{}](&value);
  Module::load(source, Device::cpu()).function("next")[{}](&value);
  EXPECT_EQ(value, 2) << "two loads have one state";
  source.text += "// another text";
  Module::load(source, Device::cpu()).function("next")[{}](&value);
  EXPECT_EQ(value, 1) << "another source has its own";
}

TEST(Module, FunctionsKeepTheirCodeLoaded) {
  Function add;
  {
    KernelSource source = add_source();
    source.name = "short_lived.cpp";
    add = Module::load(source, Device::cpu()).function("add");
  }
  for (int i = 0; i < 20; ++i) {  // more than are kept without a holder
    KernelSource other = add_source();
    other.kernels[0].parameters[0].name = "a" + std::to_string(i);
    Module::load(other, Device::cpu());
  }
  float x = 1;
  float y = 0;
  add[{}](&x, &x, &y, 1);
  EXPECT_EQ(y, 2.0F);
}

TEST(Module, LoadedByManyThreadsAtOnce) {
  KernelSource source = add_source();
  source.name = "many.cpp";
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&source] {
      float x = 1;
      float y = 0;
      Module::load(source, Device::cpu()).function("add")[{}](&x, &x, &y, 1);
      EXPECT_EQ(y, 2.0F);
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(Module, KeyCoversSignaturesAndPlans) {
  const KernelSource source = add_source();
  const Hash128 key = module_key(source);
  EXPECT_EQ(module_key(source), key);
  KernelSource changed = source;
  changed.kernels[0].parameters[1].dtype = f64;
  EXPECT_FALSE(module_key(changed) == key);
  changed = source;
  changed.kernels[0].variants.push_back(direct_plan("add", 4));
  const Hash128 planned = module_key(changed);
  EXPECT_FALSE(planned == key);
  changed.kernels[0].variants[0].steps[0].grid[1] = {{PlanOp::Kind::Constant, 2}};
  EXPECT_FALSE(module_key(changed) == planned);
}

}  // namespace
}  // namespace tilewright
