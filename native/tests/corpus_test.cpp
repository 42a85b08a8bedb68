#include "../fuzz/corpus.h"

#include "../fuzz/text_laws.h"
#include "check.h"

using namespace lineal;

THEOREM("the laws of the text path hold on the nastiest texts we know, under several options") {
  for (std::string input : fuzz::inputs()) {
    const auto obeys = [&] {
      fuzz::text_obeys({reinterpret_cast<const std::uint8_t*>(input.data()), input.size()});
    };
    obeys();
    if (input.size() < 2 || input.size() > 1000) continue;
    // Letters or not, in lower case or not; words or characters, by three threads.
    input[0] = char(input[0] ^ 0x06);
    input[1] = char((input[1] ^ 0x80) | 0x03);
    obeys();
  }
}
