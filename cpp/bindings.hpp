// What the binding files share: types of arguments, arrays out, threads that answer Ctrl-C.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/array.hpp"
#include "core/binning.hpp"
#include "core/checks.hpp"
#include "core/class_trees.hpp"
#include "core/matrix.hpp"
#include "core/posterior.hpp"
#include "core/threads.hpp"
#include "gil.hpp"

namespace nb = nanobind;

namespace edgewise::bindings {

using AnyMatrix = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;
template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using InScores = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using InOutScores = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using NoGil = nb::call_guard<Unlocked>;

// Arrays that may move to lent room.
template <class Arrays>
void bind_settling(nb::module_& m) {
  using Lent = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  m.def("room_of", &Arrays::room, nb::arg("arrays"));
  m.def(
      "settle",
      [](Arrays& arrays, const Lent& room) {
        const Unlocked nogil;
        Room place(room.data(), room.size());
        arrays.settle(place);
      },
      nb::arg("arrays"), nb::arg("room"), nb::keep_alive<1, 2>());
}

inline Kind kind_of(nb::dlpack::dtype t) {
  if (t == nb::dtype<float>()) return Kind::f32;
  if (t == nb::dtype<double>()) return Kind::f64;
  if (t == nb::dtype<std::int8_t>()) return Kind::i8;
  if (t == nb::dtype<std::int16_t>()) return Kind::i16;
  if (t == nb::dtype<std::int32_t>()) return Kind::i32;
  if (t == nb::dtype<std::int64_t>()) return Kind::i64;
  if (t == nb::dtype<std::uint8_t>()) return Kind::u8;
  if (t == nb::dtype<std::uint16_t>()) return Kind::u16;
  if (t == nb::dtype<std::uint32_t>()) return Kind::u32;
  if (t == nb::dtype<std::uint64_t>()) return Kind::u64;
  throw std::invalid_argument("the matrix must hold real numbers of at most 64 bits");
}

// A matrix in CSR form, checked; it keeps its arrays alive.
struct SparseMatrix {
  nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu> data;
  In<std::int32_t> indices;
  In<std::int64_t> indptr;
  std::size_t cols;
};

using AnyTable = std::variant<AnyMatrix, SparseMatrix*>;

inline Matrix matrix(const AnyMatrix& x) {
  return {x.data(), x.shape(0), x.shape(1), x.stride(0), x.stride(1), kind_of(x.dtype())};
}

Matrix matrix(const AnyTable& x);

// Signals are handled by Python's main thread; elsewhere CheckSignals answers 0.
inline bool interrupted() {
  const Locked gil;
  return PyErr_CheckSignals() != 0;
}

inline Team team_of(int n_threads) { return Team(n_threads, interrupted); }

template <class T>
auto to_numpy(std::vector<T> values) {
  auto* owner = new std::vector<T>(std::move(values));
  nb::capsule deleter(owner, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(owner->data(), {owner->size()}, deleter);
}

template <class T>
std::span<const T> view(const In<T>& a) {
  return {a.data(), a.size()};
}

template <class T>
std::vector<T> copy(const In<T>& a) {
  return {a.data(), a.data() + a.size()};
}

using Targets = std::vector<std::pair<int, int>>;  // class, base class

inline std::vector<Target> targets_of(const Targets& pairs) {
  std::vector<Target> targets;
  for (const auto& [k, base] : pairs) targets.push_back({k, base});
  return targets;
}

inline Criterion criterion_named(const std::string& name) {
  if (name == "newton") return Criterion::newton;
  if (name == "least_squares") return Criterion::least_squares;
  throw std::invalid_argument("the criterion must be newton or least_squares, not " + name);
}

inline Layout layout_named(const std::string& name) {
  if (name == "by_row") return Layout::by_row;
  if (name == "by_class") return Layout::by_class;
  if (name == "lists") return Layout::lists;
  throw std::invalid_argument("the layout must be by_row, by_class or lists, not " + name);
}

inline std::vector<Moves> moves_of(const std::vector<Tree*>& trees, std::size_t n_rows,
                                   std::size_t n_classes) {
  std::vector<Moves> moves;
  for (const Tree* tree : trees) {
    need_moves(*tree, n_rows, n_classes);
    moves.emplace_back(*tree);
  }
  return moves;
}

inline std::vector<Moves> moves_of(const std::vector<Tree*>& trees, const Posterior& p) {
  return moves_of(trees, p.n_rows(), static_cast<std::size_t>(p.n_classes()));
}

// A record from the state of a pickle, made and checked by `make`: wrong types and lengths are
// errors with words, too.
template <class State, class Make>
auto from_state(const State& state, std::size_t size, const char* name, Make make) {
  try {
    if (state.size() == size) {
      auto made = make();
      check(made);
      return made;
    }
  } catch (const nb::cast_error&) {
  } catch (const nb::python_error&) {
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(std::string("not the state of a ") + name + ": " + error.what());
  }
  throw std::invalid_argument(std::string("not the state of a ") + name);
}

std::vector<Grouped> groups_of(const std::vector<Grouped*>& grouped, std::size_t n_rows);

void bind_data(nb::module_& m);
void bind_explain(nb::module_& m);
void bind_votes(nb::module_& m);
void bind_blocks(nb::module_& m);
void bind_growing(nb::module_& m);
void bind_lab(nb::module_& m);
void bind_planted_bugs(nb::module_& m);  // only in builds with a sanitizer

}  // namespace edgewise::bindings
