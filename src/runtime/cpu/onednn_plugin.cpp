// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/onednn_plugin.cpp — a shared library of its own: the only place that knows oneDNN, of
// either interface (2.x, 3.x). Primitives are made once for a kind of product and kept.
#include <omp.h>

#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <unordered_map>

#include <oneapi/dnnl/dnnl.hpp>

#include "runtime/cpu/onednn.h"

namespace tilewright {
namespace {

using Tag = dnnl::memory::format_tag;
using Dims = dnnl::memory::dims;

const dnnl::engine& engine() {
  static const auto& made = *new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return made;
}

bool type_of(DType dtype, dnnl::memory::data_type& type) {
  switch (dtype) {
    case DType::Float32:
      type = dnnl::memory::data_type::f32;
      return true;
    case DType::BFloat16:
      type = dnnl::memory::data_type::bf16;
      return true;
    case DType::Float16:
      type = dnnl::memory::data_type::f16;
      return true;
    default:
      return false;
  }
}

// So many threads run what this thread asks for, until it ends.
class Threads {
 public:
  explicit Threads(int wanted) : before_(omp_get_max_threads()) {
    if (wanted > 0) omp_set_num_threads(wanted);
  }
  ~Threads() { omp_set_num_threads(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
};

dnnl::memory memory_of(const dnnl::memory::desc& desc, const void* data) {
  return dnnl::memory(desc, engine(), const_cast<void*>(data));
}

// ---- Products.

struct Multiply {
  bool is_taken = false;
  dnnl::memory::desc a, b, bias, out;
  dnnl::matmul primitive;
};

Dims matrix_dims(const LibraryProduct& p, std::int64_t batch, std::int64_t rows,
                 std::int64_t columns) {
  return p.batch == 1 ? Dims{rows, columns} : Dims{batch, rows, columns};
}
Dims matrix_strides(const LibraryProduct& p, const LibraryMatrix& m) {
  return p.batch == 1 ? Dims{m.row_stride, m.column_stride}
                      : Dims{m.batch_stride, m.row_stride, m.column_stride};
}

#if DNNL_VERSION_MAJOR < 3
dnnl::matmul make_matmul(const Multiply& m, bool has_bias) {
  const auto desc =
      has_bias ? dnnl::matmul::desc(m.a, m.b, m.bias, m.out) : dnnl::matmul::desc(m.a, m.b, m.out);
  return dnnl::matmul(dnnl::matmul::primitive_desc(desc, engine()));
}
#else
dnnl::matmul make_matmul(const Multiply& m, bool has_bias) {
  return dnnl::matmul(has_bias ? dnnl::matmul::primitive_desc(engine(), m.a, m.b, m.bias, m.out)
                               : dnnl::matmul::primitive_desc(engine(), m.a, m.b, m.out));
}
#endif

std::unique_ptr<Multiply> make_multiply(const LibraryProduct& p) {
  auto made = std::make_unique<Multiply>();
  dnnl::memory::data_type type;
  if (!type_of(p.dtype, type)) return made;
  // One matrix for all products of the stack.
  const std::int64_t batch_a = p.a.batch_stride == 0 ? 1 : p.batch;
  const std::int64_t batch_b = p.b.batch_stride == 0 ? 1 : p.batch;
  LibraryMatrix a = p.a, b = p.b;
  if (a.batch_stride == 0) a.batch_stride = p.m * p.k;
  if (b.batch_stride == 0) b.batch_stride = p.k * p.n;
  made->a = {matrix_dims(p, batch_a, p.m, p.k), type, matrix_strides(p, a)};
  made->b = {matrix_dims(p, batch_b, p.k, p.n), type, matrix_strides(p, b)};
  const LibraryMatrix out{nullptr, p.n, 1, p.m * p.n};
  made->out = {matrix_dims(p, p.batch, p.m, p.n), type, matrix_strides(p, out)};
  const LibraryMatrix row{nullptr, p.n, 1, p.n};
  made->bias = {matrix_dims(p, 1, 1, p.n), type, matrix_strides(p, row)};
  try {
    made->primitive = make_matmul(*made, p.bias != nullptr);
    made->is_taken = true;
  } catch (const dnnl::error&) {  // a dtype or layout that this machine has no code for
  }
  return made;
}

using MultiplyKey =
    std::tuple<DType, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
               std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, bool, int>;

const Multiply& multiply_for(const LibraryProduct& p, int threads) {
  static std::mutex mutex;
  static auto& known = *new std::map<MultiplyKey, std::unique_ptr<Multiply>>;
  const MultiplyKey key = {p.dtype,
                           p.m,
                           p.n,
                           p.k,
                           p.batch,
                           p.a.row_stride,
                           p.a.column_stride,
                           p.a.batch_stride,
                           p.b.row_stride,
                           p.b.column_stride,
                           p.b.batch_stride,
                           p.bias != nullptr,
                           threads};
  const std::lock_guard lock(mutex);
  std::unique_ptr<Multiply>& found = known[key];
  if (!found) found = make_multiply(p);
  return *found;
}

bool multiply(const LibraryProduct& p, int threads) {
  const Threads scope(threads);
  const Multiply& made = multiply_for(p, threads);
  if (!made.is_taken) return false;
  dnnl::stream stream(engine());
  std::unordered_map<int, dnnl::memory> arguments = {
      {DNNL_ARG_SRC, memory_of(made.a, p.a.data)},
      {DNNL_ARG_WEIGHTS, memory_of(made.b, p.b.data)},
      {DNNL_ARG_DST, memory_of(made.out, p.out)}};
  if (p.bias != nullptr) arguments.emplace(DNNL_ARG_BIAS, memory_of(made.bias, p.bias));
  made.primitive.execute(stream, arguments);
  stream.wait();
  return true;
}

// ---- Convolutions.

struct Convolve {
  bool is_taken = false;
  dnnl::memory::desc x, weight, out;  // as they lie there
  dnnl::convolution_forward::primitive_desc desc;
  dnnl::convolution_forward primitive;
};

#if DNNL_VERSION_MAJOR < 3
using Convolution = dnnl::convolution_forward;
Convolution::primitive_desc make_convolution(const dnnl::memory::desc (&any)[3],
                                             const Dims (&numbers)[3]) {
  return Convolution::primitive_desc(
      Convolution::desc(dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_auto,
                        any[0], any[1], any[2], numbers[0], numbers[1], numbers[2], numbers[2]),
      engine());
}
#else
using Convolution = dnnl::convolution_forward;
Convolution::primitive_desc make_convolution(const dnnl::memory::desc (&any)[3],
                                             const Dims (&numbers)[3]) {
  return Convolution::primitive_desc(engine(), dnnl::prop_kind::forward_inference,
                                     dnnl::algorithm::convolution_auto, any[0], any[1], any[2],
                                     numbers[0], numbers[1], numbers[2], numbers[2]);
}
#endif

std::unique_ptr<Convolve> make_convolve(const LibraryConvolution& c) {
  auto made = std::make_unique<Convolve>();
  dnnl::memory::data_type type;
  if (!type_of(c.dtype, type)) return made;
  const Dims x = {c.batch, c.in, c.height, c.width};
  const Dims out = {c.batch, c.out_channels, c.out_height, c.out_width};
  const std::int64_t g = c.groups;
  const Dims weight = g == 1 ? Dims{c.out_channels, c.in, c.window_h, c.window_w}
                             : Dims{g, c.out_channels / g, c.in / g, c.window_h, c.window_w};
  made->x = {x, type, Tag::nchw};
  made->out = {out, type, Tag::nchw};
  made->weight = {weight, type, g == 1 ? Tag::oihw : Tag::goihw};
  const dnnl::memory::desc any[3] = {
      {x, type, Tag::any}, {weight, type, Tag::any}, {out, type, Tag::any}};
  // oneDNN counts the elements between two of a window.
  const Dims numbers[3] = {
      {c.stride_h, c.stride_w}, {c.dilation_h - 1, c.dilation_w - 1}, {c.pad_h, c.pad_w}};
  try {
    // Padding behind is as large as what the windows reach.
    made->desc = make_convolution(any, numbers);
    made->primitive = dnnl::convolution_forward(made->desc);
    made->is_taken = true;
  } catch (const dnnl::error&) {
  }
  return made;
}

using ConvolveKey = std::tuple<DType, Dims, int>;
const Convolve& convolve_for(const LibraryConvolution& c, int threads) {
  static std::mutex mutex;
  static auto& known = *new std::map<ConvolveKey, std::unique_ptr<Convolve>>;
  const ConvolveKey key = {
      c.dtype,
      {c.batch, c.in, c.height, c.width, c.out_channels, c.window_h, c.window_w, c.stride_h,
       c.stride_w, c.pad_h, c.pad_w, c.dilation_h, c.dilation_w, c.groups},
      threads};
  const std::lock_guard lock(mutex);
  std::unique_ptr<Convolve>& found = known[key];
  if (!found) found = make_convolve(c);
  return *found;
}

// In the layout that the primitive wants.
dnnl::memory arranged(dnnl::memory plain, const dnnl::memory::desc& wanted,
                      dnnl::stream& stream) {
  if (plain.get_desc() == wanted) return plain;
  dnnl::memory made(wanted, engine());
  dnnl::reorder(plain, made).execute(stream, plain, made);
  return made;
}

bool convolve(const LibraryConvolution& c, int threads) {
  const Threads scope(threads);
  const Convolve& made = convolve_for(c, threads);
  if (!made.is_taken) return false;
  dnnl::stream stream(engine());
  dnnl::memory out = memory_of(made.out, c.out);
  const bool is_plain = made.desc.dst_desc() == made.out;
  dnnl::memory result = is_plain ? out : dnnl::memory(made.desc.dst_desc(), engine());
  made.primitive.execute(
      stream, {{DNNL_ARG_SRC, arranged(memory_of(made.x, c.x), made.desc.src_desc(), stream)},
               {DNNL_ARG_WEIGHTS,
                arranged(memory_of(made.weight, c.weight), made.desc.weights_desc(), stream)},
               {DNNL_ARG_DST, result}});
  if (!is_plain) dnnl::reorder(result, out).execute(stream, result, out);
  stream.wait();
  return true;
}

// Exceptions of oneDNN stay here: what it does not take is made by other means.
template <class Call>
bool guarded(const Call& call) {
  try {
    return call();
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace
}  // namespace tilewright

#define TW_TEXT_OF(x) #x
#define TW_TEXT(x) TW_TEXT_OF(x)

extern "C" __attribute__((visibility("default"))) const tilewright::OnednnPlugin*
tilewright_onednn_plugin() {
  using namespace tilewright;
  static const OnednnPlugin exported{onednn_plugin_version,
                                     "oneDNN " TW_TEXT(DNNL_VERSION_MAJOR) "." TW_TEXT(
                                         DNNL_VERSION_MINOR) "." TW_TEXT(DNNL_VERSION_PATCH),
                                     [](const LibraryProduct& p, int threads) {
                                       return guarded([&] { return multiply(p, threads); });
                                     },
                                     [](const LibraryConvolution& c, int threads) {
                                       return guarded([&] { return convolve(c, threads); });
                                     }};
  return &exported;
}
