// SPDX-License-Identifier: Apache-2.0
// tensor/npy_test.cpp — .npy files made by hand, round trips, and files that lie.
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include <gtest/gtest.h>

#include "cpu_device.h"
#include "expect_error.h"
#include "tilewright/tensor.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;
class Npy : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/tilewright_npy_XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::string write(const std::string& bytes) const {
    std::ofstream(path("x.npy"), std::ios::binary) << bytes;
    return path("x.npy");
  }
  static std::string read(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
  }
  // Loading these bytes fails with "'PATH' cannot be read as .npy: " and this reason.
  void expect_refused(const std::string& bytes, const std::string& reason) const {
    const std::string file = write(bytes);
    expect_error<FormatError>([&] { load_npy(file, cpu); },
                              "'" + file + "' cannot be read as .npy: " + reason);
  }

  std::string folder_;
};

std::string file_bytes(const std::string& dictionary, const std::string& data, int version = 1) {
  std::string out = "\x93NUMPY";
  out += static_cast<char>(version);
  out += '\0';
  const std::size_t length = dictionary.size() + 1;
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    out += static_cast<char>(length >> (8 * i) & 0xff);
  return out + dictionary + "\n" + data;
}

std::string header(const std::string& descr, const std::string& shape,
                   const std::string& order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
}

TEST_F(Npy, ReadsEveryVersion) {
  const std::string data("\1\0\2\0\3\0", 6);
  for (const int version : {1, 2, 3}) {
    const Tensor t = load_npy(write(file_bytes(header("<i2", "(3,)"), data, version)), cpu);
    EXPECT_EQ(t.dtype(), DType::Int16);
    EXPECT_EQ(t.to_vector<std::int16_t>(), (std::vector<std::int16_t>{1, 2, 3}));
  }
}

TEST_F(Npy, WritesWhatNumpyWrites) {
  save_npy(path("x.npy"), tensor(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3}, cpu));
  const std::string bytes = read(path("x.npy"));
  const std::string text = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  ASSERT_EQ(bytes.size(), 128u + 24u);
  EXPECT_EQ(bytes.substr(0, 10), std::string("\x93NUMPY\1\0\x76\0", 10));
  EXPECT_EQ(bytes.substr(10, 118), text + std::string(117 - text.size(), ' ') + "\n");
  const float last = 6;
  EXPECT_EQ(bytes.substr(148), std::string(reinterpret_cast<const char*>(&last), 4));
  save_npy(path("x.npy"), zeros({}, {DType::Bool, cpu}));
  EXPECT_NE(read(path("x.npy")).find("{'descr': '|b1', 'fortran_order': False, 'shape': (), }"),
            std::string::npos);
  save_npy(path("x.npy"), zeros({7}, {DType::UInt8, cpu}));
  EXPECT_NE(read(path("x.npy")).find("{'descr': '|u1', 'fortran_order': False, 'shape': (7,), }"),
            std::string::npos);
}

TEST_F(Npy, EveryDtypeAndShapeComesBack) {
  for (int d = 0; d < dtype_count; ++d) {
    const auto dtype = static_cast<DType>(d);
    if (dtype == DType::BFloat16 || dtype == DType::Float8E4M3 || dtype == DType::Float8E5M2)
      continue;
    for (const Shape& shape :
         {Shape{}, Shape{0}, Shape{1}, Shape{3, 0, 2}, Shape{5, 7}, Shape{101, 3, 33}}) {
      const Tensor t = rand(shape, RandomOptions(DType::Float32, cpu).with_seed(1)).to(dtype);
      save_npy(path("x.npy"), t);
      const Tensor back = load_npy(path("x.npy"), cpu);
      EXPECT_EQ(back.dtype(), dtype);
      ASSERT_EQ(back.shape(), shape);
      EXPECT_EQ(max_abs_error(back, t), 0);
    }
  }
}

TEST_F(Npy, StridedTensorsAreWrittenInOrder) {
  const Tensor t = arange(12, {DType::Int32, cpu}).view({3, 4});
  save_npy(path("x.npy"), t.t().slice(0, -1, -9, -2));
  EXPECT_EQ(load_npy(path("x.npy"), cpu).to_vector<int>(), (std::vector<int>{3, 7, 11, 1, 5, 9}));
}

TEST_F(Npy, ReadsFortranOrder) {
  const std::string data("\1\2\3\4\5\6", 6);
  const Tensor t = load_npy(write(file_bytes(header("|u1", "(2, 3)", "True"), data)), cpu);
  EXPECT_EQ(t.shape(), (Shape{2, 3}));
  EXPECT_EQ(t.strides(), (Shape{1, 2}));
  EXPECT_EQ(t.to_vector<std::uint8_t>(), (std::vector<std::uint8_t>{1, 3, 5, 2, 4, 6}));
}

TEST_F(Npy, ReadsOtherSpellings) {
  const std::string data("\1\0\0\0", 4);
  for (const char* dictionary : {
           "{\"shape\": (1,), \"fortran_order\": False, \"descr\": \"<i4\"}",
           "{'descr':'=i4','fortran_order':False,'shape':(1L,)}",
           "  { 'descr' : 'i4' ,\n 'fortran_order' : False , 'shape' : ( 1 , ) , }   ",
           "{'descr': '<i4', 'fortran_order': True, 'shape': (1, 1, 1)}",
       })
    EXPECT_EQ(load_npy(write(file_bytes(dictionary, data)), cpu).item<int>(), 1) << dictionary;
  EXPECT_EQ(load_npy(write(file_bytes(header(">i1", "(4,)"), data)), cpu).numel(), 4);
  EXPECT_EQ(load_npy(write(file_bytes(header("|b1", "(4,)"), std::string("\0\2\1\xff", 4))), cpu)
                .to_vector<bool>(),
            (std::vector<bool>{false, true, true, true}));
}

TEST_F(Npy, RefusesWhatItCannotHold) {
  const std::string data(64, '\0');
  expect_refused(
      file_bytes(header(">f4", "(16,)"), data),
      "it is big-endian ('>f4'): save it again with x.astype(x.dtype.newbyteorder('<'))");
  expect_refused(file_bytes(header("|O", "(8,)"), data),
                 "it holds Python objects: save an array of numbers");
  expect_refused(file_bytes(header("<c8", "(8,)"), data),
                 "it has the dtype '<c8': save it as float16/32/64, int8..64, uint8..64 or bool");
  expect_refused(file_bytes(header("<U4", "(4,)"), data),
                 "it has the dtype '<U4': save it as float16/32/64, int8..64, uint8..64 or bool");
  expect_refused(
      file_bytes("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (16,)}", data),
      "it holds records: save one field at a time");
  for (const DType dtype : {DType::BFloat16, DType::Float8E4M3, DType::Float8E5M2})
    expect_error<ArgumentError>(
        [&] {
          save_npy(path("y.npy"), zeros({2}, {dtype, cpu}));
        },
        "a .npy file cannot hold " + std::string(name_of(dtype)) +
            " elements: convert the tensor to float32 first");
  EXPECT_FALSE(fs::exists(path("y.npy")));
}

TEST_F(Npy, RefusesLiesAboutSizes) {
  const std::string data(16, '\0');
  expect_refused(file_bytes(header("<f4", "(5,)"), data),
                 "its header claims 20 bytes of data (shape [5], float32), but it has 16");
  expect_refused(file_bytes(header("<f4", "(3,)"), data),
                 "its header claims 12 bytes of data (shape [3], float32), but it has 16");
  expect_refused(file_bytes(header("<f8", "(1099511627776, 1024)"), data),
                 "its header claims 9007199254740992 bytes of data (shape [1099511627776, 1024], "
                 "float64), but it has 16");
  expect_refused(file_bytes(header("<f4", "(4611686018427387904, 4)"), data),
                 "shape [4611686018427387904, 4] is too large: its bytes do not fit 64 bits");
  expect_refused(file_bytes(header("<f4", "(0, 4611686018427387904, 4)"), ""),
                 "shape [0, 4611686018427387904, 4] is too large: its bytes do not fit 64 bits");
  expect_refused(file_bytes(header("<f4", "(99999999999999999999,)"), data),
                 "a size of its shape does not fit 64 bits");
  expect_refused(std::string("\x93NUMPY\2\0\xff\xff\xff\xff", 12) + "{}",
                 "its header claims 4294967295 bytes where 2 are left");
}

TEST_F(Npy, RefusesDamagedHeaders) {
  const std::string data(16, '\0');
  expect_refused("", "it is too short to have a header");
  expect_refused("PK\3\4 and so on", "it does not begin with the mark of .npy files");
  expect_refused(std::string("\x93NUMPY\2\0\1\0", 10), "it is too short to have a header");
  expect_refused(file_bytes(header("<f4", "(4,)"), data, 7),
                 "it has version 7.0; versions 1.0, 2.0 and 3.0 are known");
  expect_refused(file_bytes("nothing", data), "its header has no '{' at character 0");
  expect_refused(file_bytes("{'descr': '<f4', 'shape': (4,)}", data),
                 "its header lacks 'descr', 'fortran_order' or 'shape'");
  expect_refused(
      file_bytes("{'descr': '<f4', 'fortran_order': False, 'shape': (4,), 'shape': (4,)}", data),
      "its header has an unknown or repeated key 'shape'");
  expect_refused(file_bytes("{'descr': '<f4', 'evil\x01': False}", data),
                 "its header has an unknown or repeated key 'evil?'");
  expect_refused(file_bytes("{'descr': '<f4", data), "a string in its header does not end");
  expect_refused(file_bytes(header("<f4", "(-4,)"), data),
                 "its shape has something that is not a size of 0 or more");
  expect_refused(file_bytes(header("<f4", "(4)"), data), "its shape is a number, not a tuple");
  expect_refused(file_bytes(header("<f4", "(2 2)"), data),
                 "the sizes of its shape are not separated by commas");
  expect_refused(file_bytes(header("<f4", "4"), data), "its header has no '(' at character 50");
  expect_refused(file_bytes(header("", "(4,)"), data), "its dtype is empty");
  expect_refused(file_bytes(header("<f4", "(4,)", "Maybe"), data),
                 "its 'fortran_order' is neither True nor False");
  expect_refused(file_bytes(header("<f4", "(4,)") + " import os", data),
                 "something follows the dictionary of its header");
}

TEST_F(Npy, OperatingSystemErrorsNameTheFile) {
  expect_error<EnvironmentError>(
      [&] { load_npy(path("absent.npy"), cpu); },
      "cannot open '" + path("absent.npy") + "': No such file or directory");
  expect_error<FormatError>([&] { load_npy(folder_, cpu); },
                            "'" + folder_ + "' cannot be read as .npy: it is not a regular file");
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  expect_error<FormatError>(
      [&] { load_npy(path("pipe"), cpu); },
      "'" + path("pipe") + "' cannot be read as .npy: it is not a regular file");
  expect_error<EnvironmentError>(
      [&] { save_npy(path("no/x.npy"), zeros({2}, cpu)); },
      "cannot write '" + path("no/x.npy") + "': No such file or directory");
  expect_error<EnvironmentError>([&] { save_npy(path("pipe"), zeros({2}, cpu)); },
                                 "cannot write '" + path("pipe") + "': it is not a regular file");
}

TEST_F(Npy, LeavesOneFileBehind) {
  save_npy(path("x.npy"), zeros({3}, cpu));
  save_npy(path("x.npy"), ones({4}, cpu));
  EXPECT_THROW(save_npy(path("x.npy"), zeros({3}, {DType::BFloat16, cpu})), ArgumentError);
  EXPECT_EQ(load_npy(path("x.npy"), cpu).numel(), 4);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

// Whatever the bytes, loading gives a tensor or a FormatError, and no more memory than the file has
// bytes.
TEST_F(Npy, DamagedBytesNeverCrash) {
  std::mt19937 random(99);
  const std::string original = file_bytes(header("<f4", "(2, 3)"), std::string(24, 'x'));
  const std::string letters = "0123456789()[]{},:'\"<>|fiubTrueFals \n";
  const int memory =
      ::memfd_create("damaged.npy", MFD_CLOEXEC);  // thousands of files on a disk are slow
  ASSERT_GE(memory, 0);
  const std::string file = "/proc/self/fd/" + std::to_string(memory);
  int loaded = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = original;
    for (unsigned i = 0; i < 1 + random() % 4; ++i) {
      const std::size_t at = random() % bytes.size();
      switch (random() % 5) {
        case 0:
          bytes[at] = static_cast<char>(random());
          break;
        case 1:
          bytes[at] = letters[random() % letters.size()];
          break;
        case 2:
          bytes.erase(at, 1 + random() % 5);
          break;
        case 3:
          bytes.insert(at, 1, letters[random() % letters.size()]);
          break;
        default:
          bytes.resize(at + 1);
          break;
      }
      if (bytes.empty()) break;
    }
    ASSERT_EQ(::ftruncate(memory, 0), 0);
    ASSERT_EQ(::pwrite(memory, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    try {
      EXPECT_LE(load_npy(file, cpu).nbytes(), bytes.size());
      ++loaded;
    } catch (const FormatError&) {
    }
  }
  ::close(memory);
  EXPECT_GT(loaded, 0);  // some damage falls into the data
}

}  // namespace
}  // namespace tilewright
