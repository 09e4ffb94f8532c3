#include "atproto/car.hpp"
#include "atproto/record_json.hpp"
#include "atproto/repo_walk.hpp"
#include "atproto/verify.hpp"
#include "json_vectors.hpp"
#include "tests/support/jetstream_corpus.hpp"
#include "tests/unit/atproto/json_to_cbor.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <map>
#include <set>

// Proves protocol-coverage.md 1, 2, 5 and 7 on frames of the public network
// that another implementation verified, and on one of its repos.

namespace weir::tests {

using namespace atproto;

namespace json = boost::json;

namespace {

/// The did, rev, action, path and cid of one change, as Jetstream gives them.
std::string describe(std::string_view who, std::string_view rev,
                     std::string_view action, std::string_view path,
                     std::string_view id) {
  std::string out;
  for (const auto x : {who, rev, action, path, id}) {
    out += x;
    out += ' ';
  }
  return out;
}

std::multiset<std::string> read_expected(const std::filesystem::path& folder) {
  std::multiset<std::string> out;
  for (const auto& line : read_vector_lines(folder / "expected_v1.jsonl")) {
    const auto x = json::parse(line);
    if (text(x.at("kind")) != "commit")
      continue;
    const auto& commit = x.at("commit").as_object();
    out.insert(describe(text(x.at("did")), text(commit.at("rev")),
                        text(commit.at("operation")),
                        std::string{text(commit.at("collection"))} + '/'
                          + std::string{text(commit.at("rkey"))},
                        commit.contains("cid") ? text(commit.at("cid")) : ""));
  }
  return out;
}

} // namespace

// protocol-coverage.md 2.5.10
TEST(JetstreamVectorsTest, EveryFrameOfThePublicNetworkVerifies) {
  WEIR_VECTORS(folder, jetstream_corpus);
  const auto frames = read_jetstream_frames(folder);
  const auto keys = read_jetstream_keys(folder);
  EXPECT_EQ(frames.size(), 150u);
  EXPECT_EQ(keys.size(), 148u);
  std::map<frame_kind, size_t> kinds;
  std::multiset<std::string> changes;
  int64_t seq = 31'527'015'322;
  for (const auto& frame : frames) {
    const auto peek = peek_frame(frame.view());
    ASSERT_TRUE(peek) << to_string(peek.error());
    EXPECT_EQ(peek->seq, seq++);
    ++kinds[peek->kind];
    const auto event = decode_frame(frame.view());
    ASSERT_TRUE(event) << to_string(event.error());
    const auto* commit = std::get_if<commit_event>(&*event);
    if (commit == nullptr)
      continue;
    EXPECT_EQ(peek->did, commit->repo.str());
    const auto done = verify_commit(frame, *commit, keys.at(commit->repo.str()),
                                    after_all_vectors);
    ASSERT_TRUE(done) << to_string(done.error().why) << ": "
                      << done.error().reason;
    for (const auto& op : done->ops) {
      EXPECT_FALSE(op.undecodable);
      changes.insert(describe(done->repo.str(), done->rev.str(),
                              to_string(op.action),
                              op.collection + '/' + op.rkey, op.id.to_text()));
      EXPECT_TRUE(op.action == op_action::remove
                  || cid::of_dag_cbor(op.record.view()) == op.id);
    }
  }
  EXPECT_EQ(kinds[frame_kind::commit], 148u);
  EXPECT_EQ(kinds[frame_kind::identity], 1u);
  EXPECT_EQ(kinds[frame_kind::account], 1u);
  EXPECT_EQ(changes, read_expected(folder));
  EXPECT_EQ(changes.size(), 150u);
}

TEST(JetstreamVectorsTest, TheCorpusIsWhatItsManifestSays) {
  WEIR_VECTORS(folder, jetstream_corpus);
  const auto manifest = json::parse(read_file(folder / "manifest.json"));
  std::map<std::string, size_t> counts;
  std::set<std::string> dids;
  int64_t last = 0;
  for (const auto& frame : read_jetstream_frames(folder)) {
    const auto event = decode_frame(frame.view()).value();
    last = peek_frame(frame.view()).value().seq;
    const auto* commit = std::get_if<commit_event>(&event);
    if (commit == nullptr)
      continue;
    dids.insert(commit->repo.str());
    ++counts["commit_frames"];
    for (const auto& op : commit->ops)
      ++counts[std::string{to_string(op.action)} + "s"];
  }
  for (const auto* each : {"commit_frames", "creates", "updates", "deletes"})
    EXPECT_EQ(counts[each], manifest.at(each).to_number<size_t>()) << each;
  EXPECT_EQ(last, manifest.at("seq_last").to_number<int64_t>());
  EXPECT_EQ(dids,
            json::value_to<std::set<std::string>>(manifest.at("commit_dids")));
}

TEST(JetstreamVectorsTest, FramesOfThePublicNetworkNeedTheRightKey) {
  WEIR_VECTORS(folder, jetstream_corpus);
  const auto keys = read_jetstream_keys(folder);
  size_t refused = 0;
  for (const auto& frame : read_jetstream_frames(folder)) {
    const auto event = decode_frame(frame.view()).value();
    const auto* commit = std::get_if<commit_event>(&event);
    if (commit == nullptr)
      continue;
    const auto& other = keys.begin()->first == commit->repo.str()
                          ? keys.rbegin()->second
                          : keys.begin()->second;
    const auto done = verify_commit(frame, *commit, other, after_all_vectors);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().why, verdict::bad_signature);
    ++refused;
  }
  EXPECT_EQ(refused, 148u);
}

// The JSON is Jetstream's own. Its records give the CIDs that it names, and the
// bytes give the same JSON again (protocol-coverage.md 6.12).
TEST(JetstreamVectorsTest, GoldenRecordsHaveTheirCidsAndComeBackAsJson) {
  WEIR_VECTORS(path,
               "vectors/jetstream/internal/subscribe/testdata/golden_v1.jsonl");
  size_t events = 0;
  size_t records = 0;
  for (const auto& line : read_vector_lines(path)) {
    ++events;
    const auto event = json::parse(line).as_object();
    EXPECT_TRUE(did::parse(text(event.at("did"))));
    if (text(event.at("kind")) != "commit")
      continue;
    const auto& commit = event.at("commit").as_object();
    EXPECT_TRUE(valid_record_key(text(commit.at("rkey"))));
    EXPECT_TRUE(valid_nsid(text(commit.at("collection"))));
    if (!commit.contains("record"))
      continue;
    ++records;
    const auto block = json_to_cbor(commit.at("record"));
    EXPECT_EQ(cid::of_dag_cbor(block).to_text(), text(commit.at("cid")));
    std::string made;
    EXPECT_EQ(append_record_json(block, made).value(), json_hazard::none);
    EXPECT_EQ(json::parse(made), commit.at("record"));
  }
  EXPECT_EQ(events, 10u);
  EXPECT_EQ(records, 7u);
}

TEST(JetstreamVectorsTest, TheRepositoryHasTheAgreedRecordsAndRoot) {
  WEIR_VECTORS(folder, jetstream_corpus);
  const auto file = read_file(folder / "repo.car");
  const auto car = car_slice::parse(as_bytes(file)).value();
  ASSERT_TRUE(car.check_hashes());
  const auto* block = car.find(car.roots().front());
  ASSERT_NE(block, nullptr);
  auto commit = decode_commit(block->data).value();
  const auto expected = read_file(folder / "car_expected_commit.txt");
  for (const auto& x :
       {commit.repo.str(), commit.data.to_text(), commit.rev.str()})
    EXPECT_NE(expected.find(x), std::string::npos) << x;

  // The key is not among the vectors, so the tree is walked under a commit that
  // differs only in its signature.
  const auto random = seeded_random(1);
  const auto key = private_key::generate(curve::k256, *random);
  const auto signed_anew = encode_signed_commit(commit, key);
  const auto root = cid::of_dag_cbor(signed_anew);
  car_writer out{std::span{&root, 1}};
  out.add(root, signed_anew);
  for (const auto& x : car.blocks())
    out.add(x.id, x.data);
  const auto store = make_memory_spool(1'000'000);
  const auto overflow = make_memory_spool(0);
  repo_walk walk{commit.repo, *store, *overflow};
  ASSERT_TRUE(walk.feed(out.take()));
  ASSERT_TRUE(walk.finish(key.public_part(), after_all_vectors));
  std::vector<std::string> lines;
  const auto done = walk.step(1000, [&](const walked_record& x) {
    EXPECT_FALSE(x.undecodable);
    lines.push_back(std::string{x.path} + '\t' + x.id.to_text());
  });
  ASSERT_TRUE(done) << to_string(done.error());
  EXPECT_TRUE(*done);
  EXPECT_EQ(lines, read_vector_lines(folder / "car_expected_records.tsv"));
  EXPECT_EQ(lines.size(), 23u);
}

} // namespace weir::tests
