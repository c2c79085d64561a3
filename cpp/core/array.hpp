// Arrays that may move into room that is lent to them, such as a file that is mapped into memory.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

namespace edgewise {

// Gives back the memory of a vector. `items = {}` would assign no items and keep the memory.
template <class T>
void release(std::vector<T>& items) {
  std::vector<T>().swap(items);
}

// Room for arrays, one after the other.
class Room {
 public:
  static constexpr std::size_t kAlignment = 64;  // a cache line
  static constexpr std::size_t padded(std::size_t n_bytes) {
    return (n_bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

  Room(std::uint8_t* data, std::size_t size) : data_(data), size_(size) {
    if (reinterpret_cast<std::uintptr_t>(data) % kAlignment)
      throw std::invalid_argument("room must begin at a multiple of 64 bytes");
  }

  std::size_t left() const { return size_ - used_; }

  std::uint8_t* take(std::size_t n_bytes) {
    if (padded(n_bytes) > left()) throw std::invalid_argument("there is too little room");
    std::uint8_t* place = data_ + used_;
    used_ += padded(n_bytes);
    return place;
  }

 private:
  std::uint8_t* data_;
  std::size_t size_, used_ = 0;
};

// An array in memory of its own or in lent room.
template <class T>
class Array {
 public:
  Array() = default;
  Array(std::vector<T> items) { *this = std::move(items); }
  Array& operator=(std::vector<T> items) {
    own_ = std::move(items);
    data_ = own_.data(), size_ = own_.size();
    return *this;
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  Array(Array&&) noexcept = default;  // the items stay where they are
  Array& operator=(Array&&) noexcept = default;
  ~Array() = default;

  void resize(std::size_t n) {
    own_.resize(n);
    data_ = own_.data(), size_ = n;
  }
  // Moves the items.
  void settle(Room& room) {
    T* place = reinterpret_cast<T*>(room.take(n_bytes()));
    std::copy(begin(), end(), place);
    release(own_);
    data_ = place;
  }

  std::size_t size() const { return size_; }
  std::size_t n_bytes() const { return size_ * sizeof(T); }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](std::size_t i) { return data_[checked(i)]; }
  const T& operator[](std::size_t i) const { return data_[checked(i)]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }

 private:
  std::size_t checked(std::size_t i) const {
    assert(i <= size_);  // one past the end may be pointed at
    return i;
  }

  std::vector<T> own_;
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace edgewise
