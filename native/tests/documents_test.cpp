#include "lineal/text/documents.h"

#include <array>
#include <string>
#include <vector>

#include "check.h"
#include "lineal/rng.h"
#include "lineal/text/arrow_texts.h"

using namespace lineal;

namespace {

using Strings = std::vector<std::string>;

int n_released = 0;

// An array that counts its releases; buffers are copies of exactly the size they are said to have, so that a
// read beyond them is one the sanitizer sees.
struct Made {
  std::vector<std::vector<char>> bytes;
  std::vector<const void*> buffers;
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> child_pointers;
  std::unique_ptr<ArrowArray> dictionary;
  ~Made() {
    for (ArrowArray& child : children) child.release(&child);
  }
};

void release_array(ArrowArray* array) {
  delete static_cast<Made*>(array->private_data);
  array->release = nullptr;
  ++n_released;
}

void release_nothing(ArrowArray* array) { array->release = nullptr; }

template <class T>
std::vector<char> raw(const std::vector<T>& values) {
  std::vector<char> bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

ArrowArray made(std::int64_t length, std::vector<std::vector<char>> bytes, std::int64_t null_count = 0,
                std::int64_t offset = 0) {
  auto* const all = new Made{std::move(bytes), {}, {}, {}, nullptr};
  for (const auto& buffer : all->bytes) all->buffers.push_back(buffer.empty() ? nullptr : buffer.data());
  return {length,  null_count,     offset, std::int64_t(all->buffers.size()), 0, all->buffers.data(), nullptr,
          nullptr, &release_array, all};
}

// Children and dictionaries are freed with the array that holds them.
ArrowArray with_children(ArrowArray table, std::vector<ArrowArray> children) {
  auto* const all = static_cast<Made*>(table.private_data);
  all->children = std::move(children);
  for (ArrowArray& child : all->children) all->child_pointers.push_back(&child);
  table.children = all->child_pointers.data();
  table.n_children = std::int64_t(all->children.size());
  return table;
}

struct Schema {
  std::string format, name;
  std::vector<Schema> children = {};
  std::vector<Schema> dictionary = {};
};

// A schema that lives as long as this object does.
class HeldSchema {
 public:
  explicit HeldSchema(const Schema& from) : from_(from) {
    for (const Schema& child : from_.children) children_.push_back(std::make_unique<HeldSchema>(child));
    for (auto& child : children_) pointers_.push_back(&child->made_);
    if (!from_.dictionary.empty()) dictionary_ = std::make_unique<HeldSchema>(from_.dictionary[0]);
    made_ = {from_.format.c_str(),
             from_.name.c_str(),
             nullptr,
             0,
             std::int64_t(pointers_.size()),
             pointers_.data(),
             dictionary_ ? &dictionary_->made_ : nullptr,
             [](ArrowSchema* schema) { schema->release = nullptr; },
             nullptr};
  }
  const ArrowSchema& operator*() const { return made_; }
  ArrowSchema* get() { return &made_; }

 private:
  Schema from_;
  std::vector<std::unique_ptr<HeldSchema>> children_;
  std::vector<ArrowSchema*> pointers_;
  std::unique_ptr<HeldSchema> dictionary_;
  ArrowSchema made_{};
};

// What is read of an array, or the sentence that refuses it; the array is given back in any case.
Strings read(const Schema& schema, ArrowArray array, Missing missing = Missing::empty,
             std::optional<std::string> column = std::nullopt) {
  const ArrowOwned<ArrowArray> owned(&array);
  const HeldSchema held(schema);
  std::vector<std::string_view> texts;
  try {
    append_texts(text_layout(*held, column), *owned, missing, 0, texts);
  } catch (const InputFlaw& flaw) {
    return {flaw.what()};
  }
  return Strings(texts.begin(), texts.end());
}

bool refuses(const Strings& found, std::string_view words) {
  return found.size() == 1 && found[0].find(words) != std::string::npos;
}

std::vector<char> chars(std::string_view text) { return {text.begin(), text.end()}; }

std::vector<char> view(std::int32_t size, std::string_view inside, std::int32_t buffer = 0,
                       std::int32_t first = 0) {
  std::vector<char> bytes(16, '\0');
  std::memcpy(bytes.data(), &size, 4);
  std::memcpy(bytes.data() + 4, inside.data(), std::min<std::size_t>(inside.size(), 12));
  if (size > 12) {
    std::memcpy(bytes.data() + 8, &buffer, 4);
    std::memcpy(bytes.data() + 12, &first, 4);
  }
  return bytes;
}

std::vector<char> joined(const std::vector<std::vector<char>>& parts) {
  std::vector<char> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

using I32 = std::vector<std::int32_t>;
using I64 = std::vector<std::int64_t>;

// A stream over prepared arrays, which fails behind them if asked.
struct Source {
  std::vector<ArrowArray> arrays;
  std::size_t next = 0;
  bool fails = false;
  std::unique_ptr<HeldSchema> schema;
  ~Source() {
    for (; next < arrays.size(); ++next) arrays[next].release(&arrays[next]);
  }
};

ArrowArrayStream stream_of(Source* source) {
  return {[](ArrowArrayStream* self, ArrowSchema* out) {
            *out = *static_cast<Source*>(self->private_data)->schema->get();
            return 0;
          },
          [](ArrowArrayStream* self, ArrowArray* out) {
            auto* const from = static_cast<Source*>(self->private_data);
            if (from->next == from->arrays.size()) {
              if (from->fails) return 5;
              *out = ArrowArray{};
              return 0;
            }
            *out = from->arrays[from->next++];
            return 0;
          },
          [](ArrowArrayStream*) { return "the disk is full"; },
          [](ArrowArrayStream* self) {
            delete static_cast<Source*>(self->private_data);
            self->release = nullptr;
          },
          source};
}

ArrowArray words_array() { return made(3, {{}, raw(I32{0, 1, 3, 6}), chars("abbccc")}); }

}  // namespace

THEOREM("strings with offsets of 32 and 64 bits are views of their buffer, from the array's offset on") {
  CHECK((read({"u", ""}, words_array()) == Strings{"a", "bb", "ccc"}));
  CHECK((read({"U", ""}, made(3, {{}, raw(I64{0, 1, 3, 6}), chars("abbccc")})) == Strings{"a", "bb", "ccc"}));
  CHECK(
      (read({"z", ""}, made(2, {{}, raw(I32{0, 1, 3, 6}), chars("abbccc")}, 0, 1)) == Strings{"bb", "ccc"}));
  CHECK((read({"u", ""}, made(2, {{'\x02'}, raw(I32{0, 1, 3}), chars("abb")}, 1)) == Strings{"", "bb"}));
  CHECK((read({"u", ""}, made(2, {{'\x02'}, raw(I32{0, 1, 3}), chars("abb")}, -1)) == Strings{"", "bb"}));
  CHECK((read({"u", ""}, made(2, {{}, raw(I32{0, 0, 0}), {}})) == Strings{"", ""}));
  CHECK((read({"u", ""}, made(0, {{}, {}, {}})) == Strings{}));
  CHECK(refuses(read({"u", ""}, made(2, {{'\x02'}, raw(I32{0, 1, 3}), chars("abb")}, 1), Missing::refuse),
                "no text at row 0"));
}

THEOREM("corrupt offsets, lengths and buffers are refused with their row") {
  CHECK(refuses(read({"u", ""}, made(2, {{}, raw(I32{0, 3, 1}), chars("abc")})), "to byte 1 at row 1"));
  CHECK(refuses(read({"u", ""}, made(1, {{}, raw(I32{-4, 3}), chars("abc")})), "from byte -4"));
  CHECK(refuses(read({"U", ""}, made(1, {{}, raw(I64{-4, -2}), chars("abc")})), "from byte -4"));
  CHECK(refuses(read({"u", ""}, made(1, {{}, raw(I32{0, 3}), {}})), "without a buffer at row 0"));
  CHECK(refuses(read({"u", ""}, made(1, {{}, {}, chars("abc")})), "without offsets"));
  CHECK(refuses(read({"u", ""}, made(1, {{}, raw(I32{0, 3})})), "2 buffers came where 3"));
  CHECK(refuses(read({"u", ""}, made(-1, {{}, raw(I32{0, 3}), chars("abc")})), "length -1"));
  CHECK(refuses(read({"u", ""}, made(1, {{}, raw(I32{0, 3}), chars("abc")}, 0, -5)), "offset -5"));
  CHECK(refuses(read({"u", ""}, made(1, {{}, raw(I32{0, 3}), chars("abc")}, 1)), "nulls without a bitmap"));
  CHECK(refuses(read({"u", ""}, made(std::int64_t(1) << 62, {{}, raw(I32{0, 3}), chars("abc")})),
                "an array of length"));
}

THEOREM("views hold 12 bytes themselves and point into checked buffers beyond") {
  const std::string longer = "thirteen byte and more";
  const auto array = [&](std::vector<std::vector<char>> views, std::int64_t length = -1) {
    return made(length < 0 ? std::int64_t(views.size()) : length,
                {{}, joined(views), chars(longer), raw(I64{std::int64_t(longer.size())})});
  };
  CHECK((read({"vu", ""}, array({view(5, "short"), view(12, "exactly 12by"), view(13, "thir", 0, 0),
                                 view(0, "")})) == Strings{"short", "exactly 12by", "thirteen byte", ""}));
  CHECK((read({"vz", ""}, array({view(22, "thir", 0, 0)})) == Strings{longer}));
  CHECK((read({"vu", ""}, made(1, {{}, view(3, "abc"), {}})) == Strings{"abc"}));  // no buffers, no sizes
  CHECK(refuses(read({"vu", ""}, array({view(3, "abc"), view(22, "x", 0, 1)})),
                "at byte 1 of a buffer of 22 at row 1"));
  CHECK(refuses(read({"vu", ""}, array({view(2147483647, "x", 0, 2147483647)})), "of a buffer of 22"));
  CHECK(refuses(read({"vu", ""}, array({view(13, "x", 0, -1)})), "at byte -1"));
  CHECK(refuses(read({"vu", ""}, array({view(13, "x", 1, 0)})), "in buffer 1 of 1"));
  CHECK(refuses(read({"vu", ""}, array({view(13, "x", -1, 0)})), "in buffer -1 of 1"));
  CHECK(refuses(read({"vu", ""}, array({view(-1, "x")})), "a text of -1 bytes"));
  CHECK(refuses(read({"vu", ""}, made(1, {{}, view(13, "x"), {}})), "in buffer 0 of 0"));
  CHECK(refuses(read({"vu", ""}, made(1, {{}, view(13, "x"), chars(longer), {}})), "without the sizes"));
  CHECK(refuses(read({"vu", ""}, made(1, {{}, {}, {}})), "without views"));
}

THEOREM("dictionaries are looked up by every type of index, within their length") {
  const auto array = [&](std::vector<char> indices, std::int64_t n, std::vector<char> bitmap = {}) {
    ArrowArray all = made(n, {bitmap, std::move(indices)}, bitmap.empty() ? 0 : -1);
    auto* const held = static_cast<Made*>(all.private_data);
    held->bytes.push_back(raw(I32{0, 1, 3, 6}));
    held->bytes.push_back(chars("abbccc"));
    held->bytes.push_back({'\x05'});  // the value bb is null
    static const void* buffers[3];
    buffers[0] = held->bytes[4].data();
    buffers[1] = held->bytes[2].data();
    buffers[2] = held->bytes[3].data();
    held->dictionary = std::make_unique<ArrowArray>(
        ArrowArray{3, -1, 0, 3, 0, buffers, nullptr, nullptr, &release_nothing, nullptr});
    all.dictionary = held->dictionary.get();
    // Growth of `bytes` moved the vectors, not what they hold.
    return all;
  };
  const auto schema = [](const char* format) { return Schema{format, "", {}, {Schema{"u", ""}}}; };
  CHECK((read(schema("c"), array(raw(std::vector<std::int8_t>{2, 0}), 2)) == Strings{"ccc", "a"}));
  CHECK((read(schema("C"), array(raw(std::vector<std::uint8_t>{2, 0}), 2)) == Strings{"ccc", "a"}));
  CHECK((read(schema("s"), array(raw(std::vector<std::int16_t>{2, 0}), 2)) == Strings{"ccc", "a"}));
  CHECK((read(schema("S"), array(raw(std::vector<std::uint16_t>{2, 0}), 2)) == Strings{"ccc", "a"}));
  CHECK((read(schema("i"), array(raw(I32{2, 0}), 2)) == Strings{"ccc", "a"}));
  CHECK((read(schema("I"), array(raw(I32{2, 0}), 2)) == Strings{"ccc", "a"}));
  CHECK((read(schema("l"), array(raw(I64{2, 0, 1}), 3)) == Strings{"ccc", "a", ""}));
  CHECK((read(schema("L"), array(raw(I64{2, 0}), 2)) == Strings{"ccc", "a"}));
  CHECK(
      (read(schema("i"), array(raw(I32{2, 99}), 2, {'\x01'})) == Strings{"ccc", ""}));  // null: not looked up
  CHECK(refuses(read(schema("i"), array(raw(I32{0, 3}), 2)),
                "entry 3 of a dictionary with 3 entries at row 1"));
  CHECK(refuses(read(schema("c"), array({'\xFF'}, 1)), "entry -1"));
  CHECK(refuses(read(schema("L"), array(raw(I64{-1}), 1)), "entry -1"));
  CHECK(refuses(read(schema("i"), made(1, {{}, raw(I32{0})})), "values are not there"));
  CHECK(refuses(read(schema("i"), made(1, {{}, {}})), "indices are not there"));
  CHECK(refuses(read(schema("f"), made(0, {{}, {}})), "the Arrow format 'f' with values of format 'u'"));
}

THEOREM("a table gives its only column or the named one, under its own offset and nulls") {
  const Schema one{"+s", "", {{"u", "text"}}}, two{"+s", "", {{"u", "a"}, {"u", "b"}}};
  CHECK((read(one, with_children(made(3, {{}}), {words_array()})) == Strings{"a", "bb", "ccc"}));
  CHECK((read(one, with_children(made(1, {{'\x00'}}, 1, 1), {words_array()})) == Strings{""}));
  CHECK((read(one, with_children(made(2, {{}}, 0, 1), {words_array()})) == Strings{"bb", "ccc"}));
  CHECK((read(two, with_children(made(1, {{}}), {words_array(), words_array()}), Missing::refuse, "b") ==
         Strings{"a"}));
  CHECK(
      refuses(read(two, with_children(made(1, {{}}), {words_array(), words_array()})), "column=: 'a', 'b'"));
  CHECK(refuses(read(one, with_children(made(4, {{}}), {words_array()})), "shorter than its table"));
  CHECK(refuses(read(one, with_children(made(3, {{}}, 0, 1), {words_array()})), "shorter than its table"));
  CHECK(refuses(read(two, with_children(made(1, {{}}), {words_array()}), Missing::refuse, "b"),
                "its schema has 2"));
  CHECK(refuses(read(one, made(1, {{}})), "a table of 0 columns"));
  CHECK(refuses(read({"u", ""}, words_array(), Missing::refuse, "b"), "one column, not a table"));
}

THEOREM("what is no text is refused by its schema") {
  for (const char* format : {"l", "g", "+l", "", "tdD", "w:4", "+us:0"})
    CHECK(refuses(read({format, ""}, words_array()), "Texts are needed"));
  CHECK((read({"n", ""}, made(2, {})) == Strings{"", ""}));
  CHECK(refuses(read({"n", ""}, made(2, {}), Missing::refuse), "no text at row 0"));
}

THEOREM("a stream is one sequence, read in parts, and every array is released once") {
  for (const bool fails : {false, true})
    for (std::size_t n_bytes : {std::size_t(1), std::size_t(7), std::size_t(1000)}) {
      n_released = 0;
      auto* source = new Source;
      source->schema = std::make_unique<HeldSchema>(Schema{"u", ""});
      source->fails = fails;
      source->arrays = {words_array(), made(0, {{}, {}, {}}), words_array(), words_array()};
      ArrowArrayStream lent = stream_of(source);
      Strings all;
      bool has_failed = false;
      {
        ArrowTexts texts(ArrowOwned<ArrowArrayStream>(&lent), std::nullopt, Missing::refuse);
        CHECK(lent.release == nullptr);
        std::vector<Documents> parts;
        try {
          while (auto part = texts.read(n_bytes)) parts.push_back(part->slice(0, part->size()));
          CHECK(!texts.read(1));
        } catch (const InputFlaw& flaw) {
          has_failed = std::string_view(flaw.what()).find("the disk is full") != std::string_view::npos;
        }
        for (const Documents& part : parts)
          for (const std::string_view text : part.texts()) all.emplace_back(text);
      }
      CHECK(has_failed == fails);
      CHECK(n_released == 4);
      if (!fails) CHECK((all == Strings{"a", "bb", "ccc", "a", "bb", "ccc", "a", "bb", "ccc"}));
    }
}

THEOREM("an array is held by its last slice, and a flaw in a later one releases all") {
  n_released = 0;
  std::optional<Documents> last;
  {
    const HeldSchema schema(Schema{"u", ""});
    ArrowSchema lent_schema = *schema;
    const ArrowOwned<ArrowSchema> owned_schema(&lent_schema);
    ArrowArray lent = words_array();
    ArrowTexts texts(owned_schema, ArrowOwned<ArrowArray>(&lent), std::nullopt, Missing::refuse);
    const auto whole = texts.read(1);
    const std::array<std::int64_t, 2> rows{1, 0};
    last = whole->slice(1, 3).take(rows);
    bool is_refused = false;
    const std::array<std::int64_t, 1> beyond{3};
    try {
      whole->take(beyond);
    } catch (const std::out_of_range&) {
      is_refused = true;
    }
    CHECK(is_refused);
  }
  CHECK(n_released == 0);
  CHECK(last->texts()[0] == "ccc" && last->texts()[1] == "bb");
  last.reset();
  CHECK(n_released == 1);

  n_released = 0;
  auto* source = new Source;
  source->schema = std::make_unique<HeldSchema>(Schema{"u", ""});
  source->arrays = {words_array(), made(1, {{}, raw(I32{2, 1}), chars("ab")}), words_array()};
  ArrowArrayStream lent = stream_of(source);
  bool has_row = false;
  try {
    ArrowTexts(ArrowOwned<ArrowArrayStream>(&lent), std::nullopt, Missing::refuse).read(1000);
  } catch (const InputFlaw& flaw) {
    has_row = std::string_view(flaw.what()).find("at row 3") != std::string_view::npos;
  }
  CHECK(has_row);
  CHECK(n_released == 3);
}

THEOREM("random string views are read or refused, and nothing outside them") {
  Rng rng(7);
  const auto noise = [&](std::size_t n) {
    std::vector<char> bytes(n);
    // Small numbers, mostly: they pass the first checks.
    for (std::size_t k = 0; k < n; ++k) bytes[k] = char(k % 4 || rng.below(3) == 0 ? 0 : rng.below(40));
    return bytes;
  };
  for (int round = 0; round < 5000; ++round) {
    const auto n = std::int64_t(rng.below(6));
    const auto views = noise(std::size_t(n) * 16);
    read({"vu", ""},
         made(n, {rng.below(2) ? noise(1) : std::vector<char>{}, views, noise(20), raw(I64{20})}, -1));
  }
  CHECK(true);
}

THEOREM("the first byte that is not UTF-8 is found at any place, and well-formed text has none") {
  for (std::size_t before = 0; before < 40; ++before)
    for (const std::string bad : {"\x80", "\xC3", "\xE2\x82", "\xF0\x9F\x98", "\xFF", "\xC0\x80",
                                  "\xF4\x90\x80\x80", "\xED\xA0\x80", "\xED\xBF\xBF"})
      for (const std::string filler : {"a", "\xC3\xA9"}) {
        std::string text;
        for (std::size_t k = 0; k < before; ++k) text += filler;
        const std::vector<char> sound(text.begin(), text.end());
        CHECK(first_malformed({sound.data(), sound.size()}) == no_flaw);
        const std::size_t place = text.size();
        text += bad;
        const std::vector<char> exact(text.begin(), text.end());
        CHECK(first_malformed({exact.data(), exact.size()}) == place);
      }
  CHECK(first_malformed("") == no_flaw);
  CHECK(first_malformed("\xED\x9F\xBF\xEE\x80\x80") == no_flaw);  // around the surrogates
  const Documents documents({"fine", "b\xFF"}, {}, false);
  CHECK((documents.first_flaw() == std::pair<std::size_t, std::size_t>{1, 1}));
  CHECK(documents.n_bytes() == 6);
}

THEOREM("the first letters of texts have one hash if and only if they are the same, but for case and space") {
  const auto hash = [](std::string_view text) { return hash_of_letters(text, 5); };
  CHECK(hash("") == 0 && hash(" \t\r\n\v\f") == 0);
  CHECK(hash("Abc de") == hash("\na BC  DE") && hash("abcde") == hash("abcdef") && hash("abcde") != 0);
  CHECK(hash("abcde") != hash("abcd") && hash("abcd") != hash("abdc"));
  CHECK(hash("\xC3\x84") != hash("\xC3\xA4"));  // of ASCII alone
  CHECK(hash("abcd\xC3") != hash("abcd"));
  CHECK(hash_of_letters("abc", 0) == 0);
  CHECK(hash_of_letters(std::string(64, 'a') + "b", 1000) == hash_of_letters(std::string(64, 'a'), 64));
  CHECK(hash_of_letters("@[`{", 9) != hash_of_letters("`{@[", 9));
}
