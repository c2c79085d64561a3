// The Python face of what comes in beside plain matrices.
#include "bindings.hpp"

using namespace nb::literals;

namespace edgewise::bindings {
namespace {

// Codes that lead nowhere would be read as places of a histogram.
Grouped checked(Grouped g) {
  const bool sorted = std::is_sorted(g.own.begin(), g.own.end()) &&
                      std::is_sorted(g.values.begin(), g.values.end());
  if (g.values.empty() || g.values.size() != g.group.size() || !sorted ||
      g.own.size() > kMaxCategories)
    throw std::invalid_argument("categories must be ascending, each with its group");
  const int n_groups = g.n_groups();
  if (n_groups > kMaxCategories ||
      std::any_of(g.codes.begin(), g.codes.end(), [&](Code c) { return c > n_groups; }))
    throw std::invalid_argument("there can be at most 254 groups, and codes must be theirs");
  return g;
}

}  // namespace

std::vector<Grouped> groups_of(const std::vector<Grouped*>& grouped, std::size_t n_rows) {
  std::vector<Grouped> copies;
  for (const Grouped* g : grouped) {
    if (g->codes.size() != n_rows)
      throw std::invalid_argument("there must be one group code per row");
    copies.push_back(*g);
  }
  return copies;
}

void bind_data(nb::module_& m) {
  nb::class_<Grouped>(m, "Grouped")
      .def(
          "__init__",
          [](Grouped* self, int feature, const In<double>& own, const In<double>& values,
             const In<std::uint8_t>& group, const In<std::uint8_t>& codes) {
            new (self)
                Grouped(checked({feature, copy(own), copy(values), copy(group), copy(codes)}));
          },
          "feature"_a, "own"_a, "values"_a, "group"_a, "codes"_a);
}

}  // namespace edgewise::bindings
