#include "tests/system/watched_node.hpp"

#include "apps/demo/evidence.hpp"
#include "base/log.hpp"
#include "tests/support/node_partitions.hpp"

#include <boost/json.hpp>

#include <sstream>

namespace weir::tests {

namespace {

namespace json = boost::json;

} // namespace

WatchedNodeTest::WatchedNodeTest(size_t hosts)
  : net(13, accounts, 100, {}, hosts) {
  log::configure(log::level::warn, log::format::text);
  testing::internal::CaptureStderr();
  config.data_dir = dir_.at("data");
  config.partitions = node_partitions();
  config.bind = config.operations_bind = "127.0.0.1:0";
  config.upstreams = {{net.urls().relay, true}};
  config.plc_url = config.handle_resolver_url = net.urls().plc;
  config.allow_private_addresses = true;
  config.plc_per_second = 5'000;
  config.mode = actors::tracking_mode::full_network;
  config.retry_backoff_min = config.retry_backoff_max = std::chrono::seconds{1};
  config.listing_grace = std::chrono::seconds{1};
}

WatchedNodeTest::~WatchedNodeTest() {
  stop();
  log_ += testing::internal::GetCapturedStderr();
  if (HasFailure())
    ADD_FAILURE() << tail_of(log_);
}

void WatchedNodeTest::start() {
  actors::node_seams seams;
  seams.time = &time;
  node_ = actors::node::start(
            config,
            [](const error& why) {
              ADD_FAILURE() << to_string(why);
            },
            std::move(seams))
            .value();
}

void WatchedNodeTest::add(size_t count) {
  std::vector<atproto::did> repos;
  for (size_t i = 0; i < count; ++i)
    repos.push_back(net.life().truth().view(i).id);
  add(repos);
}

void WatchedNodeTest::add(const std::vector<atproto::did>& repos) {
  std::string dids;
  for (const auto& x : repos)
    dids += (dids.empty() ? "\"" : ",\"") + x.str() + '"';
  EXPECT_TRUE(
    web_->post(node_->data_url() + "/repos/add", "{\"dids\":[" + dids + "]}"));
}

std::string WatchedNodeTest::readiness() {
  const auto answer = web_->get(node_->operations_url() + "/readyz").value();
  return std::to_string(answer.status) + ' '
         + std::string{as_text(answer.body)};
}

std::string WatchedNodeTest::causes_of(const std::string& path) {
  const auto answer = web_->get(node_->operations_url() + path).value();
  const auto body = json::parse(as_text(answer.body)).as_object();
  return json::serialize(body.at("causes"));
}

std::string WatchedNodeTest::errors() {
  const auto answer = web_->get(node_->data_url() + "/repos/errors").value();
  return std::string{as_text(answer.body)};
}

bool WatchedNodeTest::await_cause(const std::string& cause,
                                  const std::string& where,
                                  const std::string& error,
                                  const std::string& level) {
  const auto ready = level != "failing";
  std::string last;
  const auto found = eventually(node_patience, [&] {
    last = readiness();
    const auto body = json::parse(last.substr(4)).as_object();
    for (const auto& x : body.at("causes").as_array()) {
      const auto& it = x.as_object();
      if (it.at("cause").as_string() == cause
          && it.at("where").as_string() == where
          && it.at("level").as_string() == level
          && it.at("error").as_string().find(error) != json::string::npos)
        return last.starts_with(ready ? "200" : "503")
               && body.at("ready").as_bool() == ready;
    }
    return false;
  });
  EXPECT_TRUE(found) << last;
  return found;
}

bool WatchedNodeTest::await_ready() {
  const auto ready = eventually(node_patience, [&] {
    return readiness() == R"(200 {"ready":true,"waiting":[],"causes":[]})";
  });
  EXPECT_TRUE(ready) << readiness();
  return ready;
}

uint64_t WatchedNodeTest::metric(const std::string& name,
                                 const std::string& label) {
  const auto page = web_->get(node_->operations_url() + "/metrics").value();
  return apps::metric_total(as_text(page.body), name, label);
}

size_t WatchedNodeTest::equal_to_source() {
  size_t out = 0;
  for (size_t i = 0; i < accounts; ++i) {
    const auto account = net.life().truth().view(i);
    const auto answer
      = web_->get(node_->data_url() + "/repos/" + account.id.str()).value();
    if (answer.status != 200)
      continue;
    const auto repo = json::parse(as_text(answer.body)).as_object();
    out += repo.at("status").as_string() == "synced" && repo.contains("rev")
           && repo.at("rev").as_string() == account.rev.str();
  }
  return out;
}

bool WatchedNodeTest::await_all_equal() {
  const auto equal = eventually(node_patience, [&] {
    return equal_to_source() == accounts;
  });
  EXPECT_TRUE(equal) << equal_to_source() << ' ' << readiness();
  return equal;
}

size_t WatchedNodeTest::warnings(const std::string& event,
                                 const std::string& cause) {
  log_ += testing::internal::GetCapturedStderr();
  testing::internal::CaptureStderr();
  size_t out = 0;
  std::istringstream lines{log_};
  for (std::string line; std::getline(lines, line);)
    out += line.find(event) != std::string::npos
           && line.find("cause=" + cause) != std::string::npos;
  return out;
}

} // namespace weir::tests
