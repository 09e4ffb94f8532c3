#include "tests/system/durable_consumer.hpp"

#include "actors/consumer/limits.hpp"
#include "atproto/identifiers.hpp"
#include "tests/support/node_partitions.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <stdexcept>

namespace weir::tests {

namespace {

namespace json = boost::json;

constexpr uint64_t forget_one_of = 64;
constexpr auto reply_patience = std::chrono::seconds{10};

std::string text_at(const json::object& x, std::string_view key) {
  return std::string{x.at(key).as_string()};
}

} // namespace

/// The parts of an event that the check needs.
struct durable_consumer::incoming {
  explicit incoming(std::string_view text) {
    const auto all = json::parse(text).as_object();
    id = all.at("id").to_number<uint64_t>();
    record = text_at(all, "type") == "record";
    const auto& body = all.at(record ? "record" : "identity").as_object();
    did = text_at(body, "did");
    if (!record)
      return;
    live = body.at("live").as_bool();
    made = atproto::tid::parse(text_at(body, "rev"))->time();
  }

  uint64_t id = 0;
  std::string did;
  bool record = false;
  bool live = false;
  wall_time made;
};

durable_consumer::durable_consumer(const std::string& file, uint64_t seed)
  : file_(file), random_(seeded_random(seed)) {
  // nop
}

void durable_consumer::connect(const net::transport_ptr& network,
                               const std::string& data_url, bool forgetful,
                               bool late) {
  here_.clear();
  lanes_.clear();
  acks_.clear();
  ack_numbers_.clear();
  evidence_.assign(node_partitions(),
                   {.tick = system_clock().wall_now()});
  forgetful_ = forgetful;
  over_ = false;
  if (late)
    for (const auto id : std::vector(acked_.begin(), acked_.end()))
      if (!settled_.contains(id))
        enter_ack(id);
  channel_ = std::make_unique<channel_client>(
    network, data_url,
    [this](const auto& texts) {
      return take(texts);
    },
    acks_,
    [this] {
      const std::lock_guard lock{guard_};
      over_ = true;
      came_.notify_all();
    });
}

void durable_consumer::wait_for(size_t events,
                                std::chrono::steady_clock::time_point until) {
  std::unique_lock lock{guard_};
  came_.wait_until(lock, until, [&] {
    return over_ || here_.size() >= events;
  });
}

bool durable_consumer::cut_off() const {
  return channel_ && channel_->over();
}

void durable_consumer::end_connection() {
  if (channel_ && !channel_->wait_over(reply_patience))
    throw std::runtime_error("the connection outlives the node");
  channel_.reset();
}

void durable_consumer::check_acks(const store_left& store, bool in_order) {
  for (size_t i = 0; i < acks_.size(); ++i) {
    const auto& shown = evidence_of(acks_[i]);
    if (i >= (in_order ? shown.seen : shown.confirmed.back()))
      continue;
    ++count_.confirmed;
    expect(store.is_acked(acks_[i]), acks_[i],
           "its confirmed ack is not in the store");
  }
  acks_.clear();
  evidence_.assign(node_partitions(), {});
  for (const auto& [id, what] : known_) {
    if (!store.is_acked(id))
      continue;
    settled_.add(id);
    expect(acked_.contains(id) || id <= store.erased_through(what.did), id,
           "it is settled without an ack");
  }
}

durable_consumer::counters durable_consumer::counts() const {
  const std::lock_guard lock{guard_};
  return count_;
}

void durable_consumer::read(
  const std::function<void(const apps::event_copy&)>& look) const {
  const std::lock_guard lock{guard_};
  look(copy_);
}

std::vector<uint64_t>
durable_consumer::take(const std::vector<std::string_view>& texts) {
  const std::lock_guard lock{guard_};
  std::vector<incoming> batch;
  for (const auto text : texts) {
    batch.emplace_back(text);
    take_one(batch.back(), text);
  }
  file_.sync();
  came_.notify_all();
  return choose_acks(batch);
}

void durable_consumer::take_one(const incoming& x, std::string_view text) {
  const auto hash = file_.append(x.id, text);
  const auto [known, fresh] = known_.try_emplace(x.id, meaning{hash, x.did});
  expect(known->second.hash == hash, x.id, "it has two contents");
  expect(here_.insert(x.id).second, x.id, "it came twice on a connection");
  expect(!settled_.contains(x.id), x.id, "it came although it was settled");
  ++(fresh ? count_.taken : count_.again);
  count_.in_doubt += !fresh && acked_.contains(x.id);
  copy_.take(text, system_clock().wall_now());
  if (!x.record)
    return; // Facts about an inactive account overtake its records.
  follow_barriers(x);
  if (x.live)
    tick(x.id, x.made);
}

/// A live event must come after the acks of all earlier events of its DID, and
/// before all later ones.
void durable_consumer::follow_barriers(const incoming& x) {
  auto& at = lanes_[x.did];
  auto& seen = evidence_of(x.id).seen;
  if (x.live) {
    expect(at.open == 0, x.id, "it did not wait for what came before it");
    seen = std::max(seen, at.highest_ack);
  } else if (at.barrier) {
    expect(at.last_ack > 0, x.id, "it did not wait for the barrier before it");
    seen = std::max(seen, at.last_ack);
  }
  at.last = x.id;
  at.barrier = x.live;
  at.last_ack = 0;
  ++at.open;
  if (const auto late = ack_numbers_.find(x.id); late != ack_numbers_.end())
    note_ack(at, x.id, late->second);
}

void durable_consumer::note_ack(lane& at, uint64_t id, size_t number) {
  at.highest_ack = std::max(at.highest_ack, number);
  if (at.last == id)
    at.last_ack = number;
  --at.open;
}

/// Counts commits of which each was made some time after the one before it was
/// here.
void durable_consumer::tick(uint64_t id, wall_time made) {
  // Revisions may run ahead of the clock.
  constexpr int64_t margin_us = limits::acks_write_wait.count() + 1'000;
  auto& [seen, confirmed, tick] = evidence_of(id);
  if (made.micros <= tick.micros + margin_us)
    return;
  tick = system_clock().wall_now();
  confirmed = {seen, confirmed[0], confirmed[1], confirmed[2]};
}

std::vector<uint64_t>
durable_consumer::choose_acks(const std::vector<incoming>& batch) {
  std::vector<uint64_t> out;
  for (const auto& x : batch) {
    if (ack_numbers_.contains(x.id)
        || (forgetful_ && random_->below(forget_one_of) == 0))
      continue;
    out.push_back(x.id);
    enter_ack(x.id);
    if (x.record)
      note_ack(lanes_[x.did], x.id, acks_.size());
  }
  return out;
}

void durable_consumer::enter_ack(uint64_t id) {
  acked_.insert(id);
  acks_.push_back(id);
  ack_numbers_[id] = acks_.size();
}

void durable_consumer::expect(bool good, uint64_t id, const char* otherwise) {
  constexpr size_t bytes_max = 4'096;
  if (!good && wrongs_.size() < bytes_max)
    wrongs_ += "id " + std::to_string(id) + ": " + otherwise + "\n";
}

std::string durable_consumer::wrongs() const {
  const std::lock_guard lock{guard_};
  return wrongs_;
}

} // namespace weir::tests
