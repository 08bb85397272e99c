// SPDX-License-Identifier: Apache-2.0
// passes/insert_barriers.cpp — one barrier after the other, until no pair is left.
#include "passes/insert_barriers.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "base/check.h"
#include "ir/analysis/meetings.h"
#include "ir/behind.h"

namespace tilewright {

using ir::Op;
using ir::Region;

namespace {

// Where an op stands.
struct Place {
  Region* region = nullptr;
  Op* owner = nullptr;  // of the region; null: it is the kernel's
};
using Places = std::unordered_map<const Op*, Place>;

void find_places(Region& region, Op* owner, Places& out) {
  for (Op* op : region.ops) {
    out[op] = {&region, owner};
    for (Region& inner : op->regions) find_places(inner, op, out);
  }
}

// From the op outwards.
std::vector<const Op*> chain_of(const Places& places, const Op* op) {
  std::vector<const Op*> out;
  for (; op != nullptr; op = places.at(op).owner) out.push_back(op);
  return out;
}

struct Spot {
  const Op* op = nullptr;
  std::size_t depth = 0;
};

// Whether a value is computed from the thread's number.
bool is_of_thread(const ir::Kernel& kernel, ir::Value value) {
  return ir::any_behind(kernel, value, [&](ir::Value behind) {
    const Op* maker = kernel.maker(behind);
    return maker && maker->kind == ir::OpKind::Thread ? ir::Ask::Found : ir::Ask::Further;
  });
}

// Threads meet neither for each element nor where only some of them come.
bool must_be_outside(const ir::Kernel& kernel, const Op& op) {
  if (op.kind == ir::OpKind::For) return op.text("over") != "rounds";
  return op.kind == ir::OpKind::If && is_of_thread(kernel, op.operands[0]);
}

// Others ask no more than how something is done that is done in any case.
bool is_of_user(const ir::Kernel& kernel, const Op& op) {
  return op.kind == ir::OpKind::If && (op.location.line != 0 || ir::parts_roles(kernel, op));
}

// The largest op that holds the access and not what it must come after; but a branch of the user's
// keeps its barrier inside.
Spot spot_of(const ir::Kernel& kernel, const Places& places, const ir::Unordered& pair) {
  const std::vector<const Op*> inside = chain_of(places, pair.op);
  const std::vector<const Op*> before = chain_of(places, pair.before);
  std::size_t best = 0;
  bool is_in_branch = false;
  for (std::size_t k = 1; k < inside.size(); ++k) {
    if (std::find(before.begin(), before.end(), inside[k]) != before.end()) break;
    const bool must = must_be_outside(kernel, *inside[k]);
    is_in_branch = !must && (is_in_branch || is_of_user(kernel, *inside[k]));
    if (!is_in_branch) best = k;
  }
  return {inside[best], inside.size() - best};
}

// Whether threads hold the sums of a product.
bool has_sums(const ir::Kernel& kernel) {
  bool found = false;
  ir::walk(kernel.body, [&](const Op& op) {
    found |= op.kind == ir::OpKind::For && op.text("over") == "depth";
  });
  return found;
}

// Whether an op only loads from memory into the thread's arrays, all of a sweep before the first is
// used.
bool is_loading(const ir::Kernel& kernel, const Op& op) {
  if (op.facts().has(ir::Pure) || op.kind == ir::OpKind::Array || op.facts().is(ir::Family::Ends))
    return true;
  if (op.kind == ir::OpKind::LoadTo) return !kernel.type(op.operands[1]).is_array();
  if (op.kind == ir::OpKind::Load) return true;
  if (op.kind == ir::OpKind::Write)
    return kernel.type(op.operands[0]).space != ir::Space::Shared &&
           kernel.maker(op.operands[2]) != nullptr &&
           kernel.maker(op.operands[2])->kind == ir::OpKind::Load;
  if (op.kind != ir::OpKind::For || op.text("over") != "vectors") return false;
  return std::all_of(op.regions[0].ops.begin(), op.regions[0].ops.end(),
                     [&](const Op* inner) { return is_loading(kernel, *inner); });
}

// Before the expressions too that are written where the op uses them.
std::vector<Op*>::iterator begin_of(const ir::Kernel& kernel, Region& region,
                                    std::vector<Op*>::iterator at) {
  const auto is_part = [&](const Op* other) {
    return other->results.size() == 1 && kernel.name_of(other->result()).empty() &&
           !other->facts().has(ir::Nested) && !other->facts().is_atomic();
  };
  while (at != region.ops.begin() && is_part(*(at - 1))) --at;
  return at;
}

bool has_group_products(const ir::Kernel& kernel) {
  bool found = false;
  ir::walk(kernel.body, [&](const Op& op) {
    const LibraryFunction* function = ir::called_function(op);
    found |= function && function->kind == LibraryKind::StartProduct;
  });
  return found;
}

// Copies that may be under way where their place is touched, or where the program ends, are all
// waited for there, and shown to products. (Loops that copy ahead wait by themselves, and start no
// copy for a round that does not come.)
void wait_for_copies(ir::Kernel& kernel, const Places& places,
                     const std::vector<ir::Unordered>& pairs) {
  const auto found =
      std::find_if(pairs.begin(), pairs.end(), [](auto& pair) { return pair.is_under_way; });
  Region* region = &kernel.body;
  auto at = region->ops.end();
  if (found->op) {
    const Op* spot = spot_of(kernel, places, *found).op;
    region = places.at(spot).region;
    at = begin_of(kernel, *region, std::find(region->ops.begin(), region->ops.end(), spot));
  } else if (at != region->ops.begin() && (*(at - 1))->facts().is(ir::Family::Ends)) {
    --at;
  }
  Op* wait = kernel.make_op(ir::OpKind::WaitCopies, {}, {}, found->before->location);
  wait->set("pending", std::int64_t{0});
  if (has_group_products(kernel)) {
    Op* show = kernel.make_op(ir::OpKind::Call, {}, {}, found->before->location);
    show->set("function", std::string(name_of(LibraryKind::ShowToProducts)));
    at = region->ops.insert(at, show);
  }
  at = region->ops.insert(at, wait);
  region->ops.insert(at, kernel.make_op(ir::OpKind::CommitCopies, {}, {}, found->before->location));
}

// Whether a product of warpgroups begins with the op.
bool begins_product(const Op& op) {
  const LibraryFunction* function = ir::called_function(op);
  return function &&
         (function->kind == LibraryKind::BeginProducts || function->kind == LibraryKind::Describe);
}

// Whether an op stands where threads with roles consume.
bool is_of_consumers(const ir::Kernel& kernel, const Places& places, const Op* op) {
  const std::vector<const Op*> chain = chain_of(places, op);
  return std::any_of(chain.begin() + 1, chain.end(),
                     [&](const Op* around) { return ir::parts_roles(kernel, *around); });
}

// Beside the sums of a product what was loaded has no registers to wait in: the threads meet before
// they load it (a grouped product of 64 x 64 x 64 spills otherwise).
void put_before(ir::Kernel& kernel, const Places& places, const Op* op, bool is_of_warps) {
  Region& region = *places.at(op).region;
  auto at = std::find(region.ops.begin(), region.ops.end(), op);
  if (op->kind == ir::OpKind::For && op->text("over") == "vectors" && has_sums(kernel))
    for (auto before = at; before != region.ops.begin() && is_loading(kernel, **(before - 1));)
      if (!(*--before)->facts().has(ir::Pure)) at = before;
  at = begin_of(kernel, region, at);
  while (at != region.ops.begin() && begins_product(**(at - 1)))
    at = begin_of(kernel, region, at - 1);
  Op* barrier = kernel.make_op(ir::OpKind::Barrier, {}, {}, op->location);
  if (is_of_warps) barrier->set("of", std::string("warp"));
  else if (is_of_consumers(kernel, places, op)) barrier->set("of", std::string("consumers"));
  region.ops.insert(at, barrier);
}

// Where nothing was done since the last one.
void remove_doubles(Region& region) {
  bool is_at_barrier = false;
  std::erase_if(region.ops, [&](Op* op) {
    for (Region& inner : op->regions) remove_doubles(inner);
    const bool is_barrier = op->kind == ir::OpKind::Barrier && op->text("of") != "warp";
    const bool is_double = is_barrier && is_at_barrier;
    const bool does_nothing =
        op->facts().has(ir::Pure) || op->kind == ir::OpKind::Array || op->kind == ir::OpKind::Group;
    is_at_barrier = is_barrier || (is_at_barrier && does_nothing);
    return is_double;
  });
}

}  // namespace

void insert_barriers(ir::Kernel& kernel, const Target&) {
  auto find = ir::shared_finder(kernel);
  Places places;  // of all but barriers, which move nothing
  while (true) {
    const auto [pairs, unshown] = find();
    if (pairs.empty()) {
      TW_CHECK(unshown.empty(), "a product of kernel '{}' reads what it was not shown",
               kernel.name);
      return remove_doubles(kernel.body);
    }
    if (places.empty()) find_places(kernel.body, nullptr, places);
    Spot deepest;
    if (std::any_of(pairs.begin(), pairs.end(), [](auto& pair) { return pair.is_under_way; })) {
      wait_for_copies(kernel, places, pairs);
      find = ir::shared_finder(kernel);
      places.clear();
      continue;
    }
    bool is_of_warps = true;
    for (const ir::Unordered& pair : pairs) {
      const Spot spot = spot_of(kernel, places, pair);
      if (spot.op == deepest.op) is_of_warps &= pair.is_of_warps;
      if (spot.depth <= deepest.depth) continue;
      deepest = spot;
      is_of_warps = pair.is_of_warps;
    }
    put_before(kernel, places, deepest.op, is_of_warps);
  }
}

}  // namespace tilewright
