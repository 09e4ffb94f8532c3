#pragma once

#include "apps/weir/web_client.hpp"
#include "storage/format/keys_repo.hpp"
#include "storage/format/values.hpp"
#include "storage/tables/collection_table.hpp"
#include "storage/tables/repo_table.hpp"
#include "tests/system/hostile_host.hpp"
#include "tests/system/hostile_node.hpp"
#include "tests/system/live_repo.hpp"
#include "tests/system/store_left.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace weir::tests {

/// A node that tracks one repo of one host. The test decides what the host
/// does, and reads from the node's answers what it knows.
class ConsistencyTest : public testing::Test {
protected:
  static constexpr auto list_path = "/xrpc/com.atproto.sync.listRepos";
  static constexpr auto status_path = "/xrpc/com.atproto.sync.getRepoStatus";
  static constexpr auto latest_path = "/xrpc/com.atproto.sync.getLatestCommit";

  ConsistencyTest() {
    host.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
    repo.put("app.test.note/a", make_record("one"));
    repo.commit();
    host.publish_and_serve(repo);
  }

  void start(std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--mode", "manual"});
    node = std::make_unique<hostile_node>(std::vector{"pds:" + host.url()},
                                          host.url(), std::move(more));
    // Its stream has a position then, and an earlier fetch proves nothing.
    EXPECT_TRUE(eventually(node_patience, [this] {
      return host.asked(list_path) > 0;
    }));
    node->add({repo.did()});
  }

  void start_synced(std::vector<std::string> more = {}) {
    start(std::move(more));
    ASSERT_EQ(node->await(repo.did(), "synced").status, "synced");
  }

  /// The next commit of the repo, which adds one record.
  commit_draft next() {
    repo.put("app.test.note/" + std::to_string(++records), make_record("more"));
    auto out = repo.draft();
    out.seq = ++seq;
    return out;
  }

  void send(const commit_draft& x) {
    ASSERT_TRUE(stream.send(x.encode(x.sign(repo.key()))));
  }

  void send_info() {
    ASSERT_TRUE(stream.send(
      atproto::encode_frame(atproto::info_event{"OutdatedCursor", ""})));
  }

  boost::json::object told() {
    const auto answer = web->get(node->data_url() + "/v1/repos/"
                                 + repo.did().str() + "/completeness");
    auto out = answer ? boost::json::parse(as_text(answer->body))
                      : boost::json::value{};
    return out.is_object() ? out.as_object() : boost::json::object{};
  }

  std::string text_told(std::string_view key) {
    const auto x = told();
    const auto* value = x.if_contains(key);
    return value != nullptr && value->is_string()
             ? std::string{value->as_string()}
             : std::string{};
  }

  bool complete() {
    const auto x = told();
    const auto* value = x.if_contains("complete");
    return value != nullptr && value->is_bool() && value->as_bool();
  }

  bool await_complete() {
    const auto out = eventually(node_patience, [this] { return complete(); });
    EXPECT_TRUE(out) << boost::json::serialize(told()) << tail_of(node->log());
    return out;
  }

  /// Why a term of completeness does not hold; empty when it holds.
  std::string reason_of(std::string_view term) {
    const auto all = told();
    for (const auto& x : all.at("terms").as_array())
      if (x.at("term").as_string() == term && !x.at("holds").as_bool())
        return std::string{x.at("reason").as_string()};
    return {};
  }

  bool await_rev(std::string_view key, const atproto::tid& rev) {
    const auto out = eventually(node_patience, [&] {
      return text_told(key) == rev.str();
    });
    EXPECT_TRUE(out) << key << ' ' << boost::json::serialize(told());
    return out;
  }

  int64_t epoch_of(std::string_view key) {
    return told().at(key).at("epoch").to_number<int64_t>();
  }

  std::string listing_of(const test_repo& x) const {
    return http_answer(200, R"({"repos":[{"did":")" + x.did().str()
                              + R"(","head":")" + x.data().to_text()
                              + R"(","rev":")" + x.rev().str()
                              + R"(","active":true}]})");
  }

  /// The row of the repo on disk while the node is down, after `change`.
  storage::repo_row
  row_left(const std::function<void(storage::repo_row&)>& change) {
    const auto db = store_of(node->data_dir(), repo.did());
    const auto names = storage::collection_table::load(*db).value();
    auto row = storage::repo_table{*db, *names}.row(repo.did()).value().value();
    change(row);
    storage::write_batch out;
    out.put(encode_key(storage::repo_key{repo.did()}),
            storage::encode_value(row));
    db->write(std::move(out), storage::sync_mode::durable).value();
    return row;
  }

  uint64_t fetches() { return node->metric("weir_backfill_started_total"); }

  hostile_stream stream;
  hostile_host host;
  live_repo repo{1};
  std::unique_ptr<hostile_node> node;
  std::unique_ptr<apps::web_client> web = apps::web_client::make();
  size_t records = 0;
  int64_t seq = 0;
};

} // namespace weir::tests
