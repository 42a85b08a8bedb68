// Numbers side by side: 32 bytes of them at once, in float or double, and 2^x of each.
//
// GCC's vector types compile to the widest registers that a build allows, so the same source serves the
// generic and the AVX2 core. A panel (panels.h) is n_vectors of them for every column.
#pragma once

#include <cstdint>
#include <cstring>
#include <iterator>
#include <type_traits>

namespace lineal::kernel {

template <class Real>
struct Lanes;
template <>
struct Lanes<float> {
  typedef float Vector __attribute__((vector_size(32)));
  typedef std::int32_t Bits __attribute__((vector_size(32)));
  static constexpr int n = 8;
  static constexpr float shifter = 0x1.8p23f;  // adding it rounds to whole numbers, kept in the low bits
  static constexpr float lowest_exponent = -125.0f;
  static constexpr int exponent_shift = 23;
  // (2^f - 1) / f on [-1/2, 1/2], interpolated at Chebyshev's points: 2^f to 5e-9 before rounding.
  static constexpr float power[] = {0x1.62e430p-1f, 0x1.ebfbe0p-3f,  0x1.c6af6cp-5f,
                                    0x1.3b2a54p-7f, 0x1.5f0890p-10f, 0x1.44138ap-13f};
};
template <>
struct Lanes<double> {
  typedef double Vector __attribute__((vector_size(32)));
  typedef std::int64_t Bits __attribute__((vector_size(32)));
  static constexpr int n = 4;
  static constexpr double shifter = 0x1.8p52;
  static constexpr double lowest_exponent = -1021.0;
  static constexpr int exponent_shift = 52;
  // The same to 8e-18.
  static constexpr double power[] = {0x1.62e42fefa39efp-1,  0x1.ebfbdff82c598p-3,  0x1.c6b08d704a0c1p-5,
                                     0x1.3b2ab6fba1dddp-7,  0x1.5d87fe78a5424p-10, 0x1.4309130970ae2p-13,
                                     0x1.ffcbfc668c54ep-17, 0x1.62bfd47358212p-20, 0x1.b524fc01f05b4p-24,
                                     0x1.e60648c208730p-28, 0x1.e9d2332d28627p-32};
};

template <class Real>
using Vector = typename Lanes<Real>::Vector;

// How many vectors a panel is wide: as many sums as fit into registers beside what is added to them.
inline constexpr int n_vectors = 8;
template <class Real>
inline constexpr int panel_width = n_vectors * Lanes<Real>::n;  // 64 floats, 32 doubles

template <class Real>
inline Vector<Real> load(const Real* from) noexcept {
  Vector<Real> lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}
template <class Real>
inline void store(Real* to, Vector<Real> lanes) noexcept {
  std::memcpy(to, &lanes, sizeof lanes);
}
template <class Real>
inline Vector<Real> in_all_lanes(Real x) noexcept {
  return Vector<Real>{} + x;
}
template <class Real>
inline Real sum_of_lanes(Vector<Real> v) noexcept {
  if constexpr (std::is_same_v<Real, float>)
    return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
  else
    return (v[0] + v[2]) + (v[1] + v[3]);
}

// 2^x of every lane for x <= 0, within one unit in the last place or so; 2^0 is 1 exactly, and what would be
// below the normal numbers is the smallest of them times at most 1.5.
template <class Real>
inline Vector<Real> power_of_two(Vector<Real> x) noexcept {
  using L = Lanes<Real>;
  const Vector<Real> lowest = in_all_lanes<Real>(L::lowest_exponent);
  x = x < lowest ? lowest : x;
  const Vector<Real> shifted = x + L::shifter;
  const Vector<Real> f = x - (shifted - L::shifter);
  constexpr int degree = int(std::size(L::power)) - 1;
  Vector<Real> value = in_all_lanes<Real>(L::power[degree]);
  for (int k = degree - 1; k >= 0; --k) value = value * f + L::power[k];
  value = value * f + Real(1);
  typename L::Bits bits, exponent;
  std::memcpy(&bits, &value, sizeof bits);
  std::memcpy(&exponent, &shifted, sizeof exponent);
  bits += exponent << L::exponent_shift;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace lineal::kernel
