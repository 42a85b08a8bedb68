#include "lineal/text/hashed_stream.h"

#include <cstring>
#include <functional>

#include "check.h"
#include "lineal/text/word_grams.h"
#include "texts.h"

using namespace lineal;
using namespace lineal::check;

namespace {

using WordTexts = Large<SplitTexts<Words>>;
template <class V>
using Use = std::function<void(const Csr<V>&, Index)>;

// Short texts, so many that a block is full of them, and some empty, long and very long ones.
Strings some_texts(Rng& rng) {
  Strings texts = random_texts(rng, 1500, 200, 8);
  for (const std::size_t at : {0u, 3u, 700u, 1499u}) texts[at].clear();
  for (const std::size_t at : {5u, 800u, 801u, 1498u})
    for (std::size_t k = 0; k < (at == 800 ? 6000u : 2500u); ++k)
      texts[at] += "long" + std::to_string(rng.below(3000)) + " ";
  return texts;
}

// What a stream hands over, and where it was cut.
template <class V>
struct Handed {
  std::vector<Index> start{0}, firsts;
  std::vector<std::int32_t> column;
  std::vector<V> value;

  void operator()(const Csr<V>& rows, Index first) {
    CHECK(first == n_rows());
    CHECK(rows.n_rows > 0 && rows.start[0] == 0);
    firsts.push_back(first);
    const Index before = start.back(), n = rows.start[rows.n_rows];
    for (Index i = 0; i < rows.n_rows; ++i) start.push_back(before + rows.start[i + 1]);
    column.insert(column.end(), rows.index, rows.index + n);
    value.insert(value.end(), rows.value, rows.value + n);
  }
  Index n_rows() const { return Index(start.size()) - 1; }
};

// What is thrown, if anything; one function, so that every kind of stream is compiled once.
template <class V>
std::string stream(const Source& source, const Hashing& hashing, bool is_signed, const Weighing& weighing,
                   int n_threads, Watch& watch, const Use<V>& use) {
  return refusal([&] {
    stream_hashed_rows<DocumentRows<V>>(source, hashing, is_signed, weighing, n_threads, watch, use);
  });
}

template <class V>
void check_streamed(const Source& source, const Hashing& hashing, const Weighing& weighing) {
  Watch watch;
  for (const bool is_signed : {false, true}) {
    const TermMatrix<V> wanted = hashed_rows<V>(source, hashing, is_signed, weighing, 1, watch);
    std::vector<Index> firsts;
    for (int n_threads = 1; n_threads <= 3; ++n_threads) {
      Handed<V> got;
      CHECK(stream<V>(source, hashing, is_signed, weighing, n_threads, watch, std::ref(got)).empty());
      CHECK(got.start == wanted.start);
      const std::size_t n = got.value.size();
      CHECK(n > 0 && n == std::size_t(wanted.start.back()));
      CHECK(std::memcmp(got.column.data(), wanted.column.data(), n * sizeof(std::int32_t)) == 0);
      CHECK(std::memcmp(got.value.data(), wanted.value.data(), n * sizeof(V)) == 0);
      if (n_threads == 1) firsts = got.firsts;
      CHECK(got.firsts.size() > 3 && got.firsts == firsts);
    }
  }
}

}  // namespace

THEOREM("streamed rows are those of one thread bit for bit, cut alike by any number of threads") {
  Rng rng(1);
  const Strings texts = some_texts(rng);
  const std::vector<std::string_view> lent = views(texts);
  Weighing weighing;
  weighing.tf = Tf::logarithm;
  weighing.norm = Norm::l2;
  const WordTexts words(lent, Words(true, 1));
  check_streamed<float>(words, Hashing{.max_n = 2, .n_columns = 1 << 18}, weighing);
  check_streamed<float>(words, Hashing{.max_n = 2, .n_columns = 1000, .is_murmur = true}, Weighing());
  check_streamed<double>(Large<GramsOf>(std::make_unique<WordTexts>(words), 2, 4), Hashing{.n_columns = 5000},
                         weighing);

  std::vector<std::string_view> all;
  std::vector<std::size_t> ends;
  const Sentences documents = sentences_of(tokens_of(texts));
  for (const Strings& document : documents) {
    all.insert(all.end(), document.begin(), document.end());
    ends.push_back(all.size());
  }
  const Large<GivenWords> given(all, ends);
  check_streamed<float>(given, Hashing{.max_n = 3, .n_columns = 0x7FFFFFFF}, Weighing());
}

THEOREM("streamed sets are the columns of the hashed rows, in one order for any number of threads") {
  Rng rng(4);
  const Strings texts = some_texts(rng);
  const std::vector<std::string_view> lent = views(texts);
  const WordTexts source(lent, Words(true, 1));
  const Weighing weighing;
  Watch watch;
  for (const Hashing& hashing :
       {Hashing{.max_n = 2, .n_columns = 1 << 18}, Hashing{.min_n = 2, .max_n = 3, .n_columns = 77},
        Hashing{.max_n = 2, .n_columns = 1000, .is_murmur = true}}) {
    const TermMatrix<float> wanted = hashed_rows<float>(source, hashing, false, weighing, 1, watch);
    std::vector<std::int32_t> in_order;
    for (int n_threads = 1; n_threads <= 3; ++n_threads) {
      std::vector<std::int32_t> column, sorted;
      Index n_rows = 0;
      stream_hashed_rows<DocumentSets>(
          source, hashing, false, weighing, n_threads, watch, [&](const Sets& rows, Index first) {
            CHECK(first == n_rows);
            for (Index i = 0; i < rows.n_rows; ++i, ++n_rows) {
              const SetRow row = rows[i];
              CHECK(row.size == wanted.start[std::size_t(n_rows) + 1] - wanted.start[std::size_t(n_rows)]);
              column.insert(column.end(), row.index, row.index + row.size);
              sorted.insert(sorted.end(), row.index, row.index + row.size);
              std::sort(sorted.end() - row.size, sorted.end());
            }
          });
      CHECK(n_rows == Index(texts.size()));
      CHECK(std::memcmp(sorted.data(), wanted.column.data(), sorted.size() * sizeof(std::int32_t)) == 0);
      if (n_threads == 1) in_order = column;
      CHECK(column == in_order);
    }
  }
}

THEOREM("no documents are streamed as no block, empty ones as empty rows, up to 1024 to a block") {
  Watch watch;
  for (const std::size_t n : {0u, 1u, 1024u, 3000u})
    for (int n_threads = 1; n_threads <= 3; ++n_threads) {
      const std::vector<std::string_view> texts(n);
      const WordTexts source(texts, Words(true, 1));
      Handed<float> got;
      stream<float>(source, Hashing{.n_columns = 8}, false, Weighing(), n_threads, watch, std::ref(got));
      CHECK(got.n_rows() == Index(n) && got.value.empty());
      CHECK(got.firsts.size() == (n + 1023) / 1024);
    }
}

THEOREM("a flaw arrives when all blocks before its own have been used, of several flaws the first") {
  Rng rng(2);
  const Strings texts = some_texts(rng);
  for (const std::size_t flawed : {0u, 4u, 802u, 1499u}) {
    Strings bad = texts;
    bad[flawed] = "fine \xC3";
    bad[1499] += "\xFF";
    const std::vector<std::string_view> lent = views(bad);
    const WordTexts source(lent, Words(true, 1));
    const Hashing hashing{.n_columns = 1 << 18};
    const Weighing weighing;
    const HashedBlocks<DocumentRows<float>> blocks{source, hashing, false, weighing};
    std::size_t n_before = 0;
    while (blocks.end_of(n_before) <= flawed) n_before = blocks.end_of(n_before);
    for (int n_threads = 1; n_threads <= 3; ++n_threads) {
      Handed<float> got;
      Watch watch;
      CHECK(stream<float>(source, hashing, false, weighing, n_threads, watch, std::ref(got)) ==
            Malformed(flawed, 5).what());
      CHECK(got.n_rows() == Index(n_before));
    }
  }
}

THEOREM(
    "a stream that is told to stop hands over no further block, and what its user throws passes through") {
  Rng rng(3);
  const Strings texts = some_texts(rng);
  const std::vector<std::string_view> lent = views(texts);
  const WordTexts source(lent, Words(true, 1));
  for (int n_threads = 1; n_threads <= 3; ++n_threads)
    for (const bool is_thrown : {false, true}) {
      int n_used = 0;
      Watch watch([&] { return n_used == 2; }, Watch::Wait(0), 1);
      const Use<float> use = [&](const Csr<float>&, Index) {
        if (++n_used == 2 && is_thrown) throw InputFlaw("enough");
      };
      const std::string thrown =
          stream<float>(source, Hashing{.n_columns = 1 << 18}, false, Weighing(), n_threads, watch, use);
      CHECK(n_used == 2 && thrown == (is_thrown ? "enough" : "") && watch.is_over() != is_thrown);
    }
}
