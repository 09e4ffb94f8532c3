#include "atproto/repo_walk.hpp"
#include "atproto/verify.hpp"
#include "json_vectors.hpp"
#include "tests/support/foreign_forms.hpp"
#include "tests/support/split_frames.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

// Proves protocol-coverage.md 1 to 5 and 7 on everything that two PDSs sent in
// fourteen account scenarios.

namespace weir::tests {

using namespace atproto;

namespace json = boost::json;

namespace {

std::vector<shared_bytes> read_frames(const std::filesystem::path& path) {
  const auto file = read_file(path);
  return split_frames(as_bytes(file), std::endian::big);
}

/// The name of a DID's files.
std::string file_name(std::string_view who) {
  std::string out{who};
  std::ranges::replace(out, ':', '_');
  return out;
}

/// Every signing key that a DID ever had, oldest first.
std::vector<public_key> read_keys(const std::filesystem::path& folder,
                                  std::string_view who) {
  std::vector<public_key> out;
  const auto log = read_json(folder / "did" / (file_name(who) + ".audit.json"));
  for (const auto& x : log.as_array()) {
    const auto& op = x.at("operation").as_object();
    if (!op.contains("verificationMethods"))
      continue;
    auto key = tests::from_did_key(
      text(op.at("verificationMethods").at("atproto")));
    if (key && (out.empty() || out.back() != *key))
      out.push_back(*key);
  }
  return out;
}

using record_map = std::map<std::string, std::string>;

record_map read_records(const json::value& expected) {
  record_map out;
  if (const auto* records = expected.as_object().if_contains("records"))
    for (const auto& [path, id] : records->as_object())
      out.emplace(path, text(id));
  return out;
}

/// The final state of one account, from verified frames only.
struct account_state {
  cid data;
  tid rev;
  record_map records;
};

class RealnetVectorsTest : public testing::Test {
protected:
  void apply(const verified_commit& x) {
    auto& state = accounts[x.repo.str()];
    EXPECT_EQ(x.prev_data, state.data) << x.repo.str();
    EXPECT_LT(state.rev, x.rev);
    for (const auto& op : x.ops) {
      EXPECT_FALSE(op.undecodable);
      const auto path = op.collection + '/' + op.rkey;
      if (op.action == op_action::remove)
        EXPECT_EQ(state.records.erase(path), 1u) << path;
      else
        state.records[path] = op.id.to_text();
    }
    state.data = x.data;
    state.rev = x.rev;
  }

  void take(const shared_bytes& frame, const commit_event& x,
            const std::vector<public_key>& keys) {
    std::string why;
    for (const auto& key : keys) {
      const auto done = verify_commit(frame, x, key, after_all_vectors);
      if (done)
        return apply(*done);
      why = done.error().reason;
    }
    ADD_FAILURE() << x.seq << ' ' << x.repo.str() << ": " << why;
  }

  void take(const shared_bytes& frame, const sync_event& x,
            const std::vector<public_key>& keys) {
    std::string why;
    for (const auto& key : keys) {
      const auto done = verify_sync(frame, x, key, after_all_vectors);
      if (done) {
        ++good_syncs;
        EXPECT_EQ(done->data, accounts[x.repo.str()].data);
        return;
      }
      why = done.error().reason;
    }
    bad_syncs.push_back(std::to_string(x.seq) + ": " + why);
  }

  void take(const shared_bytes& frame, const std::filesystem::path& folder) {
    const auto peek = peek_frame(frame.view());
    ASSERT_TRUE(peek) << to_string(peek.error());
    ++kinds[peek->kind];
    const auto event = decode_frame(frame.view());
    ASSERT_TRUE(event) << to_string(event.error());
    const auto keys = read_keys(folder, peek->did);
    ASSERT_FALSE(keys.empty()) << peek->did;
    if (const auto* commit = std::get_if<commit_event>(&*event))
      take(frame, *commit, keys);
    else if (const auto* sync = std::get_if<sync_event>(&*event))
      take(frame, *sync, keys);
  }

  std::map<std::string, account_state> accounts;
  std::map<frame_kind, size_t> kinds;
  size_t good_syncs = 0;
  std::vector<std::string> bad_syncs;
};

} // namespace

// protocol-coverage.md 3.5, 11.3
TEST_F(RealnetVectorsTest, FramesOfTwoServersLeadToTheExpectedState) {
  WEIR_VECTORS(folder, "vectors/realnet");
  const auto first = read_frames(folder / "pds0.frames");
  const auto second = read_frames(folder / "pds1.frames");
  EXPECT_EQ(first.size(), 318u);
  EXPECT_EQ(second.size(), 25u);
  for (const auto& frame : first)
    take(frame, folder);
  for (const auto& frame : second)
    take(frame, folder);
  EXPECT_EQ(kinds[frame_kind::commit], 277u);
  EXPECT_EQ(kinds[frame_kind::sync], 19u);
  EXPECT_EQ(kinds[frame_kind::identity], 22u);
  EXPECT_EQ(kinds[frame_kind::account], 25u);
  // The one after a migration has a rev that differs from its commit's.
  EXPECT_EQ(good_syncs, 18u);
  EXPECT_EQ(bad_syncs,
            std::vector<std::string>{"24: rev differs from the commit's"});

  const auto index = read_json(folder / "index.json");
  size_t compared = 0;
  for (const auto& [who, x] : index.at("dids").as_object())
    if (const auto& expected = x.at("expect");
        text(expected.at("status")) != "deleted") {
      EXPECT_EQ(accounts[who].records, read_records(expected)) << who;
      ++compared;
    }
  EXPECT_EQ(compared, 16u);
}

// protocol-coverage.md 5.1
TEST_F(RealnetVectorsTest, RepositoriesWalkToTheExpectedRecords) {
  WEIR_VECTORS(folder, "vectors/realnet");
  const auto index = read_json(folder / "index.json");
  size_t walked = 0;
  for (const auto& [who, x] : index.at("dids").as_object()) {
    const auto path = folder / "car" / (file_name(who) + ".car");
    if (!std::filesystem::exists(path))
      continue;
    const auto store = make_memory_spool(1'000'000);
    const auto overflow = make_memory_spool(0);
    repo_walk walk{did::parse(who).value(), *store, *overflow};
    const auto car = read_file(path);
    ASSERT_TRUE(walk.feed(as_bytes(car)));
    const auto root
      = walk.finish(read_keys(folder, who).back(), after_all_vectors);
    ASSERT_TRUE(root) << who << ": " << root.error().reason;
    record_map records;
    const auto done = walk.step(1000, [&](const walked_record& record) {
      EXPECT_FALSE(record.undecodable);
      records.emplace(record.path, record.id.to_text());
    });
    ASSERT_TRUE(done) << who << ": " << to_string(done.error());
    EXPECT_TRUE(*done);
    const auto& expected = x.at("expect");
    EXPECT_EQ(records, read_records(expected)) << who;
    EXPECT_EQ(root->rev.str(), text(expected.at("rev"))) << who;
    EXPECT_EQ(root->commit.to_text(), text(expected.at("head"))) << who;
    ++walked;
  }
  EXPECT_EQ(walked, 14u);
}

} // namespace weir::tests
