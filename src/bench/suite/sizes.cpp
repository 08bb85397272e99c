// SPDX-License-Identifier: Apache-2.0
// bench/suite/sizes.cpp — sizes from text, and exponents from times.
#include "bench/suite/sizes.h"

#include <charconv>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "tilewright/error.h"

namespace tilewright::suite {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

[[noreturn]] void throw_no_size(std::string_view text) {
  throw ArgumentError(fmt::format(
      "'{}' is no size; write 1024, 4k, a list 256,512 or a doubling range 1k..64k", text));
}

std::int64_t parse_size(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const std::int64_t factor = rest.empty()                 ? 1
                              : rest == "k" || rest == "K" ? 1024
                              : rest == "M"                ? 1024 * 1024
                                                           : 0;
  if (error != std::errc() || factor == 0 || value < 1 || value > (std::int64_t{1} << 40))
    throw_no_size(text);
  return value * factor;
}

std::vector<std::int64_t> parse_range(std::string_view text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos) return {parse_size(text)};
  const std::int64_t first = parse_size(text.substr(0, dots));
  const std::int64_t last = parse_size(text.substr(dots + 2));
  if (last < first) throw ArgumentError(fmt::format("the range '{}' ends before it begins", text));
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = first; size <= last; size *= 2) sizes.push_back(size);
  return sizes;
}

// Every choice of one size per dimension, the last dimension fastest.
std::vector<Shape> combinations(const std::vector<std::vector<std::int64_t>>& dimensions) {
  std::vector<Shape> shapes = {{}};
  for (const auto& sizes : dimensions) {
    std::vector<Shape> longer;
    for (const Shape& shape : shapes)
      for (const std::int64_t size : sizes) {
        longer.push_back(shape);
        longer.back().push_back(size);
      }
    shapes = std::move(longer);
  }
  return shapes;
}

double size_of_record(const Record& record) {
  if (record.dim > 0) return static_cast<double>(record.dim);
  double elements = 1;
  for (const std::int64_t size : record.shape) elements *= static_cast<double>(size);
  return elements;
}

struct Point {
  double x, y;  // logarithms of size and time
};

double slope(const std::vector<Point>& points) {
  const double n = static_cast<double>(points.size());
  double x = 0, y = 0, xx = 0, xy = 0;
  for (const Point& p : points) x += p.x / n, y += p.y / n;
  for (const Point& p : points) xx += (p.x - x) * (p.x - x), xy += (p.x - x) * (p.y - y);
  return xx > 0 ? xy / xx : NAN;
}

}  // namespace

std::vector<std::int64_t> parse_sizes(std::string_view text) {
  std::vector<std::int64_t> sizes;
  for (const std::string_view part : split(text, ','))
    for (const std::int64_t size : parse_range(part)) sizes.push_back(size);
  return sizes;
}

std::vector<Shape> parse_shapes(std::string_view text) {
  std::vector<Shape> shapes;
  for (const std::string_view part : split(text, ',')) {
    std::vector<std::vector<std::int64_t>> dimensions;
    for (const std::string_view size : split(part, 'x')) {
      if (size.empty()) throw ArgumentError(fmt::format("'{}' is no shape; write 8192x781", part));
      dimensions.push_back(parse_range(size));
    }
    for (Shape& shape : combinations(dimensions)) shapes.push_back(std::move(shape));
  }
  return shapes;
}

std::vector<Fit> fit_exponents(const std::vector<Record>& records) {
  std::map<std::pair<std::string, std::string>, std::vector<Point>> curves;
  std::vector<std::pair<std::string, std::string>> order;
  bool is_dim = true;
  for (const Record& record : records) {
    if (record.status != Status::Ok || !record.is_measured()) continue;
    is_dim = is_dim && record.dim > 0;
    auto& curve = curves[{record.way, record.dtype}];
    if (curve.empty()) order.emplace_back(record.way, record.dtype);
    curve.push_back({std::log(size_of_record(record)), std::log(record.seconds)});
  }
  std::vector<Fit> fits;
  for (const auto& key : order) {
    const std::vector<Point>& curve = curves[key];
    if (curve.size() < 3 || std::isnan(slope(curve))) continue;
    fits.push_back({key.first, key.second, is_dim ? "dim" : "elements", slope(curve),
                    static_cast<int>(curve.size())});
  }
  return fits;
}

}  // namespace tilewright::suite
