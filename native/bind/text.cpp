#include "documents.h"
#include "lineal/text/words.h"

namespace lineal {
namespace {

nb::typed<nb::list, nb::str> words(nb::bytes source, bool lowercase, std::size_t min_characters) {
  Words found(lowercase, min_characters);
  const std::size_t bad = found.append({source.c_str(), source.size()});
  if (bad != Words::well_formed)
    throw nb::value_error(("byte " + std::to_string(bad) + " of the text is not UTF-8").c_str());
  nb::typed<nb::list, nb::str> all;
  found.each([&](Word word) { all.append(as_str(found.text().substr(word.first, word.size))); });
  return all;
}

}  // namespace

void bind_text(nb::module_& m) {
  m.attr("UNICODE_VERSION") = unicode::version;
  m.def("words", &words, "source"_a, "lowercase"_a, "min_characters"_a,
        "The words of a UTF-8 text, in order: runs of word characters, at least so many of them.");
}

}  // namespace lineal
