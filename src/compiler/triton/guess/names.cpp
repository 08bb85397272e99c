// SPDX-License-Identifier: Apache-2.0
// compiler/triton/guess/names.cpp — words in names.
#include "compiler/triton/guess/names.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <vector>

namespace tilewright {
namespace {

// "BLOCK_SIZE_M" -> block, size, m
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char c : name) {
    if (c == '_') words.emplace_back();
    else words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return words;
}

bool has_word(std::string_view name, const std::set<std::string>& wanted) {
  const auto words = words_of(name);
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return wanted.contains(word); });
}

bool holds(std::string_view name, std::initializer_list<std::string_view> parts) {
  std::string lower;
  for (const char c : name) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return lower.find(part) != std::string::npos; });
}

}  // namespace

bool looks_like_pointer_name(std::string_view name) { return holds(name, {"ptr"}); }

bool looks_like_integers(std::string_view name) {
  static const std::set<std::string> words = {
      "idx",    "index",  "indices", "ind",   "ids",    "lens",    "len",    "loc", "label",
      "labels", "lock",   "locks",   "count", "counts", "table",   "tables", "map", "slot",
      "slots",  "seqlen", "seqlens", "cu",    "target", "targets", "expt",   "hist"};
  return has_word(name, words) || holds(name, {"seqlen", "indices", "chunk_indices"});
}

bool looks_like_float(std::string_view name) {
  if (holds(name, {"stride", "num", "size", "len", "dim"})) return false;
  static const std::set<std::string> words = {
      "eps",   "epsilon", "scale",  "alpha",      "beta",        "gamma",      "p",       "dropout",
      "lr",    "rate",    "factor", "weight",     "temperature", "softcap",    "theta",   "slope",
      "value", "val",     "prob",   "decay",      "momentum",    "threshold",  "delta",   "sigma",
      "mean",  "std",     "low",    "high",       "smoothing",   "normalizer", "bias",    "margin",
      "base",  "lambda",  "mini",   "maxi",       "lse",         "rms",        "scaling", "from",
      "to",    "qk",      "sm",     "softcapping"};
  return has_word(name, words) || holds(name, {"scale", "eps", "softcap"});
}

bool looks_like_flag(std::string_view name) {
  static const std::set<std::string> words = {"is",      "has",    "use",    "store",   "causal",
                                              "do",      "even",   "with",   "flag",    "enable",
                                              "reverse", "output", "return", "compute", "need"};
  return has_word(name, words);
}

bool looks_like_type(std::string_view name) {
  return holds(name, {"dtype", "_type"}) && !has_word(name, {"max", "min"});
}

bool looks_like_stride(std::string_view name) {
  return holds(name, {"stride"}) || name.starts_with("s_") ||
         name.find("_s_") != std::string_view::npos;
}

bool looks_like_count(std::string_view name) {
  static const std::set<std::string> few = {
      "b",      "h",    "hq", "hv",    "z",    "heads", "head",    "group", "groups", "nheads",
      "splits", "topk", "ng", "batch", "bits", "log2",  "experts", "kv",    "layers", "stages"};
  return has_word(name, few) && !holds(name, {"dim", "size", "len"});
}

std::int64_t plausible_number(std::string_view name, std::int64_t size, std::int64_t extent) {
  static const std::set<std::string> few = {"h",    "hq",  "heads", "head",   "group",  "groups",
                                            "topk", "num", "n",     "nheads", "splits", "ng"};
  // The position of an axis: order0, stride_order1.
  if (holds(name, {"order"}) && !name.empty() && name.back() >= '0' && name.back() <= '9')
    return name.back() - '0';
  if (name == "BC") return std::min<std::int64_t>(size, 16);  // a part of a chunk of BT
  if (holds(name, {"block", "size", "tile"}) || name.starts_with("B")) return size;
  if (holds(name, {"dim"})) return extent;
  if (holds(name, {"warps"})) return 4;
  if (holds(name, {"stage", "iters", "unroll"})) return 2;
  if (has_word(name, few) && name.size() > 1) return 4;
  if (name == "H" || name == "HQ") return 4;
  return extent;
}

}  // namespace tilewright
