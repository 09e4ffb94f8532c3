#include "apps/demo/faults.hpp"

#include <algorithm>

namespace weir::apps {

namespace {

using simnet::fault_kind;
using namespace std::chrono_literals;

bool is_stream_fault(fault_kind x) noexcept {
  return x <= fault_kind::restart_sequence;
}

} // namespace

demo_faults::demo_faults(simnet::network& network, const demo_options& options)
  : network_(network), options_(options),
    random_(seeded_random(options.seed ^ 0x64656d6f)) {
  plan();
}

void demo_faults::plan() {
  constexpr size_t lost_commits = 20;
  add(fault_kind::drop_connection);
  add(fault_kind::bad_signature, 2);
  add(fault_kind::broken_chain);
  add(fault_kind::rotate_key);
  add(fault_kind::deactivate);
  add(fault_kind::change_handle);
  add(fault_kind::lose_window, lost_commits);
  add(fault_kind::take_down, 2);
  add(fault_kind::wrong_prev_data);
  add(fault_kind::migrate);
  steps_.push_back([this] {
    inject({.kind = fault_kind::reactivate, .did = deactivated_.front()});
  });
  add(fault_kind::remove);
  add(fault_kind::lose_silently, lost_commits);
  steps_.push_back([this] {
    inject({.kind = fault_kind::restore, .did = taken_down_.front()});
  });
  add(fault_kind::suspend);
  add(fault_kind::broken_chain, 3);
  add(fault_kind::drop_connection);
  silence(
    {fault_kind::rotate_key, fault_kind::migrate, fault_kind::deactivate});
  add(fault_kind::rotate_key);
  add(fault_kind::change_handle);
  add(fault_kind::bad_signature);
  add(fault_kind::migrate);
  add(fault_kind::remove);
}

/// Causes these faults while the directory cuts every connection.
void demo_faults::silence(std::initializer_list<fault_kind> kinds) {
  steps_.push_back([this] {
    // The fault lasts until `directory_up`.
    inject({.kind = fault_kind::directory_refuse, .count = 0});
  });
  for (const auto kind : kinds)
    add(kind);
  steps_.push_back([this] {
    if (network_.requests().served(fault_kind::directory_refuse) == 0)
      misses_.push_back("directory_refuse hit nothing");
    if (const auto done
        = network_.faults().inject({.kind = fault_kind::directory_up});
        !done)
      misses_.push_back(done.error().context);
  });
}

void demo_faults::add(fault_kind kind, size_t count) {
  steps_.push_back([this, kind, count] {
    simnet::fault x{.kind = kind};
    if (is_stream_fault(kind)) {
      x.count = count;
      if (options_.direct)
        x.host = random_->below(options_.hosts);
      inject(x);
      return;
    }
    for (size_t i = 0; i < count; ++i) {
      x.did = any_active_account();
      inject(x);
    }
  });
}

/// An account without an earlier fault, so that each fault has its own effect.
std::string demo_faults::any_active_account() {
  std::set<std::string> hit;
  for (const auto& each : done_)
    hit.insert(each.dids.begin(), each.dids.end());
  const auto& truth = network_.truth();
  const auto all = truth.accounts();
  const auto start = random_->below(all);
  for (size_t i = 0; i < all; ++i) {
    const auto x = truth.view((start + i) % all);
    if (x.status == simnet::standing::active && !hit.contains(x.id.str()))
      return x.id.str();
  }
  return {};
}

void demo_faults::inject(simnet::fault x) {
  auto done = network_.faults().inject(x);
  if (!done) {
    misses_.push_back(std::string{to_string(x.kind)} + ": "
                      + done.error().context);
    return;
  }
  if (x.kind == fault_kind::deactivate)
    deactivated_.push_back(done->dids.front());
  if (x.kind == fault_kind::take_down)
    taken_down_.push_back(done->dids.front());
  if (x.kind == fault_kind::migrate)
    migrated_.push_back(done->dids.front());
  if (done->count == 0)
    misses_.push_back(std::string{to_string(x.kind)} + " hit nothing");
  done_.push_back(std::move(*done));
}

void demo_faults::order_requests() {
  order(fault_kind::slow_repo, 4, 500ms);
  order(fault_kind::failing_repo, 4, 0ms);
  order(fault_kind::cut_repo, 4, 0ms);
  order(fault_kind::rate_limit, 2, 1s);
  order(fault_kind::directory_down, 4, 0ms);
}

void demo_faults::order(fault_kind kind, size_t count,
                        std::chrono::milliseconds time) {
  simnet::fault x{.kind = kind, .count = count, .time = time};
  if (kind == fault_kind::rate_limit)
    x.did = any_active_account(); // Otherwise it may hit a listing.
  if (const auto done = network_.faults().inject(x); !done)
    misses_.push_back(done.error().context);
  orders_.push_back({kind, count});
}

void demo_faults::settle() {
  for (const auto& did : migrated_)
    if (const auto index = network_.truth().find(did);
        index
        && network_.truth().view(*index).status == simnet::standing::active)
      network_.traffic().post(*index);
}

std::map<std::string, uint64_t> demo_faults::injected() const {
  std::map<std::string, uint64_t> out;
  for (const auto& x : done_)
    ++out[to_string(x.kind)];
  for (const auto& x : orders_)
    out[to_string(x.kind)] += network_.requests().served(x.kind);
  return out;
}

uint64_t demo_faults::healed(const std::set<std::string>& wrong) const {
  uint64_t out = 0;
  for (const auto& x : done_)
    out += std::ranges::none_of(x.dids, [&wrong](const std::string& did) {
      return wrong.contains(did);
    });
  for (const auto& x : orders_) // Refused requests came again later.
    if (wrong.empty())
      out += network_.requests().served(x.kind);
  return out;
}

std::vector<std::string> demo_faults::misses() const {
  auto out = misses_;
  for (const auto& x : orders_)
    if (const auto served = network_.requests().served(x.kind);
        served != x.count)
      out.push_back(std::string{to_string(x.kind)} + " hit "
                    + std::to_string(served) + " of " + std::to_string(x.count)
                    + " requests");
  return out;
}

} // namespace weir::apps
