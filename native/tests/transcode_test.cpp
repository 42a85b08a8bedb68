#include "lineal/text/transcode.h"

#include <string>
#include <vector>

#include "check.h"
#include "lineal/rng.h"

using namespace lineal;

namespace {

template <class Unit>
void check_written(const std::vector<Unit>& text) {
  // One code point after the other.
  std::string wanted;
  bool has_surrogates = false;
  for (const Unit c : text) {
    unsigned char bytes[4];
    wanted.append(reinterpret_cast<char*>(bytes), std::size_t(unicode::encode(c, bytes) - bytes));
    has_surrogates |= unicode::is_surrogate(c);
  }
  const WideText wide{text.data(), text.size(), int(sizeof(Unit))};
  std::vector<char> found(wide.utf8_size());  // a write beyond it is seen
  CHECK(found.size() == wanted.size());
  wide.write_utf8(found.data());
  CHECK((std::string(found.begin(), found.end()) == wanted));
  CHECK(wide.has_surrogates() == has_surrogates);
}

}  // namespace

THEOREM("a string of any width becomes its code points, one after the other, in UTF-8") {
  Rng rng(41);
  check_written(std::vector<std::uint8_t>{});
  for (int round = 0; round < 3000; ++round) {
    const std::size_t size = rng.below(60);
    const bool is_mostly_ascii = round % 2 == 0;
    const auto code = [&](std::uint64_t most) {
      return rng.below(is_mostly_ascii && rng.below(20) ? 0x80 : most);
    };
    std::vector<std::uint8_t> one(size);
    std::vector<std::uint16_t> two(size);
    std::vector<std::uint32_t> four(size);
    for (std::uint8_t& c : one) c = std::uint8_t(code(0x100));
    for (std::uint16_t& c : two) c = std::uint16_t(code(0x10000));
    for (std::uint32_t& c : four) c = std::uint32_t(code(0x110000));
    check_written(one);
    check_written(two);
    check_written(four);
  }
  for (const std::uint32_t c : {0x7Fu, 0x80u, 0x7FFu, 0x800u, 0xD800u, 0xDFFFu, 0xFFFFu, 0x10000u, 0x10FFFFu})
    check_written(std::vector<std::uint32_t>{c});
}
