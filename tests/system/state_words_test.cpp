#include "actors/api/routes.hpp"
#include "simnet/network.hpp"
#include "tests/system/hostile_host.hpp"
#include "tests/system/hostile_node.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <set>

// The names of states of repos and accounts are those of docs/api.md in every
// answer, in the metrics and in the log.

namespace weir::tests {

namespace {

namespace json = boost::json;

json::value json_of(apps::web_client& web, const std::string& url) {
  const auto answer = web.get(url);
  std::error_code bad;
  auto out = answer ? json::parse(as_text(answer->body), bad) : json::value{};
  return bad ? json::value{} : out;
}

/// The values of all members `account`, at any depth.
void collect_accounts(const json::value& x, std::multiset<std::string>& out) {
  if (x.is_array())
    for (const auto& each : x.get_array())
      collect_accounts(each, out);
  if (!x.is_object())
    return;
  for (const auto& [name, value] : x.get_object()) {
    if (name == "account" && value.is_string())
      out.emplace(value.get_string());
    collect_accounts(value, out);
  }
}

/// The line of `/metrics` for each state in this answer of `/status`.
std::vector<std::string> lines_of(const json::object& status,
                                  std::string_view name) {
  std::vector<std::string> out;
  for (const auto& [state, count] : status.at(name).as_object())
    out.push_back("\nweir_" + std::string{name} + "{state=\""
                  + std::string{state} + "\"} "
                  + std::to_string(count.to_number<uint64_t>()) + '\n');
  return out;
}

size_t count_of(const std::string& text, const std::string& what) {
  size_t out = 0;
  for (auto at = text.find(what); at != std::string::npos;
       at = text.find(what, at + 1))
    ++out;
  return out;
}

} // namespace

// docs/api.md: the host says that the account is not active, without a reason
TEST(StateWordsTest, AnAccountThatIsInactiveIsCalledSoInEveryAnswer) {
  hostile_stream stream;
  hostile_host host;
  live_repo repo{1};
  repo.put("app.test.note/a", make_record("one"));
  repo.commit();
  const auto did = repo.did().str();
  const auto word = R"({"did":")" + did + R"(","active":false)";
  host.publish_and_serve(repo);
  host.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
  host.on("/xrpc/com.atproto.sync.getRepoStatus",
          say(http_answer(200, word + '}')));
  host.on("/xrpc/com.atproto.sync.listRepos",
          say(http_answer(
            200, R"({"repos":[)" + word
                   + R"(,"head":"bafyreigh2akiscaildcqabsyg3dfr6chu3fgpregi)"
                     R"(ymsck7e7aqa4s52zy","rev":"3jzfcijpj2z2a"}]})")));
  hostile_node node{{"pds:" + host.url()}, host.url()};
  const auto web = apps::web_client::make();
  EXPECT_TRUE(node.await_metric("weir_accounts{state=\"inactive\"}", 1))
    << node.log();
  std::multiset<std::string> words;
  for (const auto& x : actors::all_routes()) {
    if (x.on != actors::port::data || x.method != "GET" || x.upgrade)
      continue;
    std::string path{x.pattern};
    if (const auto at = path.find(":did"); at != std::string::npos)
      path.replace(at, 4, did);
    collect_accounts(json_of(*web, node.data_url() + path), words);
  }
  EXPECT_EQ(words, (std::multiset<std::string>{"inactive", "inactive",
                                               "inactive"}));
  const auto status
    = json_of(*web, node.operations_url() + "/status").as_object();
  EXPECT_EQ(status.at("accounts").at("inactive").to_number<uint64_t>(), 1u);
  // Tap has no word for an inactive account without a reason.
  EXPECT_EQ(json_of(*web, node.data_url() + "/info/" + did).at("state"),
            "deactivated");
}

// docs/operations.md, the alert "repos fail"
TEST(StateWordsTest, MetricsAndLogTellAccountsThatAreAwayFromRepoThatFail) {
  constexpr size_t away = 4;
  simnet::network_options options;
  options.population.seed = 15;
  options.population.accounts = 12;
  options.population.records = 60;
  options.population.deactivated = away;
  simnet::network life{options};
  const auto urls = life.start(2).value();
  size_t i = 0;
  while (life.truth().view(i).status != simnet::standing::active)
    ++i;
  simnet::fault failing;
  failing.kind = simnet::fault_kind::failing_repo;
  failing.did = life.truth().view(i).id.str();
  failing.count = 1'000;
  ASSERT_TRUE(life.faults().inject(failing));
  hostile_node node{{"relay:" + urls.relay},
                    urls.plc,
                    {"--retry-backoff-min", "1h"}};
  EXPECT_TRUE(node.await_metric("weir_repos{state=\"error\"}", 1));
  EXPECT_TRUE(node.await_metric("weir_repos_synced", 12 - away - 1));
  EXPECT_TRUE(node.await_metric("weir_accounts{state=\"deactivated\"}", away));
  const auto status = json::parse(node.status()).as_object();
  const auto metrics = node.metrics();
  for (const auto* name : {"repos", "accounts"})
    for (const auto& line : lines_of(status, name))
      EXPECT_NE(metrics.find(line), std::string::npos) << line << metrics;
  EXPECT_EQ(node.metric("weir_repos{state=\"error\"}"), 1u);
  EXPECT_EQ(node.metric("weir_repos_tracked"), 12u);
  EXPECT_EQ(node.metric("weir_backfill_finished_total{result=\"failed\"}"), 1u);
  EXPECT_EQ(count_of(node.log(), R"("event":"backfill_failed","did":")"
                                   + failing.did + '"'),
            1u);
  EXPECT_EQ(count_of(node.log(), R"("event":"backfill_failed")"), 1u);
  const auto told = count_of(node.log(), R"("event":"account_away")");
  EXPECT_GT(told, 0u);
  EXPECT_EQ(node.metric("weir_backfill_finished_total{result=\"away\"}"),
            told);
}

// Otherwise an account that does not exist would wait without any explanation.
TEST(StateWordsTest, AnAccountWithoutADocumentIsNamedInTheLog) {
  const hostile_host host; // Its directory has no account.
  hostile_node node{{"pds:" + host.url()}, host.url()};
  const auto did
    = atproto::did::parse("did:plc:aaaaaaaaaaaaaaaaaaaaaaaa").value();
  node.add({did});
  const auto found = node.await_failure(did);
  EXPECT_EQ(found.status, "error");
  EXPECT_GE(count_of(node.log(), R"("event":"backfill_failed","did":")"
                                   + did.str()
                                   + R"(","reason":"not_found: )"),
            1u)
    << node.log();
}

} // namespace weir::tests
