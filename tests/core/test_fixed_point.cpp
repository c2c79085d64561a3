#include "expect.hpp"
#include "fixed_point.hpp"

using namespace edgewise;

void gradient_and_hessian_share_a_word() {
  const Packed sum = pack(-7, 5) + pack(3, 2);
  EXPECT(gradient(sum) == -4);
  EXPECT(hessian(sum) == 7);
  EXPECT(gradient(pack(-2147483647, 0)) == -2147483647);
}

void integers_are_rounded_to_the_nearest_even() {
  EXPECT(to_integer(2.5) == 2);
  EXPECT(to_integer(3.5) == 4);
  EXPECT(to_integer(-1.75) == -2);
}

void units_leave_room_for_every_row() {
  for (const double total : {1e-12, 0.3, 1.0, 7e9}) {
    const double units = FixedPoint::units(total, 1000);
    EXPECT(units * total + 2000 <= 0x1p31);
    EXPECT(2 * units * total + 2000 > 0x1p30);
  }
  EXPECT(FixedPoint::units(0.0, 10) == 0.0);
}

void no_gradient_is_without_mass() {
  const FixedPoint fixed{1024.0, 1024.0};
  EXPECT(hessian(fixed(0.5, 1e-9)) == 1);
  EXPECT(hessian(fixed(0.0, 1e-9)) == 0);
}

void sums_of_63_bits_do_not_overflow() {
  const std::size_t n = 1u << 30;
  EXPECT(sum_scale(n, 3.0) * 3.0 * static_cast<double>(n) < 0x1p63);
  EXPECT(std::isfinite(sum_scale(1, 0.0)));
}

int main() {
  gradient_and_hessian_share_a_word();
  integers_are_rounded_to_the_nearest_even();
  units_leave_room_for_every_row();
  no_gradient_is_without_mass();
  sums_of_63_bits_do_not_overflow();
}
