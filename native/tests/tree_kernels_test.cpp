#include <cmath>
#include <string>
#include <vector>

#include "check.h"
#include "lineal/kernel/trees.h"
#include "samples.h"

using namespace lineal;
using namespace lineal::kernel;

namespace {

std::u32string wide(const std::string& text) { return {text.begin(), text.end()}; }

Forest forest_of(const std::vector<std::string>& texts) {
  Forest forest;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const Flaw flaw = read_tree(wide(texts[i]), Index(i), forest);
    CHECK(std::string(flaw.kind).empty());
  }
  return forest;
}

Flaw flaw_of(const std::string& text) {
  Forest forest;
  return read_tree(wide(text), 3, forest);
}

// A tree as it is thought of, with the recursion of Collins and Duffy as it is written.
struct Plain {
  std::string label;
  std::vector<Plain> children;
  bool is_word = false;
};

Plain some_tree(Rng& rng, int depth) {
  Plain tree{std::string(1, char('A' + int(rng.below(3)))), {}};
  const int n = int(rng.below(4));
  for (int k = 0; k < n; ++k) {
    if (depth == 0 || rng.below(3) == 0)
      tree.children.push_back({std::string(1, char('a' + int(rng.below(2)))), {}, true});
    else
      tree.children.push_back(some_tree(rng, depth - 1));
  }
  return tree;
}

std::string text_of(const Plain& tree) {
  if (tree.is_word) return tree.label;
  std::string text = "(" + tree.label;
  for (const Plain& child : tree.children) text += " " + text_of(child);
  return text + ")";
}

void nodes_of(const Plain& tree, std::vector<const Plain*>& all) {
  if (tree.is_word) return;
  all.push_back(&tree);
  for (const Plain& child : tree.children) nodes_of(child, all);
}

double common(const Plain& u, const Plain& v, double decay, double sigma) {
  if (u.label != v.label || u.children.size() != v.children.size()) return 0;
  double product = decay;
  for (std::size_t c = 0; c < u.children.size(); ++c) {
    const Plain &a = u.children[c], &b = v.children[c];
    if (a.label != b.label || a.is_word != b.is_word) return 0;
    if (!a.is_word) product *= sigma + common(a, b, decay, sigma);
  }
  return product;
}

double slow_kernel(const Plain& x, const Plain& z, double decay, double sigma) {
  std::vector<const Plain*> us, vs;
  nodes_of(x, us);
  nodes_of(z, vs);
  double sum = 0;
  for (const Plain* u : us)
    for (const Plain* v : vs) sum += common(*u, *v, decay, sigma);
  return sum;
}

}  // namespace

THEOREM("the tree kernels are the recursion of Collins and Duffy over all pairs of nodes") {
  Rng rng(5);
  for (const double sigma : {0.0, 1.0}) {
    std::vector<Plain> xs, zs;
    std::vector<std::string> x_texts, z_texts;
    for (int i = 0; i < 30; ++i) xs.push_back(some_tree(rng, 4)), x_texts.push_back(text_of(xs.back()));
    for (int j = 0; j < 70; ++j) zs.push_back(some_tree(rng, 4)), z_texts.push_back(text_of(zs.back()));
    const Forest X = forest_of(x_texts), Z = forest_of(z_texts);
    std::vector<double> cross(30 * 70), own(30 * 30), again(30 * 30), diagonal(30);
    Watch watch;
    tree_table(X, Z, {30, 70, false, cross.data()}, 0.6, sigma, 3, watch);
    tree_table(X, X, {30, 30, true, own.data()}, 0.6, sigma, 1, watch);
    tree_table(X, X, {30, 30, true, again.data()}, 0.6, sigma, 4, watch);
    tree_diagonal(X, diagonal.data(), 0.6, sigma, 2, watch);
    CHECK(check::same_bits(own, again));
    for (std::size_t i = 0; i < 30; ++i) {
      for (std::size_t j = 0; j < 70; ++j) {
        const double wanted = slow_kernel(xs[i], zs[j], 0.6, sigma);
        CHECK_NEAR(cross[i * 70 + j], wanted, 1e-12 * (1 + wanted));
      }
      for (std::size_t j = 0; j < 30; ++j) {
        CHECK(own[i * 30 + j] == own[j * 30 + i]);
        CHECK_NEAR(own[i * 30 + j], slow_kernel(xs[i], xs[j], 0.6, sigma), 1e-12 * (1 + own[i * 30 + j]));
      }
      CHECK(diagonal[i] == own[i * 30 + i]);
    }
  }
}

THEOREM("some trees of a forest are those trees") {
  Rng rng(6);
  std::vector<std::string> texts;
  for (int i = 0; i < 12; ++i) texts.push_back(text_of(some_tree(rng, 3)));
  const Forest all = forest_of(texts);
  const std::vector<Index> places{7, 0, 7, 11};
  const Forest some = all.take(places.data(), 4);
  std::vector<double> whole(144), part(16);
  Watch watch;
  tree_table(all, all, {12, 12, true, whole.data()}, 0.5, 1.0, 1, watch);
  tree_table(some, all.take(places.data(), 4), {4, 4, false, part.data()}, 0.5, 1.0, 1, watch);
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j)
      CHECK_NEAR(part[i * 4 + j], whole[std::size_t(places[i] * 12 + places[j])], 1e-12);
}

THEOREM("a tree that is 100,000 deep overflows no stack") {
  // Many labels: nodes with the same production are few, so that the time is that of the depth.
  const int depth = 100000;
  std::string text;
  for (int k = 0; k < depth; ++k) text += "(N" + std::to_string(k % 5000);
  text += " w" + std::string(std::size_t(depth), ')');
  const Forest X = forest_of({text});
  CHECK(X.node.size() == std::size_t(depth));
  double value;
  Watch watch;
  tree_diagonal(X, &value, 0.5, 1.0, 1, watch);
  CHECK(std::isfinite(value) && value >= 0.5 * depth);
}

THEOREM("a text that is no tree is refused where it stops being one") {
  const auto is = [](const Flaw& flaw, const char* kind, Index position) {
    return std::string(flaw.kind) == kind && flaw.tree == 3 && flaw.position == position;
  };
  CHECK(is(flaw_of(""), "empty", 0));
  CHECK(is(flaw_of(" \n"), "empty", 0));
  CHECK(is(flaw_of("word"), "word", 0));
  CHECK(is(flaw_of("  )"), "close", 2));
  CHECK(is(flaw_of("(A b"), "unclosed", 0));
  CHECK(is(flaw_of("(A (B c)"), "unclosed", 0));
  CHECK(is(flaw_of("(A (B c"), "unclosed", 3));
  CHECK(is(flaw_of("(A b))"), "close", 5));
  CHECK(is(flaw_of("(A b) (C d)"), "second", 6));
  CHECK(is(flaw_of("(A b) d"), "second", 6));
  CHECK(std::string(flaw_of("( (S (NP a)) )").kind).empty());
  CHECK(std::string(flaw_of("()").kind).empty());
}

THEOREM("random brackets are trees or flaws, never anything else") {
  Rng rng(11);
  for (int run = 0; run < 2000; ++run) {
    std::string text;
    for (auto left = rng.below(30); left > 0; --left) text += "()ab "[rng.below(5)];
    Forest forest;
    const Flaw flaw = read_tree(wide(text), 0, forest);
    if (std::string(flaw.kind).empty()) {
      CHECK(forest.size() == 1);
      double value;
      Watch watch;
      tree_diagonal(forest, &value, 0.5, 1.0, 1, watch);
      CHECK(value > 0.0);
    } else {
      CHECK(flaw.position >= 0 && flaw.position <= Index(text.size()));
    }
  }
}

THEOREM("a watch that says stop ends a table of trees") {
  std::string text;
  for (int k = 0; k < 3000; ++k) text += "(A";
  text += " w" + std::string(3000, ')');
  const Forest X = forest_of({text, text});
  double value[4] = {-1, -1, -1, -1};
  Watch watch([] { return true; }, std::chrono::nanoseconds(0), 1);
  tree_table(X, X, {2, 2, true, value}, 0.5, 1.0, 2, watch);
  CHECK(watch.is_over());
}
