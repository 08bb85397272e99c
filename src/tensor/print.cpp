// SPDX-License-Identifier: Apache-2.0
// tensor/print.cpp — tensors as text: nested brackets in aligned columns, long ones shortened.
#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tensor/shape.h"
#include "tensor/traced.h"
#include "tilewright/tensor.h"

namespace tilewright {
namespace {

constexpr std::int64_t longest_in_full = 1000;  // elements
constexpr std::int64_t edge = 3;  // elements shown at each end of a shortened dimension
constexpr std::size_t line_columns = 88;

bool is_cut(std::int64_t size) { return size > 2 * edge; }

// Copies the parts of `whole` that are shown, from dimension `d` on.
void copy_edges(const Tensor& shown, const Tensor& whole, int d) {
  if (d == whole.rank()) {
    shown.copy_from(whole);
    return;
  }
  if (!is_cut(whole.size(d))) {
    copy_edges(shown, whole, d + 1);
    return;
  }
  const std::int64_t size = whole.size(d);
  copy_edges(shown.slice(d, 0, edge), whole.slice(d, 0, edge), d + 1);
  copy_edges(shown.slice(d, edge, 2 * edge), whole.slice(d, size - edge, size), d + 1);
}

// The elements that are shown, contiguous on the host.
Tensor excerpt(const Tensor& tensor, bool is_shortened) {
  if (!is_shortened) return tensor.cpu().contiguous();
  Shape sizes = tensor.shape();
  for (std::int64_t& size : sizes) size = is_cut(size) ? 2 * edge : size;
  const Tensor shown = empty(std::move(sizes), {tensor.dtype(), Device::cpu()});
  copy_edges(shown, tensor, 0);
  return shown;
}

enum class FloatForm { Whole, Fixed, Scientific };

// One form for all: whole numbers without digits, four decimals where the range allows, else an
// exponent.
FloatForm choose_form(const std::vector<double>& values) {
  double smallest = INFINITY;
  double largest = 0;
  bool is_whole = true;
  for (const double value : values) {
    if (!std::isfinite(value) || value == 0) continue;
    smallest = std::min(smallest, std::fabs(value));
    largest = std::max(largest, std::fabs(value));
    is_whole = is_whole && value == std::floor(value);
  }
  if (largest == 0) return FloatForm::Whole;
  if (is_whole && largest < 1e8) return FloatForm::Whole;
  const bool is_wide = largest >= 1e8 || smallest < 1e-4 || largest / smallest > 1e5;
  return is_wide ? FloatForm::Scientific : FloatForm::Fixed;
}

std::string float_text(double value, FloatForm form) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  switch (form) {
    case FloatForm::Whole:
      return fmt::format("{:.0f}.", value);
    case FloatForm::Fixed:
      return fmt::format("{:.4f}", value);
    case FloatForm::Scientific:
      break;
  }
  return fmt::format("{:.4e}", value);
}

std::vector<std::string> element_texts(const Tensor& shown) {
  std::vector<std::string> texts;
  if (is_floating(shown.dtype())) {
    const std::vector<double> values = shown.to(DType::Float64).to_vector<double>();
    const FloatForm form = choose_form(values);
    for (const double value : values) texts.push_back(float_text(value, form));
  } else if (shown.dtype() == DType::UInt64) {
    for (const std::uint64_t value : shown.to_vector<std::uint64_t>())
      texts.push_back(fmt::format("{}", value));
  } else if (shown.dtype() == DType::Bool) {
    for (const bool value : shown.to_vector<bool>()) texts.emplace_back(value ? "True" : "False");
  } else {
    for (const std::int64_t value : shown.to(DType::Int64).to_vector<std::int64_t>())
      texts.push_back(fmt::format("{}", value));
  }
  std::size_t width = 0;
  for (const std::string& text : texts) width = std::max(width, text.size());
  for (std::string& text : texts) text.insert(0, width - text.size(), ' ');
  return texts;
}

class Writer {
 public:
  Writer(const Tensor& shown, Shape whole_shape)
      : shape_(shown.shape()), whole_shape_(std::move(whole_shape)), texts_(element_texts(shown)) {}

  // Brackets of dimension `d` and what is in them; `column` is where the opening one stands.
  void write(std::size_t d, std::size_t column) {
    if (d == shape_.size()) {
      text += texts_[next_++];
      return;
    }
    text += '[';
    const bool is_shortened = shape_[d] != whole_shape_[d];
    for (std::int64_t i = 0; i < shape_[d]; ++i) {
      if (i > 0) separate(d, column + 1);
      if (i == edge && is_shortened) {
        text += "...";
        separate(d, column + 1);
      }
      write(d + 1, column + 1);
    }
    text += ']';
  }

  std::string text;

 private:
  // Elements of a row stand on one line while it is short enough; matrices stand one empty line
  // apart.
  void separate(std::size_t d, std::size_t column) {
    text += ',';
    const std::size_t inner_dimensions = shape_.size() - d - 1;
    const std::size_t line = text.size() - (text.rfind('\n') + 1);
    if (inner_dimensions == 0 && line + 1 + texts_[next_].size() <= line_columns) {
      text += ' ';
      return;
    }
    text.append(std::max<std::size_t>(inner_dimensions, 1), '\n').append(column, ' ');
  }

  Shape shape_;
  Shape whole_shape_;
  std::vector<std::string> texts_;
  std::size_t next_ = 0;
};

}  // namespace

std::string Tensor::to_string() const {
  if (!is_defined()) return "tensor(undefined)";
  const Looking looking("printing", *this);
  const bool is_shortened = numel() > longest_in_full;
  const std::string opening = "tensor(";
  Writer writer(excerpt(*this, is_shortened), shape());
  writer.text = opening;
  if (numel() == 0) writer.text += "[]";
  else writer.write(0, opening.size());
  if (is_shortened || (numel() == 0 && rank() > 1)) writer.text += ", shape=" + shape_text(shape());
  return writer.text + fmt::format(", dtype={}, device={})", name_of(dtype()), device().name());
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  return out << tensor.to_string();
}

}  // namespace tilewright
