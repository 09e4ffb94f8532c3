#include "tests/sim/removals.hpp"

#include "actors/support/placement.hpp"

#include <utility>

namespace weir::sim {

namespace {

using namespace std::chrono_literals;

/// The interval of the checks, and their duration after a removal.
constexpr auto look_interval = 20ms;
constexpr auto watched_for = 1min;

/// Events that were on their way when the node answered have arrived after this
/// time.
constexpr auto arrives_within = 10s;

/// The last event of the log that contains this repo.
uint64_t last_event_beside(const scene& x, const std::string& did) {
  const auto last = x.last_operations();
  const auto count = static_cast<uint16_t>(last.size());
  const auto partition = actors::placement{count, 1}.partition_of(
    atproto::did::trusted(did));
  const auto op = last[partition];
  return op == 0 ? 0 : wire::event_id({partition, op}, count).value();
}

} // namespace

bool order(scene& x, const std::string& what, const std::string& did) {
  const auto answer = x.post("/repos/" + what, R"({"dids":[")" + did + "\"]}");
  return answer && answer->first == 200;
}

removals::~removals() {
  if (next_)
    scene_.time().cancel(*next_);
}

void removals::remove(const std::string& did, bool app_is_away) {
  app_is_away_ = app_is_away;
  wanted_.insert(did);
  ask_again();
}

/// Drops the results of these requests.
bool removals::ask_again() {
  std::erase_if(wanted_, [this](const std::string& did) {
    if (!order(scene_, "remove", did))
      return false;
    removed_.insert(did);
    ever_.insert(did);
    scene_.application().forget_records(did);
    scene_.delivered().forget(did);
    watch(did);
    return true;
  });
  return wanted_.empty();
}

void removals::note_added(const std::string& did) {
  removed_.erase(did);
}

bool removals::add_all_again() {
  std::erase_if(removed_, [this](const std::string& did) {
    return order(scene_, "add", did);
  });
  return removed_.empty();
}

// -- what is gone -------------------------------------------------------------

/// These checks would change the turns of runs with another plot.
void removals::watch(const std::string& did) {
  if (scene_.settings().about != plot::erasures)
    return;
  erased x{scene_.time().now(), last_event_beside(scene_, did), 0, app_is_away_};
  x.came = scene_.delivered().records_of(did);
  erased_.insert_or_assign(did, x);
  arm();
}

void removals::arm() {
  if (!next_ && !erased_.empty())
    next_ = scene_.time().set(scene_.time().now() + look_interval,
                              [this] { look(); });
}

void removals::judge(const std::string& did, erased& x,
                     const apps::event_copy& copy) {
  const auto came = scene_.delivered().records_of(did);
  const auto found = copy.accounts().find(did);
  const auto is_old = found != copy.accounts().end()
                      && found->second.last_record <= x.last;
  if (x.none_on_its_way && came > x.came && is_old && wrong_.empty())
    wrong_ = std::to_string(came - x.came) + " records of " + did
             + " came after it was removed";
  x.none_on_its_way
    = x.none_on_its_way || scene_.time().now() - x.since >= arrives_within;
  x.came = came;
}

void removals::look() {
  next_.reset();
  scene_.application().read([this](const apps::event_copy& copy) {
    for (auto& [did, x] : erased_)
      judge(did, x, copy);
  });
  std::erase_if(erased_, [this](const auto& x) {
    return scene_.time().now() - x.second.since > watched_for;
  });
  arm();
}

} // namespace weir::sim
