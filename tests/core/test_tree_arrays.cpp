#include <set>
#include <string>

#include "expect.hpp"
#include "types.hpp"

using namespace edgewise;

void every_array_is_visited_once() {
  TreesArrays<Vector> trees;
  std::set<std::string> names;
  std::set<const void*> places;
  each_of_trees([&](const char* name, auto array) {
    names.insert(name);
    places.insert(&array(trees));
  });
  EXPECT(names.size() == 13);
  EXPECT(places.size() == 13);
  // All members are vectors: one that is not in the list would make the struct larger.
  EXPECT(sizeof(trees) == 13 * sizeof(std::vector<double>));
}

void a_visitor_sees_a_tree_and_a_view_alike() {
  Tree tree;
  tree.feature = {2, -1, -1};
  tree.threshold = {0.5, 0.0, 0.0};
  TreesArrays<View> view;
  each_of_nodes([&](const char*, auto array) { array(view) = array(tree); });
  EXPECT(view.feature.size() == 3 && view.feature[0] == 2);
  EXPECT(view.threshold.data() == tree.threshold.data());
}

void sets_of_bins() {
  BinSet set;
  for (const int bin : {0, 63, 64, 255}) set.insert(bin);
  int n = 0, last = -1;
  set.each([&](int bin) {
    EXPECT(bin > last);
    last = bin, ++n;
  });
  EXPECT(n == 4 && last == 255);
  EXPECT(set.contains(64) && !set.contains(65));
}

int main() {
  every_array_is_visited_once();
  a_visitor_sees_a_tree_and_a_view_alike();
  sets_of_bins();
}
