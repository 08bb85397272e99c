// SPDX-License-Identifier: Apache-2.0
// fuzz/kernels/draft.h — a kernel while it is generated: its sizes, what the statements so far have
// defined, and the dice.
//
// Every generated kernel has one meaning: tiles of integers wrap, floats are integers small enough
// that every sum is exact, no store writes an address twice, no access leaves its argument.
#pragma once

#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "kinds.h"
#include "program.h"

namespace tilewright::fuzz {

enum class Form : std::uint8_t { Flat, Matrix, Rows, Columns };  // [n], [r, c], [r], [c]

struct Expression {
  std::string text;
  DType dtype = DType::Int32;
  int bound = 0;  // of floats: how large the element is at most
};

struct TileVariable {
  std::string name;
  DType dtype = DType::Int32;
  Form form = Form::Flat;
};

// A scalar pointer with room for `room` elements behind it.
struct PointerVariable {
  std::string name;
  DType dtype = DType::Int32;
  int room = 0;
  int memory = -1;  // that of an argument; of a variable it is unknown
  int reserve = 0;  // more elements, by which loops inside of loops may advance it
};

// A tile of pointers, all different.
struct PointerTile {
  std::string name;
  DType dtype = DType::Int32;
};

struct LoopCounter {
  std::string name;
  int last = 0;  // its largest value
};

struct Scope {
  std::vector<TileVariable> tiles;
  std::vector<std::string> scalars;  // int32, may be assigned
  std::vector<LoopCounter> counters;
  std::vector<PointerVariable> pointers;
  std::vector<PointerTile> pointer_tiles;
  int depth = 0;           // of compound statements around
  int rounds = 1;          // how often this place runs at most
  bool exchanges = false;  // a loop around exchanges pointers
};

struct Draft {
  std::mt19937 random;
  Kinds kinds;
  int size = 0;               // elements of a flat tile
  int rows = 0;               // of a matrix
  int columns = 0;            // rows * columns == size
  int room = 0;               // elements behind every pointer argument
  std::vector<DType> dtypes;  // of tiles and memory; int32 is one of them
  Scope scope;
  Program program;
  int slots = 0;  // of `size` elements in the memory that results are stored to
  int names = 0;
  bool is_elementwise = false;  // nothing that needs other elements, or a loop

  int pick(int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); }
  bool chance(int percent) { return pick(100) < percent; }
  bool has(Kind kind) const { return kinds.has(kind); }
  template <class T>
  const T& any(const std::vector<T>& items) {
    return items[static_cast<std::size_t>(pick(static_cast<int>(items.size())))];
  }
  std::string one_of(std::initializer_list<std::string> items) {
    return items.begin()[pick(static_cast<int>(items.size()))];
  }
  std::string fresh(const std::string& stem) { return stem + std::to_string(names++); }
  int rows_or_columns(Form form) const { return form == Form::Rows ? rows : columns; }
};

// ---- Values (values.cpp).

std::string type_text(DType dtype);  // "tl.int32"
std::string shape_text(const Draft& draft, Form form);
Expression convert(const Expression& from, DType to);
// A tile that is there already, or is cheap to make.
Expression operand(Draft& draft, Form form, DType dtype);
// One operation over operands.
Expression operation(Draft& draft, Form form, DType dtype);
std::string scalar(Draft& draft);     // an int32 that exists
std::string condition(Draft& draft);  // over scalars
std::string reduction(Draft& draft);  // of some tile, as int32

// ---- Places (places.cpp).

struct Access {
  std::string pointers;
  DType dtype = DType::Int32;
};

// Addresses of a tile; those of a store are all different.
Access access(Draft& draft, Form form, DType dtype, bool is_store);
Access scalar_access(Draft& draft, DType dtype);
std::string index(Draft& draft, Form form, bool is_store);
std::string mask(Draft& draft, Form form);  // empty: none
Expression load(Draft& draft, Form form, DType dtype);
const PointerVariable& any_pointer(Draft& draft, DType dtype);

// ---- Statements (statements.cpp).

void add_statements(Draft& draft, Block& block, int count);

}  // namespace tilewright::fuzz
