#include "text.h"

#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "documents.h"
#include "lineal/text/hashed_stream.h"
#include "lineal/text/ngrams.h"
#include "lineal/text/term_matrix.h"
#include "lineal/text/term_tree.h"
#include "lineal/text/vocabulary.h"
#include "lineal/text/word_grams.h"
#include "lineal/text/words.h"
#include "text_runs.h"

namespace lineal {

std::unique_ptr<Source> Splitting::source(Texts texts) const {
  if (by_character)
    return std::make_unique<SplitTexts<Characters>>(texts, Characters(lowercase, fold_accents));
  auto words =
      std::make_unique<SplitTexts<Words>>(texts, Words(lowercase, min_characters, runs, fold_accents));
  if (min_gram == 0) return words;
  return std::make_unique<GramsOf>(std::move(words), min_gram, max_gram);
}

namespace {

using Strings = nb::typed<nb::list, nb::str>;

template <class T>
nb::ndarray<T, nb::numpy> array_of(std::span<const T> values) {
  auto made = new_array<T>({values.size()});
  std::copy(values.begin(), values.end(), static_cast<T*>(made.data()));
  return made;
}
template <class To, class From>
nb::ndarray<To, nb::numpy> array_from(const From& values) {
  auto made = new_array<To>({values.size()});
  std::transform(values.begin(), values.end(), static_cast<To*>(made.data()), [](auto v) { return To(v); });
  return made;
}
template <class T>
std::span<const T> view(const Array1<const T>& array) {
  return {array.data(), array.size()};
}
// Python takes over the memory.
template <class T>
nb::ndarray<T, nb::numpy> array_of(Raw<T>&& values, std::size_t n) {
  T* const data = values.release();
  const nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
  return nb::ndarray<T, nb::numpy>(data, {n}, owner);
}

// (indptr, indices, data) as SciPy has them.
using Arrays = nb::typed<nb::tuple, nb::ndarray<nb::numpy>, nb::ndarray<nb::numpy>, nb::ndarray<nb::numpy>>;

template <class V>
Arrays arrays_of(TermMatrix<V>&& made) {
  const auto n = std::size_t(made.start.back());
  nb::object start = n <= std::size_t(std::numeric_limits<std::int32_t>::max())
                         ? nb::cast(array_from<std::int32_t>(made.start))
                         : nb::cast(array_from<std::int64_t>(made.start));
  return nb::make_tuple(start, array_of(std::move(made.column), n), array_of(std::move(made.value), n));
}

// Runs make.operator()<V>(watch) -> TermMatrix<V> for the wanted type of numbers.
template <class Make>
Arrays matrix_of(bool is_double, Make&& make) {
  std::optional<TermMatrix<double>> doubles;
  std::optional<TermMatrix<float>> floats;
  interruptible_pass([&](Watch& watch) {
    if (is_double)
      doubles = make.template operator()<double>(watch);
    else
      floats = make.template operator()<float>(watch);
  });
  return is_double ? arrays_of(std::move(*doubles)) : arrays_of(std::move(*floats));
}

Splitting splitting(std::string_view unit, bool lowercase, bool fold_accents, std::size_t min_characters,
                    std::pair<std::size_t, std::size_t> grams) {
  require(unit == "words" || unit == "spaced" || unit == "characters",
          "a unit is words, spaced or characters");
  require(grams.first <= grams.second, "the shortest n-gram comes first");
  return {lowercase,
          fold_accents,
          min_characters,
          unit == "spaced" ? Runs::spaced : Runs::letters,
          unit == "characters",
          grams.first,
          grams.second};
}

// Words that Python found: those of all documents, and where each document ends among them.
struct Given {
  Documents words;
  std::vector<std::size_t> ends;

  Given(const Documents& words, const Array1<const std::int64_t>& ends) : words(words) {
    std::int64_t before = 0;
    for (std::size_t k = 0; k < ends.size(); ++k) {
      require(ends.data()[k] >= before && std::size_t(ends.data()[k]) <= words.size(), "ends must rise");
      this->ends.push_back(std::size_t(before = ends.data()[k]));
    }
    require(std::size_t(before) == words.size(), "the last document must end with the last word");
  }
  GivenWords source() const { return {words.texts(), ends}; }
};

// The texts of a tokenised source, for what needs words rather than numbers.
struct Named {
  std::vector<std::string_view> words;
  std::vector<std::size_t> ends;

  explicit Named(const Tokens& tokens) {
    words.reserve(tokens.size());
    for (const Part& part : tokens.parts()) {
      for (const std::size_t end : part.end) ends.push_back(words.size() + end);
      for (const std::uint32_t word : part.word) words.push_back(tokens.words().name(word));
    }
  }
};

Tokens read(const Source& source, int n_threads) {
  require(n_threads >= 1, "n_threads must be at least 1");
  std::optional<Tokens> made;
  interruptible_pass([&](Watch& watch) { made = Tokens::read(source, n_threads, watch); });
  return std::move(*made);
}

Strings strings(const Names& names) {
  Strings all;
  for (std::size_t k = 0; k < names.size(); ++k) all.append(as_str(names[k]));
  return all;
}

void rename(Tokens& tokens, const nb::list& names) {
  std::vector<std::optional<std::string>> made;
  for (const nb::handle name : names)
    made.push_back(name.is_none() ? std::nullopt : std::optional(utf8_of(name)));
  tokens.rename(made);
}

// The sum over each document's tokens of a number for each word.
nb::ndarray<double, nb::numpy> sums(const Tokens& tokens, const Array1<const double>& numbers) {
  require(numbers.size() == tokens.words().size(), "one number for each word is needed");
  auto made = new_array<double>({tokens.n_documents()});
  auto* out = static_cast<double*>(made.data());
  for (const Part& part : tokens.parts()) {
    std::size_t first = 0;
    for (const std::size_t end : part.end) {
      double sum = 0.0;
      for (; first < end; ++first) sum += numbers.data()[part.word[first]];
      *out++ = sum;
    }
  }
  return made;
}

// N-grams with their documents, those of at least min_n tokens in the order of their names.
class Terms {
 public:
  Terms(const Tokens& tokens, std::size_t min_n, std::size_t max_n, std::uint64_t min_documents,
        int n_threads)
      : n_threads_(n_threads), min_n_(min_n) {
    require(n_threads >= 1 && min_n >= 1 && max_n >= min_n,
            "1 <= min_n <= max_n and n_threads >= 1 are needed");
    interruptible_pass([&](Watch& watch) {
      ngrams_.emplace(tokens, int(max_n), min_documents, n_threads, watch);
      if (watch.is_over()) return;
      for (const std::uint32_t word : ngrams_->tokens()) words_.add(tokens.words().name(word));
      ngrams_->walk([&](std::size_t level, std::size_t k) {
        if (level + 1 >= min_n) order_.push_back({std::uint32_t(level), std::uint32_t(k)});
      });
    });
  }

  Terms(const Terms&) = delete;

  nb::ndarray<std::int64_t, nb::numpy> n_documents() const {
    return each([](const Level& level, std::size_t k) { return std::int64_t(level.n_documents(k)); });
  }
  nb::ndarray<std::int64_t, nb::numpy> totals() const {
    return each([](const Level& level, std::size_t k) { return std::int64_t(level.total[k]); });
  }

  // `columns` tells the column of each n-gram, or -1; they rise. Once only: the entries make room for the
  // rows.
  Arrays matrix(const Array1<const std::int32_t>& columns, const Weighing& weighing, bool is_double) {
    check(columns, weighing);
    require(!std::exchange(is_turned_over_, true), "the matrix of these terms was made before");
    std::vector<Term, LargePages<Term>> terms;
    terms.reserve(order_.size());
    for (std::size_t k = 0; k < order_.size(); ++k) {
      if (columns.data()[k] < 0) continue;
      const Level& level = ngrams_->levels()[order_[k].level];
      const std::size_t first = level.first[order_[k].index];
      terms.push_back(
          {{level.entries.data() + first, level.first[order_[k].index + 1] - first}, columns.data()[k]});
    }
    return matrix_of(is_double, [&]<class V>(Watch&) {
      return term_matrix<V>(terms, ngrams_->n_documents(), weighing, n_threads_,
                            [&] { ngrams_->forget_entries(); });
    });
  }

  // What a Vocabulary is made from: the words, and for each length the n-grams that are or begin a column.
  nb::typed<nb::tuple, nb::ndarray<nb::numpy>, nb::ndarray<nb::numpy>, nb::ndarray<nb::numpy>, nb::list>
  vocabulary(const Array1<const std::int32_t>& columns) const {
    require(columns.size() == order_.size(), "one column for each n-gram is needed");
    const std::vector<Level>& levels = ngrams_->levels();
    std::vector<std::vector<std::int32_t>> column;
    for (const Level& level : levels) column.emplace_back(level.size(), -1);
    for (std::size_t k = 0; k < order_.size(); ++k)
      column[order_[k].level][order_[k].index] = columns.data()[k];
    std::vector<std::vector<std::uint32_t>> kept(levels.size());  // new numbers
    std::vector<bool> is_needed;
    for (std::size_t n = levels.size(); n-- > 0;) {
      is_needed.resize(levels[n].size());
      for (std::size_t k = 0; k < levels[n].size(); ++k)
        if (column[n][k] >= 0) is_needed[k] = true;
      kept[n].assign(levels[n].size(), none);
      std::vector<bool> is_prefix(n > 0 ? levels[n - 1].size() : 0);
      for (std::size_t k = 0; k < levels[n].size(); ++k)
        if (is_needed[k]) {
          kept[n][k] = 0;
          if (n > 0) is_prefix[levels[n].prefix[k]] = true;
        }
      is_needed = std::move(is_prefix);
    }
    for (std::size_t n = 1; n < levels.size(); ++n)
      for (std::size_t k = 0; k < levels[n].size(); ++k)
        if (kept[n][k] != none) kept[0][levels[n].token[k]] = 0;
    std::vector<std::size_t> n_kept;
    for (auto& numbers : kept) {
      std::uint32_t next = 0;
      for (std::uint32_t& number : numbers)
        if (number != none) number = next++;
      n_kept.push_back(next);
    }
    Names words;
    std::vector<std::int32_t> word_columns;
    for (std::size_t k = 0; k < kept[0].size(); ++k)
      if (kept[0][k] != none) {
        words.add(words_[k]);
        word_columns.push_back(column[0][k]);
      }
    nb::list longer;
    for (std::size_t n = 1; n < levels.size(); ++n) {
      auto prefix = new_array<std::uint32_t>({n_kept[n]}), word = new_array<std::uint32_t>({n_kept[n]});
      auto own = new_array<std::int32_t>({n_kept[n]});
      for (std::size_t k = 0; k < levels[n].size(); ++k)
        if (const std::uint32_t number = kept[n][k]; number != none) {
          prefix.data()[number] = kept[n - 1][levels[n].prefix[k]];
          word.data()[number] = kept[0][levels[n].token[k]];
          own.data()[number] = column[n][k];
        }
      longer.append(nb::make_tuple(prefix, word, own));
    }
    return nb::make_tuple(bytes_of(words), array_from<std::int64_t>(words.starts()),
                          array_from<std::int32_t>(word_columns), longer);
  }

  std::uint64_t write_run(nb::callable write) const {
    return lineal::write_run(write, [&](auto&& add, Watch& watch) {
      std::string spelt;
      std::vector<std::size_t> ends(ngrams_->levels().size());  // of the n-grams that begin this one
      bool is_wanted = true;
      ngrams_->walk([&](std::size_t n, std::size_t k) {
        if (!is_wanted) return;
        const Level& level = ngrams_->levels()[n];
        spelt.resize(n > 0 ? ends[n - 1] : 0);
        spell_token(words_[level.token[k]], n == 0, spelt);
        ends[n] = spelt.size();
        if (n + 1 >= min_n_) add(spelt, level.n_documents(k), level.total[k]);
        is_wanted = !watch.says_stop(64);
      });
    });
  }

  static nb::ndarray<std::uint8_t, nb::numpy> bytes_of(const Names& names) {
    return array_from<std::uint8_t>(names.bytes());
  }

 private:
  static constexpr std::uint32_t none = Tokens::none;
  struct Place {
    std::uint32_t level, index;
  };
  template <class Number>
  nb::ndarray<std::int64_t, nb::numpy> each(Number&& number) const {
    auto made = new_array<std::int64_t>({order_.size()});
    auto* out = static_cast<std::int64_t*>(made.data());
    for (const Place& at : order_) *out++ = number(ngrams_->levels()[at.level], at.index);
    return made;
  }
  void check(const Array1<const std::int32_t>& columns, const Weighing& weighing) const {
    require(columns.size() == order_.size(), "one column for each n-gram is needed");
    std::int32_t before = -1;
    for (std::size_t k = 0; k < columns.size(); ++k) {
      if (columns.data()[k] < 0) continue;
      require(columns.data()[k] > before, "columns must rise");
      before = columns.data()[k];
    }
    require(weighing.weight.empty() || weighing.weight.size() > std::size_t(std::max(before, 0)),
            "one weight for each column is needed");
  }

  int n_threads_;
  std::size_t min_n_;
  std::optional<NGrams> ngrams_;
  Names words_;
  std::vector<Place> order_;
  bool is_turned_over_ = false;
};

Names names_from(const Array1<const std::uint8_t>& bytes, const Array1<const std::int64_t>& starts) {
  require(starts.size() >= 1 && starts.data()[0] == 0, "starts begin with 0");
  Names made;
  for (std::size_t k = 0; k + 1 < starts.size(); ++k) {
    const std::int64_t first = starts.data()[k], last = starts.data()[k + 1];
    require(first <= last && std::size_t(last) <= bytes.size(), "starts must rise and stay within the bytes");
    made.add({reinterpret_cast<const char*>(bytes.data()) + first, std::size_t(last - first)});
  }
  return made;
}
WordMap map_of(const Names& names) {
  WordMap map;
  for (std::size_t k = 0; k < names.size(); ++k)
    if (map.add(names[k]) != k) throw std::invalid_argument("a name that is there twice");
  return map;
}

using LevelArrays =
    std::tuple<Array1<const std::uint32_t>, Array1<const std::uint32_t>, Array1<const std::int32_t>>;

Vocabulary make_vocabulary(const Array1<const std::uint8_t>& bytes, const Array1<const std::int64_t>& starts,
                           const Array1<const std::int32_t>& columns, const std::vector<LevelArrays>& longer,
                           std::size_t n_columns) {
  std::vector<Vocabulary::Longer> levels;
  for (const auto& [prefix, word, column] : longer)
    levels.push_back({view(prefix), view(word), view(column)});
  return {map_of(names_from(bytes, starts)),
          std::vector<std::int32_t>(columns.data(), columns.data() + columns.size()), levels, n_columns};
}

// The names of the columns of a vocabulary, by column; words joined by the separator.
Strings spell(const Array1<const std::uint8_t>& bytes, const Array1<const std::int64_t>& starts,
              const Array1<const std::int32_t>& columns, const std::vector<LevelArrays>& longer,
              std::size_t n_columns, const std::string& separator) {
  const Names words = names_from(bytes, starts);
  std::vector<std::string> names(n_columns);
  const auto put = [&](std::int32_t column, const std::string& name) {
    if (column < 0) return;
    require(std::size_t(column) < n_columns, "a column that does not exist");
    names[std::size_t(column)] = name;
  };
  require(columns.size() == words.size(), "one column for each word is needed");
  std::vector<std::string> before;
  for (std::size_t k = 0; k < words.size(); ++k) {
    before.emplace_back(words[k]);
    put(columns.data()[k], before.back());
  }
  for (const auto& [prefix, word, column] : longer) {
    std::vector<std::string> here;
    for (std::size_t k = 0; k < prefix.size(); ++k) {
      require(prefix.data()[k] < before.size() && word.data()[k] < words.size(), "parts that do not exist");
      here.push_back(before[prefix.data()[k]] + separator + std::string(words[word.data()[k]]));
      put(column.data()[k], here.back());
    }
    before = std::move(here);
  }
  Strings all;
  for (const std::string& name : names) all.append(as_str(name));
  return all;
}

// Character n-grams inside words, with the documents they are in.
class GramTerms {
 public:
  GramTerms(const Tokens& tokens, std::size_t min_n, std::size_t max_n) {
    require(min_n >= 1 && max_n >= min_n, "1 <= min_n <= max_n is needed");
    interruptible_pass([&](Watch& watch) {
      grams_.emplace(tokens, names_, min_n, max_n);
      grams_->count(n_documents_, totals_, watch);
      if (!watch.is_over()) order_ = sorted(names_.names());
    });
  }
  GramTerms(const GramTerms&) = delete;

  nb::ndarray<std::int64_t, nb::numpy> n_documents() const { return in_order(n_documents_); }
  nb::ndarray<std::int64_t, nb::numpy> totals() const { return in_order(totals_); }

  Arrays matrix(const Array1<const std::int32_t>& columns, const Weighing& weighing, bool is_double) const {
    require(columns.size() == order_.size(), "one column for each n-gram is needed");
    std::vector<std::int32_t> by_id(order_.size());
    std::int32_t n_columns = 0;
    for (std::size_t k = 0; k < order_.size(); ++k) {
      by_id[order_[k]] = columns.data()[k];
      n_columns = std::max(n_columns, columns.data()[k] + 1);
    }
    require(weighing.weight.empty() || weighing.weight.size() >= std::size_t(n_columns),
            "one weight for each column is needed");
    return matrix_of(is_double, [&]<class V>(Watch& watch) {
      return grams_->rows<V>(by_id, std::size_t(n_columns), weighing, watch);
    });
  }

  nb::typed<nb::tuple, nb::ndarray<nb::numpy>, nb::ndarray<nb::numpy>> vocabulary(
      const Array1<const std::int32_t>& columns) const {
    require(columns.size() == order_.size(), "one column for each n-gram is needed");
    Names names;
    for (std::size_t k = 0; k < order_.size(); ++k)
      if (columns.data()[k] >= 0) names.add(names_.name(order_[k]));
    return nb::make_tuple(Terms::bytes_of(names), array_from<std::int64_t>(names.starts()));
  }

  std::uint64_t write_run(nb::callable write) const {
    return lineal::write_run(write, [&](auto&& add, Watch& watch) {
      for (const std::uint32_t k : order_) {
        add(names_.name(k), n_documents_[k], totals_[k]);
        if (watch.says_stop(64)) return;
      }
    });
  }

 private:
  nb::ndarray<std::int64_t, nb::numpy> in_order(const std::vector<std::uint64_t>& numbers) const {
    auto made = new_array<std::int64_t>({order_.size()});
    for (std::size_t k = 0; k < order_.size(); ++k)
      static_cast<std::int64_t*>(made.data())[k] = std::int64_t(numbers[order_[k]]);
    return made;
  }
  WordMap names_;
  std::optional<WordGrams> grams_;
  std::vector<std::uint64_t> n_documents_, totals_;
  std::vector<std::uint32_t> order_;
};

Arrays gram_rows(const GramVocabulary& vocabulary, const Tokens& tokens, std::size_t min_n, std::size_t max_n,
                 const Weighing& weighing, bool is_double) {
  require(min_n >= 1 && max_n >= min_n, "1 <= min_n <= max_n is needed");
  const std::size_t n_columns = vocabulary.names.size();
  require(weighing.weight.empty() || weighing.weight.size() == n_columns,
          "one weight for each column is needed");
  return matrix_of(is_double, [&]<class V>(Watch& watch) {
    const WordGrams grams(tokens, vocabulary.names, min_n, max_n);
    std::vector<std::int32_t> columns(n_columns);
    std::iota(columns.begin(), columns.end(), 0);
    return grams.rows<V>(columns, n_columns, weighing, watch);
  });
}

Weighing make_weighing(std::string_view tf, std::string_view norm, std::optional<Array1<const double>> weight,
                       double k, double b, double mean_length) {
  Weighing made;
  require(tf == "count" || tf == "occurrence" || tf == "logarithm" || tf == "bm25", "an unknown tf");
  require(norm == "none" || norm == "l1" || norm == "l2", "an unknown norm");
  made.tf = tf == "count"        ? Tf::count
            : tf == "occurrence" ? Tf::occurrence
            : tf == "bm25"       ? Tf::bm25
                                 : Tf::logarithm;
  made.norm = norm == "none" ? Norm::none : norm == "l1" ? Norm::l1 : Norm::l2;
  if (weight) made.own(std::vector<double>(weight->data(), weight->data() + weight->size()));
  made.k = k;
  made.b = b;
  made.mean_length = mean_length;
  return made;
}

Arrays hashed(const Hashing& hashing, const Source& source, bool is_signed, const Weighing& weighing,
              bool is_double, int n_threads) {
  require(n_threads >= 1, "n_threads must be at least 1");
  require(weighing.weight.empty() || weighing.weight.size() == hashing.n_columns,
          "one weight for each column is needed");
  return matrix_of(is_double, [&]<class V>(Watch& watch) {
    return hashed_rows<V>(source, hashing, is_signed, weighing, n_threads, watch);
  });
}

// Which columns have a name, the names, and whether a column is shared by several.
nb::typed<nb::tuple, nb::ndarray<nb::numpy>, nb::ndarray<nb::numpy>, nb::ndarray<nb::numpy>,
          nb::ndarray<nb::numpy>>
hashed_names(const HashedNames& found) {
  std::vector<std::int32_t> columns;
  std::vector<std::uint8_t> is_shared;
  Names names;
  for (const HashedNames::Column& met : found.columns()) {
    columns.push_back(std::int32_t(met.column));
    is_shared.push_back(met.is_shared);
    names.add(found.name(met));
  }
  return nb::make_tuple(array_from<std::int32_t>(columns), Terms::bytes_of(names),
                        array_from<std::int64_t>(names.starts()), array_from<std::uint8_t>(is_shared));
}

void read_names(HashedNames& self, const Hashing& hashing, const Source& source, int n_threads) {
  require(n_threads >= 1, "n_threads must be at least 1");
  interruptible_pass([&](Watch& watch) { self.read(source, hashing, n_threads, watch); });
}

// Rows of occurrences, weighed: value 1 times the weight of the column, then the norm.
template <class V>
void weigh_occurrences(const Array1<const std::int64_t>& start, const Array1<const std::int32_t>& column,
                       const Weighing& weighing, const Array1<V>& out) {
  require(start.size() >= 1 && start.data()[0] == 0, "start begins with 0");
  for (std::size_t k = 0; k + 1 < start.size(); ++k)
    require(start.data()[k] <= start.data()[k + 1], "start must rise");
  require(std::size_t(start.data()[start.size() - 1]) == column.size(), "start must end with the last entry");
  for (std::size_t e = 0; e < column.size(); ++e)
    require(column.data()[e] >= 0 && std::size_t(column.data()[e]) < weighing.weight.size(),
            "a column without a weight");
  require(out.size() == column.size(), "one value for each column is needed");
  V* const values = out.data();
  const nb::gil_scoped_release unlocked;
  std::vector<std::int32_t> ones;
  for (std::size_t k = 0; k + 1 < start.size(); ++k) {
    const auto first = std::size_t(start.data()[k]), n = std::size_t(start.data()[k + 1]) - first;
    if (ones.size() < n) ones.resize(n, 1);
    weighing.weigh<V>({column.data() + first, n}, ones.data(), values + first);
  }
}

Words split(const nb::bytes& source, bool lowercase, std::size_t min_characters, bool fold_accents) {
  Words found(lowercase, min_characters, Runs::letters, fold_accents);
  const std::size_t bad = found.append({source.c_str(), source.size()});
  if (bad != Words::well_formed) throw Malformed(0, bad);
  return found;
}

Strings words(nb::bytes source, bool lowercase, std::size_t min_characters, bool fold_accents) {
  Words found = split(source, lowercase, min_characters, fold_accents);
  Strings all;
  found.each([&](Word word) { all.append(as_str(found.text().substr(word.first, word.size))); });
  return all;
}

}  // namespace

void bind_text(nb::module_& m) {
  m.attr("UNICODE_VERSION") = unicode::version;
  m.def("words", &words, "source"_a, "lowercase"_a, "min_characters"_a, "fold_accents"_a = false,
        "The words of a UTF-8 text, in order: runs of word characters, at least so many of them.");
  m.def(
      "normalized",
      [](nb::bytes source, bool lowercase, bool fold_accents) {
        return as_str(split(source, lowercase, 1, fold_accents).text());
      },
      "source"_a, "lowercase"_a, "fold_accents"_a, "A UTF-8 text as it is before it is split.");

  nb::class_<Splitting>(m, "Splitting", "How texts become words.")
      .def(
          "__init__",
          [](Splitting* self, const std::string& unit, bool lowercase, bool fold_accents,
             std::size_t min_characters, std::pair<std::size_t, std::size_t> grams) {
            new (self) Splitting(splitting(unit, lowercase, fold_accents, min_characters, grams));
          },
          "unit"_a, "lowercase"_a, "fold_accents"_a, "min_characters"_a = 1, "grams"_a = std::pair(0, 0));

  nb::class_<Tokens>(m, "Tokens",
                     "Documents as numbers: every token's word, in order, and the distinct words.")
      .def_static(
          "read",
          [](const Documents& documents, const Splitting& splitting, int n_threads) {
            return read(*splitting.source(documents.texts()), n_threads);
          },
          "documents"_a, "splitting"_a, "n_threads"_a, "Texts split into words.")
      .def_static(
          "of_words",
          [](const Documents& words, const Array1<const std::int64_t>& ends, int n_threads) {
            return read(Given(words, ends).source(), n_threads);
          },
          "words"_a, "ends"_a, "n_threads"_a,
          "Words that were found elsewhere; each document's end among them.")
      .def_prop_ro("n_documents", &Tokens::n_documents)
      .def("__len__", &Tokens::size)
      .def(
          "words", [](const Tokens& self) { return strings(self.words().names()); }, "The distinct words.")
      .def(
          "sequence",
          [](const Tokens& self) {
            std::vector<std::uint32_t> ids;
            std::vector<std::int64_t> ends;
            for (const Part& part : self.parts()) {
              for (const std::size_t end : part.end) ends.push_back(std::int64_t(ids.size() + end));
              ids.insert(ids.end(), part.word.begin(), part.word.end());
            }
            return std::pair(array_from<std::uint32_t>(ids), array_from<std::int64_t>(ends));
          },
          "The number of each token's word, and where each document ends among them.")
      .def("rename", &rename, "names"_a, "Each distinct word becomes another one or, with None, leaves.")
      .def(
          "join_behind",
          [](Tokens& self, const Array1<const bool>& is_first, const Array1<const bool>& is_first_with_filler,
             const std::string& filler, const std::string& prefix) {
            const auto bits = [](const Array1<const bool>& is) {
              return std::vector<bool>(is.data(), is.data() + is.size());
            };
            self.join_behind(bits(is_first), bits(is_first_with_filler), filler, prefix);
          },
          "is_first"_a, "is_first_with_filler"_a, "filler"_a, "prefix"_a,
          "A token behind one of these becomes one new word with it.")
      .def("sums", &sums, "numbers"_a,
           "The sum over each document's tokens of a number for each distinct word.");

  nb::class_<Weighing>(m, "Weighing", "How counts become numbers: tf, a weight for each column, a norm.")
      .def(
          "__init__",
          [](Weighing* self, const std::string& tf, const std::string& norm,
             std::optional<Array1<const double>> weight, double k, double b, double mean_length) {
            new (self) Weighing(make_weighing(tf, norm, std::move(weight), k, b, mean_length));
          },
          "tf"_a, "norm"_a, "weight"_a = nb::none(), "k"_a = 1.2, "b"_a = 0.75, "mean_length"_a = 1.0);

  nb::class_<Terms>(m, "Terms", "All n-grams of tokenised documents with the documents they are in, by name.")
      .def(nb::init<const Tokens&, std::size_t, std::size_t, std::uint64_t, int>(), "tokens"_a, "min_n"_a,
           "max_n"_a, "min_documents"_a, "n_threads"_a)
      .def("n_documents", &Terms::n_documents, "In how many documents each one is.")
      .def("totals", &Terms::totals, "How often each one occurs.")
      .def("matrix", &Terms::matrix, "columns"_a, "weighing"_a, "is_double"_a,
           "(indptr, indices, data) with these columns, -1 for none.")
      .def("vocabulary", &Terms::vocabulary, "columns"_a,
           "What a Vocabulary with these columns is made from.")
      .def("write_run", &Terms::write_run, "write"_a,
           "Gives the bytes of a sorted run of all terms to a function; returns how many there were.");

  nb::class_<Vocabulary>(m, "Vocabulary", "A learned vocabulary of n-grams: documents to rows.")
      .def(
          "__init__",
          [](Vocabulary* self, const Array1<const std::uint8_t>& bytes,
             const Array1<const std::int64_t>& starts, const Array1<const std::int32_t>& columns,
             const std::vector<LevelArrays>& longer, std::size_t n_columns) {
            new (self) Vocabulary(make_vocabulary(bytes, starts, columns, longer, n_columns));
          },
          "bytes"_a, "starts"_a, "columns"_a, "longer"_a, "n_columns"_a)
      .def(
          "rows",
          [](const Vocabulary& self, const Tokens& tokens, const Weighing& weighing, bool is_double) {
            require(weighing.weight.empty() || weighing.weight.size() == self.n_columns(),
                    "one weight for each column is needed");
            return matrix_of(is_double, [&]<class V>(Watch& watch) {
              return vocabulary_rows<V>(self, tokens, weighing, watch);
            });
          },
          "tokens"_a, "weighing"_a, "is_double"_a, "(indptr, indices, data) of tokenised documents.");
  m.def("spell", &spell, "bytes"_a, "starts"_a, "columns"_a, "longer"_a, "n_columns"_a, "separator"_a,
        "The names of a vocabulary's columns.");
  m.def(
      "strings",
      [](const Array1<const std::uint8_t>& bytes, const Array1<const std::int64_t>& starts) {
        return strings(names_from(bytes, starts));
      },
      "bytes"_a, "starts"_a, "Strings from one block of UTF-8.");

  nb::class_<GramTerms>(m, "GramTerms", "Character n-grams inside words, with the documents they are in.")
      .def(nb::init<const Tokens&, std::size_t, std::size_t>(), "tokens"_a, "min_n"_a, "max_n"_a,
           nb::keep_alive<1, 2>())
      .def("n_documents", &GramTerms::n_documents, "In how many documents each one is.")
      .def("totals", &GramTerms::totals, "How often each one occurs.")
      .def("matrix", &GramTerms::matrix, "columns"_a, "weighing"_a, "is_double"_a,
           "(indptr, indices, data) with these columns, -1 for none.")
      .def("vocabulary", &GramTerms::vocabulary, "columns"_a,
           "Bytes and starts of the names of these columns.")
      .def("write_run", &GramTerms::write_run, "write"_a,
           "Gives the bytes of a sorted run of all terms to a function; returns how many there were.");
  nb::class_<GramVocabulary>(m, "GramVocabulary", "A learned vocabulary of character n-grams inside words.")
      .def(
          "__init__",
          [](GramVocabulary* self, const Array1<const std::uint8_t>& bytes,
             const Array1<const std::int64_t>& starts) {
            new (self) GramVocabulary{map_of(names_from(bytes, starts))};
          },
          "bytes"_a, "starts"_a)
      .def("rows", &gram_rows, "tokens"_a, "min_n"_a, "max_n"_a, "weighing"_a, "is_double"_a,
           "(indptr, indices, data) of tokenised documents.");

  nb::class_<Hashing>(m, "Hashing", "N-grams hashed to columns.")
      .def(
          "__init__",
          [](Hashing* self, std::size_t min_n, std::size_t max_n, std::size_t n_columns, bool is_murmur,
             const std::string& separator) {
            require(min_n >= 1 && max_n >= min_n, "1 <= min_n <= max_n is needed");
            require(n_columns >= 1 && n_columns <= std::size_t(std::numeric_limits<std::int32_t>::max()),
                    "1 to 2^31 - 1 columns are needed");
            require(separator.size() <= 1, "a separator is one byte or none");
            new (self) Hashing{min_n, max_n, n_columns, is_murmur, separator.empty() ? '\0' : separator[0]};
          },
          "min_n"_a, "max_n"_a, "n_columns"_a, "is_murmur"_a, "separator"_a)
      .def(
          "rows",
          [](const Hashing& self, const Documents& documents, const Splitting& splitting, bool is_signed,
             const Weighing& weighing, bool is_double, int n_threads) {
            return hashed(self, *splitting.source(documents.texts()), is_signed, weighing, is_double,
                          n_threads);
          },
          "documents"_a, "splitting"_a, "is_signed"_a, "weighing"_a, "is_double"_a, "n_threads"_a,
          "(indptr, indices, data) of texts.")
      .def(
          "rows_of_tokens",
          [](const Hashing& self, const Tokens& tokens, bool is_signed, const Weighing& weighing,
             bool is_double, int n_threads) {
            const Named named(tokens);
            return hashed(self, GivenWords(named.words, named.ends), is_signed, weighing, is_double,
                          n_threads);
          },
          "tokens"_a, "is_signed"_a, "weighing"_a, "is_double"_a, "n_threads"_a,
          "(indptr, indices, data) of tokenised documents.");
  nb::class_<HashedNames>(m, "HashedNames",
                          "Which n-gram was met first in each column, and whether others were.")
      .def(nb::init<>())
      .def(
          "read",
          [](HashedNames& self, const Hashing& hashing, const Documents& documents,
             const Splitting& splitting,
             int n_threads) { read_names(self, hashing, *splitting.source(documents.texts()), n_threads); },
          "hashing"_a, "documents"_a, "splitting"_a, "n_threads"_a)
      .def(
          "read_tokens",
          [](HashedNames& self, const Hashing& hashing, const Tokens& tokens, int n_threads) {
            const Named named(tokens);
            read_names(self, hashing, GivenWords(named.words, named.ends), n_threads);
          },
          "hashing"_a, "tokens"_a, "n_threads"_a)
      .def("found", &hashed_names, "(columns, bytes, starts, is_shared) of the columns that were met.");

  m.def("weigh_occurrences", &weigh_occurrences<float>, "start"_a, "column"_a, "weighing"_a, "out"_a);
  m.def("weigh_occurrences", &weigh_occurrences<double>, "start"_a, "column"_a, "weighing"_a, "out"_a);
}

}  // namespace lineal
