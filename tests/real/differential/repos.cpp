#include "atproto/repo_walk.hpp"
#include "tests/real/differential/cases.hpp"
#include "tests/real/differential/repo_maker.hpp"

#include <boost/json.hpp>

#include <cassert>

namespace weir::differential {

using namespace atproto;

namespace {

constexpr uint64_t spool_bytes = uint64_t{1} << 26;
constexpr size_t records_per_step = 100;

/// The text of an error without its key or node.
std::string reason_of(const std::string& context) {
  return context.substr(0, context.find(':') == std::string::npos
                               || context.starts_with("dag-cbor: ")
                             ? context.find(" at byte ")
                             : context.find(':'));
}

boost::json::object refused(const std::string& context) {
  return {{"ok", false}, {"reason", reason_of(context)}};
}

boost::json::object walk(const repo_maker& made) {
  const auto store = make_memory_spool(spool_bytes);
  const auto overflow = make_memory_spool(spool_bytes);
  const auto& account = made.account;
  repo_walk walk{account.did(), *store, *overflow};
  if (const auto fed = walk.feed(made.car); !fed)
    return refused(fed.error().context);
  const auto root = walk.finish(account.key().public_part(), account.now());
  if (!root)
    return refused(root.error().reason);
  boost::json::array records;
  for (;;) {
    const auto done = walk.step(records_per_step, [&](const walked_record& x) {
      records.push_back({x.path, x.id.to_text()});
    });
    if (!done)
      return refused(done.error().context);
    if (*done)
      break;
  }
  return {{"ok", true},
          {"commit", root->commit.to_text()},
          {"data", root->data.to_text()},
          {"rev", root->rev.str()},
          {"records", std::move(records)},
          {"skipped", walk.skipped()}};
}

/// Makes the complete export; `fault` may be null.
test_case judged(repo_maker& x, const repo_fault* fault,
                 std::string pins = {}) {
  const auto spoil = [&](stage now) {
    if (fault != nullptr && fault->after == now)
      fault->apply(x);
  };
  x.make_leaves(x.size);
  spoil(stage::leaves);
  x.make_tree();
  spoil(stage::tree);
  x.make_blocks();
  spoil(stage::blocks);
  x.make_commit();
  spoil(stage::commit);
  x.sign_commit();
  spoil(stage::signature);
  x.make_car();
  spoil(stage::car);
  test_case out{"repo",
                fault != nullptr ? std::string{fault->name} : "sound",
                std::move(pins),
                {},
                {},
                {}};
  const auto key = x.account.key().public_part();
  out.given = {{"did", x.account.did().str()},
               {"key", "did:key:" + key.to_multikey()},
               {"now", x.account.now().micros}};
  out.ours = walk(x);
  out.payload = std::move(x.car);
  return out;
}

std::vector<repo_fault> all_faults() {
  std::vector<repo_fault> out;
  for (const auto list : {tree_faults(), commit_faults(), car_faults()})
    out.insert(out.end(), list.begin(), list.end());
  return out;
}

const repo_fault& fault_named(std::string_view name) {
  static const auto all = all_faults();
  for (const auto& x : all)
    if (x.name == name)
      return x;
  assert(false);
  return all.front();
}

/// Mostly small ones: a tree of 2,000 takes its judge seconds.
size_t draw_size(random_source& random) {
  const auto draw = random.below(200);
  return draw < 10    ? 0
         : draw < 120 ? 12
         : draw < 185 ? 80
         : draw < 198 ? 400
                      : 2000;
}

} // namespace

test_case random_repo(random_source& random) {
  static const auto all = all_faults();
  repo_maker maker{random, draw_size(random)};
  const auto draw = random.below(all.size() * 3 / 2);
  return judged(maker, draw < all.size() ? &all[draw] : nullptr);
}

std::vector<test_case> pinned_repos() {
  // The faults that show the differences; see docs/differential.md.
  constexpr std::pair<std::string_view, const char*> pins[] = {
    {"key without a slash", "invalid path"},
    {"key with two slashes", "invalid path"},
    {"key with a space", "invalid path"},
    {"key beyond ASCII", "invalid path"},
    {"key too long", ""},
    {"collection is no NSID", "no NSID or record key"},
    {"record key of two dots", "no NSID or record key"},
    {"record key too long", "no NSID or record key"},
    {"long record key", ""},
    {"record under a foreign CID", "record under another CID"},
    {"record under a raw CID", ""},
    {"record is no map", ""},
    {"record block absent", ""},
    {"entries swapped", "shape of the tree"},
    {"entry of another depth", "shape of the tree"},
    {"prefix too short", "shape of the tree"},
    {"bridge on top", "shape of the tree"},
    {"key below its level", "shape of the tree"},
    {"rev is no TID", "rev is no TID"},
    {"rev in the future", "rev in the future"},
    {"rev a little ahead", ""},
    {"prev is a raw link", "commit with a raw link"},
    {"prev is a link", ""},
    {"prev absent", ""},
    {"unknown key in the commit", "unknown key in the commit"},
    {"commit keys unsorted", "commit keys unsorted"},
    {"signature changed", ""},
    {"version 2", ""},
    {"version 2 after signing", "version 2 under the signature of 3"},
    {"header keys unsorted", "CAR header keys unsorted"},
    {"length in two bytes", "CAR length too long"},
    {"two roots", "two roots"},
    {"unlinked block under a long CID", "unused block under another CID"},
    {"unlinked block under a CID of version 0",
     "unused block under another CID"},
    {"unlinked block", ""},
    {"block twice", ""},
    {"header with another key", ""},
    {"empty section", ""},
  };
  std::vector<test_case> out;
  const auto random = seeded_random(7);
  for (const auto& [name, difference] : pins) {
    repo_maker maker{*random, 0};
    maker.size = 20;
    out.push_back(judged(maker, &fault_named(name), difference));
  }
  return out;
}

} // namespace weir::differential
