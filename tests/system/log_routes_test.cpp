#include "tests/system/complete_network.hpp"
#include "tests/system/log_reading.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

// The routes that read operations and records, on a running node: docs/api.md,
// `GET /v1/ops` and those after it; OPLOG-12 to OPLOG-15.

namespace weir::tests {

namespace {

namespace json = boost::json;

/// The CIDs of all records, by URI, as the operations leave them.
std::map<std::string, std::string>
fold(const std::vector<json::object>& operations) {
  std::map<std::string, std::string> out;
  for (const auto& x : operations) {
    if (text_in(x, "collection").starts_with('$'))
      continue;
    const auto uri = "at://" + text_in(x, "did") + '/'
                     + text_in(x, "collection") + '/' + text_in(x, "rkey");
    if (text_in(x, "action") == "delete")
      out.erase(uri);
    else
      out[uri] = text_in(x, "cid");
  }
  return out;
}

/// The same from the records of all these repos.
std::map<std::string, std::string>
read_records(const hostile_node& node, const std::vector<std::string>& dids) {
  std::map<std::string, std::string> out;
  for (const auto& did : dids) {
    std::string cursor;
    do {
      const auto page = ask_data(node, "/v1/repos/" + did + "/records?limit=7"
                                    + (cursor.empty() ? ""
                                                      : "&cursor=" + cursor));
      if (page.status != 200)
        break;
      for (const auto& x : page.list("records"))
        out[text_in(x, "uri")] = text_in(x, "cid");
      cursor = page.text("cursor");
    } while (!cursor.empty());
  }
  return out;
}

/// Expects that each operation follows on the one before it in its stream.
void expect_streams(const std::vector<json::object>& operations) {
  std::map<std::string, std::pair<uint64_t, std::string>> tails;
  std::set<std::string> ids;
  for (const auto& x : operations) {
    const auto stream = text_in(x, "did") + text_in(x, "collection");
    const auto tail = tails.find(stream);
    const bool first = tail == tails.end();
    EXPECT_EQ(number_in(x, "index"), first ? 0 : tail->second.first + 1)
      << stream;
    EXPECT_EQ(text_in(x, "prev_op_id"), first ? "" : tail->second.second)
      << stream;
    EXPECT_TRUE(ids.insert(text_in(x, "op_id")).second) << "twice";
    tails[stream] = {number_in(x, "index"), text_in(x, "op_id")};
  }
}

/// One stream in pages (OPLOG-13). Each page knows how long it is (OPLOG-31).
std::vector<json::object> read_stream(const hostile_node& node,
                                      const std::string& did,
                                      const std::string& collection) {
  std::vector<json::object> out;
  const auto path
    = "/v1/repos/" + did + "/ops?limit=3&collection=" + collection;
  std::string since;
  for (bool more = true; more;) {
    const auto page
      = ask_data(node, path + (since.empty() ? "" : "&since=") + since);
    EXPECT_EQ(page.status, 200);
    if (page.status != 200 || out.size() > 10'000)
      break;
    for (const auto& x : page.list("operations"))
      out.push_back(x.as_object());
    since = page.text("cursor");
    more = page.body.at("more").as_bool();
    if (!more) {
      EXPECT_EQ(number_in(page.body, "next_index"), out.size()) << collection;
    }
  }
  return out;
}

/// Expects that these are the operations of the stream by index (OPLOG-12), and
/// that its last ones are found by their time (OPLOG-14).
void expect_each(const hostile_node& node, const std::string& did,
                 const std::string& collection,
                 const std::vector<json::object>& all) {
  const auto path = "/v1/repos/" + did + "/ops";
  for (size_t i = 0; i < all.size(); ++i) {
    const auto one = path + '/' + collection + '/' + std::to_string(i);
    EXPECT_EQ(ask_data(node, one).body, all[i]) << one;
  }
  const auto after = path + '/' + collection + '/' + std::to_string(all.size());
  EXPECT_EQ(ask_data(node, after).status, 404);
  if (all.empty())
    return;
  const auto last = number_in(all.back(), "time_ms");
  const auto late
    = ask_data(node, path + "?limit=1000&collection=" + collection
                       + "&since_ms=" + std::to_string(last));
  ASSERT_FALSE(late.list("operations").empty());
  EXPECT_EQ(late.list("operations").back().as_object(), all.back());
  for (const auto& x : late.list("operations"))
    EXPECT_GE(number_in(x, "time_ms"), last);
}

class LogRoutesTest : public testing::Test {
protected:
  std::vector<std::string> dids() {
    std::vector<std::string> out;
    for (size_t i = 0; i < net.life().truth().accounts(); ++i)
      out.push_back(net.did_of(i).str());
    return out;
  }

  complete_network net{120};
};

} // namespace

// OPLOG-15, OPLOG-24, OPLOG-25
TEST_F(LogRoutesTest, PagesOfAnySizeAreTheWholeLog) {
  ASSERT_TRUE(net.await_lively());
  std::string cursor;
  const auto whole = read_log(net.node(), 1'000, {}, &cursor);
  uint64_t before = 0;
  for (const auto& x : whole) {
    EXPECT_GT(number_in(x, "id"), before);
    before = number_in(x, "id");
  }
  EXPECT_EQ(whole.size(), net.node().log_end());
  expect_streams(whole);
  const auto small = read_log(net.node(), 7);
  EXPECT_EQ(small, whole);
  EXPECT_EQ(fold(whole), read_records(net.node(), dids()));
  EXPECT_GE(fold(whole).size(), 120u);
  // The cursor is still a place of this log after a restart.
  net.node().restart([] {});
  const auto end = ask_data(net.node(), "/v1/ops?since=" + cursor);
  EXPECT_EQ(end.status, 200);
  EXPECT_FALSE(end.body.at("more").as_bool());
}

// OPLOG-12, OPLOG-13, OPLOG-14, OPLOG-15, OPLOG-31
TEST_F(LogRoutesTest, AFilterGivesExactlyWhatFits) {
  ASSERT_TRUE(net.await_lively());
  const auto whole = read_log(net.node(), 1'000);
  const auto did = net.did_of(3).str();
  std::set<std::string> collections;
  for (const auto& x : whole)
    collections.insert(text_in(x, "collection"));
  EXPECT_GE(collections.size(), 4u);
  for (const auto& name : collections) {
    std::vector<json::object> expected;
    std::vector<json::object> of_did;
    for (const auto& x : whole)
      if (text_in(x, "collection") == name) {
        expected.push_back(x);
        if (text_in(x, "did") == did)
          of_did.push_back(x);
      }
    EXPECT_EQ(read_log(net.node(), 5, "&collection=" + name), expected) << name;
    EXPECT_EQ(read_log(net.node(), 5, "&collection=" + name + "&did=" + did),
              of_did)
      << name;
    EXPECT_EQ(read_stream(net.node(), did, name), of_did) << name;
    expect_each(net.node(), did, name, of_did);
  }
}

// docs/api.md: what is written while a reader pages comes once.
TEST_F(LogRoutesTest, AReaderThatFollowsTheLogMissesNothing) {
  ASSERT_TRUE(net.await_whole());
  std::vector<json::object> found;
  std::string since;
  const auto read_on = [&] {
    for (bool more = true; more;) {
      const auto place = since.empty() ? since : "&since=" + since;
      const auto page = ask_data(net.node(), "/v1/ops?limit=3" + place);
      ASSERT_EQ(page.status, 200);
      for (const auto& x : page.list("operations"))
        found.push_back(x.as_object());
      since = page.text("cursor");
      more = page.body.at("more").as_bool();
    }
  };
  for (int round = 0; round < 3; ++round) {
    for (size_t i = 0; i < net.life().truth().accounts(); ++i)
      net.life().traffic().post(i);
    read_on(); // While they arrive.
    ASSERT_TRUE(net.await_whole());
  }
  read_on();
  expect_streams(found);
  EXPECT_EQ(found.size(), read_log(net.node(), 1'000).size());
  EXPECT_EQ(fold(found), read_records(net.node(), dids()));
}

// docs/api.md: 409 for a place in another log, 400 for what is none.
TEST_F(LogRoutesTest, APlaceOfAnotherLogIsRefused) {
  ASSERT_TRUE(net.await_whole());
  std::string cursor;
  read_log(net.node(), 1'000, {}, &cursor);
  complete_network other{121};
  ASSERT_TRUE(other.await_whole());
  const auto there = ask_data(other.node(), "/v1/ops?since=" + cursor);
  EXPECT_EQ(there.status, 409);
  EXPECT_EQ(there.text("error"), "ForeignCursor");
  for (const auto* bad : {"x", "17", "0123456789abcdef.1"}) {
    const auto is = ask_data(net.node(), std::string{"/v1/ops?since="} + bad);
    EXPECT_EQ(is.status, 400) << bad;
  }
  EXPECT_EQ(ask_data(net.node(), "/v1/ops?limit=1001").status, 400);
  EXPECT_EQ(ask_data(net.node(), "/v1/ops?cursor=1").status, 400) << "unknown";
  net.node().restart([&] {
    EXPECT_EQ(run_program({"adopt", net.node().data_dir()}).status, 0);
  });
  const auto rebuilt = ask_data(net.node(), "/v1/ops?since=" + cursor);
  EXPECT_EQ(rebuilt.status, 409);
  EXPECT_EQ(rebuilt.text("error"), "ForeignCursor");
}

} // namespace weir::tests
