// SPDX-License-Identifier: Apache-2.0
// tensor/random.cpp — rand and randn, and the process-wide generator they draw from.
#include <algorithm>
#include <cstring>
#include <mutex>

#include <fmt/format.h>

#include "base/events.h"
#include "runtime/cpu/thread_pool.h"
#include "tensor/device/random.h"
#include "tensor/device_ops.h"
#include "tensor/draws.h"
#include "tensor/element_types.h"
#include "tensor/shape.h"
#include "tensor/traced.h"
#include "tilewright/error.h"
#include "tilewright/tensor.h"

namespace tilewright {
namespace {

constexpr std::uint64_t blocks_per_task = 4 * 1024;

class Generator {
 public:
  void seed(std::uint64_t value) {
    const std::lock_guard lock(mutex_);
    next_ = {value, 0};
  }
  // Blocks that nobody else gets.
  RandomPosition take(std::int64_t blocks) {
    const std::lock_guard lock(mutex_);
    const RandomPosition taken = next_;
    next_.block += static_cast<std::uint64_t>(blocks);
    return taken;
  }

 private:
  std::mutex mutex_;
  RandomPosition next_;
};

Generator& generator() {
  static Generator instance;
  return instance;
}

// Calls run<T>() with the element type of a floating dtype.
template <class Run>
void with_floating_type(DType dtype, const Run& run) {
  with_element_type(dtype, [&]<class T>() {
    if constexpr (element::is_native_float<T> || element::is_small_float<T>)
      run.template operator()<T>();
    else TW_UNREACHABLE("random numbers of dtype {}", name_of(dtype));
  });
}

template <class T, class MakeBlock>
void fill_blocks(const Tensor& out, std::int64_t blocks, const MakeBlock& make_block) {
  constexpr int width = element::block_elements<T>;
  std::byte* const values = static_cast<std::byte*>(out.data());
  const std::int64_t count = out.numel();
  parallel_ranges(static_cast<std::uint64_t>(blocks), blocks_per_task,
                  [&](std::int64_t first, std::int64_t last) {
                    for (std::int64_t b = first; b < last; ++b) {
                      const element::Block<T> made = make_block(static_cast<std::uint64_t>(b));
                      const auto wanted = static_cast<std::size_t>(
                          std::min<std::int64_t>(width, count - b * width));
                      std::memcpy(values + b * static_cast<std::int64_t>(sizeof made), made.v,
                                  wanted * sizeof(T));
                    }
                  });
}

struct Draw {
  Tensor out;
  std::int64_t blocks = 0;
  RandomPosition at;
};

void check_drawn(const char* name, const RandomOptions& options) {
  if (!is_floating(options.dtype))
    throw ArgumentError(
        fmt::format("{} makes floating-point numbers, not {}: convert its result with to()", name,
                    name_of(options.dtype)));
}

// In a function that is traced, numbers without a seed are drawn at every call of it.
bool is_drawn_later(const RandomOptions& options) {
  return !options.seed && is_tracing() && traced_draw() != nullptr;
}

Draw begin_draw(Shape shape, const RandomOptions& options) {
  Draw draw;
  draw.out = empty(std::move(shape), options);
  draw.blocks = cdiv(draw.out.numel(), options.dtype == DType::Float64 ? 2 : 4);
  draw.at = options.seed ? RandomPosition{*options.seed, 0} : Draws::take(draw.blocks);
  return draw;
}

}  // namespace

thread_local Draws* Draws::current_ = nullptr;

Draws::Draws() : before_(current_) { current_ = this; }
Draws::~Draws() { current_ = before_; }

RandomPosition Draws::take(std::int64_t blocks) {
  if (current_ == nullptr) return generator().take(blocks);
  std::vector<RandomPosition>& taken = current_->taken_;
  if (current_->next_ == taken.size()) taken.push_back(generator().take(blocks));
  return taken[current_->next_++];
}

void manual_seed(std::uint64_t seed) { generator().seed(seed); }

Tensor rand(Shape shape, RandomOptions options) {
  check_drawn("rand", options);
  if (is_drawn_later(options)) return traced_draw()("rand", shape, options);
  EventScope event(EventKind::Tensor, "rand");
  if (event.is_heard()) event.describe(shape_text(shape));
  const Draw draw = begin_draw(std::move(shape), options);
  if (draw.out.device().is_cuda()) {
    uniform_on_device(draw.out, draw.at.seed, draw.at.block);
    return draw.out;
  }
  with_floating_type(options.dtype, [&]<class T>() {
    fill_blocks<T>(draw.out, draw.blocks, [&](std::uint64_t block) {
      return element::uniform_block<T>(draw.at.seed, draw.at.block + block);
    });
  });
  return draw.out;
}

Tensor randn(Shape shape, RandomOptions options) {
  check_drawn("randn", options);
  if (is_drawn_later(options)) return traced_draw()("randn", shape, options);
  EventScope event(EventKind::Tensor, "randn");
  if (event.is_heard()) event.describe(shape_text(shape));
  const Draw draw = begin_draw(std::move(shape), options);
  if (draw.out.device().is_cuda()) {
    normal_on_device(draw.out, draw.at.seed, draw.at.block);
    return draw.out;
  }
  with_floating_type(options.dtype, [&]<class T>() {
    fill_blocks<T>(draw.out, draw.blocks, [&](std::uint64_t block) {
      return element::normal_block<T>(draw.at.seed, draw.at.block + block);
    });
  });
  return draw.out;
}

}  // namespace tilewright
