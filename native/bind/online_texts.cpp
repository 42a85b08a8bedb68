#include "documents.h"
#include "lineal/text/hashed_stream.h"
#include "online.h"
#include "text.h"

namespace lineal {
namespace {

// Texts, and how they become rows.
struct HashedTexts {
  const Documents* documents;
  Hashing hashing;
  Splitting splitting;
  bool is_signed;
  Weighing weighing;
  bool is_double;
  int n_threads;
  nb::object owner;  // of the documents
};

void learn(const HashedTexts& texts, const BoundSteps& bound, Array1<const double> s,
           const OnlineSettings& set, const OnlineArrays& arrays) {
  const OnlineTable table = arrays.table(set);
  const auto n = Index(texts.documents->texts().size());
  require(Index(texts.hashing.n_columns) <= table.n_columns(), "a column has no record");
  bound.require_fit(n, s);
  require(bound.most_scores <= set.room, "a record has no room for a score");
  require(texts.n_threads >= 1, "n_threads must be at least 1");
  require(texts.weighing.weight.empty() || texts.weighing.weight.size() == texts.hashing.n_columns,
          "one weight for each column is needed");
  const std::unique_ptr<Source> source = texts.splitting.source(texts.documents->texts());
  OnlineLearner learner(*bound.steps, table);
  const auto run = [&]<class Made>(Watch& watch) {
    stream_hashed_rows<Made>(
        *source, texts.hashing, texts.is_signed, texts.weighing, texts.n_threads, watch,
        [&](const auto& rows, Index first) { learner.meet(rows, first, s.data(), watch); });
  };
  interruptible([&](Watch& watch) {
    if (texts.weighing.makes_ones() && !texts.is_signed)
      run.template operator()<DocumentSets>(watch);
    else if (texts.is_double)
      run.template operator()<DocumentRows<double>>(watch);
    else
      run.template operator()<DocumentRows<float>>(watch);
  });
}

}  // namespace

void bind_online_texts(nb::module_& m) {
  nb::class_<HashedTexts>(m, "HashedTexts", "Texts, and how they are hashed to rows.")
      .def(
          "__init__",
          [](HashedTexts* self, nb::object documents, const Hashing& hashing, const Splitting& splitting,
             bool is_signed, const Weighing& weighing, bool is_double, int n_threads) {
            new (self) HashedTexts{&nb::cast<const Documents&>(documents),
                                   hashing,
                                   splitting,
                                   is_signed,
                                   weighing,
                                   is_double,
                                   n_threads,
                                   documents};
          },
          "documents"_a, "hashing"_a, "splitting"_a, "is_signed"_a, "weighing"_a, "is_double"_a,
          "n_threads"_a)
      .def("__len__", [](const HashedTexts& self) { return self.documents->texts().size(); })
      .def_prop_ro("n_columns", [](const HashedTexts& self) { return self.hashing.n_columns; });
  m.def("online_learn_texts", &learn, "texts"_a, "steps"_a, "s"_a, "settings"_a, "arrays"_a,
        "online_learn for texts, which are hashed on the way, block by block and in order.");
}

}  // namespace lineal
