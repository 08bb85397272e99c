// SPDX-License-Identifier: Apache-2.0
// tensor/safetensors_test.cpp — files made by hand, round trips, trees by name, and files that lie.
#include "tilewright/safetensors.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include <gtest/gtest.h>

#include "cpu_device.h"
#include "expect_error.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

std::string safe_bytes(const std::string& json, const std::string& data) {
  std::string out;
  for (int i = 0; i < 8; ++i) out += static_cast<char>(json.size() >> (8 * i) & 0xff);
  return out + json + data;
}

class Safetensors : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/tilewright_safetensors_XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name = "x.safetensors") const { return folder_ + "/" + name; }
  std::string write(const std::string& bytes) const {
    std::ofstream(path(), std::ios::binary) << bytes;
    return path();
  }
  static std::string read(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
  }
  void expect_refused(const std::string& bytes, const std::string& reason) const {
    const std::string file = write(bytes);
    expect_error<FormatError>([&] { load_safetensors(file, cpu); },
                              "'" + file + "' cannot be read as safetensors: " + reason);
  }
  void expect_json_refused(const std::string& json, const std::string& reason) const {
    expect_refused(safe_bytes(json, std::string(8, '\0')), reason);
  }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  std::string folder_;
};

TEST_F(Safetensors, AFileMadeByHand) {
  const float values[] = {1.5F, -2.0F};
  const std::string data(reinterpret_cast<const char*>(values), sizeof values);
  const std::string file = write(safe_bytes(
      R"({"__metadata__":{"format":"pt \u00e9\ud83d\ude00"},"w":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]}}  )",
      data));
  const NamedTensors found = load_safetensors(file, cpu);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.at("w").shape(), (Shape{2, 1}));
  EXPECT_EQ(found.at("w").to_vector<float>(), (std::vector<float>{1.5F, -2.0F}));
  EXPECT_EQ(load_safetensors_metadata(file).at("format"), "pt \u00e9\U0001F600");
}

TEST_F(Safetensors, EveryDtypeComesBackAligned) {
  NamedTensors saved;
  for (int d = 0; d < dtype_count; ++d) {
    const auto dtype = static_cast<DType>(d);
    const Tensor whole = arange(0.0, 6.0, 1.0, {f32, cpu}).view({2, 3});
    saved[std::string(name_of(dtype))] = whole.t().to(dtype);
  }
  saved["nothing"] = empty({0, 4}, {f32, cpu});
  saved["one \"number\"\n\xc3\xa9"] = full({}, 7, {f64, cpu});
  save_safetensors(path(), saved, {{"k", "v"}});
  const NamedTensors found = load_safetensors(path(), cpu);
  ASSERT_EQ(found.size(), saved.size());
  for (const auto& [name, tensor] : saved) {
    const Tensor& other = found.at(name);
    EXPECT_EQ(other.dtype(), tensor.dtype()) << name;
    EXPECT_EQ(other.shape(), tensor.shape()) << name;
    if (tensor.numel() > 0) {
      EXPECT_EQ(max_abs_error(other, tensor), 0) << name;
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(other.data()) % size_of(other.dtype()), 0u);
    }
  }
  EXPECT_EQ(load_safetensors_metadata(path()).at("k"), "v");
  EXPECT_EQ(files(), 1u);
}

TEST_F(Safetensors, WhatIsWrittenIntoATensorDoesNotReachTheFile) {
  save_safetensors(path(), {{"w", ones({4}, {f32, cpu})}});
  const std::string before = read(path());
  const Tensor w = load_safetensors(path(), cpu).at("w");
  w.fill(5);
  EXPECT_EQ(read(path()), before);
  EXPECT_EQ(w.to_vector<float>(), std::vector<float>(4, 5.0F));
}

TEST_F(Safetensors, ElementsThatAreNotAlignedOrNotPlainAreCopied) {
  std::string data(5, '\0');
  data[0] = 2;  // a bool that is not 0
  data[1] = 0;
  data[2] = 0;
  data[3] = static_cast<char>(0x80);
  data[4] = 0x3f;
  const std::string file = write(safe_bytes(
      R"({"b":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]},"f":{"dtype":"F32","shape":[1],"data_offsets":[1,5]}})",
      data));
  const NamedTensors found = load_safetensors(file, cpu);
  EXPECT_EQ(found.at("b").item<int>(), 1);
  EXPECT_EQ(found.at("f").item<float>(), 1.0F);
}

TEST_F(Safetensors, DamagedFilesAreRefusedInOneSentence) {
  expect_refused("1234567", "it is too short to have a header");
  expect_refused(std::string(7, '\xff') + std::string(1, '\x7f') + "{}",
                 "its header claims 9223372036854775807 bytes where 2 are left");
  expect_refused(safe_bytes("{}", "x"), "bytes 0 to 1 belong to no tensor");
  expect_json_refused("", "the header lacks a '{' (byte 0 of its header)");
  expect_json_refused("[]", "the header lacks a '{' (byte 0 of its header)");
  expect_json_refused("{} x", "something follows the object (byte 3 of its header)");
  expect_json_refused(R"({"a)", "a text does not end (byte 3 of its header)");
  expect_json_refused("{\"\xff\":1}", "a text is not UTF-8 (byte 2 of its header)");
  expect_json_refused("{\"\x01\":1}", "a text has a control character (byte 2 of its header)");
  expect_json_refused(R"({"\x":1})", "a text has an unknown escape (byte 3 of its header)");
  expect_json_refused(R"({"\ud800":1})", "a text has half of a character (byte 8 of its header)");
  expect_json_refused(R"({"a":1})", "tensor \"a\" lacks a '{' (byte 5 of its header)");
  expect_json_refused(R"({"a":{}})", "tensor \"a\" lacks its dtype (byte 7 of its header)");
  const auto tensor = [](const std::string& dtype, const std::string& shape,
                         const std::string& bytes) {
    return R"({"dtype":")" + dtype + R"(","shape":[)" + shape + R"(],"data_offsets":[)" + bytes +
           "]}";
  };
  expect_json_refused(
      "{\"a\":" + tensor("F4", "2", "0,8") + "}",
      "tensor \"a\" has dtype \"F4\", which is none of ours (byte 18 of its header)");
  expect_json_refused("{\"a\":" + tensor("F32", "-2", "0,8") + "}",
                      "the shape of tensor \"a\" must have whole numbers (byte 29 of its header)");
  expect_json_refused("{\"a\":" + tensor("F32", "2.5", "0,8") + "}",
                      "the shape of tensor \"a\" must have whole numbers (byte 30 of its header)");
  expect_json_refused(
      "{\"a\":" + tensor("F32", "99999999999999999999", "0,8") + "}",
      "the shape of tensor \"a\" has a number that is too large (byte 29 of its header)");
  expect_json_refused("{\"a\":" + tensor("F32", "2", "0") + "}",
                      "data_offsets of tensor \"a\" must be two numbers (byte 50 of its header)");
  expect_json_refused("{\"a\":" + tensor("F32", "2", "0,9") + "}",
                      "tensor \"a\" claims bytes 0 to 9 of 8");
  expect_json_refused("{\"a\":" + tensor("F32", "2", "8,0") + "}",
                      "tensor \"a\" claims bytes 8 to 0 of 8");
  expect_json_refused("{\"a\":" + tensor("F32", "3", "0,8") + "}",
                      "tensor \"a\" of float32 [3] needs 12 bytes, but has 8");
  expect_json_refused(
      "{\"a\":" + tensor("F32", "4000000000000000000,4000000000000000000", "0,8") + "}",
      "tensor \"a\": shape [4000000000000000000, 4000000000000000000] is too large: its bytes do "
      "not fit "
      "64 bits");
  expect_json_refused(
      "{\"a\":" + tensor("F32", "1", "0,4") + ",\"b\":" + tensor("U8", "6", "2,8") + "}",
      "tensor \"b\" overlaps the one before it");
  expect_json_refused(
      "{\"a\":" + tensor("F32", "1", "0,4") + ",\"b\":" + tensor("U8", "2", "6,8") + "}",
      "bytes 4 to 6 belong to no tensor");
  expect_json_refused(
      "{\"a\":" + tensor("F32", "2", "0,8") + ",\"a\":" + tensor("F32", "2", "0,8") + "}",
      "the header has the name \"a\" twice (byte 57 of its header)");
  expect_json_refused(R"({"__metadata__":{"a":1}})",
                      "a name or text lacks a '\"' (byte 21 of its header)");
}

TEST_F(Safetensors, WhatIsNoFileIsAnError) {
  expect_error<EnvironmentError>([&] { load_safetensors(path("none"), cpu); },
                                 "cannot open '" + path("none") + "': No such file or directory");
  expect_error<FormatError>(
      [&] { load_safetensors(folder_, cpu); },
      "'" + folder_ + "' cannot be read as safetensors: it is not a regular file");
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  expect_error<FormatError>(
      [&] { load_safetensors(path("pipe"), cpu); },
      "'" + path("pipe") + "' cannot be read as safetensors: it is not a regular file");
}

TEST_F(Safetensors, NothingHalfWrittenIsLeft) {
  save_safetensors(path(), {{"w", ones({2}, cpu)}});
  const std::string before = read(path());
  expect_error<ArgumentError>(
      [&] {
        save_safetensors(path(), {{"w", Tensor()}});
      },
      "tensor \"w\" to save is undefined");
  expect_error<ArgumentError>(
      [&] {
        save_safetensors(path(), {{"\xff", ones({2}, cpu)}});
      },
      "a name or text for a safetensors file is not UTF-8: write it so");
  expect_error<ArgumentError>(
      [&] {
        save_safetensors(path(), {{"__metadata__", ones({2}, cpu)}});
      },
      "a tensor in a safetensors file cannot be named __metadata__");
  EXPECT_EQ(read(path()), before);
  EXPECT_EQ(files(), 1u);
  expect_error<EnvironmentError>(
      [&] {
        save_safetensors(path("no/x"), {{"w", ones({2}, cpu)}});
      },
      "cannot write '" + path("no/x") + "': No such file or directory");
}

// Every damaged file is loaded as what it claims to be, or refused.
TEST_F(Safetensors, RandomDamage) {
  save_safetensors(
      path("whole"),
      {{"a", ones({3}, cpu)}, {"b", ones({2, 2}, {bf16, cpu})}, {"c", zeros({0}, cpu)}},
      {{"format", "pt"}});
  const std::string whole = read(path("whole"));
  std::mt19937_64 choose(static_cast<std::uint64_t>(GTEST_FLAG_GET(random_seed)) + 3);
  int loaded = 0, refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = whole;
    for (std::size_t edits = 1 + choose() % 3; edits > 0; --edits) {
      const std::size_t at = choose() % bytes.size();
      const char letters[] = "0123456789{}[],:\"eE-\\u ";
      switch (choose() % 4) {
        case 0:
          bytes[at] = static_cast<char>(choose());
          break;
        case 1:
          bytes[at] = letters[choose() % (sizeof letters - 1)];
          break;
        case 2:
          bytes.erase(at, 1 + choose() % 4);
          break;
        default:
          bytes.insert(at, 1, letters[choose() % (sizeof letters - 1)]);
      }
      if (bytes.empty()) bytes = "x";
    }
    try {
      for (const auto& [name, tensor] : load_safetensors(write(bytes), cpu))
        if (tensor.numel() > 0) static_cast<void>(tensor.to(f64).to_string());
      ++loaded;
    } catch (const FormatError& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(loaded, 10);
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace tilewright
