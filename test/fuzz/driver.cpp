// SPDX-License-Identifier: Apache-2.0
// test/fuzz/driver.cpp — runs a libFuzzer target without libFuzzer: seeds, and mutations of them
// that are the same each time.
//
//   NAME_fuzz [-runs=N] [-seed=S] FILE_OR_FOLDER...
//
// An input that crashes the target is in `fuzz_last_input` of the working folder: it is written
// before each run when -keep is given, since a crash leaves no time for it.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

struct Options {
  std::uint64_t runs = 10000;
  std::uint64_t seed = 1;
  bool keep = false;
  std::vector<std::string> seeds;
};

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> read_seeds(const std::string& path) {
  if (!std::filesystem::is_directory(path)) return {contents(path)};
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(path)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());  // the order of a folder differs between machines
  std::vector<std::string> seeds;
  for (const auto& file : files) seeds.push_back(contents(file));
  return seeds;
}

Options read_options(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    if (argument.starts_with("-runs=")) options.runs = std::stoull(argument.substr(6));
    else if (argument.starts_with("-seed=")) options.seed = std::stoull(argument.substr(6));
    else if (argument == "-keep") options.keep = true;
    else
      for (std::string& seed : read_seeds(argument)) options.seeds.push_back(std::move(seed));
  }
  if (options.seeds.empty()) options.seeds.emplace_back();
  return options;
}

class Mutator {
 public:
  Mutator(const std::vector<std::string>& seeds, std::uint64_t seed)
      : seeds_(seeds), random_(seed) {}

  std::string next() {
    std::string text = seeds_[below(seeds_.size())];
    for (std::size_t count = 1 + below(6); count > 0; --count) change(text);
    return text;
  }

 private:
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }

  void change(std::string& text) {
    static constexpr const char* pieces[] = {
        "(",  ")",  "[",      "]",  "{",  "}",    "'",       "\"",   "\"\"\"", "f'{",
        "\\", "\n", "\n    ", "\t", ":",  "=",    "lambda ", " if ", "else",   "for ",
        "*",  "**", "@",      "0x", "1_", "\xff", "é",       "#"};
    const std::size_t at = below(text.size() + 1);
    const std::size_t length = below(std::min<std::size_t>(text.size() - at, 40) + 1);
    switch (below(6)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, pieces[below(std::size(pieces))]);
        break;
      case 2:
        if (at < text.size()) text[at] = static_cast<char>(random_());
        break;
      case 3:
        text.insert(below(text.size() + 1), std::string(text, at, length));
        break;
      case 4: {
        const std::string& other = seeds_[below(seeds_.size())];
        text.insert(at, other, below(other.size() + 1), below(80));
        break;
      }
      default:
        text.resize(at);
    }
  }

  const std::vector<std::string>& seeds_;
  std::mt19937_64 random_;
};

void run(const std::string& input, bool keep) {
  if (keep) std::ofstream("fuzz_last_input", std::ios::binary) << input;
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

}  // namespace

int main(int count, char** arguments) {
  const Options options = read_options(count, arguments);
  for (const std::string& seed : options.seeds) run(seed, options.keep);
  Mutator mutator(options.seeds, options.seed);
  for (std::uint64_t i = 0; i < options.runs; ++i) run(mutator.next(), options.keep);
  std::printf("%zu seeds and %llu mutations, no crash\n", options.seeds.size(),
              static_cast<unsigned long long>(options.runs));
  return 0;
}
