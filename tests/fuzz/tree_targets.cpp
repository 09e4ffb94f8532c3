#include "atproto/mst.hpp"
#include "atproto/mst_node.hpp"
#include "atproto/repo_walk.hpp"
#include "atproto/verify.hpp"
#include "tests/fuzz/sample_network.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/support/hostile_tree.hpp"
#include "tests/support/repo_builder.hpp"

#include <algorithm>

namespace weir::fuzz {

namespace {

using namespace atproto;

// -- one node -----------------------------------------------------------------

/// An accepted node has one encoding (protocol-coverage.md 5.1).
void run_mst_node(bytes_view input) {
  mst::node_reader reader;
  if (!reader.open(input))
    return;
  mst::node_writer writer;
  std::string before;
  size_t n = 0;
  for (; reader.next(); ++n) {
    require(n == 0 || before < reader.key(), "keys grow");
    before = reader.key();
    writer.add(reader.key(), reader.value(), reader.right());
  }
  require(n == reader.size(), "all entries are stepped through");
  require(std::ranges::equal(writer.finish(reader.left()), input),
          "a node has one encoding");
}

std::vector<bytes> mst_node_seeds() {
  return sample().nodes;
}

// -- exports ------------------------------------------------------------------

/// The result of a walk of an export.
struct walked {
  bool rooted = false;
  bool complete = false;
  std::vector<mst::leaf> leaves; ///< Leaves of `paths`.
  std::vector<std::string> paths;
  std::vector<cid> values;
  cid data;
  uint64_t skipped = 0;
};

walked walk(bytes_view car, const did& repo, const public_key& key,
            wall_time now, uint8_t pattern) {
  const auto store = make_memory_spool(uint64_t{1} << 24);
  const auto overflow = make_memory_spool(uint64_t{1} << 24);
  // An index that exceeds its memory at once uses the slower method.
  walk_limits bounds;
  if (pattern % 2 == 0) {
    bounds.index_entries_max = 4;
    bounds.index_run_entries = 2;
  }
  repo_walk walk{repo, *store, *overflow, bounds};
  walked out;
  bool fed = true;
  in_pieces(car, pattern, [&](bytes_view piece) {
    return fed = walk.feed(piece).has_value();
  });
  if (!fed)
    return out;
  const auto root = walk.finish(key, now);
  if (!root)
    return out;
  out.rooted = true;
  out.data = root->data;
  // Each call makes progress, so this limit is far beyond the need of any
  // input.
  for (size_t calls = 0;; ++calls) {
    require(calls < 1'000'000, "a walk ends");
    const auto done = walk.step(7, [&](const walked_record& x) {
      require(out.paths.empty() || out.paths.back() < x.path, "paths grow");
      out.paths.emplace_back(x.path);
      out.values.push_back(x.id);
    });
    if (!done)
      return out;
    if (*done)
      break;
  }
  out.complete = true;
  out.skipped = walk.skipped();
  return out;
}

/// The list of a walk has one tree, and that is the signed one.
void check_walk(const walked& x) {
  if (!x.complete || x.skipped != 0)
    return;
  std::vector<mst::leaf> leaves;
  for (size_t i = 0; i < x.paths.size(); ++i)
    leaves.push_back({x.paths[i], x.values[i]});
  require(mst::root_of(leaves) == x.data, "a proved list has the signed root");
}

const tests::test_repo& known_repo() {
  static const auto made = [] {
    tests::test_repo out;
    for (int i = 0; i < 12; ++i)
      out.put("app.test.note/" + std::to_string(i),
              tests::make_record(std::to_string(i % 5)));
    out.commit();
    return out;
  }();
  return made;
}

/// An export as bytes; hashes and signature catch most changes.
void run_walk(bytes_view input) {
  if (input.empty())
    return;
  const auto& repo = known_repo();
  check_walk(walk(input.subspan(1), repo.did(), repo.key().public_part(),
                  repo.now(), input.front()));
}

std::vector<bytes> walk_seeds() {
  auto car = known_repo().export_car();
  car.insert(car.begin(), 1);
  return {std::move(car)};
}

/// Nodes with any content, whichever rule they break, with valid hashes and a
/// valid signature: a map of blocks with links to any blocks below.
void run_sketch(bytes_view input) {
  decisions draw{input};
  const auto pattern = draw.next();
  const auto& repo = known_repo();
  const auto record = tests::make_record("x");
  const std::vector<cid> values{cid::of_dag_cbor(record), cid::of_raw(record),
                                cid::of_raw({})};
  std::vector<tests::named_block> blocks{{values.front(), record}};
  std::vector<cid> nodes{cid{}};
  do {
    tests::raw_node node;
    node.left = nodes[draw.below(nodes.size())];
    const auto entries = draw.below(6);
    for (size_t i = 0; i < entries; ++i) {
      const auto kind = draw.next();
      // Depths, then numbers: most give a valid place in some tree.
      auto key = kind % 8 == 7 ? std::string{as_text(draw.take(kind / 8 % 16))}
                               : tests::path_of_depth(kind % 4, draw.below(16));
      node.entries.push_back({std::move(key),
                              values[draw.below(16) == 0 ? kind % 3u : 0u],
                              nodes[draw.below(nodes.size())]});
      if (kind >= 250)
        node.entries.back().prefix = draw.below(40);
    }
    auto block = tests::encode_raw(node);
    nodes.push_back(cid::of_dag_cbor(block));
    blocks.emplace_back(nodes.back(), std::move(block));
  } while (!draw.at_end() && nodes.size() < 32);
  const auto commit = encode_signed_commit(
    {repo.did(), repo.rev(), nodes.back(), {}, {}}, repo.key());
  blocks.emplace_back(cid::of_dag_cbor(commit), commit);
  const auto car = tests::make_car(blocks.back().first, blocks);
  const auto found
    = walk(car, repo.did(), repo.key().public_part(), repo.now(), pattern);
  check_walk(found);
}

std::vector<bytes> sketch_seeds() {
  // One node; a node and its child; an empty one.
  return {{1, 0, 2, 0, 1, 1, 0, 0, 2, 1, 0},
          {0, 0, 1, 0, 3, 1, 0, 1, 1, 1, 5, 1, 0},
          {1, 0, 0}};
}

// -- commits ------------------------------------------------------------------

/// A commit frame as bytes.
void run_commit(bytes_view input) {
  const auto& repo = known_repo();
  const auto frame = shared_bytes::copy_of(input);
  const auto event = decode_frame(frame.view());
  if (!event)
    return;
  const auto key = repo.key().public_part();
  if (const auto* commit = std::get_if<commit_event>(&*event)) {
    const auto good = verify_commit(frame, *commit, key, repo.now());
    require(!good
              || (good->repo == commit->repo && good->rev == commit->rev
                  && good->ops.size() == commit->ops.size()),
            "a verified commit is the one that was sent");
  } else if (const auto* sync = std::get_if<sync_event>(&*event)) {
    const auto good = verify_sync(frame, *sync, key, repo.now());
    require(!good || (good->repo == sync->repo && good->rev == sync->rev),
            "a verified sync is the one that was sent");
  }
}

std::vector<bytes> commit_seeds() {
  auto repo = known_repo();
  std::vector<bytes> out{repo.sync_frame(1)};
  repo.put("app.test.note/new", tests::make_record("new"));
  repo.remove("app.test.note/3");
  out.push_back(repo.commit());
  repo.put("app.test.note/4", tests::make_record("changed"));
  out.push_back(repo.commit());
  return out;
}

/// One random change of a commit's content.
void spoil(tests::commit_draft& draft, decisions& draw) {
  const auto what = draw.below(8);
  if (what == 7 && !draft.blocks.empty()) {
    draft.blocks.erase(draft.blocks.begin()
                       + static_cast<long>(draw.below(draft.blocks.size())));
    return;
  }
  if (what == 6)
    draft.prev_data = draw.below(2) == 0 ? cid{} : mst::empty_root();
  if (draft.ops.empty())
    return;
  auto& op = draft.ops[draw.below(draft.ops.size())];
  const auto& other = draft.ops[draw.below(draft.ops.size())];
  if (what == 0)
    op.action = static_cast<op_action>(1 + draw.below(3));
  else if (what == 1)
    op.path = "app.test.note/" + std::to_string(draw.below(40));
  else if (what == 2)
    op.prev = other.id;
  else if (what == 3)
    op.id = other.prev;
  else if (what == 4)
    draft.ops.erase(draft.ops.begin() + (&op - draft.ops.data()));
  else if (what == 5)
    draft.ops.push_back(tests::owned_op{other});
}

/// Removes record `n` when `text` is 0, otherwise writes it; at most once in a
/// commit, and never without a change.
void change(tests::test_repo& repo, const tests::leaf_map& before, int n,
            int text) {
  const auto path = "app.test.note/" + std::to_string(n);
  const auto value = [&path](const tests::leaf_map& from) {
    const auto at = from.find(path);
    return at == from.end() ? cid{} : at->second;
  };
  if (value(before) != value(repo.records()))
    return;
  auto record = tests::make_record(std::to_string(text));
  if (text != 0 && cid::of_dag_cbor(record) != value(before))
    repo.put(path, std::move(record));
  else if (text == 0 && value(before).defined())
    repo.remove(path);
}

/// Applies the changes of a verified commit; false when it does not fit
/// `records`.
bool apply(const verified_commit& x,
           std::map<std::string, cid, std::less<>>& records) {
  for (const auto& op : x.ops) {
    const auto path = op.collection + '/' + op.rkey;
    const auto at = records.find(path);
    const auto had = at == records.end() ? cid{} : at->second;
    if (had != op.prev || had.defined() == (op.action == op_action::create))
      return false;
    if (op.action == op_action::remove)
      records.erase(at);
    else
      records[path] = op.id;
  }
  return true;
}

/// Signed commits of a repo with changes that the input selects: a commit that
/// is verified against the model's root leads from the model before to the
/// model after, and no other does (protocol-coverage.md 2.4).
void run_inversion(bytes_view input) {
  decisions draw{input};
  tests::test_repo repo{3};
  for (int round = 0; round < 4 && !draw.at_end(); ++round) {
    const auto before = repo.records();
    const auto root = repo.data();
    for (auto left = draw.below(6); left > 0; --left) {
      const auto n = draw.next();
      change(repo, before, n % 40, n % 3 == 0 ? 0 : draw.next());
    }
    auto draft = repo.draft();
    const auto faults = draw.below(4);
    for (size_t i = 0; i < faults; ++i)
      spoil(draft, draw);
    const auto good = tests::verify_frame(draft.encode(draft.sign(repo.key())),
                                          repo.key().public_part(), repo.now());
    require(good || faults != 0, "a sound commit is verified");
    if (!good || (round > 0 && good->prev_data != root))
      continue;
    auto records = before;
    require(apply(*good, records), "verified ops follow the model");
    require(records == repo.records(), "verified ops lead to the model");
  }
}

std::vector<bytes> inversion_seeds() {
  return {{3, 1, 1, 2, 2, 4, 4, 0, 2, 1, 5, 8, 5, 0},
          {5, 1, 1, 2, 2, 4, 4, 5, 5, 7, 7, 0, 2, 3, 12, 1, 1, 0, 0, 1},
          {1, 1, 1, 1, 7, 0, 1, 2, 2, 1, 4, 0}};
}

constexpr target group[] = {
  {"mst_node", run_mst_node, mst_node_seeds},
  {"walk", run_walk, walk_seeds},
  {"sketch", run_sketch, sketch_seeds, "every byte is a decision"},
  {"commit", run_commit, commit_seeds},
  {"inversion", run_inversion, inversion_seeds, "every byte is a decision"},
};

} // namespace

std::span<const target> tree_targets() {
  return group;
}

} // namespace weir::fuzz
