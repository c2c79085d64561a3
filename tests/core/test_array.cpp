// Arrays that move into lent room leave nothing behind.
#include <cstdlib>
#include <new>
#include <vector>

#include "array.hpp"
#include "expect.hpp"

using namespace edgewise;

namespace {

std::size_t live = 0;  // bytes that were allocated and not freed

constexpr std::size_t kHead = alignof(std::max_align_t);

}  // namespace

void* operator new(std::size_t n) {
  auto* place = static_cast<std::byte*>(std::malloc(n + kHead));
  if (!place) throw std::bad_alloc();
  *reinterpret_cast<std::size_t*>(place) = n;
  live += n;
  return place + kHead;
}
void operator delete(void* given) noexcept {
  if (!given) return;
  std::byte* place = static_cast<std::byte*>(given) - kHead;
  live -= *reinterpret_cast<std::size_t*>(place);
  std::free(place);
}
void operator delete(void* given, std::size_t) noexcept { operator delete(given); }

void an_array_in_lent_room_has_no_memory_of_its_own() {
  alignas(Room::kAlignment) static std::uint8_t bytes[1024];
  Room room(bytes, sizeof bytes);
  const std::size_t before = live;
  Array<std::uint16_t> array(std::vector<std::uint16_t>(100, 7));
  EXPECT(live >= before + 200);
  array.settle(room);
  EXPECT(live == before);
  EXPECT(array.size() == 100 && array[99] == 7);
  EXPECT(static_cast<const void*>(array.data()) == bytes);
}

void a_released_vector_has_no_memory() {
  const std::size_t before = live;
  std::vector<double> items(1000);
  release(items);
  EXPECT(live == before && items.empty());
}

int main() {
  an_array_in_lent_room_has_no_memory_of_its_own();
  a_released_vector_has_no_memory();
}
