// Trees as their productions: what a node is called, and what its children are called in order.
//
// Read from brackets, "(S (NP she) (VP runs))", or told node by node; without recursion, so that no depth
// overflows a stack. Words are leaves and have no production of their own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lineal/kernel/strings.h"

namespace lineal::kernel {

// Names for labels and productions. A production is a label, then for each child 2 label + (it has brackets).
class Grammar {
 public:
  using Production = std::vector<std::uint32_t>;
  static constexpr std::uint32_t unknown = 0xffffffffu;

  std::uint32_t label(std::u32string_view text) {
    return labels_.try_emplace(std::u32string(text), std::uint32_t(labels_.size())).first->second;
  }
  std::uint32_t production(const Production& parts) {
    const auto [at, is_new] = names_.try_emplace(parts, std::uint32_t(names_.size()));
    if (is_new) written_.push_back(&at->first);
    return at->second;
  }
  std::size_t n_productions() const noexcept { return written_.size(); }

  // What each production of another grammar is called here.
  std::vector<std::uint32_t> names_of(const Grammar& other) const {
    std::vector<std::uint32_t> label(other.labels_.size(), unknown), name;
    for (const auto& [text, at] : other.labels_)
      if (const auto here = labels_.find(text); here != labels_.end()) label[at] = here->second;
    for (const Production* parts : other.written_) {
      Production own{label[(*parts)[0]]};
      for (std::size_t k = 1; k < parts->size(); ++k) {
        const std::uint32_t child = label[(*parts)[k] >> 1];
        own.push_back(child == unknown ? unknown : child << 1 | ((*parts)[k] & 1));
      }
      const bool is_known = std::find(own.begin(), own.end(), unknown) == own.end();
      const auto here = is_known ? names_.find(own) : names_.end();
      name.push_back(here == names_.end() ? unknown : here->second);
    }
    return name;
  }

 private:
  struct Hash {
    std::size_t operator()(const Production& parts) const noexcept {
      std::uint64_t hash = parts.size();
      for (const std::uint32_t part : parts) hash = (hash ^ part) * 0x9e3779b97f4a7c15u, hash ^= hash >> 29;
      return std::size_t(hash);
    }
  };
  std::unordered_map<std::u32string, std::uint32_t> labels_;
  std::unordered_map<Production, std::uint32_t, Hash> names_;  // whose keys stay where they are
  std::vector<const Production*> written_;
};

// A node with brackets. Children with brackets are places in the tree, which has children before parents.
struct Node {
  std::uint32_t production;
  std::uint32_t rank;  // among the nodes of the tree with this production
  Index first_child;   // in Forest::child
  std::uint32_t n_children;
};

// The nodes of one tree with one production.
struct Group {
  std::uint32_t production;
  Index first, size;  // in Forest::grouped
};

struct Forest {
  std::shared_ptr<Grammar> grammar = std::make_shared<Grammar>();
  std::vector<Node> node;              // children before parents, tree after tree
  std::vector<std::uint32_t> child;    // places of nodes, counted from the first of the tree
  std::vector<std::uint32_t> grouped;  // the same places by production
  std::vector<Group> group;
  std::vector<Index> start{0}, group_start{0};  // of each tree

  Index size() const noexcept { return Index(start.size()) - 1; }

  // Ends a tree: the nodes since the last one are it.
  void finish() {
    const Index first = start.back(), last = Index(node.size());
    std::vector<std::uint32_t> order(static_cast<std::size_t>(last - first));
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = std::uint32_t(k);
    const auto production = [&](std::uint32_t k) { return node[std::size_t(first) + k].production; };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return production(a) < production(b); });
    for (const std::uint32_t place : order) {
      const bool is_new =
          Index(group.size()) == group_start.back() || group.back().production != production(place);
      if (is_new) group.push_back({production(place), Index(grouped.size()), 0});
      node[std::size_t(first) + place].rank = std::uint32_t(group.back().size++);
      grouped.push_back(place);
    }
    start.push_back(last);
    group_start.push_back(Index(group.size()));
  }

  // Some of the trees, with the same grammar.
  Forest take(const Index* places, Index n) const {
    Forest some;
    some.grammar = grammar;
    for (Index k = 0; k < n; ++k) {
      for (Index v = start[std::size_t(places[k])]; v < start[std::size_t(places[k]) + 1]; ++v) {
        Node copy = node[std::size_t(v)];
        const auto children = child.begin() + copy.first_child;
        copy.first_child = Index(some.child.size());
        some.child.insert(some.child.end(), children, children + copy.n_children);
        some.node.push_back(copy);
      }
      some.finish();
    }
    return some;
  }
};

// Puts a tree together from what is met on the way through it.
class TreeBuilder {
 public:
  explicit TreeBuilder(Forest& forest) : forest_(forest) {}

  std::size_t depth() const noexcept { return open_.size(); }
  Index innermost() const noexcept { return open_.back().position; }  // where its bracket stands
  void open(std::u32string_view label, Index position) {
    open_.push_back({position, parts_.size(), children_.size()});
    parts_.push_back(forest_.grammar->label(label));
  }
  void word(std::u32string_view label) { parts_.push_back(forest_.grammar->label(label) << 1); }
  void close() {
    const Open at = open_.back();
    open_.pop_back();
    const Grammar::Production parts(parts_.begin() + std::ptrdiff_t(at.part), parts_.end());
    const auto place = std::uint32_t(Index(forest_.node.size()) - forest_.start.back());
    forest_.node.push_back({forest_.grammar->production(parts), 0, Index(forest_.child.size()),
                            std::uint32_t(children_.size() - at.child)});
    forest_.child.insert(forest_.child.end(), children_.begin() + std::ptrdiff_t(at.child), children_.end());
    children_.resize(at.child);
    parts_.resize(at.part);
    if (open_.empty()) return forest_.finish();
    children_.push_back(place);
    parts_.push_back(parts[0] << 1 | 1);
  }

 private:
  struct Open {
    Index position;
    std::size_t part, child;  // where its label and its children begin
  };
  Forest& forest_;
  std::vector<Open> open_;
  std::vector<std::uint32_t> parts_, children_;
};

// What is wrong with a text that is no tree, and where.
struct Flaw {
  const char* kind = "";
  Index tree = -1, position = -1;
};

inline bool is_space(char32_t c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Reads one tree; labels and words are whatever stands between brackets and spaces.
inline Flaw read_tree(std::u32string_view text, Index tree, Forest& forest) {
  TreeBuilder builder(forest);
  const std::size_t size = text.size();
  std::size_t at = 0;
  const auto skip = [&] {
    while (at < size && is_space(text[at])) ++at;
  };
  const auto word = [&] {
    const std::size_t from = at;
    while (at < size && text[at] != '(' && text[at] != ')' && !is_space(text[at])) ++at;
    return text.substr(from, at - from);
  };
  bool has_ended = false;
  for (skip(); at < size; skip()) {
    const Index position = Index(at);
    if (has_ended) return {text[at] == ')' ? "close" : "second", tree, position};
    if (text[at] == '(') {
      ++at;
      skip();
      builder.open(word(), position);
    } else if (builder.depth() == 0) {
      return {text[at] == ')' ? "close" : "word", tree, position};
    } else if (text[at] == ')') {
      ++at;
      builder.close();
      has_ended = builder.depth() == 0;
    } else {
      builder.word(word());
    }
  }
  if (builder.depth() > 0) return {"unclosed", tree, builder.innermost()};
  return has_ended ? Flaw{} : Flaw{"empty", tree, 0};
}

}  // namespace lineal::kernel
