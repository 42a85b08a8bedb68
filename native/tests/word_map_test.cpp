#include "lineal/text/word_map.h"

#include <map>
#include <string>

#include "check.h"
#include "lineal/rng.h"

using namespace lineal;

THEOREM("words are numbered as they are first met, found again by their bytes, and no other word is") {
  Rng rng(2);
  WordMap map;
  std::map<std::string, std::uint32_t> wanted;
  CHECK(map.find("absent") == WordMap::none);
  for (int round = 0; round < 60000; ++round) {
    // Few letters and many lengths: prefixes of each other, alike in their first 8 and 16 bytes.
    std::string word(std::size_t(rng.below(24)), 'a');
    for (int k = 0; k < 2 && !word.empty(); ++k)
      word[std::size_t(rng.below(word.size()))] = char(rng.below(256));
    const auto [at, is_new] = wanted.emplace(word, std::uint32_t(wanted.size()));
    CHECK((map.find(word) == WordMap::none) == is_new);
    CHECK(map.add(word) == at->second);
  }
  CHECK(map.size() == wanted.size());
  for (const auto& [word, id] : wanted) {
    CHECK(map.find(word) == id);
    CHECK(map.name(id) == word);
    CHECK((map.find(word + "\xFF\xFE") == WordMap::none) == !wanted.contains(word + "\xFF\xFE"));
  }
}

THEOREM("a hash tells apart bytes, lengths and seeds") {
  std::map<std::uint64_t, std::string> seen;
  for (std::size_t size = 0; size < 40; ++size)
    for (std::size_t at = 0; at <= size; ++at) {
      std::string word(size, '\0');
      if (at < size) word[at] = '\1';
      CHECK(seen.emplace(hash_bytes(word, 7), word).second);
      CHECK(seen.emplace(hash_bytes(word, 8), word).second);
    }
}
