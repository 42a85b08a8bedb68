#include "lineal/text/records.h"

#include <string>
#include <vector>

#include "check.h"
#include "lineal/rng.h"
#include "lineal/text/delimited.h"
#include "lineal/text/json_lines.h"

using namespace lineal;

namespace {

using Strings = std::vector<std::string>;

// All of a file in blocks of so many bytes, texts and labels in turn; or the sentence that refuses it. Blocks
// are copies of exactly their length, so that a read beyond one is one the sanitizer sees.
template <class Format>
Strings read(Format format, const std::string& file, std::size_t n_bytes) {
  Strings all;
  Strings labels;
  std::string rest;
  std::size_t next = 0;
  try {
    for (;;) {
      const std::size_t more = std::min(n_bytes, file.size() - next);
      rest += file.substr(next, more);
      next += more;
      const std::vector<char> block(rest.begin(), rest.end());
      const Scanned found = format.scan({block.data(), block.size()}, next == file.size());
      all.insert(all.end(), found.texts.begin(), found.texts.end());
      for (const std::int64_t code : found.codes) labels.push_back(found.labels[std::size_t(code)]);
      rest.erase(0, found.consumed);
      if (next == file.size()) break;
    }
  } catch (const InputFlaw& flaw) {
    return {flaw.what()};
  }
  if (!labels.empty()) CHECK(labels.size() == all.size());
  CHECK(rest.empty());
  all.insert(all.end(), labels.begin(), labels.end());
  return all;
}

template <class Format>
Strings in_all_blocks(const Format& format, const std::string& file) {
  const Strings whole = read(format, file, file.size() + 1);
  for (std::size_t n_bytes = 1; n_bytes <= file.size(); ++n_bytes)
    CHECK(read(format, file, n_bytes) == whole);
  return whole;
}

bool refuses(const Strings& found, std::string_view words) {
  return found.size() == 1 && found[0].find(words) != std::string::npos;
}

Strings json(const std::string& file, bool has_label = false) {
  return in_all_blocks(
      JsonLines("text", has_label ? std::optional<std::string>("label") : std::nullopt, Missing::refuse),
      file);
}

Strings csv(const std::string& file, bool is_quoted = true) {
  return in_all_blocks(Delimited(',', is_quoted, 2, 1, 0, 0, 1), file);
}

}  // namespace

THEOREM("plain lines are documents, with or without a last end, and carriage returns are no part of them") {
  CHECK((in_all_blocks(PlainLines(), "a\n\nb\r\nc") == Strings{"a", "", "b", "c"}));
  CHECK((in_all_blocks(PlainLines(), "a\rb\n") == Strings{"a\rb"}));
  CHECK((in_all_blocks(PlainLines(), "") == Strings{}));
  CHECK(refuses(in_all_blocks(PlainLines(), "a\nb\xFF"), "line 2, byte 2: this is not UTF-8 (0xff)"));
}

THEOREM("JSON strings lose their escapes and nothing else, wherever they lie in eight bytes") {
  for (std::size_t before = 0; before < 20; ++before) {
    const std::string filler(before, 'x');
    CHECK((json("{\"text\": \"" + filler + "\\\"\\\\\\/\\b\\f\\n\\r\\t\"}") ==
           Strings{filler + "\"\\/\b\f\n\r\t"}));
    CHECK((json("{\"text\":\"" + filler + "\\u00e9\\ud83d\\ude00\"}") ==
           Strings{filler + "\xC3\xA9\xF0\x9F\x98\x80"}));
    CHECK((json("{\"text\":\"\\ud83d" + filler + "\\ude00\"}").size() == 1));
  }
  CHECK((json("{\"text\":\"\\ud800\\ud800\\udc00\"}") == Strings{"\xED\xA0\x80\xF0\x90\x80\x80"}));
  CHECK((json("{\"text\":\"\\u0000\"}") == Strings{std::string(1, '\0')}));
}

THEOREM("labels are numbered by first appearance and are of one kind") {
  CHECK((json("{\"text\":\"a\",\"label\":\"x\"}\n{\"label\":\"y\",\"text\":\"b\"}\n{\"text\":\"c\",\"label\":"
              "\"x\"}",
              true) == Strings{"a", "b", "c", "sx", "sy", "sx"}));
  CHECK((json("{\"text\":\"a\",\"label\":1}\n{\"text\":\"b\",\"label\":-2.5e3}", true) ==
         Strings{"a", "b", "n1", "n-2.5e3"}));
  CHECK(refuses(json("{\"text\":\"a\",\"label\":1}\n{\"text\":\"b\",\"label\":true}", true),
                "line 2, byte 21: the label is of"));
  CHECK(refuses(json("{\"text\":\"a\"}", true), "there is no label"));
}

THEOREM("objects that are not JSON are refused at the byte") {
  CHECK(refuses(json("{\"text\":\"a"), "line 1, byte 9: the string"));
  CHECK(refuses(json("{\"text\":\"a\\"), "line 1, byte 9: the string"));
  CHECK(refuses(json("{\"text\":\"a\\u12"), "needs four"));
  CHECK(refuses(json("{\"text\":\"a\","), "byte 13: a key in quotes is needed"));
  CHECK(refuses(json("{\"text\" \"a\"}"), "byte 9: ':'"));
  CHECK(refuses(json("{\"text\":}"), "byte 9: a value"));
  CHECK(refuses(json("{\"x\":[1,],\"text\":\"\"}"), "byte 9: a value"));
  CHECK(refuses(json("{\"x\":1.,\"text\":\"\"}"), "byte 6: a value"));
  CHECK(refuses(json("{\"text\":\"caf\xE9\"}"), "byte 13: this is not UTF-8 (0xe9)"));
  CHECK(refuses(json("[]"), "an array came"));
  CHECK((json(" { \"x\" : [ 1 , { } , [ ] , null , -0.5E+3 , NaN ] , \"text\" : \"a\" } \r\n\n") ==
         Strings{"a"}));
}

THEOREM("fields in quotes may hold delimiters, quotes and ends of lines") {
  CHECK(
      (csv("x,a\ny,\"b,\"\"c\"\"\r\nd\"\r\nx,\"\"\n") == Strings{"a", "b,\"c\"\r\nd", "", "sx", "sy", "sx"}));
  CHECK((csv("x,a\"b\"\n\n\r\ny,") == Strings{"a\"b\"", "", "sx", "sy"}));
  CHECK((csv("\"x\",\"a\"") == Strings{"a", "sx"}));
  CHECK((csv("x,\"a\n", false) == Strings{"\"a", "sx"}));
  CHECK((csv("") == Strings{}));
}

THEOREM("ragged, unclosed and unlabelled records are refused at their line and byte") {
  CHECK(refuses(csv("x,a\nx\n"), "line 2, byte 1: this record has 1 fields"));
  CHECK(refuses(csv("x,a\nx,a,b\n"), "line 2, byte 1: this record has 3 fields"));
  CHECK(refuses(csv("x,\"a\n\n"), "line 1, byte 3: the quoted field"));
  CHECK(refuses(csv("x,\"a\nb\"c\n"), "line 2, byte 3: something follows"));
  CHECK(refuses(csv("x,\"a\nb\"\rc\n"), "line 2, byte 3: something follows"));
  CHECK(refuses(csv("x,\"a\nb\xFF\"\n"), "line 2, byte 2: this is not UTF-8"));
  CHECK(refuses(csv("x,\"a\nb\"\n,c\n"), "line 3, byte 1: there is no label"));
}

THEOREM("fields that begin with 0 and go on are noted as codes, wherever blocks end") {
  Delimited reader(',', true, 4, 0, std::nullopt, 0, 1);
  reader.scan("0,0.5,12,\"007\"\n1,,0", false);
  CHECK((reader.is_coded() == std::vector<std::uint8_t>{0, 0, 0, 1}));
  reader.scan("1,,0x1,0\n", true);
  CHECK((reader.is_coded() == std::vector<std::uint8_t>{0, 0, 1, 1}));
}

THEOREM("a header is the first record that is not empty") {
  const auto found = Delimited::header("\n\r\na,\"b\n\"\"c\"\nx,y\n", false, ',', true);
  CHECK(found && (found->fields == Strings{"a", "b\n\"c"}) && found->consumed == 13 && found->n_lines == 4);
  CHECK(!Delimited::header("a,b", false, ',', true));
  CHECK(Delimited::header("a,b", true, ',', true).has_value());
  CHECK(!Delimited::header("\n\n", true, ',', true));
}

THEOREM("random bytes are read or refused alike in blocks of any size, and nothing outside them") {
  Rng rng(11);
  const std::string alphabet = "{}[]\",:\\u0n1e.-\ntext \"\"\r,\xC3\xA9\xFF";
  for (int round = 0; round < 3000; ++round) {
    std::string file = rng.below(2) ? "{\"text\":\"" : "";
    for (std::size_t k = rng.below(30); k > 0; --k) file += alphabet[rng.below(alphabet.size())];
    json(file);
    csv(file);
    csv(file, false);
    in_all_blocks(PlainLines(), file);
  }
}
