#include "tests/system/followed_node.hpp"

#include "apps/demo/evidence.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

namespace weir::tests {

void live_copy::follow(apps::web_client& web, const std::string& data_url) {
  client_ = std::make_unique<channel_client>(
    web.transport(), data_url, [this](const auto& texts) {
      const std::lock_guard lock{guard_};
      std::vector<uint64_t> acks;
      for (const auto text : texts)
        acks.push_back(copy_.take(text, {}).value().id);
      return acks;
    });
}

std::vector<std::string>
followed_node::arguments(bool direct, std::vector<std::string> more) const {
  auto out = net.arguments(data, std::move(more));
  if (!direct)
    return out;
  const auto relay
    = std::find(out.begin(), out.end(), "relay:" + net.urls().relay);
  auto place = out.erase(relay - 1, relay + 1);
  for (const auto& host : net.urls().hosts) {
    place = out.insert(place, "pds:" + host);
    place = out.insert(place, "--upstream");
  }
  return out;
}

void followed_node::run(std::vector<std::string> arguments,
                        const std::vector<std::string>& variables) {
  node = std::make_unique<program>(std::move(arguments), variables);
  at = parse_ready(node->read_line(node_patience).value_or(""));
  ASSERT_NE(at.data, "") << tail_of(node->errors());
  copy.follow(*web, at.data);
}

void followed_node::stop() {
  node->send(SIGTERM);
  EXPECT_EQ(node->wait(node_patience), 0) << tail_of(node->errors());
  copy.end();
}

void followed_node::kill_node() {
  node->send(SIGKILL);
  node->wait(node_patience);
  copy.end();
}

std::string followed_node::difference() {
  return copy.read([this](const apps::event_copy& x) {
    return x.accounts().size() == net.life().truth().accounts()
             ? net.difference(x)
             : "accounts are missing";
  });
}

bool followed_node::await_equal() {
  const auto equal = eventually(node_patience, [this] {
    return difference().empty();
  });
  EXPECT_TRUE(equal) << difference() << tail_of(node->errors());
  return equal;
}

void followed_node::inject(simnet::fault_kind kind,
                           std::optional<size_t> account, size_t count) {
  simnet::fault x;
  x.kind = kind;
  x.count = count;
  if (account)
    x.did = net.life().truth().view(*account).id.str();
  ASSERT_TRUE(net.life().faults().inject(x)) << to_string(kind);
}

void followed_node::post(size_t account, size_t count) {
  for (size_t i = 0; i < count; ++i)
    net.life().traffic().post(account);
}

uint64_t followed_node::metric(const char* name, const std::string& label) {
  const auto page = web->get(at.operations + "/metrics");
  return page ? apps::metric_total(as_text(page->body), name, label) : 0;
}

} // namespace weir::tests
