#include "lineal/text/sparse_lines.h"

#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "check.h"
#include "lineal/rng.h"
#include "lineal/text/libsvm_lines.h"
#include "lineal/text/sparse_spelling.h"
#include "lineal/text/vw_lines.h"

using namespace lineal;

namespace {

// All rows of a file, or the sentence that refuses it.
struct Read {
  SparseBlock rows;
  std::string flaw;
};

void append(SparseBlock& all, const SparseBlock& part) {
  const std::int64_t before = all.starts.back();
  const auto filled = [&](auto& to, const auto& from, auto missing) {
    if (to.empty() && from.empty()) return;
    to.resize(all.n_rows(), missing);
    to.insert(to.end(), from.begin(), from.end());
    to.resize(all.n_rows() + part.n_rows(), missing);
  };
  filled(all.queries, part.queries, std::int64_t(0));
  filled(all.weights, part.weights, 1.0);
  filled(all.tags, part.tags, std::string());
  all.labels.insert(all.labels.end(), part.labels.begin(), part.labels.end());
  all.indices.insert(all.indices.end(), part.indices.begin(), part.indices.end());
  all.values.insert(all.values.end(), part.values.begin(), part.values.end());
  for (std::size_t k = 1; k < part.starts.size(); ++k) all.starts.push_back(before + part.starts[k]);
}

// In blocks of so many bytes, copies of exactly their length, so that a read beyond one is one the sanitizer
// sees.
template <class Format>
Read read(Format& format, const std::string& file, std::size_t n_bytes) {
  Read all;
  std::string rest;
  std::size_t next = 0;
  try {
    for (;;) {
      const std::size_t more = std::min(n_bytes, file.size() - next);
      rest += file.substr(next, more);
      next += more;
      const std::vector<char> block(rest.begin(), rest.end());
      const SparseBlock found = format.scan({block.data(), block.size()}, next == file.size());
      append(all.rows, found);
      rest.erase(0, found.consumed);
      if (next == file.size()) break;
    }
  } catch (const InputFlaw& flaw) {
    return {{}, flaw.what()};
  }
  CHECK(rest.empty());
  return all;
}

bool same(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

bool same(const Read& a, const Read& b) {
  return a.flaw == b.flaw && same(a.rows.labels, b.rows.labels) && same(a.rows.values, b.rows.values) &&
         a.rows.weights == b.rows.weights && a.rows.starts == b.rows.starts &&
         a.rows.queries == b.rows.queries && a.rows.indices == b.rows.indices && a.rows.tags == b.rows.tags;
}

template <class Format>
Read in_all_blocks(const std::string& file, const Format& fresh = Format()) {
  Format format = fresh;
  const Read whole = read(format, file, file.size() + 1);
  for (std::size_t n_bytes = 1; n_bytes <= file.size(); ++n_bytes) {
    Format again = fresh;
    CHECK(same(read(again, file, n_bytes), whole));
  }
  return whole;
}

Read libsvm(const std::string& file) { return in_all_blocks<LibsvmLines>(file); }
Read vw(const std::string& file) { return in_all_blocks<VwLines>(file); }

bool refuses(const Read& found, std::string_view words) {
  return found.flaw.find(words) != std::string::npos;
}

using Doubles = std::vector<double>;
using Ints = std::vector<std::int32_t>;
using Longs = std::vector<std::int64_t>;

SpelledRows spelled(const SparseBlock& rows) {
  return {rows.labels, rows.starts, rows.indices, rows.values, rows.queries, rows.weights};
}

}  // namespace

THEOREM("a number is the double nearest to it, as strtod reads it") {
  Rng rng(5);
  const auto check = [](const std::string& text) {
    double value = -1;
    const char* const end = text.data() + text.size();
    CHECK(read_number(text.data(), end, value) == end);
    const double expected = std::strtod(text.c_str(), nullptr);
    CHECK(value == expected && std::signbit(value) == std::signbit(expected));
  };
  for (const char* text : {"0",
                           "-0",
                           "+1",
                           "1.",
                           ".5",
                           "1e5",
                           "1E-5",
                           "123456789012345",
                           "1234567890123456",
                           "0.1234567890123456789",
                           "9007199254740993",
                           "1e308",
                           "5e-324",
                           "1e-400",
                           "0.00000000000000000000000000000000000000000001",
                           "1e999",
                           "-1e99999999999",
                           "1e-99999999999",
                           "0e999999999999",
                           "179769313486231570000000000000000e290"})
    check(text);
  for (int round = 0; round < 20000; ++round) {
    std::string text = rng.below(2) ? "-" : "";
    for (std::size_t k = rng.below(18); k > 0; --k) text += char('0' + rng.below(10));
    text += char('0' + rng.below(10));
    if (rng.below(2)) text += '.';
    if (text.back() == '.')
      for (std::size_t k = rng.below(18); k > 0; --k) text += char('0' + rng.below(10));
    if (rng.below(3) == 0) text += "e" + std::to_string(int(rng.below(700)) - 350);
    check(text);
  }
}

THEOREM("what is no number is not read as one") {
  for (const std::string text : {"", "-", "+", ".", "-.", "+-1", "--1", "e5", "x"}) {
    double value = 0;
    CHECK(read_number(text.data(), text.data() + text.size(), value) == nullptr);
  }
}

THEOREM("LIBSVM lines are labels and sorted rows; blank lines and comments are nothing") {
  const Read found = libsvm("# head\n+1 1:0.5 3:-2e1\r\n\n  -1\t7:1 2:3 # 9:9\n0\n2.5 4:1#x\n");
  CHECK((found.rows.labels == Doubles{1, -1, 0, 2.5}));
  CHECK((found.rows.starts == Longs{0, 2, 4, 4, 5}));
  CHECK((found.rows.indices == Ints{1, 3, 2, 7, 4}));
  CHECK((found.rows.values == Doubles{0.5, -20, 3, 1, 1}));
  CHECK(found.rows.queries.empty() && found.rows.weights.empty() && found.rows.tags.empty());
  LibsvmLines lines;
  CHECK(lines.smallest() == -1);
  lines.scan("1 5:1 3:1\n1 9:0", true);
  CHECK(lines.smallest() == 3 && lines.largest() == 9);
}

THEOREM("queries are of all rows or of none, and a row may have no label") {
  const Read found = libsvm("2 qid:3 1:1\nqid:9223372036854775807 2:1\n");
  CHECK((found.rows.queries == Longs{3, 9223372036854775807}));
  CHECK(found.rows.labels[0] == 2 && std::isnan(found.rows.labels[1]));
  CHECK(std::isnan(libsvm("1:2 3:4").rows.labels[0]));
  CHECK(refuses(libsvm("1 qid:3 1:1\n1 1:1\n"), "line 2, byte 3: this line has no qid"));
  CHECK(refuses(libsvm("1 1:1\n1 qid:3 1:1\n"), "line 2, byte 3: this line has a qid"));
  CHECK(refuses(libsvm("1 qid:x 1:1\n"), "line 1, byte 7: a qid must be"));
  CHECK(refuses(libsvm("1 qid:-1 1:1\n"), "a qid must be"));
  CHECK(refuses(libsvm("1 qid: 1:1\n"), "a qid must be"));
}

THEOREM("LIBSVM lines that are not are refused at their line and byte") {
  CHECK(refuses(libsvm("1 1:1\nspam 1:1\n"), "line 2, byte 1: the label must be a number, but 'spam' came"));
  CHECK(refuses(libsvm("1,2 1:1\n"), "several labels"));
  CHECK(refuses(libsvm("nan 1:1\n"), "finite"));
  CHECK(refuses(libsvm("1 1:inf\n"), "line 1, byte 5: the value must be a finite number, but 'inf' came"));
  CHECK(refuses(libsvm("1 1:1e999\n"), "finite"));
  CHECK(refuses(libsvm("1 1:\n"), "byte 5: the value must be a number"));
  CHECK(refuses(libsvm("1 1:1x\n"), "the value must be a number, but '1x' came"));
  CHECK(refuses(libsvm("1 a:1\n"), "byte 3: an index must be a whole number"));
  CHECK(refuses(libsvm("1 -1:1\n"), "an index must be a whole number"));
  CHECK(refuses(libsvm("1 :1\n"), "an index must be a whole number"));
  CHECK(refuses(libsvm("1 5\n"), "index:value is needed, but '5' came"));
  CHECK(refuses(libsvm("1 2147483647:1\n"), "is larger than 2147483646"));
  CHECK(refuses(libsvm("1 99999999999999999999999:1\n"), "is larger than 2147483646"));
  CHECK((libsvm("1 2147483646:1\n").rows.indices == Ints{2147483646}));
  CHECK(refuses(libsvm("1 3:1 2:1 3:2\n"), "line 1, byte 1: index 3 is there twice"));
  CHECK(refuses(libsvm("caf\xC3\xA9 1:1\n"), "but 'caf\xC3\xA9' came"));
  CHECK(refuses(libsvm("caf\xE9\x01 1:1\n"),
                "but 'caf"
                "?"
                "?' came"));
  LibsvmLines from_one(1);
  CHECK(refuses(read(from_one, "1 1:1\n1 0:2\n", 100), "line 2, byte 3: index 0 is below the first"));
}

THEOREM("VW lines are labels, importances, tags and features named by namespace") {
  const Read found = vw("1 2.5 'first|a x y:2 |b:0.5 x:4\n-1 |a y x\n| z\n1 t|\n\n0.5 | z:3 z:-1 \n");
  CHECK(found.flaw.empty());
  CHECK(found.rows.labels.size() == 5 && found.rows.labels[0] == 1 && found.rows.labels[1] == -1 &&
        std::isnan(found.rows.labels[2]) && found.rows.labels[3] == 1 && found.rows.labels[4] == 0.5);
  CHECK((found.rows.weights == Doubles{2.5, 1, 1, 1, 1}));
  CHECK((found.rows.tags == std::vector<std::string>{"first", "", "", "t", ""}));
  CHECK((found.rows.starts == Longs{0, 3, 5, 6, 6, 7}));
  CHECK((found.rows.indices == Ints{0, 1, 2, 0, 1, 3, 3}));
  CHECK((found.rows.values == Doubles{1, 2, 2, 1, 1, 1, 2}));
  VwLines lines;
  lines.scan("1 |a x y:2 |b:0.5 x:4\n", true);
  lines.scan("1 | z\n", true);
  CHECK(lines.names().size() == 4 && lines.names().name(0) == "a^x" && lines.names().name(2) == "b^x" &&
        lines.names().name(3) == "z");
}

THEOREM("with a fixed vocabulary unknown names are dropped and counted") {
  WordMap names;
  names.add("a^y");
  names.add("z");
  VwLines lines(std::move(names));
  const SparseBlock found = lines.scan("1 |a x y |b y\n1 | z y y\n", true);
  CHECK((found.indices == Ints{0, 1}) && (found.starts == Longs{0, 1, 2}));
  CHECK(lines.n_unknown() == 4 && lines.names().size() == 2);
}

THEOREM("VW lines that are not are refused at their line and byte") {
  CHECK(refuses(vw("1 |a\n1 a b\n"), "line 2, byte 6: there is no '|'"));
  CHECK(refuses(vw("1|a b\n"), "line 1, byte 1: what touches the '|' is a tag"));
  CHECK(refuses(vw("spam |a b\n"), "the label must be a number"));
  CHECK(refuses(vw("1:0.5 |a b\n"), "several parts"));
  CHECK(refuses(vw("1,2 |a b\n"), "several parts"));
  CHECK(refuses(vw("1 1 0.5 |a b\n"), "byte 5: a base"));
  CHECK(refuses(vw("1 1 0.5 'tag |a b\n"), "a base"));
  CHECK(refuses(vw("1 -1 |a b\n"), "cannot be negative"));
  CHECK(refuses(vw("1 |a b:c\n"), "byte 8: the value of a feature must be a number"));
  CHECK(refuses(vw("1 |a:x b\n"), "the value of a namespace must be a number"));
  CHECK(refuses(vw("1 |a :1\n"), "needs a name"));
  CHECK(refuses(vw("1 |a b:1e308 b:1e308\n"), "add up"));
  CHECK(refuses(vw("1 |a b\xFF\n"), "byte 7: this is not UTF-8"));
  CHECK(refuses(vw("1 |" + std::string(256, 'n') + " b\n"), "at most 255"));
}

THEOREM("a line of a thousand names is read as many lines of one are") {
  std::string whole = "1 |n";
  VwLines apart, together;
  Doubles sum(1000);
  for (int k = 0; k < 3000; ++k) {
    const std::string name = "name" + std::to_string(k * 7 % 1000);
    whole += " " + name + ":2";
    apart.scan("1 |n " + name + "\n", true);
  }
  const SparseBlock found = together.scan(whole, true);
  CHECK(together.names().size() == 1000 && found.indices.size() == 1000);
  for (std::uint32_t k = 0; k < 1000; ++k) {
    CHECK(together.names().name(k) == apart.names().name(k));
    CHECK(found.indices[k] == std::int32_t(k) && found.values[k] == 6);
  }
}

THEOREM("rows that are spelled are read as they were") {
  Rng rng(3);
  for (int round = 0; round < 200; ++round) {
    SparseBlock rows;
    const bool has_queries = rng.below(2) == 1;
    for (std::size_t i = rng.below(5); i > 0; --i) {
      rows.labels.push_back(rng.below(2) ? double(rng.below(9)) - 4 : double(rng.below(1000)) / 7);
      if (has_queries) rows.queries.push_back(std::int64_t(rng.below(1000)));
      std::int32_t index = -1;
      for (std::size_t k = rng.below(6); k > 0; --k) {
        index += 1 + std::int32_t(rng.below(1000));
        rows.add(index, rng.below(2) ? 1.0 : double(rng.below(1u << 30)) / 3e5);
      }
      rows.starts.push_back(std::int64_t(rows.indices.size()));
    }
    const std::string text = spell_libsvm(spelled(rows), 0);
    LibsvmLines reader;
    CHECK(same(read(reader, text, 1000000), Read{rows, ""}));

    // VW has no queries, and numbers names as they come.
    rows.queries.clear();
    const auto name = [](std::size_t j) {
      return (j % 3 == 0 ? "" : j % 3 == 1 ? "a^" : "bc^") + std::to_string(j);
    };
    std::vector<std::string> names;
    for (std::size_t j = 0; j < 10000; ++j) names.push_back(name(j));
    VwLines words;
    Read again = read(
        words, spell_vw(spelled(rows), [&](std::size_t j) { return std::string_view(names[j]); }), 1000000);
    CHECK(again.flaw.empty() && again.rows.labels == rows.labels && again.rows.starts == rows.starts);
    for (std::size_t i = 0; i < rows.n_rows(); ++i) {
      std::map<std::string, double> expected, found;
      for (auto k = std::size_t(rows.starts[i]); k < std::size_t(rows.starts[i + 1]); ++k) {
        expected[names[std::size_t(rows.indices[k])]] = rows.values[k];
        found[std::string(words.names().name(std::uint32_t(again.rows.indices[k])))] = again.rows.values[k];
      }
      CHECK(expected == found);
    }
  }
}

THEOREM("random bytes are read or refused alike in blocks of any size, and nothing outside them") {
  Rng rng(11);
  const std::string alphabet = "01.5-+e:|' \t\n\r#ab^qid:,\xC3\xA9\xFF";
  for (int round = 0; round < 3000; ++round) {
    std::string file = rng.below(2) ? "1 " : "";
    for (std::size_t k = rng.below(30); k > 0; --k) file += alphabet[rng.below(alphabet.size())];
    libsvm(file);
    vw(file);
  }
}
