// The Python face of what comes in beside plain matrices, and of arithmetic on arrays.
#include "bindings.hpp"
#include "core/elementwise.hpp"
#include "core/linear.hpp"

using namespace nb::literals;

namespace edgewise::bindings {
namespace {

// Indices that lead nowhere would be read as places in memory.
SparseMatrix checked(SparseMatrix x) {
  const std::int64_t* start = x.indptr.data();
  const std::size_t n_rows = x.indptr.size() - 1;
  bool fits = x.indptr.size() > 0 && x.indices.size() == x.data.size() && start[0] == 0 &&
              start[n_rows] == static_cast<std::int64_t>(x.data.size());
  for (std::size_t i = 0; i < n_rows && fits; ++i) {
    fits = start[i] <= start[i + 1] && start[i + 1] <= start[n_rows];
    std::int64_t last = -1;
    for (std::int64_t e = start[i]; e < start[i + 1] && fits; ++e) {
      const std::int64_t column = x.indices.data()[e];
      fits = column > last && column < static_cast<std::int64_t>(x.cols);
      last = column;
    }
  }
  if (!fits) throw std::invalid_argument("the sparse matrix is not in canonical CSR form");
  kind_of(x.data.dtype());
  return x;
}

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

using InColumns = nb::ndarray<const std::int16_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// The columns of a product whose other side and result have these shapes.
Columns columns_of(const InColumns& x, std::size_t n_columns, std::size_t n_rows,
                   std::size_t n_classes, std::size_t n_classes_out) {
  if (x.shape(0) != n_columns || x.shape(1) != n_rows || n_classes != n_classes_out)
    throw std::invalid_argument("columns (m, n), coefficients (m, K) and scores (n, K) must agree");
  return {x.data(), n_columns, n_rows};
}

auto of_each(void (*function)(const double*, double*, std::size_t), const In<double>& x) {
  std::vector<double> out(x.size());
  function(x.data(), out.data(), out.size());
  return to_numpy(std::move(out));
}

}  // namespace

Matrix matrix(const AnyTable& x) {
  if (const auto* dense = std::get_if<AnyMatrix>(&x)) return matrix(*dense);
  const SparseMatrix& s = *std::get<SparseMatrix*>(x);
  return {s.data.data(),           s.indptr.size() - 1, s.cols,          0, 0,
          kind_of(s.data.dtype()), s.indptr.data(),     s.indices.data()};
}

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
  nb::class_<SparseMatrix>(m, "SparseMatrix")
      .def(
          "__init__",
          [](SparseMatrix* self,
             const nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>& data,
             const In<std::int32_t>& indices, const In<std::int64_t>& indptr,
             std::size_t cols) { new (self) SparseMatrix(checked({data, indices, indptr, cols})); },
          "data"_a, "indices"_a, "indptr"_a, "cols"_a);

  nb::class_<Grouped>(m, "Grouped")
      .def(
          "__init__",
          [](Grouped* self, int feature, const In<double>& own, const In<double>& values,
             const In<std::uint8_t>& group, const In<std::uint8_t>& codes) {
            new (self)
                Grouped(checked({feature, copy(own), copy(values), copy(group), copy(codes)}));
          },
          "feature"_a, "own"_a, "values"_a, "group"_a, "codes"_a);

  m.def(
      "linear_scores",
      [](const InColumns& columns, const InScores& coefficients, InOutScores scores,
         int n_threads) {
        linear_scores(columns_of(columns, coefficients.shape(0), scores.shape(0),
                                 coefficients.shape(1), scores.shape(1)),
                      coefficients.data(), scores.shape(1), scores.data(), team_of(n_threads));
      },
      "columns"_a, "coefficients"_a, "scores"_a, "n_threads"_a, NoGil());
  m.def(
      "linear_gradient",
      [](const InColumns& columns, const InScores& residuals, InOutScores gradient, int n_threads) {
        linear_gradient(columns_of(columns, gradient.shape(0), residuals.shape(0),
                                   residuals.shape(1), gradient.shape(1)),
                        residuals.data(), residuals.shape(1), gradient.data(), team_of(n_threads));
      },
      "columns"_a, "residuals"_a, "gradient"_a, "n_threads"_a, NoGil());

  m.def("exp_all", [](const In<double>& x) { return of_each(exp_all, x); }, "x"_a);
  m.def("log_all", [](const In<double>& x) { return of_each(log_all, x); }, "x"_a);
}

}  // namespace edgewise::bindings
