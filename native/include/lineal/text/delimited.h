// Delimited text: fields between commas, tabs or another byte, of which one is the text and one the label.
//
// With quoting (RFC 4180) a field that begins with '"' goes to the next single '"', over ends of lines; '""'
// inside it is one. Without, a quote is a character like others and a line is a record. Lines end with \n or
// \r\n; empty ones between records are skipped. Every record has as many fields as the first.
#pragma once

#include <algorithm>
#include <string>

#include "lineal/text/records.h"

namespace lineal {

class Delimited {
 public:
  // text, label: places of the fields, counted from 0. skip, line: what of the file is the header's, in bytes
  // of the first block, and the line behind it.
  Delimited(char delimiter, bool is_quoted, std::size_t n_fields, std::size_t text,
            std::optional<std::size_t> label, std::size_t skip, std::size_t line)
      : delimiter_(delimiter),
        is_quoted_(is_quoted),
        n_fields_(n_fields),
        text_(text),
        label_(label),
        skip_(skip),
        line_(line),
        is_coded_(n_fields, 0) {}

  // Which fields began with 0 and went on, as codes such as 007 do that are no numbers.
  const std::vector<std::uint8_t>& is_coded() const noexcept { return is_coded_; }

  Scanned scan(std::string_view block, bool is_last) {
    Scanned found;
    Arena arena(block.size());
    const char* p = block.data() + std::min(std::exchange(skip_, 0), block.size());
    const char* const end = block.data() + block.size();
    while (p < end) {
      Field of_text{{}, false}, of_label{{}, false};
      const Record record = read(p, end, is_last, [&](std::size_t k, const Field& field) {
        if (k == text_) of_text = field;
        if (label_ && k == *label_) of_label = field;
        if (field.raw.size() > 1 && field.raw.front() == '0' && field.raw[1] != '.' && k < n_fields_)
          is_coded_[k] = 1;
      });
      if (record.end == nullptr) break;
      if (!record.is_blank) take(p, record.n_fields, of_text, of_label, arena, found);
      line_ += record.n_lines;
      p = record.end;
    }
    found.consumed = block.empty() ? 0 : std::size_t(p - block.data());
    found.arena = arena.release();
    found.labels = table_.release();
    return found;
  }

  // The fields of the first record that is not empty, and how many bytes and lines it and what is before it
  // have; none where the block ends before it does.
  struct Header {
    std::vector<std::string> fields;
    std::size_t consumed, n_lines;
  };
  static std::optional<Header> header(std::string_view block, bool is_last, char delimiter, bool is_quoted) {
    Delimited reader(delimiter, is_quoted, 0, 0, std::nullopt, 0, 1);
    const char* p = block.data();
    const char* const end = p + block.size();
    while (p < end) {
      Header found{{}, 0, 0};
      const Record record = reader.read(p, end, is_last, [&](std::size_t, const Field& field) {
        reader.check(p, field);
        found.fields.emplace_back(field.raw.size(), '\0');
        found.fields.back().resize(
            std::size_t(unquoted(field, found.fields.back().data()) - found.fields.back().data()));
      });
      if (record.end == nullptr) return std::nullopt;
      reader.line_ += record.n_lines;
      p = record.end;
      if (record.is_blank) continue;
      found.consumed = std::size_t(p - block.data());
      found.n_lines = reader.line_ - 1;
      return found;
    }
    return std::nullopt;
  }

 private:
  struct Field {
    std::string_view raw;  // without the quotes around it
    bool has_quotes;       // '""' inside, which are to become one
  };
  struct Record {
    const char* end;  // behind the line's end; null: the block ends before the record does
    std::size_t n_fields, n_lines;
    bool is_blank;
  };

  // Calls use(number, field) for each field of the record at p.
  template <class Use>
  Record read(const char* p, const char* end, bool is_last, Use&& use) {
    const char* const begin = p;
    const Record open{nullptr, 0, 0, false};
    std::size_t n_lines = 1;
    for (std::size_t k = 0;; ++k) {
      Field field{{}, false};
      if (is_quoted_ && p < end && *p == '"') {
        const char* const first = ++p;
        for (;;) {
          p = find(p, end, '"');
          if (p == end && !is_last) return open;
          if (p == end)
            refuse(begin, first - 1,
                   "the quoted field that begins here is never closed. If quotes are plain characters here, "
                   "read with quoting=False.");
          if (end - p == 1 && !is_last) return open;  // what follows decides whether it is the closing quote
          if (end - p == 1 || p[1] != '"') break;
          field.has_quotes = true;
          p += 2;
        }
        field.raw = {first, std::size_t(p - first)};
        n_lines += std::size_t(std::count(first, p, '\n'));
        ++p;
        if (p < end && *p == '\r') {
          if (end - p == 1 && !is_last) return open;
          if (end - p == 1 || p[1] == '\n') ++p;
        }
        if (p < end && *p != delimiter_ && *p != '\n')
          refuse(begin, p,
                 "something follows the closing quote of a field. Double the quotes inside quoted fields, or "
                 "read with quoting=False if quotes are plain characters here.");
      } else {
        const char* const first = p;
        p = find_either(p, end, delimiter_, '\n');
        field.raw = {first, std::size_t(p - first)};
        if ((p == end || *p == '\n') && field.raw.ends_with('\r')) field.raw.remove_suffix(1);
      }
      if (p == end && !is_last) return open;
      const bool is_over = p == end || *p == '\n';
      if (is_over && k == 0 && field.raw.empty() && (p == begin || *begin != '"'))
        return {p == end ? end : p + 1, 0, 1, true};
      use(k, field);
      if (p < end) ++p;
      if (is_over) return {p, k + 1, n_lines, false};
    }
  }

  void take(const char* record, std::size_t n_fields, const Field& of_text, const Field& of_label,
            Arena& arena, Scanned& found) {
    if (n_fields != n_fields_)
      refuse(record, record,
             "this record has " + std::to_string(n_fields) + " fields, but the first one has " +
                 std::to_string(n_fields_) +
                 ". Put fields that hold the delimiter in quotes, or choose the delimiter with delimiter=.");
    check(record, of_text);
    found.texts.push_back(text(of_text, arena));
    if (!label_) return;
    check(record, of_label);
    if (of_label.raw.empty())
      refuse(record, of_label.raw.data(),
             "there is no label: its field is empty. Drop the record, or read without labels: label=False.");
    found.codes.push_back(table_.code('s', text(of_label, arena)));
  }

  static char* unquoted(const Field& field, char* out) noexcept {
    for (std::size_t k = 0; k < field.raw.size(); ++k) {
      *out++ = field.raw[k];
      if (field.has_quotes && field.raw[k] == '"') ++k;
    }
    return out;
  }

  static std::string_view text(const Field& field, Arena& arena) {
    if (!field.has_quotes) return field.raw;
    return arena.keep(unquoted(field, arena.end()));
  }

  void check(const char* record, const Field& field) const {
    if (const std::size_t bad = first_malformed(field.raw); bad != no_flaw)
      refuse(record, field.raw.data() + bad, not_utf8(field.raw[bad]));
  }

  // record: where the record begins, at line_.
  [[noreturn]] void refuse(const char* record, const char* at, const std::string& what) const {
    std::size_t line = line_;
    const char* begin = record;
    for (const char* p = record; p < at; ++p)
      if (*p == '\n') {
        ++line;
        begin = p + 1;
      }
    refuse_at(line, std::size_t(at - begin) + 1, what);
  }

  char delimiter_;
  bool is_quoted_;
  std::size_t n_fields_, text_;
  std::optional<std::size_t> label_;
  std::size_t skip_, line_;
  std::vector<std::uint8_t> is_coded_;
  LabelTable table_;
};

}  // namespace lineal
