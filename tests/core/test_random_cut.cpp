#include <vector>

#include "expect.hpp"
#include "random_cut.hpp"

using namespace edgewise;

const std::vector<std::int64_t> kRows{0, 3, 0, 5, 2, 0};  // of bins

int drawn(CutKey key, CutLimits limits) {
  return draw_cut(key, 0, static_cast<int>(kRows.size()), limits,
                  [](int b) { return kRows[static_cast<std::size_t>(b)]; });
}

void a_cut_parts_the_rows_and_is_the_first_bin_that_does() {
  bool first = false, second = false;
  for (CutKey key = 1; key < 200; ++key) {
    const int cut = drawn(key, {0, false, 1});
    EXPECT(cut == 1 || cut == 3);  // bin 2 parts as bin 1 does
    first |= cut == 1, second |= cut == 3;
  }
  EXPECT(first && second);
}

void sides_have_the_rows_that_are_asked_for() {
  for (CutKey key = 1; key < 200; ++key) EXPECT(drawn(key, {0, false, 3}) == 1);
  EXPECT(drawn(1, {0, false, 6}) == kNoCut);
}

void missing_rows_count_on_their_side() {
  for (CutKey key = 1; key < 200; ++key) EXPECT(drawn(key, {4, false, 6}) == 3);
}

void keys_of_parts_differ_and_nothing_comes_of_nothing() {
  EXPECT(key_of_part(0, 1) == 0);
  EXPECT(key_of_part(5, 0) != key_of_part(5, 1));
  EXPECT(key_of_part(5, 0) != 0);
}

int main() {
  a_cut_parts_the_rows_and_is_the_first_bin_that_does();
  sides_have_the_rows_that_are_asked_for();
  missing_rows_count_on_their_side();
  keys_of_parts_differ_and_nothing_comes_of_nothing();
}
