// SPDX-License-Identifier: Apache-2.0
// codegen/lower/final_builder.h — makes a kernel of stage Final: a value that has no name yet is an
// op that stands nowhere; it is put into a list of statements with the op that uses it, again for
// each use.
//
// A builder owns nothing: several of them work on the same kernel, each with its own kind of ops.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "codegen/text/names.h"
#include "ir/kernel.h"
#include "machine/library.h"

namespace tilewright {

using Statements = std::vector<ir::Op*>;

// An index and what it counts.
struct IndexTerm {
  ir::Value index;
  std::int64_t factor = 1;
  ir::Value stride = {};  // instead of the factor
};

// A kernel of stage Final while it is made of a Laid one.
struct FinalProgram {
  ir::Kernel out = {};
  Names names = {};
  std::unordered_set<const ir::Op*> inserted = {};
  std::unordered_set<const ir::Op*> written_at_uses =
      {};                      // scalars without a line: no single use may name them
  Statements* list = nullptr;  // where statements are put now
  std::unordered_map<std::uint32_t, ir::Value> scalars = {};  // by value of the Laid kernel
};

class FinalBuilder {
 protected:
  explicit FinalBuilder(FinalProgram& program)
      : out_(program.out),
        names_(program.names),
        list_(program.list),
        scalars_(program.scalars),
        inserted_(program.inserted),
        written_at_uses_(program.written_at_uses) {}

  ir::Value make(ir::OpKind kind, std::vector<ir::Value> operands, const ir::Type& type,
                 std::vector<ir::Attribute> attributes = {}, ir::Location location = {});
  ir::Op* statement(ir::OpKind kind, std::vector<ir::Value> operands, Statements& list,
                    std::vector<ir::Attribute> attributes = {}, ir::Location location = {});
  void insert(ir::Op* op, Statements& list);
  // What the body puts goes into the list, or the region.
  void put_into(Statements& list, const std::function<void()>& body);
  void region(ir::Region& region, const std::function<void()>& body) { put_into(region.ops, body); }
  ir::Value named(ir::Value value, const std::string& name, Statements& list);
  // Of a scalar of the Laid kernel.
  void write_at_uses(ir::Value value, ir::Value made);
  ir::Value constant_of(const ir::Type& type, const ir::AttributeValue& value);
  ir::Value number(std::int64_t value, DType dtype = DType::Int32);
  ir::Value cast(ir::Value value, DType dtype);
  ir::Value call(LibraryKind function, std::vector<ir::Value> operands, const ir::Type& type);
  // A call that gives nothing.
  ir::Op* call(LibraryKind function, std::vector<ir::Value> operands, Statements& list,
               const std::vector<std::int64_t>& numbers = {}, ir::Location location = {});
  ir::Value compare(const char* is, ir::Value a, ir::Value b);
  ir::Value all(const std::vector<ir::Value>& conditions);
  ir::Value zero_of(const ir::Type& type);
  // An `if` whose regions give nothing; each body fills the list that it is given.
  using FillList = std::function<void(Statements&)>;
  void choose(ir::Value condition, Statements& list, const FillList& body,
              const FillList& otherwise = {});
  std::optional<std::int64_t> number_of(ir::Value value) const;  // of a value of the result
  bool is_zero(ir::Value value) const { return number_of(value) == 0; }
  ir::Value sum(const std::vector<IndexTerm>& terms, DType dtype = DType::Int64);
  const ir::Type& type_of(ir::Value value) const { return out_.type(value); }

  ir::Kernel& out_;
  Names& names_;
  Statements*& list_;
  std::unordered_map<std::uint32_t, ir::Value>& scalars_;
  std::unordered_set<const ir::Op*>& inserted_;
  std::unordered_set<const ir::Op*>& written_at_uses_;
};

}  // namespace tilewright
