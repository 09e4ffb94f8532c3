#include "apps/demo/evidence.hpp"
#include "apps/demo/proof.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/system/channel_client.hpp"
#include "tests/system/followed_network.hpp"
#include "tests/system/patience.hpp"
#include "tests/system/store_left.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <csignal>
#include <mutex>

// api.md, Acks: one DID is never acked while 10,000 events of others are acked.
// architecture.md I5.

namespace weir::tests {

namespace {

using namespace std::chrono_literals;

/// An event names its DID before its content.
bool is_of(std::string_view event, std::string_view did) {
  constexpr std::string_view name = R"("did":")";
  return event.substr(event.find(name) + name.size()).starts_with(did);
}

/// Acks the events of all DIDs except one.
class partial_consumer {
public:
  explicit partial_consumer(std::string did) : parked_(std::move(did)) {
    // nop
  }

  void connect(const net::transport_ptr& network, const std::string& data_url) {
    parked_here_.clear();
    channel_ = std::make_unique<channel_client>(network, data_url,
                                                [this](const auto& texts) {
                                                  return take(texts);
                                                });
  }

  void end_connection() {
    EXPECT_TRUE(channel_->wait_over(node_patience));
    channel_.reset();
  }

  /// From now on the DID is acked like any other.
  void relent() {
    const std::lock_guard lock{guard_};
    relents_ = true;
    for (const auto& [id, ignored] : parked_here_)
      channel_->ack(id);
  }

  /// Number of events of other DIDs.
  size_t others() const {
    const std::lock_guard lock{guard_};
    return others_;
  }

  /// Ids of the DID that came on this connection, and how often.
  std::map<uint64_t, size_t> parked_here() const {
    const std::lock_guard lock{guard_};
    return parked_here_;
  }

  template <class Look>
  auto read(Look look) const {
    const std::lock_guard lock{guard_};
    return look(copy_);
  }

private:
  std::vector<uint64_t> take(const std::vector<std::string_view>& texts) {
    const std::lock_guard lock{guard_};
    std::vector<uint64_t> acks;
    for (const auto text : texts) {
      const auto id = copy_.take(text, {}).value().id;
      if (!is_of(text, parked_))
        ++others_;
      else if (!relents_) {
        ++parked_here_[id];
        continue;
      }
      acks.push_back(id);
    }
    return acks;
  }

  const std::string parked_;
  mutable std::mutex guard_; ///< Guards all members below except the channel.
  bool relents_ = false;
  size_t others_ = 0;
  std::map<uint64_t, size_t> parked_here_;
  apps::event_copy copy_;
  std::unique_ptr<channel_client> channel_; ///< Is destroyed first.
};

class ParkedDidTest : public testing::Test {
protected:
  static constexpr size_t events_a_life = 3'500;

  /// The account with the longest history, which exceeds a window.
  size_t choose() {
    const auto& truth = net.life().truth();
    size_t best = 0;
    for (size_t i = 0; i < truth.accounts(); ++i)
      if (truth.view(i).records > truth.view(best).records)
        best = i;
    return best;
  }

  void live_through(int end_signal);
  void check_parked(const std::map<uint64_t, size_t>& came);
  void check_store();
  bool others_arrived();
  size_t dead_letters();

  followed_network net{11, 30, 3'000};
  const size_t parked = choose();
  const std::string did = net.life().truth().view(parked).id.str();
  const temp_dir dir;
  const std::string data = dir.at("data");
  const std::unique_ptr<apps::web_client> web = apps::web_client::make();
  partial_consumer consumer{did};
  std::unique_ptr<program> node;
  node_addresses at;
  uint64_t first = 0; ///< The DID's first event.
};

bool ParkedDidTest::others_arrived() {
  return consumer.read([&](const apps::event_copy& copy) {
    return net.difference(copy, did).empty();
  });
}

size_t ParkedDidTest::dead_letters() {
  const auto page = web->get(at.operations + "/metrics").value();
  return apps::metric_total(as_text(page.body), "weir_deadletters", "");
}

/// Starts the node and lets events flow until all events of the other DIDs have
/// arrived and the parked one was tried again. Then stops the node.
void ParkedDidTest::live_through(int end_signal) {
  constexpr size_t own_events = 100;
  node = std::make_unique<program>(
    net.arguments(data, {"--consumer-retry", "1s"}));
  at = parse_ready(node->read_line(node_patience).value_or(""));
  ASSERT_NE(at.data, "") << tail_of(node->errors());
  consumer.connect(web->transport(), at.data);
  net.life().traffic().make(events_a_life);
  for (size_t i = 0; i < own_events; ++i)
    net.life().traffic().post(parked);
  EXPECT_TRUE(eventually(node_patience,
                         [&] {
                           return others_arrived();
                         }))
    << consumer.read([&](const apps::event_copy& copy) {
         return net.difference(copy, did);
       });
  EXPECT_TRUE(eventually(node_patience,
                         [&] {
                           const auto came = consumer.parked_here();
                           return !came.empty() && came.begin()->second >= 3;
                         }))
    << tail_of(node->errors());
  check_parked(consumer.parked_here());
  EXPECT_EQ(dead_letters(), 0u);
  if (end_signal == 0)
    return;
  node->send(end_signal);
  EXPECT_EQ(node->wait(node_patience), end_signal == SIGTERM ? 0 : -end_signal);
  consumer.end_connection();
  check_store();
}

/// The DID's first event comes repeatedly. The others that may be in flight
/// with it came once.
void ParkedDidTest::check_parked(const std::map<uint64_t, size_t>& came) {
  if (first == 0)
    first = came.begin()->first;
  EXPECT_EQ(came.begin()->first, first);
  for (const auto& [id, times] : came)
    EXPECT_TRUE(id == first || times == 1) << id << " came " << times;
}

/// An event without an ack is not settled.
void ParkedDidTest::check_store() {
  const auto store = store_left::read(data);
  EXPECT_EQ(store.findings, "");
  EXPECT_FALSE(store.is_acked(first));
}

} // namespace

TEST_F(ParkedDidTest, OthersFlowOnAcrossRestartsWhileOneIsNeverAcked) {
  live_through(SIGTERM);
  live_through(SIGKILL);
  live_through(0);
  EXPECT_GE(consumer.others(), 10'000u);
  consumer.relent();
  std::string difference;
  EXPECT_TRUE(
    eventually(node_patience,
               [&] {
                 difference = consumer.read([&](const apps::event_copy& copy) {
                   return net.difference(copy);
                 });
                 return difference.empty() && status_of(*web, at).outbox == 0;
               }))
    << difference << tail_of(node->errors());
  node->send(SIGTERM);
  EXPECT_EQ(node->wait(node_patience), 0);
  consumer.end_connection();
  const auto stores = apps::closed_stores::open(data).value();
  consumer.read([&](const apps::event_copy& copy) {
    const auto log = apps::check_delivery(stores, copy).value();
    EXPECT_TRUE(log.good()) << log.lost << " lost";
    EXPECT_EQ(copy.counts().conflicts + copy.counts().out_of_order, 0u);
  });
}

} // namespace weir::tests
