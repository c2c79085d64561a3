// The arrays of trees between Python and the core.
#pragma once

#include "bindings.hpp"
#include "core/forest.hpp"

namespace edgewise::bindings {

// A forest's arrays, shared with Python.
struct HeldForest : TreesArrays<In> {
  explicit HeldForest(const nb::dict& arrays) {
    const auto hold = [&]<class T>(const char* name, In<T>& held) {
      held = nb::cast<In<T>>(arrays[name]);
    };
    each_of_trees([&](const char* name, auto array) { hold(name, array(*this)); });
  }

  ForestArrays arrays() const {
    ForestArrays views;
    each_of_trees([&](const char*, auto array) { array(views) = view(array(*this)); });
    return views;
  }
};

}  // namespace edgewise::bindings
