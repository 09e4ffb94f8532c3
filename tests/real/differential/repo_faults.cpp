#include "atproto/car.hpp"
#include "atproto/dag_cbor.hpp"
#include "tests/real/differential/random_cbor.hpp"
#include "tests/real/differential/repo_maker.hpp"

#include <algorithm>

namespace weir::differential {

using namespace atproto;
using namespace tests;

namespace {

// -- keys, values and nodes ---------------------------------------------------

void add_odd_path(repo_maker& x, std::string path) {
  x.add_record(std::move(path), make_record("odd"));
}

cid foreign_cid() {
  bytes out{1, 0x71, 0x13, 64};
  out.insert(out.end(), 64, 7);
  return cid::from_bytes(out).value();
}

tests::leaf_map::iterator any_leaf(repo_maker& x) {
  if (x.leaves.empty())
    add_odd_path(x, x.new_path());
  auto out = x.leaves.begin();
  std::advance(out, static_cast<long>(x.random.below(x.leaves.size())));
  return out;
}

/// Changes one node, with at least `entries_min` entries if there is one.
template <class Edit>
void edit_node(repo_maker& x, size_t entries_min, Edit edit) {
  if (!x.tree)
    return;
  auto nodes = x.tree->nodes();
  std::erase_if(nodes, [entries_min](const tree_sketch* n) {
    return n->entries.size() < entries_min;
  });
  if (nodes.empty())
    return;
  const auto draw = x.random.next();
  nodes[x.random.below(nodes.size())]->edit = [edit, draw](raw_node& n) {
    edit(n, static_cast<size_t>(draw));
  };
}

/// A node with entries, which bridges do not have.
tree_sketch* any_node(repo_maker& x) {
  if (!x.tree)
    return nullptr;
  auto nodes = x.tree->nodes();
  std::erase_if(nodes, [](const tree_sketch* n) {
    return n->entries.empty();
  });
  return nodes[x.random.below(nodes.size())];
}

void prefix_off(repo_maker& x, int by) {
  edit_node(x, 2, [by](raw_node& n, size_t draw) {
    const auto i = 1 + draw % (n.entries.size() - 1);
    const auto& before = n.entries[i - 1].key;
    const auto& key = n.entries[i].key;
    const auto shared = static_cast<uint64_t>(
      std::mismatch(before.begin(), before.end(), key.begin(), key.end()).first
      - before.begin());
    n.entries[i].prefix
      = by < 0 && shared == 0 ? 0 : shared + static_cast<uint64_t>(by);
  });
}

/// Puts a node with only a link down between a node and its child, or on top.
void add_bridge(repo_maker& x, bool on_top) {
  if (!x.tree)
    return;
  auto bridge = std::make_unique<tree_sketch>();
  if (on_top) {
    bridge->left = std::move(x.tree);
    x.tree = std::move(bridge);
    return;
  }
  auto* node = any_node(x);
  bridge->left = std::move(node->left);
  node->left = std::move(bridge);
}

/// Moves a key one level below or above its own.
void misplace_key(repo_maker& x) {
  auto* node = any_node(x);
  if (node == nullptr)
    return;
  auto below = std::make_unique<tree_sketch>();
  below->left = std::move(node->left);
  below->entries.push_back({node->entries.front().key,
                            node->entries.front().value,
                            std::move(node->entries.front().right)});
  node->entries.erase(node->entries.begin());
  node->left = std::move(below);
}

constexpr repo_fault of_trees[] = {
  {"key without a slash", stage::leaves,
   [](repo_maker& x) {
     add_odd_path(x, "app.test.note");
   }},
  {"key with two slashes", stage::leaves,
   [](repo_maker& x) {
     add_odd_path(x, "app.test.note/a/b");
   }},
  {"key with a space", stage::leaves,
   [](repo_maker& x) {
     add_odd_path(x, "app.test.note/a b");
   }},
  {"key beyond ASCII", stage::leaves,
   [](repo_maker& x) {
     add_odd_path(x, "app.test.note/\xc3\xa9");
   }},
  {"collection is no NSID", stage::leaves,
   [](repo_maker& x) {
     add_odd_path(x, "note/a");
   }},
  {"record key of two dots", stage::leaves,
   [](repo_maker& x) {
     add_odd_path(x, "app.test.note/..");
   }},
  {"long record key", stage::leaves,
   [](repo_maker& x) {
     add_odd_path(x, "app.test.note/" + std::string(512, 'k'));
   }},
  {"record key too long", stage::leaves,
   [](repo_maker& x) {
     add_odd_path(x, "app.test.note/" + std::string(513, 'k'));
   }},
  {"key too long", stage::leaves,
   [](repo_maker& x) {
     add_odd_path(x, "app.test.note/" + std::string(1024 - 13, 'k'));
   }},
  {"record under a raw CID", stage::leaves,
   [](repo_maker& x) {
     const auto block = make_record("raw");
     any_leaf(x)->second = cid::of_raw(block);
     x.records.emplace_back(cid::of_raw(block), block);
   }},
  {"record under a foreign CID", stage::leaves,
   [](repo_maker& x) {
     any_leaf(x)->second = foreign_cid();
   }},
  {"record block absent", stage::leaves,
   [](repo_maker& x) {
     any_leaf(x)->second = cid::of_dag_cbor({});
   }},
  {"record is no map", stage::leaves,
   [](repo_maker& x) {
     x.add_record(x.new_path(), {0x01});
   }},
  {"entries swapped", stage::tree,
   [](repo_maker& x) {
     edit_node(x, 2, [](raw_node& n, size_t draw) {
       const auto i = draw % (n.entries.size() - 1);
       std::swap(n.entries[i], n.entries[i + 1]);
     });
   }},
  {"entry repeated", stage::tree,
   [](repo_maker& x) {
     edit_node(x, 1, [](raw_node& n, size_t draw) {
       const auto again = n.entries[draw % n.entries.size()];
       n.entries.insert(
         n.entries.begin() + static_cast<long>(draw % n.entries.size()), again);
     });
   }},
  {"entry of another depth", stage::tree,
   [](repo_maker& x) {
     edit_node(x, 1, [](raw_node& n, size_t draw) {
       auto odd = n.entries.back();
       odd.right = {};
       do
         odd.key += '0';
       while (mst::key_depth(odd.key) == mst::key_depth(n.entries.back().key));
       if (draw % 2 == 0)
         n.entries.push_back(std::move(odd));
       else
         n.entries.back() = std::move(odd);
     });
   }},
  {"prefix too short", stage::tree,
   [](repo_maker& x) {
     prefix_off(x, -1);
   }},
  {"prefix too long", stage::tree,
   [](repo_maker& x) {
     prefix_off(x, 1);
   }},
  {"prefix of the first", stage::tree,
   [](repo_maker& x) {
     edit_node(x, 1, [](raw_node& n, size_t) {
       n.entries[0].prefix = 3;
     });
   }},
  {"key empty", stage::tree,
   [](repo_maker& x) {
     edit_node(x, 1, [](raw_node& n, size_t) {
       n.entries[0].key.clear();
     });
   }},
  {"children swapped", stage::tree,
   [](repo_maker& x) {
     edit_node(x, 1, [](raw_node& n, size_t draw) {
       std::swap(n.left, n.entries[draw % n.entries.size()].right);
     });
   }},
  {"child repeated", stage::tree,
   [](repo_maker& x) {
     edit_node(x, 1, [](raw_node& n, size_t) {
       for (auto& e : n.entries)
         e.right = n.left;
     });
   }},
  {"link to a record", stage::tree,
   [](repo_maker& x) {
     edit_node(x, 1, [](raw_node& n, size_t) {
       n.left = n.entries[0].value;
     });
   }},
  {"value is null", stage::tree,
   [](repo_maker& x) {
     edit_node(x, 1, [](raw_node& n, size_t) {
       n.entries[0].value = {};
     });
   }},
  {"node link of another form", stage::tree,
   [](repo_maker& x) {
     edit_node(x, 1, [](raw_node& n, size_t) {
       n.left = foreign_cid();
     });
   }},
  {"bridge inside", stage::tree,
   [](repo_maker& x) {
     add_bridge(x, false);
   }},
  {"bridge on top", stage::tree,
   [](repo_maker& x) {
     add_bridge(x, true);
   }},
  {"key below its level", stage::tree, misplace_key},
  {"empty node below", stage::tree,
   [](repo_maker& x) {
     if (auto* node = any_node(x); node != nullptr && !node->left)
       node->left = std::make_unique<tree_sketch>();
   }},
};

// -- the commit ---------------------------------------------------------------

void set_field(repo_maker& x, std::string_view key, bytes value) {
  for (auto& field : x.fields)
    if (field.key == key)
      field.value = std::move(value);
}

void change_signature(repo_maker& x, size_t at, uint8_t by) {
  // The head of 64 bytes, then r and s.
  const bytes head{0x63, 's', 'i', 'g', 0x58, 64};
  const auto found
    = std::search(x.commit.begin(), x.commit.end(), head.begin(), head.end());
  found[static_cast<long>(head.size() + at)] ^= by;
}

void shift_rev(repo_maker& x, int64_t micros) {
  const auto time = x.account.now().micros + micros;
  set_field(x, "rev", encode_text(tid::from_time({time}, 1).str()));
}

constexpr repo_fault of_commits[] = {
  {"another DID", stage::commit,
   [](repo_maker& x) {
     set_field(x, "did", encode_text("did:plc:aaaaaaaaaaaaaaaaaaaaaaaa"));
   }},
  {"rev is no TID", stage::commit,
   [](repo_maker& x) {
     set_field(x, "rev", encode_text("2026-01-01"));
   }},
  {"rev in the future", stage::commit,
   [](repo_maker& x) {
     shift_rev(x, 301'000'000);
   }},
  {"rev a little ahead", stage::commit,
   [](repo_maker& x) {
     shift_rev(x, 299'000'000);
   }},
  {"version 2", stage::commit,
   [](repo_maker& x) {
     set_field(x, "version", {2});
   }},
  {"version 4", stage::commit,
   [](repo_maker& x) {
     set_field(x, "version", {4});
   }},
  {"prev absent", stage::commit,
   [](repo_maker& x) {
     std::erase_if(x.fields, [](const auto& f) {
       return f.key == "prev";
     });
   }},
  {"prev is a link", stage::commit,
   [](repo_maker& x) {
     set_field(x, "prev", encode_link(x.data));
   }},
  {"prev is a raw link", stage::commit,
   [](repo_maker& x) {
     set_field(x, "prev", encode_link(cid::of_raw({})));
   }},
  {"unknown key in the commit", stage::commit,
   [](repo_maker& x) {
     x.fields.push_back({"extra", encode_text("more")});
   }},
  {"data is a text", stage::commit,
   [](repo_maker& x) {
     set_field(x, "data", encode_text("data"));
   }},
  {"signature changed", stage::signature,
   [](repo_maker& x) {
     change_signature(x, x.random.below(64), 0x10);
   }},
  {"version 2 after signing", stage::signature,
   [](repo_maker& x) {
     x.commit.back() = 2;
   }},
  {"commit keys unsorted", stage::signature,
   [](repo_maker& x) {
     // {"did": ..., "rev": ...}: entries with keys of equal length are swapped.
     const auto did = encode_text(x.account.did().str());
     const auto rev = encode_text(x.account.rev().str());
     bytes front{0xa6};
     put(front, bytes_view{encode_text("rev")});
     put(front, bytes_view{rev});
     put(front, bytes_view{encode_text("did")});
     put(front, bytes_view{did});
     std::copy(front.begin(), front.end(), x.commit.begin());
   }},
  {"commit bytes changed", stage::signature,
   [](repo_maker& x) {
     mutate(x.commit, x.random);
   }},
};

} // namespace

std::span<const repo_fault> tree_faults() {
  return of_trees;
}

std::span<const repo_fault> commit_faults() {
  return of_commits;
}

} // namespace weir::differential
