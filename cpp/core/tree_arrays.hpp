// The arrays of trees. They stand in one list, which the store, pickles, bindings and the growers
// of blocks go through: an array more per node is a member of NodeArrays and its line in
// each_of_nodes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace edgewise {

// Children stand side by side: right = left + 1. A leaf has feature -1 and, in `left`, its number.
template <template <class> class Array>
struct NodeArrays {
  Array<std::int32_t> feature;
  Array<std::int32_t> left;
  Array<double> threshold;  // left if x <= threshold; NaN: left if x is in the node's set
  Array<std::uint8_t> missing_left;
  Array<double> gain;
  Array<double> cover;  // share of the training rows' weight; see cover.hpp
};

// Only the classes that a leaf moves are stored: `width` of them.
template <template <class> class Array>
struct ValueArrays {
  Array<std::int32_t> classes;
  Array<double> values;  // shrinkage included
};

// Trees one after the other.
template <template <class> class Array>
struct TreesArrays : NodeArrays<Array>, ValueArrays<Array> {
  Array<std::int64_t> node_start;   // (n_trees + 1)
  Array<std::int64_t> value_start;  // (n_trees + 1): first entry of classes and values
  Array<std::int32_t> width;        // (n_trees): classes moved by each leaf
  Array<std::int64_t> set_start;    // (n_sets + 1): of the nodes of threshold NaN, in their order
  Array<double> set_values;         // categories that go left, ascending in every set
};

template <class T>
using Vector = std::vector<T>;
template <class T>
using View = std::span<const T>;

// Calls visit(name, array) for every array; array(of) is that of a tree, a store, a forest ...
template <class Visit>
void each_of_nodes(Visit visit) {
  visit("feature", [](auto& of) -> auto& { return of.feature; });
  visit("left", [](auto& of) -> auto& { return of.left; });
  visit("threshold", [](auto& of) -> auto& { return of.threshold; });
  visit("missing_left", [](auto& of) -> auto& { return of.missing_left; });
  visit("gain", [](auto& of) -> auto& { return of.gain; });
  visit("cover", [](auto& of) -> auto& { return of.cover; });
}

template <class Visit>
void each_of_values(Visit visit) {
  visit("classes", [](auto& of) -> auto& { return of.classes; });
  visit("values", [](auto& of) -> auto& { return of.values; });
}

template <class Visit>
void each_of_trees(Visit visit) {
  visit("node_start", [](auto& of) -> auto& { return of.node_start; });
  visit("value_start", [](auto& of) -> auto& { return of.value_start; });
  visit("width", [](auto& of) -> auto& { return of.width; });
  each_of_nodes(visit);
  each_of_values(visit);
  visit("set_start", [](auto& of) -> auto& { return of.set_start; });
  visit("set_values", [](auto& of) -> auto& { return of.set_values; });
}

}  // namespace edgewise
