#include "atproto/mst.hpp"
#include "tests/real/differential/cases.hpp"
#include "tests/support/repo_builder.hpp"

#include <boost/json.hpp>

#include <set>

namespace weir::differential {

using namespace atproto;
using namespace tests;

namespace {

constexpr int records_before_max = 300;

boost::json::object verify(const bytes& frame, const test_repo& repo) {
  const auto good = verify_frame(frame, repo.key().public_part(), repo.now());
  if (!good)
    return {
      {"ok", false},
      {"verdict", to_string(good.error().why)},
      {"reason", good.error().reason.substr(0, good.error().reason.find(':'))}};
  boost::json::array ops;
  for (const auto& op : good->ops)
    ops.push_back({op.collection + '/' + op.rkey,
                   op.id.defined() ? op.id.to_text() : "",
                   op.prev.defined() ? op.prev.to_text() : ""});
  return {{"ok", true},
          {"commit", good->commit.to_text()},
          {"data", good->data.to_text()},
          {"ops", std::move(ops)}};
}

test_case judged(std::string what, const commit_draft& draft,
                 const bytes& commit, const test_repo& repo) {
  test_case out{"commit", std::move(what), {}, {}, {}, {}};
  out.payload = draft.encode(commit);
  out.given = {{"did", repo.did().str()},
               {"key", "did:key:" + repo.key().public_part().to_multikey()}};
  out.ours = verify(out.payload, repo);
  return out;
}

void grow(test_repo& repo, random_source& random, int changes) {
  std::set<std::string> touched;
  for (int i = 0; i < changes; ++i) {
    const auto path
      = "app.test.note/" + std::to_string(random.below(records_before_max));
    if (!touched.insert(path).second)
      continue;
    const auto& all = repo.records();
    auto record = make_record(std::to_string(random.next()));
    if (all.contains(path) && random.below(2) == 0)
      repo.remove(path);
    else
      repo.put(path, std::move(record));
  }
}

struct commit_fault {
  const char* name;
  void (*apply)(commit_draft& x, random_source& random);
};

owned_op* any_op(commit_draft& x, random_source& random) {
  return x.ops.empty() ? nullptr : &x.ops[random.below(x.ops.size())];
}

cid random_cid(random_source& random) {
  digest hash;
  random.fill(hash);
  return {cid::codec_dag_cbor, hash};
}

constexpr commit_fault faults[] = {
  {"op left out",
   [](commit_draft& x, random_source&) {
     if (!x.ops.empty())
       x.ops.pop_back();
   }},
  {"op too many",
   [](commit_draft& x, random_source& random) {
     x.ops.push_back({op_action::create,
                      "app.test.note/" + std::to_string(random.next()),
                      random_cid(random),
                      {}});
   }},
  {"op of another path",
   [](commit_draft& x, random_source& random) {
     if (auto* op = any_op(x, random))
       op->path += '1';
   }},
  {"op of another value",
   [](commit_draft& x, random_source& random) {
     if (auto* op = any_op(x, random);
         op != nullptr && op->action != op_action::remove)
       op->id = random_cid(random);
   }},
  {"op of another value before",
   [](commit_draft& x, random_source& random) {
     if (auto* op = any_op(x, random);
         op != nullptr && op->action != op_action::create)
       op->prev = random_cid(random);
   }},
  {"another tree before",
   [](commit_draft& x, random_source& random) {
     x.prev_data = random_cid(random);
   }},
  {"block left out",
   [](commit_draft& x, random_source& random) {
     if (!x.blocks.empty())
       x.blocks.erase(x.blocks.begin()
                      + static_cast<long>(random.below(x.blocks.size())));
   }},
  {"block changed",
   [](commit_draft& x, random_source& random) {
     if (!x.blocks.empty())
       x.blocks[random.below(x.blocks.size())].second.push_back(0);
   }},
  {"unlinked block",
   [](commit_draft& x, random_source&) {
     const auto block = make_record("nobody wants me");
     x.blocks.emplace_back(cid::of_dag_cbor(block), block);
   }},
  {"op twice",
   [](commit_draft& x, random_source& random) {
     if (const auto* op = any_op(x, random))
       x.ops.push_back(owned_op{*op});
   }},
  {"another tree",
   [](commit_draft& x, random_source& random) {
     x.object.data = random_cid(random);
   }},
};

/// The first path of a depth that begins with these letters.
std::string path_from(std::string_view start, int depth) {
  for (int i = 0;; ++i)
    if (auto path = "app.test.note/" + std::string{start} + std::to_string(i);
        mst::key_depth(path) == depth)
      return path;
}

} // namespace

test_case random_commit(random_source& random) {
  test_repo repo{1 + random.below(1000),
                 random.below(2) == 0 ? curve::k256 : curve::p256};
  grow(repo, random, static_cast<int>(random.below(records_before_max)));
  if (random.below(10) != 0) {
    repo.commit();
    grow(repo, random, static_cast<int>(random.below(6)));
  }
  auto draft = repo.draft();
  const auto draw = random.below(std::size(faults) * 2);
  if (draw < std::size(faults)) {
    faults[draw].apply(draft, random);
    return judged(faults[draw].name, draft, draft.sign(repo.key()), repo);
  }
  auto commit = draft.sign(repo.key());
  if (draw % 8 != 0)
    return judged("sound", draft, commit, repo);
  return judged("signed by another", draft, draft.sign(test_repo{2000}.key()),
                repo);
}

std::vector<test_case> pinned_commits() {
  // A key of depth 1 with nothing before it and one key between it and its
  // neighbour: undoing its creation moves the node below to the next place.
  const auto below = path_from("b", 0);
  test_repo repo;
  repo.put(below, make_record("below"));
  repo.put(path_from("c", 1), make_record("neighbour"));
  repo.commit();
  repo.put(path_from("a", 1), make_record("new"));
  auto draft = repo.draft();
  std::vector<test_case> out;
  out.push_back(judged("pinned", draft, draft.sign(repo.key()), repo));
  const mst::leaf leaf{below, repo.records().find(below)->second};
  const auto node = mst::root_of({&leaf, 1});
  std::erase_if(draft.blocks, [&node](const auto& x) {
    return x.first == node;
  });
  out.push_back(judged("pinned", draft, draft.sign(repo.key()), repo));
  out.back().pins = "neighbouring node absent";
  return out;
}

} // namespace weir::differential
