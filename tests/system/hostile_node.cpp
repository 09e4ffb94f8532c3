#include "tests/system/hostile_node.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace weir::tests {

namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

constexpr auto longest_wait = node_patience;

/// Default options, which a test may override.
constexpr std::array<std::pair<const char*, const char*>, 7> usual{
  {{"--mode", "full-network"},
   {"--plc-per-second", "5000"},
   {"--retry-backoff-min", "1s"},
   {"--listing-grace", "1s"},
   {"--sync-parallelism", "16"},
   {"--log-level", "info"},
   {"--log-format", "json"}}};

std::string text_of(const json::object& x, std::string_view key) {
  const auto* value = x.if_contains(key);
  return value == nullptr ? "" : std::string{value->as_string()};
}

uint64_t number_of(const json::object& x, std::string_view key) {
  const auto* value = x.if_contains(key);
  return value == nullptr ? 0 : value->to_number<uint64_t>();
}

} // namespace

hostile_node::hostile_node(const std::vector<std::string>& upstreams,
                           const std::string& plc,
                           std::vector<std::string> more, reach where) {
  auto& arguments = arguments_;
  arguments = {"run",         "--data-dir", dir_.at("data"), "--bind",
               "127.0.0.1:0", "--plc-url",  plc};
  if (where == reach::private_too)
    arguments.insert(arguments.end(), {"--handle-resolver-url", plc,
                                       "--allow-private-addresses"});
  for (const auto& [flag, value] : usual)
    if (std::find(more.begin(), more.end(), flag) == more.end())
      arguments.insert(arguments.end(), {flag, value});
  for (const auto& x : upstreams)
    arguments.insert(arguments.end(), {"--upstream", x});
  arguments.insert(arguments.end(), more.begin(), more.end());
  start();
}

void hostile_node::start(const std::vector<std::string>& environment) {
  process_ = std::make_unique<program>(arguments_, environment);
  const auto line = process_->read_line(60s);
  if (!line)
    throw std::runtime_error("no ready line: " + process_->errors());
  at_ = parse_ready(*line);
}

void hostile_node::restart(const std::function<void()>& away) {
  process_->send(SIGTERM);
  EXPECT_EQ(process_->wait(longest_wait), 0) << process_->errors();
  away();
  start();
}

void hostile_node::restart_with(const std::vector<std::string>& options) {
  for (size_t i = 0; i + 1 < options.size(); i += 2) {
    const auto at = std::find(arguments_.begin(), arguments_.end(), options[i]);
    if (at == arguments_.end())
      arguments_.insert(arguments_.end(), {options[i], options[i + 1]});
    else
      *(at + 1) = options[i + 1];
  }
  restart([] {});
}

void hostile_node::kill(const std::function<void()>& away) {
  process_->send(SIGKILL);
  EXPECT_EQ(process_->wait(longest_wait), -SIGKILL) << process_->errors();
  away();
  start();
}

void hostile_node::die_at(const std::string& point,
                          const std::function<void()>& meanwhile,
                          const std::function<void()>& away) {
  process_->send(SIGTERM);
  EXPECT_EQ(process_->wait(longest_wait), 0) << process_->errors();
  start({"WEIR_CRASH_AT=" + point});
  meanwhile();
  EXPECT_EQ(process_->wait(longest_wait), -SIGKILL) << process_->errors();
  away();
  start();
}

std::string hostile_node::get(const std::string& url) {
  const auto answer = web_->get(url);
  if (!answer)
    throw std::runtime_error(url + ": " + to_string(answer.error()));
  return std::string{as_text(answer->body)};
}

void hostile_node::add(const std::vector<atproto::did>& repos) {
  name_repos("/repos/add", repos);
}

void hostile_node::remove(const std::vector<atproto::did>& repos) {
  name_repos("/repos/remove", repos);
}

void hostile_node::name_repos(const std::string& path,
                              const std::vector<atproto::did>& repos) {
  json::array dids;
  for (const auto& x : repos)
    dids.emplace_back(x.str());
  const auto answer
    = web_->post(at_.data + path,
                 json::serialize(json::object{{"dids", std::move(dids)}}));
  if (!answer || answer->status != 200)
    throw std::runtime_error(path + " is refused");
}

told_repo hostile_node::repo(const atproto::did& did) {
  const auto x = json::parse(get(at_.data + "/repos/" + did.str())).as_object();
  return {text_of(x, "status"), x.contains("status") ? text_of(x, "error") : "",
          text_of(x, "rev"), number_of(x, "record_count"),
          number_of(x, "retry_count")};
}

std::string hostile_node::handle(const atproto::did& did) {
  const auto x = json::parse(get(at_.data + "/info/" + did.str())).as_object();
  return text_of(x, "handle");
}

told_repo hostile_node::await(const atproto::did& did,
                              std::string_view status) {
  told_repo out;
  eventually(longest_wait, [&] {
    out = repo(did);
    return out.status == status;
  });
  EXPECT_EQ(out.status, status) << did.str() << ": " << out.error;
  return out;
}

told_repo hostile_node::await_failure(const atproto::did& did) {
  told_repo out;
  eventually(longest_wait, [&] {
    out = repo(did);
    return out.tries > 0;
  });
  return out;
}

uint64_t hostile_node::metric(std::string_view line) {
  const auto text = '\n' + metrics();
  const auto wanted = '\n' + std::string{line};
  uint64_t out = 0;
  for (auto at = text.find(wanted); at != std::string::npos;
       at = text.find(wanted, at + 1)) {
    const auto end = text.find('\n', at + 1);
    out += std::stoull(text.substr(text.rfind(' ', end) + 1));
  }
  return out;
}

bool hostile_node::await_metric(std::string_view line, uint64_t least) {
  return eventually(longest_wait, [&] {
    return metric(line) >= least;
  });
}

uint64_t hostile_node::log_end() {
  return metric("weir_oplog_seq ");
}

uint16_t hostile_node::data_port() const {
  return static_cast<uint16_t>(
    std::stoul(at_.data.substr(at_.data.rfind(':') + 1)));
}

bool hostile_node::is_healthy() {
  const auto answer = web_->get(at_.data + "/health");
  return answer && answer->status == 200;
}

} // namespace weir::tests
