// SPDX-License-Identifier: Apache-2.0
// tensor/safetensors_header.cpp — a reader of the little JSON that such headers are, and the
// checks.
#include "tensor/safetensors_header.h"

#include <algorithm>
#include <charconv>
#include <set>

#include <fmt/format.h>

#include "base/quote.h"
#include "base/unicode.h"
#include "tensor/shape.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

struct StoredType {
  std::string_view name;
  DType dtype;
};
constexpr StoredType stored_types[] = {
    {"F64", DType::Float64},   {"F32", DType::Float32},        {"F16", DType::Float16},
    {"BF16", DType::BFloat16}, {"F8_E4M3", DType::Float8E4M3}, {"F8_E5M2", DType::Float8E5M2},
    {"I8", DType::Int8},       {"I16", DType::Int16},          {"I32", DType::Int32},
    {"I64", DType::Int64},     {"U8", DType::UInt8},           {"U16", DType::UInt16},
    {"U32", DType::UInt32},    {"U64", DType::UInt64},         {"BOOL", DType::Bool},
};

std::string_view stored_name(DType dtype) {
  for (const StoredType& type : stored_types)
    if (type.dtype == dtype) return type.name;
  return "";
}

// What a header consists of: objects of strings, arrays of whole numbers. Nothing else is JSON that
// could stand there.
class HeaderReader {
 public:
  HeaderReader(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  SafetensorsHeader run() {
    each_member("the header", [&](const std::string& name) {
      if (name == "__metadata__") read_metadata();
      else header_.tensors.push_back(read_tensor(name));
    });
    skip_spaces();
    if (at_ != text_.size()) fail("something follows the object");
    return std::move(header_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw FormatError(printable(fmt::format(
        "'{}' cannot be read as safetensors: {} (byte {} of its header)", path_, what, at_)));
  }

  void skip_spaces() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) ++at_;
  }
  bool take(char wanted) {
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted, const char* where) {
    if (!take(wanted)) fail(fmt::format("{} lacks a '{}'", where, wanted));
  }

  template <class Read>
  void each_member(const std::string& where, const Read& read) {
    std::set<std::string> names;
    expect('{', where.c_str());
    if (take('}')) return;
    do {
      const std::string name = read_string();
      if (!names.insert(name).second)
        fail(fmt::format("{} has the name \"{}\" twice", where, name));
      expect(':', where.c_str());
      read(name);
    } while (take(','));
    expect('}', where.c_str());
  }

  std::string read_string() {
    expect('"', "a name or text");
    std::string out;
    while (true) {
      if (at_ >= text_.size()) fail("a text does not end");
      const char c = text_[at_];
      if (c == '"') break;
      if (static_cast<unsigned char>(c) < 0x20) fail("a text has a control character");
      if (c == '\\') {
        read_escape(out);
        continue;
      }
      const CodePoint point = decode_utf8(text_.substr(at_));
      if (point.bytes == 0) fail("a text is not UTF-8");
      out.append(text_.substr(at_, point.bytes));
      at_ += point.bytes;
    }
    ++at_;
    return out;
  }

  void read_escape(std::string& out) {
    constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    ++at_;
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    if (const std::size_t i = letters.find(c); c != '\0' && i != letters.npos) {
      out += meanings[i];
      ++at_;
      return;
    }
    if (c != 'u') fail("a text has an unknown escape");
    ++at_;
    char32_t value = read_hex();
    if (value >= 0xd800 && value < 0xdc00 && text_.substr(at_).starts_with("\\u")) {
      at_ += 2;
      const char32_t low = read_hex();
      if (low < 0xdc00 || low > 0xdfff) fail("a text has half of a character");
      value = 0x10000 + ((value - 0xd800) << 10) + (low - 0xdc00);
    } else if (value >= 0xd800 && value <= 0xdfff) {
      fail("a text has half of a character");
    }
    append_utf8(out, value);
  }

  char32_t read_hex() {
    std::uint32_t value = 0;
    const std::string_view digits = text_.substr(at_, 4);
    const auto [end, status] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (status != std::errc() || end != digits.data() + 4) fail("a text has an unknown escape");
    at_ += 4;
    return static_cast<char32_t>(value);
  }

  std::uint64_t read_count(const std::string& where) {
    skip_spaces();
    std::uint64_t value = 0;
    const char* const first = text_.data() + at_;
    const auto [end, status] = std::from_chars(first, text_.data() + text_.size(), value);
    if (status == std::errc::result_out_of_range || value > std::uint64_t{1} << 62)
      fail(fmt::format("{} has a number that is too large", where));
    if (status != std::errc()) fail(fmt::format("{} must have whole numbers", where));
    const bool has_leading_zero = end - first > 1 && *first == '0';
    at_ += static_cast<std::size_t>(end - first);
    const char next = at_ < text_.size() ? text_[at_] : ' ';
    if (has_leading_zero || next == '.' || next == 'e' || next == 'E')
      fail(fmt::format("{} must have whole numbers", where));
    return value;
  }

  std::vector<std::uint64_t> read_counts(const std::string& where, std::size_t most) {
    std::vector<std::uint64_t> counts;
    expect('[', where.c_str());
    if (take(']')) return counts;
    do {
      counts.push_back(read_count(where));
      if (counts.size() > most) fail(fmt::format("{} has more than {} numbers", where, most));
    } while (take(','));
    expect(']', where.c_str());
    return counts;
  }

  void read_metadata() {
    each_member("__metadata__",
                [&](const std::string& name) { header_.metadata[name] = read_string(); });
  }

  StoredTensor read_tensor(const std::string& name) {
    StoredTensor tensor{.name = name};
    const std::string where = fmt::format("tensor \"{}\"", name);
    bool has_dtype = false, has_shape = false, has_bytes = false;
    each_member(where, [&](const std::string& key) {
      if (key == "dtype") {
        tensor.dtype = read_dtype(where);
        has_dtype = true;
      } else if (key == "shape") {
        for (const std::uint64_t size : read_counts("the shape of " + where, 64))
          tensor.shape.push_back(static_cast<std::int64_t>(size));
        has_shape = true;
      } else if (key == "data_offsets") {
        const std::vector<std::uint64_t> offsets = read_counts("data_offsets of " + where, 2);
        if (offsets.size() != 2) fail(fmt::format("data_offsets of {} must be two numbers", where));
        tensor.begin = offsets[0];
        tensor.end = offsets[1];
        has_bytes = true;
      } else {
        fail(fmt::format("{} has an unknown key \"{}\"", where, key));
      }
    });
    if (!has_dtype || !has_shape || !has_bytes)
      fail(fmt::format("{} lacks its {}", where,
                       !has_dtype   ? "dtype"
                       : !has_shape ? "shape"
                                    : "data_offsets"));
    return tensor;
  }

  DType read_dtype(const std::string& where) {
    const std::string name = read_string();
    for (const StoredType& type : stored_types)
      if (type.name == name) return type.dtype;
    fail(fmt::format("{} has dtype \"{}\", which is none of ours", where, name));
  }

  std::string_view text_;
  const std::string& path_;
  std::size_t at_ = 0;
  SafetensorsHeader header_;
};

std::uint64_t claimed_bytes(const StoredTensor& tensor, const std::string& path) {
  try {
    return static_cast<std::uint64_t>(checked_numel(tensor.shape, size_of(tensor.dtype))) *
           size_of(tensor.dtype);
  } catch (const ArgumentError& error) {
    throw FormatError(printable(fmt::format("'{}' cannot be read as safetensors: tensor \"{}\": {}",
                                            path, tensor.name, error.what())));
  }
}

void check_places(const SafetensorsHeader& header, std::uint64_t data_bytes,
                  const std::string& path) {
  const auto refuse = [&](const std::string& reason) {
    throw FormatError(
        printable(fmt::format("'{}' cannot be read as safetensors: {}", path, reason)));
  };
  std::uint64_t covered = 0;
  for (const StoredTensor& tensor : header.tensors) {
    if (tensor.end < tensor.begin || tensor.end > data_bytes)
      refuse(fmt::format("tensor \"{}\" claims bytes {} to {} of {}", tensor.name, tensor.begin,
                         tensor.end, data_bytes));
    const std::uint64_t claimed = claimed_bytes(tensor, path);
    if (claimed != tensor.end - tensor.begin)
      refuse(fmt::format("tensor \"{}\" of {} {} needs {} bytes, but has {}", tensor.name,
                         name_of(tensor.dtype), shape_text(tensor.shape), claimed,
                         tensor.end - tensor.begin));
    if (tensor.begin < covered)
      refuse(fmt::format("tensor \"{}\" overlaps the one before it", tensor.name));
    if (tensor.begin > covered)
      refuse(fmt::format("bytes {} to {} belong to no tensor", covered, tensor.begin));
    covered = tensor.end;
  }
  if (covered != data_bytes)
    refuse(fmt::format("bytes {} to {} belong to no tensor", covered, data_bytes));
}

}  // namespace

SafetensorsHeader parse_safetensors_header(std::string_view text, std::uint64_t data_bytes,
                                           const std::string& path) {
  SafetensorsHeader header = HeaderReader(text, path).run();
  std::stable_sort(header.tensors.begin(), header.tensors.end(),
                   [](const StoredTensor& a, const StoredTensor& b) {
                     return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
                   });
  check_places(header, data_bytes, path);
  return header;
}

std::string safetensors_preamble(const SafetensorsHeader& header) {
  std::string json = "{";
  if (!header.metadata.empty()) {
    json += "\"__metadata__\":{";
    for (const auto& [key, text] : header.metadata) {
      if (json.back() != '{') json += ',';
      json += json_string(key) + ":" + json_string(text);
    }
    json += '}';
  }
  for (const StoredTensor& tensor : header.tensors) {
    if (json.size() > 1) json += ',';
    json += json_string(tensor.name);
    json += fmt::format(R"(:{{"dtype":"{}","shape":[)", stored_name(tensor.dtype));
    for (std::size_t d = 0; d < tensor.shape.size(); ++d)
      json += fmt::format("{}{}", d == 0 ? "" : ",", tensor.shape[d]);
    json += fmt::format(R"(],"data_offsets":[{},{}]}})", tensor.begin, tensor.end);
  }
  json += '}';
  json.resize((json.size() + 7) / 8 * 8, ' ');
  std::string out;
  for (int i = 0; i < 8; ++i) out += static_cast<char>(json.size() >> (8 * i) & 0xff);
  return out + json;
}

}  // namespace tilewright
