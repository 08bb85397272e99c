// SPDX-License-Identifier: Apache-2.0
// fuzz/kernels/reloads.cpp — a tile that is stored, loaded again and read through a view, or stored
// through one: the thread that reads an element is not the one that has written it, although both
// accesses have the same pointers and the same layout.
#include <fmt/format.h>

#include "statement_parts.h"

namespace tilewright::fuzz {
namespace {

struct View {
  std::string text;  // with {} for what is seen
  Form form;         // of what it gives
};

// The halves of rows or columns exchanged by a permute of three axes.
std::string permuted(const Draft& draft, bool by_rows) {
  const std::string parts = by_rows ? fmt::format("[{}, 2, {}]", draft.rows / 2, draft.columns)
                                    : fmt::format("[{}, 2, {}]", draft.rows, draft.columns / 2);
  return fmt::format("tl.reshape(tl.permute(tl.reshape({{}}, {}), [1, 0, 2]), {})", parts,
                     shape_text(draft, Form::Matrix));
}

View view_of_matrix(Draft& draft) {
  const std::string matrix = shape_text(draft, Form::Matrix);
  std::vector<View> views = {
      {fmt::format("tl.reshape(tl.trans({{}}), {})", matrix), Form::Matrix},
      {fmt::format("tl.reshape({{}}, {})", shape_text(draft, Form::Flat)), Form::Flat},
      {permuted(draft, true), Form::Matrix},
      {permuted(draft, false), Form::Matrix},
  };
  if (draft.rows == draft.columns) views.insert(views.end(), 4, {"tl.trans({})", Form::Matrix});
  return draft.any(views);
}

View view(Draft& draft, Form form) {
  const std::string matrix = shape_text(draft, Form::Matrix);
  const std::string turned = fmt::format("[{}, {}]", draft.columns, draft.rows);
  if (form == Form::Matrix) return view_of_matrix(draft);
  if (form == Form::Rows)
    return {fmt::format("tl.broadcast_to(({{}})[:, None], {})", matrix), Form::Matrix};
  if (form == Form::Columns)
    return {fmt::format("tl.broadcast_to(({{}})[None, :], {})", matrix), Form::Matrix};
  if (draft.chance(40)) return {fmt::format("tl.reshape({{}}, {})", matrix), Form::Matrix};
  if (draft.chance(50))
    return {fmt::format("tl.trans(tl.reshape({{}}, {}))", turned), Form::Matrix};
  return {fmt::format("tl.reshape(tl.trans(tl.reshape({{}}, {})), [{}])", matrix, draft.size),
          Form::Flat};
}

std::string seen(const View& view, const std::string& text) {
  return fmt::format(fmt::runtime(view.text), text);
}

// The place of the store, another one of the same memory, or another view of that place.
std::string loaded_again(Draft& draft, const PointerVariable& pointer, Form form,
                         const std::string& place) {
  if (draft.chance(65)) return fmt::format("tl.load({})", place);
  return fmt::format("tl.load({} + {})", pointer.name, index(draft, form, false));
}

// Into a result, into memory that is read too, or to be used by what comes.
void use(Draft& draft, Block& block, const View& view, const Expression& value) {
  switch (draft.pick(3)) {
    case 0:
      return store_result(draft, block, view.form, value);
    case 1:
      block.push_back({{fmt::format(
          "tl.store({}, {})", access(draft, view.form, value.dtype, true).pointers, value.text)}});
      return;
    default:
      break;
  }
  const std::string name = draft.fresh("x");
  block.push_back({{name + " = " + value.text}});
  draft.scope.tiles.push_back({name, value.dtype, view.form});
}

}  // namespace

void add_reload(Draft& draft, Block& block) {
  constexpr Form forms[] = {Form::Matrix, Form::Matrix, Form::Matrix, Form::Flat,
                            Form::Flat,   Form::Rows,   Form::Columns};
  const Form form = forms[draft.pick(7)];
  const DType dtype = draft.any(draft.dtypes);
  const PointerVariable pointer = any_pointer(draft, dtype);
  const std::string place = draft.fresh("q");
  block.push_back({{fmt::format("{} = {} + {}", place, pointer.name, index(draft, form, true))}});
  const View first = view(draft, form);
  const Expression stored = operand(draft, form, dtype);
  const bool is_stored_seen = first.form == form && draft.chance(25);
  const std::string masked = mask(draft, form);
  block.push_back({{fmt::format("tl.store({}, {}{})", place,
                                is_stored_seen ? seen(first, stored.text) : stored.text,
                                masked.empty() ? "" : ", mask=" + masked)}});
  if (draft.chance(20)) add_statements(draft, block, 1);
  const View second = view(draft, form);
  const std::string again = loaded_again(draft, pointer, form, place);
  use(draft, block, second, {seen(second, again), dtype, stored.bound});
  if (draft.chance(30))  // also by the thread that has stored it
    use(draft, block, {"{}", form}, {fmt::format("tl.load({})", place), dtype, stored.bound});
}

}  // namespace tilewright::fuzz
