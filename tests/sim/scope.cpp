#include "tests/sim/scope.hpp"

#include "actors/supervisor/limits.hpp"
#include "tests/sim/removals.hpp"
#include "tests/sim/scene.hpp"

#include <algorithm>
#include <array>

namespace weir::sim {

namespace {

using namespace std::chrono_literals;
using actors::tracking_mode;

constexpr auto by_hand = "run that tracks by hand";
constexpr auto by_signal = "run that tracks by signal";
constexpr auto filtered = "run that keeps some collections";
constexpr auto refiltered = "run that keeps others in each life";

constexpr auto left_out = "account that no signal tracks";

/// From a collection that nearly all accounts have to one that few have.
constexpr std::array signals{"app.bsky.feed.like", "app.bsky.graph.follow",
                             "app.bsky.feed.repost"};

const std::array<std::vector<std::string>, 5> filters{
  std::vector<std::string>{"app.bsky.feed.*"},
  std::vector<std::string>{"app.bsky.feed.like", "com.example.note"},
  std::vector<std::string>{"app.bsky.graph.*", "app.bsky.feed.repost"},
  std::vector<std::string>{"app.bsky.feed.post"}, std::vector<std::string>{}};

bool matches(std::string_view pattern, std::string_view collection) {
  if (!pattern.ends_with('*'))
    return pattern == collection;
  return collection.starts_with(pattern.substr(0, pattern.size() - 1));
}

std::string_view collection_of(std::string_view path) {
  return path.substr(0, path.find('/'));
}

void draw_mode(run_settings& out, random_source& random) {
  const auto which = random.below(10);
  if (which < 2)
    out.node.mode = tracking_mode::manual;
  if (which < 2 || which > 4)
    return;
  out.node.mode = tracking_mode::signal;
  out.node.signal_collections = {signals[random.below(signals.size())]};
  // Only listings find accounts that had such records before the node started.
  out.audited = true;
  out.node.listing_interval = 1h;
  out.node.listing_requests_per_hour = limits::listing_requests_range.standard;
  out.settle_max = out.settle_again_max = 30h;
}

} // namespace

void draw_scope(run_settings& out) {
  if (out.subject != theme::none || out.about != plot::none || out.sound
      || !out.world.hostile.empty() || out.weighs_fairness
      || out.weighs_buffering || out.weighs_sharing || out.weighs_commits)
    return;
  const auto random = seeded_random(out.seed ^ 0x5c09e5c09e5c09e5u);
  draw_mode(out, *random);
  if (random->below(3) != 0)
    return;
  out.filters = {filters[random->below(filters.size() - 1)]};
  if (random->below(2) == 0)
    for (size_t i = 1; i < 4; ++i)
      out.filters.push_back(filters[random->below(filters.size())]);
}

void count_scope(const run_settings& x, size_t not_tracked,
                 std::map<std::string, uint64_t>& counts) {
  if (not_tracked > 0)
    counts[left_out] += not_tracked;
  if (x.node.mode == tracking_mode::manual)
    ++counts[by_hand];
  if (x.node.mode == tracking_mode::signal)
    ++counts[by_signal];
  if (!x.filters.empty())
    ++counts[x.filters.size() > 1 ? refiltered : filtered];
}

std::set<std::string> counted_scopes() {
  return {by_hand, by_signal, filtered, refiltered, left_out};
}

void leave_what_is_kept(std::vector<simnet::expected_account>& truth,
                        const std::vector<std::string>& patterns) {
  if (patterns.empty())
    return;
  for (auto& x : truth)
    std::erase_if(x.records, [&](const auto& record) {
      return std::none_of(
        patterns.begin(), patterns.end(), [&](const auto& pattern) {
          return matches(pattern, collection_of(record.path));
        });
    });
}

size_t leave_who_is_tracked(std::vector<simnet::expected_account>& truth,
                            const node_repos& node, scene& x) {
  const auto& wanted = x.settings().node;
  if (wanted.mode != tracking_mode::signal)
    return 0;
  // A filter does not hide it. The collections of inactive accounts are not
  // known.
  const auto is_relayed = x.settings().follows != following::hosts;
  std::set<std::string> must;
  for (const auto& each : x.life().truth().expected())
    for (const auto& record : each.records)
      if (collection_of(record.path) == wanted.signal_collections.front()
          && each.account.status == simnet::standing::active
          && !(is_relayed && each.account.relay_takedown))
        must.insert(each.account.id.str());
  return std::erase_if(truth, [&](const simnet::expected_account& each) {
    const auto& did = each.account.id.str();
    return !node.contains(did) && !must.contains(did);
  });
}

bool add_by_hand(scene& x) {
  if (x.settings().node.mode != tracking_mode::manual)
    return true;
  if (!x.node_runs())
    return false;
  const auto tracked = x.repos();
  if (!tracked)
    return false;
  auto all = true;
  const auto& truth = x.life().truth();
  for (size_t i = 0; i < truth.accounts(); ++i)
    if (const auto did = truth.view(i).id.str(); !tracked->contains(did))
      all &= order(x, "add", did);
  return all;
}

} // namespace weir::sim
