#include "actors/api/access.hpp"
#include "actors/api/api.hpp"
#include "actors/api/limits.hpp"
#include "messages/journal.hpp"
#include "storage/log/limits.hpp"
#include "tests/support/net_memory.hpp"
#include "tests/unit/actors/answers_fixture.hpp"

// Answers with operations and records, of two stores: docs/api.md, `GET
// /v1/ops` and the routes after it. Whole nodes are in log_routes_test.cpp.

namespace weir::tests {
namespace {

using namespace weir::actors;

class LogAnswersTest : public AnswersFixture {};

} // namespace

// OPLOG-15, OPLOG-24, OPLOG-25
TEST_F(LogAnswersTest, AllOperationsComeInTheOrderOfTheirIds) {
  write_a_little();
  const auto page = parse(ops({}));
  const auto& all = page.at("operations").as_array();
  ASSERT_EQ(all.size(), 9u);
  uint64_t before = 0;
  for (const auto& x : all) {
    const auto id = x.at("id").to_number<uint64_t>();
    EXPECT_GT(id, before);
    before = id;
  }
  EXPECT_FALSE(page.at("more").as_bool());
  log_request rest;
  rest.since = wire::parse_log_position(page.at("cursor").as_string()).value();
  EXPECT_TRUE(parse(ops(rest)).at("operations").as_array().empty());
  log_request of_bob;
  of_bob.repo = bob.repo;
  of_bob.scope = "app.a.x";
  const auto one = parse(ops(of_bob)).at("operations").as_array();
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].at("record").at("t"), "bob's");
  EXPECT_EQ(one[0].at("did").as_string(), bob.repo.str());
  of_bob.with_content = false;
  const auto bare
    = parse(ops(of_bob)).at("operations").as_array()[0].as_object();
  EXPECT_FALSE(bare.contains("record"));
  EXPECT_EQ(bare.at("content"), "present");
}

TEST_F(LogAnswersTest, APlaceOfAnotherLogIsRefused) {
  write_a_little();
  const auto ask = [&](const std::string& since) {
    log_request x;
    x.since = wire::parse_log_position(since).value();
    const auto out = ops(x);
    return out.status == 200 ? "200" : error_of(out);
  };
  const auto ends = std::to_string(stores[0].writer->last_id()) + '.'
                    + std::to_string(stores[1].writer->last_id());
  EXPECT_EQ(ask("0123456789abcdef.1-0.0"), "200");
  EXPECT_EQ(ask("0123456789abcdef.1-" + ends), "200");
  EXPECT_EQ(ask("0123456789abcdef.2-0.0"), "409 ForeignCursor") << "rebuilt";
  EXPECT_EQ(ask("1123456789abcdef.1-0.0"), "409 ForeignCursor");
  EXPECT_EQ(ask("0123456789abcdef.1-1000.0"), "409 ForeignCursor")
    << "the log was put back to an earlier state";
  EXPECT_EQ(ask("0123456789abcdef.1-0"), "400 InvalidRequest");
}

// limits::operations_looked_max
TEST_F(LogAnswersTest, ARequestLooksAtSoManyAndNotOneMore) {
  apply(alice, alice.appear(storage::repo_status::syncing));
  for (size_t i = 0; i < limits::operations_looked_max; i += 256) {
    std::vector<change> chunk;
    for (size_t j = i; j < i + 256; ++j)
      chunk.push_back({numbered("app.a.x/", j), record("r")});
    apply(alice, alice.chunk(chunk));
  }
  log_request rare;
  rare.scope = "$commit";
  rare.repo = alice.repo;
  EXPECT_FALSE(parse(ops(rare)).at("more").as_bool());
  apply(alice, alice.finish());
  const auto page = parse(ops(rare));
  EXPECT_TRUE(page.at("operations").as_array().empty());
  EXPECT_TRUE(page.at("more").as_bool());
  rare.since = wire::parse_log_position(page.at("cursor").as_string()).value();
  EXPECT_EQ(parse(ops(rare)).at("operations").as_array().size(), 1u);
}

// limits::api_page_bytes_max
TEST_F(LogAnswersTest, APageHasSoManyBytesOfRecordsAndNotOneMore) {
  apply(alice, alice.appear());
  constexpr auto half = limits::api_page_bytes_max / 2;
  const auto pages = [&](size_t second) {
    apply(alice, alice.commit({{"app.a.x/1", large_record(half)},
                               {"app.a.x/2", large_record(second)}}));
    log_request x;
    x.repo = alice.repo;
    x.scope = "app.a.x";
    x.since = wire::log_position{shared->log_epoch, {0, 0}};
    x.since->places[shared->places().partition_of(alice.repo)]
      = store_of(alice).writer->last_id() - 3;
    const auto found = parse(ops(x)).at("operations").as_array().size();
    const auto page = parse(records(alice, {}));
    EXPECT_EQ(page.at("records").as_array().size(), found);
    EXPECT_EQ(page.contains("cursor"), found == 1);
    const auto stream = parse(
      stream_reply(*shared, alice.repo,
                   {"app.a.x", alice.chain->find("app.a.x")->next_index - 3,
                    {}, 10, true},
                   {}));
    return found;
  };
  EXPECT_EQ(pages(half), 2u);
  EXPECT_EQ(pages(half + 1), 1u);
}

// docs/api.md: while an account is away its records are not shown.
TEST_F(LogAnswersTest, OfAnAccountThatIsAwayNoRecordIsShown) {
  write_a_little();
  const auto words = [&] {
    std::vector<std::string> out;
    log_request x;
    x.repo = bob.repo;
    const auto page = parse(ops(x));
    for (const auto& op : page.at("operations").as_array())
      out.push_back(std::string{op.at("collection").as_string()} + ' '
                    + std::string{op.at("content").as_string()}
                    + (op.as_object().contains("record") ? " shown" : ""));
    return out;
  };
  set_account(bob, storage::account_status::takendown);
  EXPECT_EQ(words(),
            (std::vector<std::string>{"app.a.x hidden", "$commit hidden",
                                      "$account present shown"}));
  EXPECT_EQ(error_of(records(bob, {})), "404 RepoInactive");
  const record_path path{"app.a.x", "1"};
  EXPECT_EQ(error_of(record_reply(*shared, bob.repo, path)),
            "404 RepoInactive");
  EXPECT_EQ(error_of(past_record_reply(*shared, bob.repo, path,
                                       bob.chain->rev, {})),
            "404 RepoInactive");
  set_account(bob, storage::account_status::active);
  EXPECT_EQ(words()[0], "app.a.x present shown");
  EXPECT_EQ(records(bob, {}).status, 200);
}

// SYNC-30: nothing of a removed repo leaves the node, not even its envelopes.
TEST_F(LogAnswersTest, OfARemovedRepoNothingIsLeft) {
  write_a_little();
  apply(bob, bob.forget());
  const auto expect_gone = [&] {
    const auto page = parse(ops({}));
    EXPECT_EQ(page.at("operations").as_array().size(), 7u);
    for (const auto& op : page.at("operations").as_array())
      EXPECT_EQ(op.at("did").as_string(), alice.repo.str());
    EXPECT_EQ(error_of(records(bob, {})), "404 RepoNotFound");
    const record_path path{"app.a.x", "1"};
    EXPECT_EQ(error_of(record_reply(*shared, bob.repo, path)),
              "404 RepoNotFound");
    EXPECT_EQ(error_of(past_record_reply(*shared, bob.repo, path,
                                         atproto::tid{2'000}, {})),
              "404 RepoNotFound");
    EXPECT_EQ(error_of(stream_reply(*shared, bob.repo, {"app.a.x", {}, {}, 10},
                                    {})),
              "404 RepoNotFound");
    EXPECT_EQ(error_of(one_operation_reply(*shared, bob.repo, "app.a.x", 0,
                                           true, {})),
              "404 RepoNotFound");
  };
  expect_gone();
  while (store_of(bob).writer->erase_step(bob.repo).value()) {
  }
  expect_gone();
}

// A repo that comes back has nothing of what it was before.
TEST_F(LogAnswersTest, ARepoThatComesBackBeginsAnew) {
  write_a_little();
  apply(bob, bob.forget());
  apply(bob, bob.appear());
  EXPECT_EQ(error_of(record_reply(*shared, bob.repo, {"app.a.x", "1"})),
            "404 RecordNotFound");
  EXPECT_TRUE(parse(records(bob, {})).at("records").as_array().empty());
  const auto old = one_operation_reply(*shared, bob.repo, "app.a.x", 0, true,
                                       {});
  EXPECT_EQ(error_of(old), "404 OperationNotFound");
  const auto page
    = parse(stream_reply(*shared, bob.repo, {"app.a.x", {}, {}, 10}, {}));
  EXPECT_TRUE(page.at("operations").as_array().empty());
  EXPECT_EQ(page.at("next_index").to_number<uint64_t>(), 1u);
}

// OPLOG-12, OPLOG-13, OPLOG-14, OPLOG-31
TEST_F(LogAnswersTest, AStreamIsReadByIndexAndByTime) {
  write_a_little();
  stream_request x{"app.a.x", {}, {}, 2};
  auto page = parse(stream_reply(*shared, alice.repo, x, {}));
  EXPECT_EQ(page.at("next_index").to_number<uint64_t>(), 3u);
  EXPECT_EQ(page.at("operations").as_array().size(), 2u);
  EXPECT_TRUE(page.at("more").as_bool());
  EXPECT_EQ(page.at("cursor"), "1");
  x.since = 1;
  page = parse(stream_reply(*shared, alice.repo, x, {}));
  const auto& last = page.at("operations").as_array().at(0).as_object();
  EXPECT_EQ(last.at("index").to_number<uint64_t>(), 2u);
  EXPECT_EQ(last.at("content"), "invalid");
  EXPECT_FALSE(page.at("more").as_bool());
  x.since.reset();
  x.since_ms = 1'000'000;
  page = parse(stream_reply(*shared, alice.repo, x, {}));
  EXPECT_TRUE(page.at("operations").as_array().empty());
  EXPECT_EQ(parse(one_operation_reply(*shared, alice.repo, "app.a.x", 1, true,
                                      {}))
              .at("record")
              .at("t"),
            "three");
  EXPECT_EQ(error_of(one_operation_reply(*shared, alice.repo, "app.a.x", 3,
                                         true, {})),
            "404 OperationNotFound");
}

// ADR 35: it must not look like a record that did not exist
TEST_F(LogAnswersTest, OfATrimmedLogAnOlderVersionIsNotKnown) {
  apply(alice, alice.appear());
  apply(alice, alice.commit({{"app.a.x/1", record("first")}}));
  const atproto::tid first = alice.chain->rev;
  apply(alice, alice.commit({{"app.a.x/1", record("second")}}));
  apply(alice, alice.commit({{"app.a.x/2", record("other")}}));
  auto& writer = *store_of(alice).writer;
  ASSERT_TRUE(writer.erase_replaced(3, false));
  ASSERT_GT(writer.trim({1}, false).value().blocks, 0u);
  const auto reply
    = past_record_reply(*shared, alice.repo, {"app.a.x", "1"}, first, {});
  EXPECT_EQ(error_of(reply), "404 HistoryUnknown");
  EXPECT_NE(as_text(reply.body.view()).find("log_retention"),
            std::string::npos);
  EXPECT_EQ(past_record_reply(*shared, alice.repo, {"app.a.x", "1"},
                              alice.chain->rev, {})
              .status,
            200);
}

// OPLOG-16: the node stops.
TEST_F(LogAnswersTest, AReadThatIsCancelledIsUnavailable) {
  write_a_little();
  const auto stops = [] {
    return true;
  };
  EXPECT_EQ(error_of(operations_reply(*shared, {}, stops)), "503 Unavailable");
  EXPECT_EQ(error_of(stream_reply(*shared, alice.repo, {"app.a.x", {}, {}, 1},
                                  stops)),
            "503 Unavailable");
  EXPECT_EQ(error_of(one_operation_reply(*shared, alice.repo, "app.a.x", 0,
                                         true, stops)),
            "503 Unavailable");
  EXPECT_EQ(error_of(past_record_reply(*shared, alice.repo, {"app.a.x", "1"},
                                       alice.chain->rev, stops)),
            "503 Unavailable");
}

// OPLOG-16
TEST_F(LogAnswersTest, AStopOfTheNodeEndsAReadThatIsUnderWay) {
  write_a_little();
  probe reader{sys};
  shared->root().readers.push_back(reader.as<reader_actor>());
  api_environment env;
  env.shared = shared;
  auto faces = make_api(
    sys, std::move(env),
    std::make_shared<access_control>(access_options{}, time));
  keep(caf::actor_cast<caf::actor>(faces.actor));
  const auto network = std::make_shared<memory_transport>();
  auto server = *net::make_http_server(network, faces.data, {});
  const auto ask = [&](bool stopped) {
    const auto peer = network->connect();
    peer->feed("GET /v1/ops HTTP/1.1\r\nHost: localhost\r\n\r\n");
    run();
    auto jobs = reader.take<reader_job>();
    if (stopped)
      faces.stop();
    run();
    for (auto& job : jobs)
      job.run(rows[0]);
    network->loop.run();
    return peer->take().substr(0, 12);
  };
  EXPECT_EQ(ask(false), "HTTP/1.1 200");
  EXPECT_EQ(ask(true), "HTTP/1.1 503");
  server.reset();
  network->loop.run();
}

} // namespace weir::tests
