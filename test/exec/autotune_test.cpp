// SPDX-License-Identifier: Apache-2.0
// exec/autotune_test.cpp — tuning at the first launch, on the CPU: the slower config loses, memory
// is as before, what was found is kept.
#include <cstdlib>
#include <filesystem>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/settings.h"
#include "compiler/triton/resolve.h"
#include "compiler/triton/tune/config_text.h"
#include "compiler/triton/tune/key.h"
#include "compiler/triton/tune/tune.h"
#include "tilewright/triton.h"

namespace tw = tilewright;

namespace {

// SLOW repeats the work, so that it is known which config must win.
constexpr const char* head = R"(
import triton
import triton.language as tl

)";

constexpr const char* body = R"(
@triton.jit
def work(x_ptr, y_ptr, n, SLOW: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    y = x
    for k in range(SLOW):
        y = tl.exp(tl.sin(y)) - k
    tl.store(y_ptr + i, x + 1 + 0 * y, mask=i < n)

@triton.jit
def twice(x_ptr, n, SLOW: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(x_ptr + i, x * 2, mask=i < n)
    y = x
    for k in range(SLOW):
        y = tl.exp(tl.sin(y))
    tl.store(x_ptr + i, x * 2 + 0 * y, mask=i < n)

@triton.jit
def count(x_ptr, total_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.atomic_add(total_ptr, tl.sum(x))
)";

std::string source(const std::string& kernel, const std::string& decorator) {
  std::string text = body;
  const std::string definition = "@triton.jit\ndef " + kernel;
  text.insert(text.find(definition), decorator + "\n");
  return head + text;
}

class Autotune : public ::testing::Test {
 protected:
  Autotune() {
    std::string name =
        (std::filesystem::temp_directory_path() / "tilewright_autotune_XXXXXX").string();
    folder_ = mkdtemp(name.data());
    tw::Settings changed = tw::settings();
    changed.cache_folder = folder_ + "/cache";
    changed.autotune = true;
    changed.print_autotuning = true;
    settings_.emplace(changed);
  }
  ~Autotune() override {
    settings_.reset();
    std::filesystem::remove_all(folder_);
  }

  tw::TritonKernel load(const std::string& kernel, const std::string& decorator) {
    return tw::load_triton_source(source(kernel, decorator), kernel);
  }
  // What is printed while `call` runs.
  template <class Call>
  std::string printed(const Call& call) {
    ::testing::internal::CaptureStderr();
    call();
    return ::testing::internal::GetCapturedStderr();
  }
  template <class Call>
  std::string error(const Call& call) {
    try {
      call();
    } catch (const tw::Error& e) {
      return e.what();
    }
    return "no error";
  }

  static tw::Dim3 blocks(const tw::Meta& meta) { return tw::cdiv(meta["n"], meta["BLOCK"]); }

  std::string folder_;
  std::optional<tw::SettingsOverride> settings_;
};

constexpr const char* slow_and_fast =
    "@triton.autotune(configs=[triton.Config({'SLOW': 60, 'BLOCK': 64}), "
    "triton.Config({'SLOW': 0, 'BLOCK': 64})], key=['n'])";

TEST_F(Autotune, TheSlowerConfigLosesAndTheNextProcessKnows) {
  const auto x = tw::ones({512}, tw::Device::cpu());
  const auto y = tw::zeros({512}, tw::Device::cpu());
  const std::string first = printed([&] { load("work", slow_and_fast)[blocks](x, y, 512); });
  EXPECT_EQ(y[511].item<float>(), 2.0f);
  EXPECT_NE(first.find("kernel 'work' on cpu for n=512, x_ptr:float32, y_ptr:float32: best config "
                       "SLOW=0, BLOCK=64, num_warps=4, num_stages=3 ("),
            std::string::npos)
      << first;
  EXPECT_NE(first.find("tuned in"), std::string::npos) << first;
  EXPECT_NE(first.find("over 2 configs, 0 skipped"), std::string::npos) << first;
  // Loaded anew, as another process would.
  const auto again = load("work", slow_and_fast);
  const std::string second = printed([&] { again[blocks](x, y, 512); });
  EXPECT_NE(second.find("BLOCK=64, num_warps=4, num_stages=3 ("), std::string::npos) << second;
  EXPECT_NE(second.find("stored by an earlier run"), std::string::npos) << second;
  EXPECT_EQ(printed([&] { again[blocks](x, y, 512); }), "");
  // Another value of the key is another tuning, another alignment is not.
  EXPECT_NE(printed([&] { again[blocks](x, y, 256); }).find("tuned in"), std::string::npos);
  EXPECT_EQ(printed([&] { again[blocks](x.slice(0, 1, 257), y, 256); }), "");
  EXPECT_EQ(again.specializations(), 2u);  // aligned and not
}

TEST_F(Autotune, AChangedSourceIsTunedAgain) {
  const auto x = tw::ones({64}, tw::Device::cpu());
  const auto y = tw::zeros({64}, tw::Device::cpu());
  load("work", slow_and_fast)[blocks](x, y, 64);
  const std::string changed = std::string(slow_and_fast) + "  # another text";
  EXPECT_NE(printed([&] { load("work", changed)[blocks](x, y, 64); }).find("tuned in"),
            std::string::npos);
}

TEST_F(Autotune, AResultInPlaceIsMadeOnce) {
  const auto x = tw::ones({512}, tw::Device::cpu());
  load("twice", slow_and_fast)[blocks](x, 512);
  for (const float value : x.to_vector<float>()) ASSERT_EQ(value, 2.0f);
}

TEST_F(Autotune, AtomicsAddToWhatWasThere) {
  for (const char* named : {"", ", reset_to_zero=['total_ptr']", ", restore_value=['total_ptr']"}) {
    const std::string decorator = fmt::format(
        "@triton.autotune(configs=[triton.Config({{'BLOCK': 16}}), triton.Config({{'BLOCK': "
        "32}})], key=['n']{})",
        named);
    const auto x = tw::ones({64}, tw::Device::cpu());
    const auto total = tw::full({1}, 5.0, tw::TensorOptions(tw::f32, tw::Device::cpu()));
    load("count", decorator)[blocks](x, total, 64);
    EXPECT_EQ(total.item<float>(), 69.0f) << named;
  }
}

TEST_F(Autotune, FailingConfigsAreSkippedWithTheReason) {
  const std::string decorator =
      "@triton.autotune(configs=[triton.Config({'SLOW': 0, 'BLOCK': 3}), triton.Config({'SLOW': 0, "
      "'BLOCK': 32}), triton.Config({'SLOW': 0, 'BLOCK': 16}, num_warps=3)], key=['n'])";
  const auto x = tw::ones({64}, tw::Device::cpu());
  const auto y = tw::zeros({64}, tw::Device::cpu());
  const std::string said = printed([&] { load("work", decorator)[blocks](x, y, 64); });
  EXPECT_NE(said.find("BLOCK=32"), std::string::npos) << said;
  EXPECT_NE(said.find("2 skipped"), std::string::npos) << said;
  EXPECT_EQ(y[63].item<float>(), 2.0f);
}

TEST_F(Autotune, AllFailingIsOneErrorWithEveryReason) {
  const std::string decorator =
      "@triton.autotune(configs=[triton.Config({'SLOW': 0, 'BLOCK': 3}), triton.Config({'SLOW': 0, "
      "'BLOCK': 16}, num_warps=3)], key=['n'])";
  const auto x = tw::ones({64}, tw::Device::cpu());
  const std::string said = error([&] { load("work", decorator)[blocks](x, x, 64); });
  EXPECT_EQ(said.find("none of the 2 configs of kernel 'work' can be run on cpu:\n"
                      "  SLOW=0, BLOCK=3, num_warps=4, num_stages=3: <source>:"),
            0u)
      << said;
  EXPECT_NE(said.find("\n  SLOW=0, BLOCK=16, num_warps=3, num_stages=3: num_warps of kernel 'work' "
                      "must be 1, 2, 4, 8, 16 or 32, not 3"),
            std::string::npos)
      << said;
}

TEST_F(Autotune, AKeyThatDoesNotExistIsNamed) {
  const std::string decorator =
      "@triton.autotune(configs=[triton.Config({'SLOW': 0, 'BLOCK': 32}), triton.Config({'SLOW': "
      "1, 'BLOCK': 32})], key=['m'])";
  const auto x = tw::ones({64}, tw::Device::cpu());
  const std::string said = error([&] { load("work", decorator)[blocks](x, x, 64); });
  EXPECT_NE(said.find("the key 'm' of triton.autotune is no parameter of kernel 'work'; there are: "
                      "x_ptr, y_ptr, n, SLOW, BLOCK"),
            std::string::npos)
      << said;
}

TEST_F(Autotune, PruneConfigsByIsCalled) {
  const std::string decorator =
      "def early(configs, named_args, **kwargs):\n"
      "    return [c for c in configs if c.kwargs['BLOCK'] <= named_args['n']]\n\n"
      "def model(n, BLOCK, **kwargs):\n"
      "    return abs(BLOCK - 32)\n\n"
      "@triton.autotune(configs=[triton.Config({'SLOW': 0, 'BLOCK': b}) for b in [16, 32, 64, "
      "128]], "
      "key=['n'], prune_configs_by={'early_config_prune': early, 'perf_model': model, 'top_k': 1})";
  const auto x = tw::ones({64}, tw::Device::cpu());
  const auto y = tw::zeros({64}, tw::Device::cpu());
  const std::string said = printed([&] { load("work", decorator)[blocks](x, y, 64); });
  EXPECT_NE(said.find("BLOCK=32"), std::string::npos) << said;
  EXPECT_NE(said.find("over 4 configs, 3 skipped"), std::string::npos) << said;
  EXPECT_EQ(y[63].item<float>(), 2.0f);
}

TEST_F(Autotune, AnUnreadablePruneIsSaidAndEveryConfigTried) {
  const std::string decorator =
      "@triton.autotune(configs=[triton.Config({'SLOW': 0, 'BLOCK': b}) for b in [16, 32]], "
      "key=['n'], prune_configs_by={'early_config_prune': lambda c, a, **k: torch.prune(c)})";
  const auto x = tw::ones({64}, tw::Device::cpu());
  const auto y = tw::zeros({64}, tw::Device::cpu());
  const std::string said = printed([&] { load("work", decorator)[blocks](x, y, 64); });
  EXPECT_NE(
      said.find("prune_configs_by of kernel 'work' cannot be read, so every config is tried: "),
      std::string::npos)
      << said;
  EXPECT_NE(said.find("over 2 configs, 0 skipped"), std::string::npos) << said;
}

TEST_F(Autotune, APruneThatLeavesNothingIsAnError) {
  const std::string decorator =
      "@triton.autotune(configs=[triton.Config({'SLOW': 0, 'BLOCK': b}) for b in [16, 32]], "
      "key=['n'], prune_configs_by={'early_config_prune': lambda configs, args, **kw: []})";
  const auto x = tw::ones({64}, tw::Device::cpu());
  EXPECT_EQ(error([&] { load("work", decorator)[blocks](x, x, 64); }),
            "prune_configs_by of kernel 'work' leaves none of the 2 configs; it must keep one");
}

TEST_F(Autotune, SwitchedOffTheFirstValidConfigIsTaken) {
  tw::Settings changed = tw::settings();
  changed.autotune = false;
  const tw::SettingsOverride off(changed);
  const auto x = tw::ones({512}, tw::Device::cpu());
  const auto y = tw::zeros({512}, tw::Device::cpu());
  EXPECT_EQ(printed([&] { load("work", slow_and_fast)[blocks](x, y, 512); }), "");
  EXPECT_EQ(y[0].item<float>(), 2.0f);
}

TEST_F(Autotune, AddressesThatAreUpdatedAreNotTuned) {
  auto x = tw::ones({64}, tw::Device::cpu());
  const tw::TritonLaunch on_cpu{.grid = blocks,
                                .stream = tw::Stream::default_of(tw::Device::cpu())};
  const std::string said =
      printed([&] { load("twice", slow_and_fast)[on_cpu](x.data<float>(), 64); });
  EXPECT_NE(
      said.find("kernel 'twice' cannot be tuned with these arguments: 'x_ptr' must be as before "
                "after each timed run, but was given as an address of unknown size; pass a "
                "tensor"),
      std::string::npos)
      << said;
  EXPECT_EQ(x[0].item<float>(), 2.0f);
}

TEST_F(Autotune, AnEmptyGridIsNoLaunchAndNoTuning) {
  const auto x = tw::ones({64}, tw::Device::cpu());
  load("work", slow_and_fast)[{0}](x, x, 0);
  EXPECT_EQ(x[0].item<float>(), 1.0f);
}

TEST_F(Autotune, ManyThreadsTuneOnce) {
  const auto kernel = load("work", slow_and_fast);
  const std::string said = printed([&] {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        const auto x = tw::ones({64}, tw::Device::cpu());
        const auto y = tw::zeros({64}, tw::Device::cpu());
        kernel[blocks](x, y, 64);
        ASSERT_EQ(y[63].item<float>(), 2.0f);
      });
    for (std::thread& thread : threads) thread.join();
  });
  EXPECT_EQ(said.find("best config"), said.rfind("best config")) << said;
}

// The parts below the launch: an interrupted tuning, and its continuation.
class Tuning : public Autotune {
 protected:
  tw::TuneReport tune(const tw::TritonKernel& kernel, const tw::TuneOptions& options) {
    const std::vector<const tw::TritonArgument*> slots = {&x_, &y_, &n_, nullptr, nullptr};
    const tw::TritonLaunch launch{.grid = tw::Grid(blocks)};
    return tw::tune(tw::request_of(*kernel.state(), slots.data(), launch, {tw::Device::cpu()}),
                    slots.data(), options);
  }

  tw::Tensor data_ = tw::ones({64}, tw::Device::cpu());
  tw::Tensor out_ = tw::zeros({64}, tw::Device::cpu());
  tw::TritonArgument x_ = data_, y_ = out_, n_ = 64;
};

TEST_F(Tuning, AnInterruptKeepsWhatWasMeasured) {
  const auto kernel = load("work", slow_and_fast);
  int turns = 0;
  const tw::TuneReport stopped = tune(
      kernel, {.is_forced = true,
               .progress = [&](const std::string& what) { turns += what.starts_with("timing"); },
               .is_over = [&] { return turns >= 1; }});
  EXPECT_TRUE(stopped.was_interrupted);
  EXPECT_EQ(stopped.best(), nullptr);
  EXPECT_EQ(out_[0].item<float>(), 2.0f);  // only written, so it may hold a result
  const tw::TuneReport went_on = tune(kernel, {});
  ASSERT_NE(went_on.best(), nullptr);
  EXPECT_FALSE(went_on.was_stored);
  EXPECT_EQ(tw::config_text(went_on.best()->config), "SLOW=0, BLOCK=64, num_warps=4, num_stages=3");
  const tw::TuneReport known = tune(kernel, {});
  EXPECT_TRUE(known.was_stored);
  EXPECT_EQ(known.best()->timing.samples, went_on.best()->timing.samples);
}

TEST_F(Tuning, ConfigsFromOutsideBecomeWhatLaunchesTake) {
  const auto kernel = load("work", "# no list");
  tw::TuneOptions options{.is_forced = true};
  for (const char* text : {"SLOW=50, BLOCK=16", "SLOW=0, BLOCK=32"})
    options.configs.push_back(*tw::parse_config_text(text));
  const tw::TuneReport report = tune(kernel, options);
  ASSERT_EQ(report.configs.size(), 2u);
  EXPECT_EQ(report.winner, 1);
  EXPECT_EQ(report.key, "x_ptr:float32, y_ptr:float32");
  // A launch that leaves the constants out takes them from there.
  const auto y = tw::zeros({64}, tw::Device::cpu());
  load("work", "# no list")[blocks](data_, y, 64);
  EXPECT_EQ(y[63].item<float>(), 2.0f);
}

}  // namespace
