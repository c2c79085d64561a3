#include "truth_table.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>

namespace edgewise {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t kOnes = 0x0101010101010101;
constexpr std::uint64_t kGather = 0x0102040810204080;  // bit 8k times it: bit 56 + k
constexpr std::size_t kMostCounters = 20;              // classifiers; 2^20 counters are 8 MB
constexpr std::size_t kRowsPerTask = 1 << 17;
constexpr int kWeightBits = 86;  // and 40 for the number of rows: a sum stays below 2^126

// Reads the predictions for one example, eight bytes at a time. +1 is 0x01 and -1 is 0xff: the sign
// bit says which, the others must agree with it.
class Reader {
 public:
  explicit Reader(const Answers& a)
      : answers_(a),
        words_(a.n_classifiers / 8),
        rest_(a.n_classifiers % 8),
        rest_mask_((std::uint64_t{1} << (8 * rest_)) - 1),
        end_(a.predictions + a.n_rows * a.n_classifiers) {}

  std::uint64_t pattern(std::size_t row) {
    const std::int8_t* h = answers_.predictions + row * answers_.n_classifiers;
    const std::uint64_t label = static_cast<std::uint8_t>(answers_.labels[row]);
    bad_ |= (label != 0x01) & (label != 0xff);
    const std::uint64_t negative = (label >> 7) * kOnes;
    std::uint64_t bits = 0;
    for (std::size_t w = 0; w < words_; ++w)
      bits |= right(load(h + 8 * w), negative, ~std::uint64_t{0}) << (8 * w);
    if (rest_ != 0) bits |= right(rest(h + 8 * words_), negative, rest_mask_) << (8 * words_);
    return bits;
  }

  void check() const {
    if (bad_ != 0) throw std::invalid_argument("predictions and labels must be -1 or +1");
  }

 private:
  static std::uint64_t load(const std::int8_t* from, std::size_t n = 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, from, n);
    if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
    return word;
  }

  // The bytes after the last full word; what a whole word holds beyond them is masked later. A copy
  // of variable length would cost more than all the rest, so it is left for the matrix's end.
  std::uint64_t rest(const std::int8_t* from) const {
    return end_ - from >= 8 ? load(from) : load(from, rest_);
  }

  std::uint64_t right(std::uint64_t word, std::uint64_t negative, std::uint64_t mask) {
    const std::uint64_t sign = (word >> 7) & kOnes;
    bad_ |= (word ^ (sign * 0xff) ^ sign ^ kOnes) & mask;
    return ((((sign ^ negative ^ kOnes) & mask) * kGather) >> 56);
  }

  const Answers& answers_;
  std::size_t words_, rest_;
  std::uint64_t rest_mask_;
  const std::int8_t* end_;
  std::uint64_t bad_ = 0;
};

template <class T>
struct Entry {
  std::uint64_t pattern;
  T total;
};

template <class T>
using Entries = std::vector<Entry<T>>;

// Sorts by pattern and adds up what belongs to the same one.
template <class T>
void merge_equal(Entries<T>& entries) {
  std::sort(entries.begin(), entries.end(),
            [](const Entry<T>& a, const Entry<T>& b) { return a.pattern < b.pattern; });
  std::size_t last = 0;
  for (std::size_t i = 1; i < entries.size(); ++i) {
    if (entries[i].pattern == entries[last].pattern)
      entries[last].total += entries[i].total;
    else
      entries[++last] = entries[i];
  }
  if (!entries.empty()) entries.resize(last + 1);
}

std::size_t n_tasks(const Answers& a) { return (a.n_rows + kRowsPerTask - 1) / kRowsPerTask; }

// Calls add(pattern, row) for the rows of a task.
template <class F>
void read_task(const Answers& a, std::size_t task, F&& add) {
  Reader reader(a);
  const std::size_t end = std::min(a.n_rows, (task + 1) * kRowsPerTask);
  for (std::size_t row = task * kRowsPerTask; row < end; ++row) add(reader.pattern(row), row);
  reader.check();
}

// One counter for each of the 2^M patterns, in each thread.
template <class T, class Amount>
Entries<T> by_counters(const Answers& a, const Amount& amount, const Team& team) {
  const std::size_t n_patterns = std::size_t{1} << a.n_classifiers;
  std::vector<std::vector<T>> counters(static_cast<std::size_t>(team.size()));
  team.each(n_tasks(a), [&](std::size_t task, int slot) {
    auto& mine = counters[static_cast<std::size_t>(slot)];
    if (mine.empty()) mine.resize(n_patterns);
    T* totals = mine.data();
    read_task(a, task, [&](std::uint64_t p, std::size_t row) { totals[p] += amount(row); });
  });
  Entries<T> entries;
  for (std::size_t p = 0; p < n_patterns; ++p) {
    T total{};
    for (const auto& part : counters)
      if (!part.empty()) total += part[p];
    if (total != 0) entries.push_back({p, total});
  }
  return entries;
}

// Sorted pieces, merged: for tables with more possible patterns than examples.
template <class T, class Amount>
Entries<T> by_sorting(const Answers& a, const Amount& amount, const Team& team) {
  std::vector<Entries<T>> pieces(n_tasks(a));
  team.each(pieces.size(), [&](std::size_t task, int) {
    Entries<T>& piece = pieces[task];
    piece.reserve(std::min(kRowsPerTask, a.n_rows));
    read_task(a, task,
              [&](std::uint64_t p, std::size_t row) { piece.push_back({p, amount(row)}); });
    merge_equal(piece);
    piece.shrink_to_fit();
  });
  Entries<T> entries;
  for (Entries<T>& piece : pieces) {
    entries.insert(entries.end(), piece.begin(), piece.end());
    Entries<T>().swap(piece);
  }
  merge_equal(entries);
  std::erase_if(entries, [](const Entry<T>& e) { return e.total == 0; });
  return entries;
}

// Counters are faster as long as there are not many more of them than examples.
template <class T, class Amount>
Entries<T> entries_of(const Answers& a, const Amount& amount, const Team& team) {
  const auto threads = static_cast<std::size_t>(team.size());
  const bool few = a.n_classifiers <= kMostCounters && (threads << a.n_classifiers) <= 4 * a.n_rows;
  return few ? by_counters<T>(a, amount, team) : by_sorting<T>(a, amount, team);
}

// floor(weight * 2^shift), for finite weights that are not negative.
Wide scaled(double weight, int shift) {
  const auto bits = std::bit_cast<std::uint64_t>(weight);
  const int exponent = static_cast<int>(bits >> 52);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  const std::uint64_t mantissa = exponent > 0 ? fraction | (std::uint64_t{1} << 52) : fraction;
  const int by = std::max(exponent, 1) - 1075 + shift;
  if (by >= 0) return static_cast<Wide>(mantissa) << by;
  return by > -64 ? mantissa >> -by : 0;
}

template <class T, class Out, class Convert>
Cells<Out> cells_of(const Entries<T>& entries, const Convert& convert) {
  Cells<Out> cells;
  for (const Entry<T>& e : entries) {
    cells.pattern.push_back(e.pattern);
    cells.total.push_back(convert(e.total));
  }
  return cells;
}

}  // namespace

Cells<std::int64_t> tabulate(const Answers& answers, const Team& team) {
  const auto one = [](std::size_t) { return std::int64_t{1}; };
  const auto entries = entries_of<std::int64_t>(answers, one, team);
  return cells_of<std::int64_t, std::int64_t>(entries, [](std::int64_t n) { return n; });
}

Cells<double> tabulate_weighted(const Answers& answers, std::span<const double> weights,
                                const Team& team) {
  const double heaviest = weights.empty() ? 0.0 : *std::max_element(weights.begin(), weights.end());
  if (heaviest == 0.0) return {};
  const int shift = kWeightBits - 1 - std::ilogb(heaviest);
  const auto amount = [&](std::size_t row) { return scaled(weights[row], shift); };
  const auto entries = entries_of<Wide>(answers, amount, team);
  return cells_of<Wide, double>(
      entries, [&](Wide sum) { return std::ldexp(static_cast<double>(sum), -shift); });
}

}  // namespace edgewise
