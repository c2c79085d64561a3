// Bugs on purpose, only in builds with a sanitizer: `make sanitize` shows that it finds them, so
// that its silence about the rest means something.
#include <chrono>
#include <thread>

#include "bindings.hpp"

namespace edgewise::bindings {
namespace {

double read_past_the_end(std::size_t n) {
  const std::vector<double> values(n, 1.0);
  return values.data()[n];
}

int overflow(int n) { return n + 1; }

// Every task adds to the same number without asking.
long race(int n_threads) {
  long sum = 0;
  team_of(n_threads).each(100, [&](std::size_t, int) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // so that nobody does it all
    ++sum;
  });
  return sum;
}

}  // namespace

void bind_planted_bugs(nb::module_& m) {
  m.def("planted_read_past_the_end", &read_past_the_end);
  m.def("planted_overflow", &overflow);
  m.def("planted_race", &race, NoGil());
}

}  // namespace edgewise::bindings
