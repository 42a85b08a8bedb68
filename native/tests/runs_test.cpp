#include "lineal/text/runs.h"

#include <map>
#include <string>
#include <vector>

#include "check.h"
#include "lineal/rng.h"
#include "lineal/text/term_tree.h"

using namespace lineal;

namespace {

using Counts = std::map<std::string, std::pair<std::uint64_t, std::uint64_t>>;

// A file in memory, of exactly its bytes: a read beyond them is one the sanitizer sees.
struct Disk {
  std::vector<char> bytes;
  std::size_t most_at_once = 1000;

  std::pair<std::uint64_t, std::uint64_t> write(const Counts& counts, std::size_t buffer_size) {
    const auto take = [&](const char* data, std::size_t n) { bytes.insert(bytes.end(), data, data + n); };
    RunWriter writer(take, buffer_size);
    const std::uint64_t first = bytes.size();
    for (const auto& [term, numbers] : counts) writer.add(term, numbers.first, numbers.second);
    return {first, writer.finish()};
  }
  std::size_t read(std::uint64_t at, char* to, std::size_t n) const {
    const std::size_t given =
        std::min({n, most_at_once, bytes.size() - std::min(bytes.size(), std::size_t(at))});
    if (given > 0) std::memcpy(to, bytes.data() + at, given);
    return given;
  }
};

Counts merged(const Disk& disk, const std::vector<std::pair<std::uint64_t, std::uint64_t>>& places,
              std::size_t buffer_size) {
  const auto read = [&](std::uint64_t at, char* to, std::size_t n) { return disk.read(at, to, n); };
  std::vector<RunReader<decltype(read)>> runs;
  for (const auto& [first, n] : places) runs.emplace_back(read, first, n, buffer_size);
  Watch watch;
  Counts found;
  std::string before;
  merge_runs(runs, watch, [&](std::string_view term, std::uint64_t n_documents, std::uint64_t total) {
    CHECK(found.empty() || before < term);
    before = term;
    found[before] = {n_documents, total};
  });
  return found;
}

std::string random_term(Rng& rng) {
  std::string term(std::size_t(rng.below(12)), 'a');
  for (char& byte : term) byte = char(rng.below(3) ? 'a' + rng.below(3) : rng.below(256));
  if (rng.below(50) == 0) term += std::string(300, 'z');
  return term;
}

}  // namespace

THEOREM("merged runs hold every term of all of them, in order, with the sums of their numbers") {
  Rng rng(3);
  for (const std::size_t n_runs : {0, 1, 2, 3, 7, 40})
    for (const std::size_t buffer_size : {1, 7, 4096}) {
      Disk disk;
      disk.most_at_once = buffer_size == 7 ? 3 : 1000;
      Counts wanted;
      std::vector<std::pair<std::uint64_t, std::uint64_t>> places;
      for (std::size_t run = 0; run < n_runs; ++run) {
        Counts own;
        for (std::uint64_t n = rng.below(200); n > 0; --n) {
          const std::uint64_t df = 1 + rng.below(300),
                              total = df + (rng.below(9) ? 0 : std::uint64_t(1) << 60);
          own[random_term(rng)] = {df, total};
        }
        for (const auto& [term, numbers] : own) {
          wanted[term].first += numbers.first;
          wanted[term].second += numbers.second;
        }
        places.push_back(disk.write(own, buffer_size));
      }
      CHECK(merged(disk, places, buffer_size) == wanted);
    }
}

THEOREM("a run that was cut or changed is refused or read, and nothing outside it") {
  Rng rng(4);
  Counts counts;
  for (int k = 0; k < 60; ++k) counts[random_term(rng)] = {1 + rng.below(300), 1 + rng.below(300)};
  Disk whole;
  const auto place = whole.write(counts, 1 << 20);
  int n_refused = 0;
  for (int round = 0; round < 5000; ++round) {
    Disk disk = whole;
    if (round % 2 == 0)
      disk.bytes.resize(std::size_t(rng.below(whole.bytes.size())));
    else
      disk.bytes[std::size_t(rng.below(whole.bytes.size()))] = char(rng.below(256));
    disk.bytes.shrink_to_fit();
    try {
      merged(disk, {place}, 64);
    } catch (const DamagedRun&) {
      ++n_refused;
    }
  }
  CHECK(n_refused > 2500);
}

THEOREM("a merge that is told to stop stops") {
  Disk disk;
  Counts counts;
  for (int k = 0; k < 1000; ++k) counts[std::to_string(k)] = {1, 1};
  const auto place = disk.write(counts, 64);
  const auto read = [&](std::uint64_t at, char* to, std::size_t n) { return disk.read(at, to, n); };
  std::vector<RunReader<decltype(read)>> runs;
  runs.emplace_back(read, place.first, place.second, std::size_t(64));
  Watch watch([] { return true; }, Watch::Wait(0), 1);
  int n_terms = 0;
  merge_runs(runs, watch, [&](std::string_view, std::uint64_t, std::uint64_t) { ++n_terms; });
  CHECK(n_terms < 2);
}

THEOREM("spelt out, n-grams sort as tuples of tokens and split into them, whatever the tokens hold") {
  Rng rng(5);
  std::map<std::vector<std::string>, std::string> spelt;
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::string> tokens(1 + std::size_t(rng.below(3)));
    for (std::string& token : tokens) {
      token.resize(std::size_t(rng.below(4)));
      for (char& byte : token) byte = char(rng.below(2) ? rng.below(4) : rng.below(256));
    }
    std::string made;
    for (std::size_t k = 0; k < tokens.size(); ++k) spell_token(tokens[k], k == 0, made);
    std::vector<std::string> back;
    CHECK(split_tokens(made, back) && back == tokens);
    spelt[tokens] = made;
  }
  const std::string* before = nullptr;
  for (const auto& [tokens, made] : spelt) {
    CHECK(before == nullptr || *before < made);
    before = &made;
  }
  std::vector<std::string> tokens;
  CHECK(!split_tokens("a\1", tokens) && !split_tokens("\1\3", tokens));
}

THEOREM("a tree of n-grams knows their words in order, and the beginnings that have no column") {
  TermTree tree(3);
  // b; b a; b c a (without "b c"); c c: columns 0 to 3.
  const std::vector<std::vector<std::string>> terms = {{"b"}, {"b", "a"}, {"b", "c", "a"}, {"c", "c"}};
  for (std::size_t column = 0; column < terms.size(); ++column) {
    std::string spelt;
    for (std::size_t k = 0; k < terms[column].size(); ++k) spell_token(terms[column][k], k == 0, spelt);
    tree.add(spelt, std::int32_t(column));
  }
  tree.finish();
  CHECK(tree.words().size() == 3 && tree.words()[0] == "a" && tree.words()[2] == "c");
  CHECK((tree.columns() == std::vector<std::int32_t>{-1, 0, -1}));
  const auto& two = tree.longer()[0];
  CHECK((two.prefix == std::vector<std::uint32_t>{1, 1, 2}) &&
        (two.word == std::vector<std::uint32_t>{0, 2, 2}));
  CHECK((two.column == std::vector<std::int32_t>{1, -1, 3}));
  const auto& three = tree.longer()[1];
  CHECK((three.prefix == std::vector<std::uint32_t>{1}) && (three.word == std::vector<std::uint32_t>{0}));
  CHECK((three.column == std::vector<std::int32_t>{2}));
}
