#include <string>

#include "documents.h"
#include "lineal/text/scorer.h"
#include "text.h"

namespace lineal {
namespace {

// Scores of one text at a time. The weights of a column lie side by side.
class TextScorer {
 public:
  // Each part is (columns, whether hashed ones are signed, splitting, weighing, whether numbers are double).
  TextScorer(nb::list parts, const Array2<const double>& weights, const Array1<const double>& intercepts)
      : intercepts_(intercepts.data(), intercepts.data() + intercepts.size()), scores_(intercepts.size()) {
    require(weights.shape(1) == intercepts.size() && intercepts.size() > 0,
            "as many intercepts as scores are needed");
    std::span<const double> left(weights.data(), weights.size());
    for (const nb::handle part : parts) {
      const auto [columns, is_signed, splitting, weighing, is_double] =
          nb::cast<std::tuple<nb::object, bool, const Splitting*, const Weighing*, bool>>(part);
      if (is_double)
        add_part<double>(columns, is_signed, *splitting, *weighing, left);
      else
        add_part<float>(columns, is_signed, *splitting, *weighing, left);
      owners_.append(columns);
    }
    require(left.empty(), "as many weights as columns are needed");
  }
  TextScorer(const TextScorer&) = delete;

  nb::object operator()(nb::str text) {
    Py_ssize_t size = 0;
    const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    std::string encoded;  // a text with single surrogates has no UTF-8 of its own
    if (data == nullptr) {
      PyErr_Clear();
      encoded = utf8_of(text);
      data = encoded.data();
      size = Py_ssize_t(encoded.size());
    }
    std::copy(intercepts_.begin(), intercepts_.end(), scores_.begin());
    for (const auto& part : parts_) part->add({data, std::size_t(size)}, scores_);
    if (scores_.size() == 1) return nb::float_(scores_[0]);
    nb::list all;
    for (const double score : scores_) all.append(score);
    return all;
  }

 private:
  // Takes the weights of the part's columns from the front of those that are left.
  template <class V>
  void add_part(const nb::object& columns, bool is_signed, const Splitting& splitting,
                const Weighing& weighing, std::span<const double>& left) {
    const bool is_inside = nb::isinstance<GramVocabulary>(columns),
               is_hashed = nb::isinstance<Hashing>(columns);
    const std::size_t n = is_inside   ? nb::cast<const GramVocabulary&>(columns).names.size()
                          : is_hashed ? nb::cast<const Hashing&>(columns).n_columns
                                      : nb::cast<const Vocabulary&>(columns).n_columns();
    require(weighing.weight.empty() || weighing.weight.size() == n, "one weight for each column is needed");
    require(n * scores_.size() <= left.size(), "as many weights as columns are needed");
    MetTerms<V> met(weighing, left.first(n * scores_.size()), scores_.size());
    left = left.subspan(n * scores_.size());
    if (is_inside) {
      require(splitting.min_gram > 0, "n-grams inside words need their lengths");
      parts_.push_back(std::make_unique<NamedPart<V>>(nb::cast<const GramVocabulary&>(columns).names,
                                                      inner(splitting), std::move(met)));
    } else if (splitting.by_character) {
      Pieces pieces(Characters(splitting.lowercase, splitting.fold_accents));
      add_ngrams(columns, is_signed, std::move(pieces), std::move(met));
    } else if (splitting.min_gram > 0) {
      add_ngrams(columns, is_signed, inner(splitting), std::move(met));
    } else {
      add_ngrams(columns, is_signed, Pieces(words(splitting)), std::move(met));
    }
  }
  template <class V, class AnyPieces>
  void add_ngrams(const nb::object& columns, bool is_signed, AnyPieces pieces, MetTerms<V> met) {
    if (nb::isinstance<Hashing>(columns))
      parts_.push_back(std::make_unique<HashedPart<V, AnyPieces>>(
          nb::cast<const Hashing&>(columns), is_signed, std::move(pieces), std::move(met)));
    else
      parts_.push_back(std::make_unique<NGramPart<V, AnyPieces>>(nb::cast<const Vocabulary&>(columns),
                                                                 std::move(pieces), std::move(met)));
  }
  static Words words(const Splitting& splitting) {
    return Words(splitting.lowercase, splitting.min_characters, splitting.runs, splitting.fold_accents);
  }
  static InnerPieces inner(const Splitting& splitting) {
    return InnerPieces(words(splitting), splitting.min_gram, splitting.max_gram);
  }

  nb::list owners_;  // of what the parts refer to
  std::vector<std::unique_ptr<ScorerPart>> parts_;
  std::vector<double> intercepts_, scores_;
};

}  // namespace

void bind_text_scorer(nb::module_& m) {
  nb::class_<TextScorer>(m, "TextScorer", "Scores of one text at a time, straight from the text.")
      .def(nb::init<nb::list, const Array2<const double>&, const Array1<const double>&>(), "parts"_a,
           "weights"_a, "intercepts"_a)
      .def("__call__", &TextScorer::operator(), "text"_a, "The score, or the scores of several outputs.");
}

}  // namespace lineal
