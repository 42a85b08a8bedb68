// JSON lines: one object to a line, of which one string is the text and another value may be the label.
//
// The objects are read as RFC 8259 says, with NaN and Infinity let pass outside strings as Python's json
// does; of a key that comes twice the last value counts. Cost: a pass for line ends and one over the bytes,
// eight at a time inside strings; texts without escapes are not copied.
#pragma once

#include <string>

#include "lineal/text/json_line.h"
#include "lineal/text/records.h"

namespace lineal {

class JsonLines {
 public:
  JsonLines(std::string text, std::optional<std::string> label, Missing missing)
      : text_(std::move(text)), label_(std::move(label)), missing_(missing) {}

  Scanned scan(std::string_view block, bool is_last) {
    Scanned found;
    Arena arena(block.size());
    const char* p = block.data();
    const char* const end = p + block.size();
    while (p < end) {
      const char* const stop = find(p, end, '\n');
      if (stop == end && !is_last) break;
      JsonLine line(p, stop, line_);
      line.skip_space();
      if (!line.is_over()) record(line, arena, found);
      ++line_;
      p = stop == end ? end : stop + 1;
    }
    found.consumed = block.empty() ? 0 : std::size_t(p - block.data());
    found.arena = arena.release();
    found.labels = table_.release();
    return found;
  }

 private:
  void record(JsonLine& line, Arena& arena, Scanned& found) {
    if (line.is_at('['))
      line.refuse(line.here(), "an object is needed, but an array came. Write one object to a line.");
    line.expect('{', "an object ('{')");
    std::optional<std::string_view> text;
    std::int64_t code = -1;
    bool is_null = false;
    line.skip_space();
    for (bool is_first = true; !line.is_at('}'); is_first = false) {
      if (!is_first) line.expect(',', "',' or '}'");
      line.skip_space();
      if (!line.is_at('"')) line.refuse_here("a key in quotes");
      const JsonLine::String key = line.string();
      const std::string_view name = key.has_escapes || key.has_high ? line.text(key, arena) : key.inside;
      line.skip_space();
      line.expect(':', "':'");
      line.skip_space();
      const bool is_text = name == text_, is_label = label_ && name == *label_;
      if (is_text) {
        text = text_value(line, arena);
        is_null = !text;
      }
      if (is_label && !is_text) code = label_value(line, arena);
      if (!is_text && !is_label) line.skip_value();
      line.skip_space();
    }
    const char* const close = line.here();
    line.expect('}', "'}'");
    line.skip_space();
    if (!line.is_over()) line.refuse_here("the end of the line");
    if (!text && missing_ == Missing::refuse)
      line.refuse(close,
                  (is_null ? "the field '" + text_ + "' is null" : "there is no field '" + text_ + "'") +
                      ". Name the field with text=, drop the line, or read missing texts as empty ones "
                      "with missing=\"empty\".");
    if (label_ && code < 0)
      line.refuse(close, "there is no label: the field '" + *label_ +
                             "' is not there or null. Drop the line, or read without "
                             "labels: label=False.");
    found.texts.push_back(text.value_or(std::string_view()));
    if (label_) found.codes.push_back(code);
  }

  std::optional<std::string_view> text_value(JsonLine& line, Arena& arena) {
    if (line.is_at('"')) return line.text(line.string(), arena);
    const char* const at = line.here();
    if (!line.is_at('{') && !line.is_at('[') && line.scalar() == "null") return std::nullopt;
    line.refuse(at, "the field '" + text_ + "' is needed as a string in quotes. Choose another with text=.");
  }

  std::int64_t label_value(JsonLine& line, Arena& arena) {
    const char* const at = line.here();
    if (line.is_at('{') || line.is_at('['))
      line.refuse(at, "the label '" + *label_ + "' is needed as a string, a number, true or false.");
    std::int64_t code;
    if (line.is_at('"')) {
      code = table_.code('s', line.text(line.string(), arena));
    } else {
      const std::string_view token = line.scalar();
      if (token == "null" || token == "NaN") return -1;
      code = table_.code(token == "true" || token == "false" ? 'b' : 'n', token);
    }
    if (code < 0)
      line.refuse(at, "the label is of another kind (string, number, true or false) than those before it.");
    return code;
  }

  std::string text_;
  std::optional<std::string> label_;
  Missing missing_;
  std::size_t line_ = 1;
  LabelTable table_;
};

}  // namespace lineal
