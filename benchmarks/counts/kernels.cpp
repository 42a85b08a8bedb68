// The inner loops of the library on fixed inputs, one for each name, for a tool that counts instructions.
//
//   kernels         the names
//   kernels NAME    makes the input, does the work inside measured(), and prints what it is counted by:
//                   "units N", N stored numbers met, bytes of text read or kernel values made
//
// One thread and seeds: every run executes the same instructions.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lineal/epoch/block_dual_cd.h"
#include "lineal/epoch/dual_cd.h"
#include "lineal/epoch/kernel_dual.h"
#include "lineal/epoch/online.h"
#include "lineal/epoch/prox_cd.h"
#include "lineal/passes.h"
#include "lineal/rng.h"
#include "lineal/text/hashed_stream.h"
#include "lineal/text/term_matrix.h"

using namespace lineal;

// What is counted: a name that a tool can find, of which the compiler makes neither copies nor less.
#ifdef __clang__
#define LINEAL_OPAQUE __attribute__((noinline, optnone))
#else
#define LINEAL_OPAQUE __attribute__((noipa))
#endif
extern "C" LINEAL_OPAQUE void measured(const std::function<void()>& work) {
  work();
  asm volatile("" ::: "memory");
}

namespace {

using Numbers = std::vector<double>;

double uniform(Rng& rng, double low, double high) {
  return low + (high - low) * (double(rng.next() >> 11) * 0x1p-53);
}

// Column k about as often as 1 / (k + 3), as words are.
std::uint64_t zipf(Rng& rng, std::uint64_t n) {
  return std::min(std::uint64_t(3.0 * std::pow((double(n) + 3.0) / 3.0, uniform(rng, 0, 1)) - 3.0), n - 1);
}

// Rows of unit length with as many numbers as a text has words, and a class that they tell of.
template <class V>
struct Data {
  Index n, d;
  std::vector<Index> start{0};
  std::vector<std::int32_t> index;
  std::vector<V> value;
  Numbers y, s, norm2;

  Data(Index n_rows, Index n_columns, Index per_row, std::uint64_t seed = 1) : n(n_rows), d(n_columns) {
    Rng rng(seed);
    Numbers teacher(std::size_t(d), 0.0);
    for (double& each : teacher) each = uniform(rng, -1, 1);
    for (Index i = 0; i < n; ++i) {
      std::map<std::int32_t, double> row;
      for (Index k = 0; k < per_row; ++k)
        row[std::int32_t(zipf(rng, std::uint64_t(d)))] = uniform(rng, 0.1, 1.0);
      double length = 0, score = 0;
      for (const auto& [column, number] : row) length += number * number;
      for (const auto& [column, number] : row) {
        index.push_back(column);
        value.push_back(V(number / std::sqrt(length)));
        score += teacher[std::size_t(column)] * number;
      }
      start.push_back(Index(index.size()));
      y.push_back(score + uniform(rng, -0.3, 0.3) > 0 ? 1.0 : -1.0);
      s.push_back(1.0);
      norm2.push_back(1.0);
    }
  }
  Csr<V> csr() const { return {n, d, start.data(), index.data(), value.data()}; }
  Index stored() const { return start.back(); }
  Halves<Csr<V>> whole() const { return {csr(), nullptr}; }
};

template <class V, class Loss>
Index dual_cd(const Loss& loss) {
  const Data<V> data(1000, 5000, 120);
  const DualSettings set{1.0, 0.0, 0.0, false};
  Numbers u(std::size_t(data.n), 0.0), share(u), t(std::size_t(data.d), 0.0);
  std::vector<Rest> rest(u.size());
  std::vector<std::int32_t> order(u.size());
  Rng rng(2);
  Watch watch;
  int patience = 0;
  DualState state{data.y.data(), data.s.data(), data.norm2.data(), u.data(), share.data(), rest.data(),
                  0.0,           data.n};
  measured([&] {
    for (int epoch = 0; epoch < 3; ++epoch) {
      shuffle_rows(rng, order);
      dual_cd_epoch(loss, data.whole(), set, order, patience, watch, state, t.data());
    }
  });
  return 3 * data.stored();
}

// Twenty classes: each row's y turned by its number, so that classes differ.
template <class Block>
Index block_dual_cd(const std::function<Block(const Numbers&, const std::vector<std::int32_t>&)>& make,
                    bool is_joint) {
  const Index K = 20, width = 24;
  const Data<float> data(500, 4000, 120);
  std::vector<std::int32_t> code;
  Numbers Y;
  for (Index i = 0; i < data.n; ++i) {
    const Index best = data.start[std::size_t(i)];
    code.push_back(data.index[std::size_t(best)] % std::int32_t(K));
    for (Index k = 0; k < K; ++k) Y.push_back(code.back() == k ? 1.0 : -1.0);
  }
  const std::size_t size = std::size_t(data.n * K);
  std::vector<float> U(size, 0.0F), extra(size, -20.0F), W(std::size_t(data.d * width), 0.0F);
  for (Index i = 0; is_joint && i < data.n; ++i) {
    U[std::size_t(i * K + code[std::size_t(i)])] = 1.0F;
    extra[std::size_t(i * K + code[std::size_t(i)])] = 0.0F;
  }
  Numbers share(std::size_t(data.n), 0.0), b(std::size_t(K), 0.0);
  std::vector<Rest> rest(share.size());
  std::vector<std::int32_t> order(share.size());
  Rng rng(3);
  Watch watch;
  int patience = 0;
  const Block block = make(Y, code);
  measured([&] {
    for (int epoch = 0; epoch < 3; ++epoch) {
      shuffle_rows(rng, order);
      const BlockState<float> state{
          U.data(), is_joint ? extra.data() : nullptr, b.data(), share.data(), rest.data(), data.n, K};
      block_dual_cd_epoch(block, data.whole(), data.s.data(), data.norm2.data(),
                          DualSettings{1.0, 0.0, 0.0, false}, Outputs{0, K, K, width},
                          std::span<const std::int32_t>(order), patience, watch, state, W.data());
    }
  });
  return 3 * data.stored();
}

template <class V>
Index product() {
  const Data<V> data(2000, 20000, 120);
  const Numbers w(std::size_t(data.d), 0.5);
  Numbers z(std::size_t(data.n), 0.0);
  measured([&] { dot_pass(data.csr(), w.data(), 1, 1, z.data(), 1); });
  return data.stored();
}

template <class V>
Index adjoint() {
  const Data<V> data(2000, 20000, 120);
  const Numbers u(std::size_t(data.n), 0.5);
  Numbers v(std::size_t(data.d), 0.0);
  measured([&] { adjoint_pass(data.csr(), u.data(), 1, v.data(), 1); });
  return data.stored();
}

// Texts of words by Zipf's law; a word is its rank in letters, with a comma here and a capital there.
std::vector<std::string> texts() {
  Rng rng(4);
  std::vector<std::string> all(400);
  for (std::string& text : all)
    for (int k = 0; k < 150; ++k) {
      std::uint64_t rank = zipf(rng, 50000) + 26;
      std::string word;
      for (; rank > 0; rank /= 26) word += char('a' + rank % 26);
      if (rng.below(12) == 0) word[0] = char(word[0] - 'a' + 'A');
      text += word + (rng.below(10) ? " " : ", ");
    }
  return all;
}
Index bytes_of(const std::vector<std::string>& all) {
  Index n = 0;
  for (const std::string& text : all) n += Index(text.size());
  return n;
}

Index tfidf() {
  const std::vector<std::string> all = texts();
  const std::vector<std::string_view> lent(all.begin(), all.end());
  measured([&] {
    Watch watch;
    const Tokens tokens = Tokens::read(SplitTexts<Words>(lent, Words(true, 2)), 1, watch);
    const NGrams ngrams(tokens, 2, 2, 1, watch);
    std::vector<Term> terms;
    Numbers weights;
    ngrams.walk([&](std::size_t n, std::size_t k) {
      const Level& level = ngrams.levels()[n];
      const std::size_t first = level.first[k];
      terms.push_back(
          {{level.entries.data() + first, level.first[k + 1] - first}, std::int32_t(terms.size())});
      weights.push_back(1.0 + std::log(double(all.size() + 1) / double(level.n_documents(k) + 1)));
    });
    Weighing weighing;
    weighing.tf = Tf::logarithm;
    weighing.norm = Norm::l2;
    weighing.own(std::move(weights));
    term_matrix<float>(terms, ngrams.n_documents(), weighing, 1, [] {});
  });
  return bytes_of(all);
}

Index hashing(bool is_murmur) {
  const std::vector<std::string> all = texts();
  const std::vector<std::string_view> lent(all.begin(), all.end());
  measured([&] {
    Watch watch;
    Hashing hash{.max_n = 2, .n_columns = std::size_t(1) << 20};
    hash.is_murmur = is_murmur;
    if (is_murmur) hash.separator = ' ';
    Weighing weighing;
    weighing.norm = Norm::l2;
    hashed_rows<float>(SplitTexts<Words>(lent, Words(true, 2)), hash, is_murmur, weighing, 1, watch);
  });
  return bytes_of(all);
}

Index online() {
  const Data<float> data(2000, 20000, 120);
  const OnlineSettings set{.room = 1,
                           .is_shared = false,
                           .is_averaged = false,
                           .is_pulled = false,
                           .has_intercept = true,
                           .is_intercept_penalized = false,
                           .rate = 0.0,
                           .power = 0.0,
                           .l1 = 0.0,
                           .l2 = 0.0,
                           .l1_growth = 0.0,
                           .l2_growth = 0.0,
                           .prior = 4.0,
                           .intercept_prior = 4.0,
                           .whole_prior = 0.25,
                           .whole_intercept_prior = 0.5};
  Numbers records(std::size_t(data.d * set.stride()), 0.0), intercept(std::size_t(set.stride()), 0.0);
  std::vector<std::int32_t> places(std::size_t(WholeMetric::most_columns), -1), code;
  for (const double y : data.y) code.push_back(y > 0);
  OnlineTally tally{};
  const std::vector<std::int64_t> from{-1, -1};
  const std::vector<std::int32_t> order{0, 1};
  ClassSteps<Log> steps(Log{}, Joint::none, ArrivingClasses{code.data(), from, order});
  const OnlineTable table{set, records.data(), data.d, intercept.data(), places.data(), nullptr, tally};
  Watch watch;
  measured([&] {
    OnlineLearner learner(steps, table);
    learner.meet(data.csr(), 0, data.s.data(), watch);
  });
  return data.stored();
}

// The columns of a working set, five sweeps: here rows of `data` are columns.
Index column_descent() {
  const Data<float> data(2000, 3000, 60);
  const std::size_t n = std::size_t(data.d), m = std::size_t(data.n);
  const Numbers h(n, 0.25);
  Rng rng(5);
  Numbers residual(n, 0.0), w(m, 0.0), curvature(m, 0.25);
  for (double& each : residual) each = uniform(rng, -0.5, 0.5);
  double b = 0;
  Watch watch;
  Sweeps done{};
  const Numbers l1(m, 0.05), l2(m, 0.0);
  measured([&] {
    done = column_cd(data.csr(), h.data(), false, {l1.data(), l2.data()}, curvature.data(), residual.data(),
                     w.data(), b, 0.0, 5, watch);
  });
  return done.count * data.stored();
}

Index gram_descent() {
  const Index m = 300;
  Rng rng(6);
  Numbers G(std::size_t(m * m), 0.0), gradient(std::size_t(m), 0.0), w(gradient);
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j <= i; ++j)
      G[std::size_t(i * m + j)] = G[std::size_t(j * m + i)] = i == j ? 1.0 : uniform(rng, -0.02, 0.02);
  for (double& each : gradient) each = uniform(rng, -1, 1);
  Watch watch;
  Sweeps done{};
  const Numbers l1(std::size_t(m), 0.1), l2(std::size_t(m), 0.0);
  measured([&] {
    done = gram_cd({G.data(), m}, {l1.data(), l2.data()}, gradient.data(), w.data(), 0.0, 6, watch);
  });
  return done.count * m * m;
}

Index kernel_dual() {
  const Index n = 600, d = 20;
  Rng rng(7);
  Numbers full;
  for (Index k = 0; k < n * d; ++k) full.push_back(uniform(rng, -1, 1));
  const Dense<double> X{n, d, full.data()};
  KernelDual::Variables v;
  std::vector<Index> rows;
  for (Index i = 0; i < n; ++i) {
    const double y = full[std::size_t(i * d)] + uniform(rng, -0.5, 0.5) > 0 ? 1 : -1;
    rows.push_back(i);
    v.place.push_back(i);
    v.group.push_back(0);
    v.c.push_back(y);
    v.lo.push_back(y > 0 ? 0 : -1);
    v.hi.push_back(y > 0 ? 1 : 0);
    v.beta.push_back(0);
  }
  constexpr int n_steps = 4;
  const Index block = 128;
  measured([&] {
    const kernel::VectorSource<kernel::GaussianProfile> source(X, kernel::GaussianProfile{0.1},
                                                               Numbers(std::size_t(d)));
    KernelDual machine(source, rows, v, 1, block);
    machine.refresh(1);
    for (int k = 0; k < n_steps; ++k) {
      machine.step(0.1, 20000, 1);
      machine.correct(1);
    }
    machine.gap();
  });
  return n_steps * n * block;
}

const std::map<std::string, std::function<Index()>> kernels{
    {"dual_cd, hinge, float64", [] { return dual_cd<double>(Hinge{1.0}); }},
    {"dual_cd, log, float32", [] { return dual_cd<float>(Log{}); }},
    {"block dual_cd, squared hinge, 20 classes",
     [] {
       return block_dual_cd<Elementwise<SquaredHinge, float>>(
           [](const Numbers& Y, const auto&) {
             return Elementwise<SquaredHinge, float>{SquaredHinge{1.0}, Y.data()};
           },
           false);
     }},
    {"block dual_cd, softmax, 20 classes",
     [] {
       return block_dual_cd<SoftmaxBlock<float>>(
           [](const auto&, const auto&) { return SoftmaxBlock<float>{}; }, true);
     }},
    {"X w, float64", [] { return product<double>(); }},
    {"X w, float32", [] { return product<float>(); }},
    {"X'u, float64", [] { return adjoint<double>(); }},
    {"X'u, float32", [] { return adjoint<float>(); }},
    {"tf-idf of words 1-2", tfidf},
    {"hashing of words 1-2, own hash", [] { return hashing(false); }},
    {"hashing of words 1-2, MurmurHash3", [] { return hashing(true); }},
    {"online pass, log", online},
    {"prox_cd on columns", column_descent},
    {"prox_cd on a Gram matrix", gram_descent},
    {"kernel dual, Gaussian", kernel_dual},
};

}  // namespace

int main(int n, char** words) {
  if (n < 2) {
    for (const auto& [name, work] : kernels) std::puts(name.c_str());
    return 0;
  }
  const auto found = kernels.find(words[1]);
  if (found == kernels.end()) {
    std::fprintf(stderr, "there is no kernel %s\n", words[1]);
    return 2;
  }
  std::printf("units %lld\n", static_cast<long long>(found->second()));
  return 0;
}
