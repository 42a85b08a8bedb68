#include "lineal/text/hashing.h"

#include <set>

#include "check.h"
#include "lineal/text/hashed_stream.h"
#include "texts.h"

using namespace lineal;
using namespace lineal::check;

namespace {

// Every n-gram as it is spelt, with its place, in the order of Hashing::each.
struct Met {
  std::string name;
  Hashing::Place place;
};
std::vector<std::vector<Met>> met(const Sentences& documents, const Hashing& hashing) {
  std::vector<std::vector<Met>> all;
  Hashing::Scratch scratch;
  for (const Strings& document : documents) {
    all.emplace_back();
    const std::vector<std::string_view> words = views(document);
    const auto add = [&](const Hashing::Place& place, std::size_t k, std::size_t n, std::size_t which) {
      CHECK(which == all.back().size());
      std::string name = document[k];
      for (std::size_t e = 1; e < n; ++e) {
        if (hashing.separator) name += hashing.separator;
        name += document[k + e];
      }
      all.back().push_back({name, place});
    };
    hashing.each(words, nullptr, scratch, add);
    CHECK(all.back().size() == hashing.n_ngrams(words.size()));
  }
  return all;
}

// In one lane, in two steps; other lanes have texts of other lengths.
std::uint32_t murmur3(std::string_view bytes, std::uint32_t seed) {
  static std::size_t turn = 0;
  const std::string text = std::string(bytes) + std::string(64, '?');
  const std::size_t lane = turn++ % EightMurmurs::n_lanes;
  EightMurmurs murmurs;
  const auto take = [&](std::size_t size, std::size_t taken) {
    for (std::size_t e = 0; e < EightMurmurs::n_lanes; ++e) {
      murmurs.text[e] = text.data();
      murmurs.size[e] = std::uint32_t(e == lane ? size : taken + 5 * e);
      murmurs.taken[e] = std::uint32_t(taken);
      if (taken == 0) murmurs.state[e] = seed;
    }
    std::uint32_t hash[EightMurmurs::n_lanes];
    murmurs.finish(hash);
    return hash[lane];
  };
  take(bytes.size() / 2, 0);
  return take(bytes.size(), bytes.size() / 2 & ~std::size_t(3));
}

}  // namespace

THEOREM("MurmurHash3 has its published values") {
  CHECK(murmur3("", 0) == 0);
  CHECK(murmur3("", 1) == 0x514E28B7);
  CHECK(murmur3("", 0xFFFFFFFF) == 0x81F16F39);
  CHECK(murmur3("test", 0) == 0xBA6BD213);
  CHECK(murmur3("test", 0x9747B28C) == 0x704B81DC);
  CHECK(murmur3("Hello, world!", 0) == 0xC0363E43);
  CHECK(murmur3("Hello, world!", 0x9747B28C) == 0x24884CBA);
  CHECK(murmur3("The quick brown fox jumps over the lazy dog", 0) == 0x2E4FF723);
  CHECK(murmur3(std::string_view("\0\0\0\0", 4), 0) == 0x2362F9DE);
  CHECK(murmur3(std::string_view("\0\0\0", 3), 0) == 0x85F0B427);
  CHECK(murmur3(std::string_view("\0", 1), 0) == 0x514E28B7);
  CHECK(murmur3("\xFF\xFF\xFF\xFF", 0) == 0x76293B50);
  CHECK(murmur3("aa", 0x9747B28C) == 0x5D211726);
}

THEOREM("scikit-learn's column is |hash| mod n, its sign the hash's, down to -2^31") {
  Hashing hashing{.n_columns = 1000, .is_murmur = true};
  const auto at = [&](std::int32_t hash) { return hashing.place_of_murmur(std::uint32_t(hash)); };
  CHECK(at(5).column == 5 && !at(5).is_negative);
  CHECK(at(-5).column == 5 && at(-5).is_negative);
  CHECK(at(0).column == 0 && !at(0).is_negative);
  CHECK(at(0x7FFFFFFF).column == 0x7FFFFFFF % 1000);
  CHECK(at(INT32_MIN).column == 2147483648u % 1000 && at(INT32_MIN).is_negative);
  hashing.n_columns = std::size_t(1) << 20;
  CHECK(at(INT32_MIN).column == 0);
}

THEOREM("an n-gram's own hash does not depend on what lies behind its words, or on where it is") {
  Rng rng(16);
  std::set<std::uint64_t> hashes;
  const Hashing hashing{.max_n = 3, .n_columns = 1 << 20};
  for (std::size_t size = 0; size < 40; ++size) {
    const std::string word(size, 'a');
    const Strings alone{word, "b", word};
    const std::vector<Met> wanted = met({alone}, hashing)[0];
    hashes.insert(wanted[0].place.hash);
    for (int round = 0; round < 20; ++round) {
      std::string text = word + "b" + word;
      const std::size_t behind = rng.below(20);
      for (std::size_t k = 0; k < behind; ++k) text += char(rng.below(256));
      const std::vector<char> exact(text.begin(), text.end());  // a read beyond it is seen
      const char* const p = exact.data();
      const std::vector<std::string_view> words{{p, size}, {p + size, 1}, {p + size + 1, size}};
      Hashing::Scratch scratch;
      std::size_t next = 0;
      hashing.each(
          words, p + exact.size(), scratch,
          [&](const Hashing::Place& place, std::size_t, std::size_t, std::size_t which) {
            CHECK(which == next);
            CHECK(place.hash == wanted[next].place.hash && place.column == wanted[next].place.column);
            ++next;
          });
      CHECK(next == 6 && next == wanted.size());
    }
  }
  CHECK(hashes.size() == 40);
}

THEOREM("own hashes are a promise: these will not change") {
  const std::vector<Met> all =
      met({{"a", "word", "of more than sixteen bytes"}}, Hashing{.max_n = 2, .n_columns = 1 << 20})[0];
  const std::vector<std::uint64_t> promised{0xAD1CE093B2CB6838, 0xFBE95530738E4755, 0x7A3649EFF11D3D53,
                                            0x9B578ABBD78E79A2, 0xC073F8F9DD7AE864};
  CHECK(all.size() == promised.size());
  for (std::size_t k = 0; k < promised.size(); ++k) CHECK(all[k].place.hash == promised[k]);
}

THEOREM("hashed rows are the sums over all n-grams, signed or not, for any number of threads") {
  Rng rng(17);
  const Strings texts = random_texts(rng, 100, 30, 20);
  const std::vector<std::string_view> lent = views(texts);
  const Sentences documents = sentences_of(tokens_of(texts));
  for (const bool is_murmur : {false, true})
    for (const std::size_t min_n : {1u, 2u})
      for (const char separator : {' ', '\0'})
        for (const std::size_t n_columns : {std::size_t(1), std::size_t(17), std::size_t(0x7FFFFFFF)}) {
          const Hashing hashing{min_n, 3, n_columns, is_murmur, separator};
          for (const bool is_signed : {false, true}) {
            Counts wanted;
            for (const auto& document : met(documents, hashing)) {
              wanted.emplace_back();
              for (const auto& [name, place] : document) {
                if (is_murmur) CHECK(place.hash == murmur3(name, 0));
                CHECK(place.column < n_columns);
                wanted.back()[std::int32_t(place.column)] += is_signed && place.is_negative ? -1 : 1;
              }
            }
            for (const int n_threads : {1, 3}) {
              Watch watch;
              CHECK(entries_of(hashed_rows<double>(Large<SplitTexts<Words>>(lent, Words(true, 1)), hashing,
                                                   is_signed, Weighing(), n_threads, watch)) ==
                    entries_of(wanted));
            }
          }
        }
}

THEOREM("a column is named by its first n-gram and shared if a second one is there, for any threads") {
  Rng rng(18);
  const Strings texts = random_texts(rng, 60, 25, 12), more = random_texts(rng, 60, 50, 12);
  for (const bool is_murmur : {false, true})
    for (const std::size_t n_columns : {1u, 40u, 5000u}) {
      const Hashing hashing{.max_n = 2, .n_columns = n_columns, .is_murmur = is_murmur};
      Sentences documents = sentences_of(tokens_of(texts));
      for (const Strings& document : sentences_of(tokens_of(more))) documents.push_back(document);
      std::map<std::size_t, std::string> first;
      std::map<std::size_t, std::set<std::string>> all;
      for (const auto& document : met(documents, hashing))
        for (const auto& [name, place] : document) {
          first.emplace(place.column, name);
          all[place.column].insert(name);
        }
      for (const int n_threads : {1, 2, 5}) {
        Watch watch;
        HashedNames names;
        for (const Strings& read : {texts, more}) {
          const std::vector<std::string_view> lent = views(read);
          names.read(Large<SplitTexts<Words>>(lent, Words(true, 1)), hashing, n_threads, watch);
        }
        std::size_t n_met = 0;
        for (const HashedNames::Column& column : names.columns()) {
          ++n_met;
          CHECK(names.name(column) == first[column.column]);
          CHECK(column.is_shared == (all[column.column].size() > 1));
        }
        CHECK(n_met == all.size());
      }
    }
}
