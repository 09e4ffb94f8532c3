#include "tests/sim/node_bounds.hpp"

#include "actors/api/limits.hpp"
#include "actors/identity/limits.hpp"
#include "actors/node/memory_plan.hpp"
#include "actors/router/limits.hpp"
#include "actors/router/resident_machine.hpp"
#include "actors/support/limits.hpp"
#include "apps/demo/evidence.hpp"

#include <algorithm>

namespace weir::sim {

namespace {

using namespace std::chrono_literals;

/// Size of a frame of a simulated network: a commit of one record has some
/// kilobytes.
constexpr size_t frame_bytes = 8'192;

/// What a stream may have in addition to its window: the socket's last message.
constexpr size_t overdraft = 65'536;

/// Identities besides those of accounts and of clients: hosts that wait.
constexpr size_t spare_entries = 16;

/// Number of actors of which a node has one, including the one that waits for
/// its end.
constexpr size_t single_actors = 13;

/// JOURNAL, SWEEPER, CONSUMER.
constexpr size_t actors_of_partition = 3;

/// Number of commits whose cost is measured, and the largest number of bytes
/// that one may write: its operations and the rows of its repo.
constexpr size_t commits_weighed = 8;
constexpr uint64_t commit_bytes_max = 3'072;

size_t streams_of(scene& x) {
  const auto hosts = x.urls().hosts.size();
  return x.settings().follows == following::relay   ? 1
         : x.settings().follows == following::hosts ? hosts
                                                    : hosts + 1;
}

/// Checks the number of REPOs that are awake, including those that fetches and
/// look-ups woke, and the number of other actors.
std::string check_repos(scene& x) {
  const auto& node = x.settings().node;
  const auto partitions = node.partitions;
  const auto shards
    = std::max<size_t>(node.most.routers / partitions, 1) * partitions;
  const auto each
    = std::min(actors::residents_for(actors::plan_memory(node).repos, shards),
               node.most.residents);
  const auto most = shards * (limits::awake_factor_max * each + each / 2)
                    + 2 * node.most.preparing + node.sync_parallelism;
  const auto others = single_actors + partitions * actors_of_partition + shards
                      + std::max(node.readers, partitions) + streams_of(x)
                      + node.sync_parallelism;
  const auto found = x.steps().actors();
  if (found <= most + others)
    return {};
  return std::to_string(found) + " actors are in memory, more than "
         + std::to_string(most) + " REPOs and " + std::to_string(others)
         + " others";
}

std::string check_streams(scene& x) {
  const auto& node = x.settings().node;
  const auto most = streams_of(x) * (node.most.frames * frame_bytes + overdraft);
  const auto held
    = x.metrics()
        .gauge("weir_memory_held_bytes",
               "Bytes in queues and caches, by their kind", "by", "streams")
        .value();
  if (held <= most)
    return {};
  return std::to_string(held) + " bytes are between sockets and disk, more than "
         + std::to_string(most);
}

/// Checks the number of identities: accounts, clients' questions, and the
/// permitted number of failed look-ups. Hostile hosts have look-ups of their
/// own.
std::string check_look_ups(scene& x) {
  const auto& config = x.settings().node;
  if (config.most.failures == limits::lookup_failures_max
      || !x.settings().world.hostile.empty())
    return {};
  const auto entries = x.life().truth().accounts() + x.thrift().invented()
                       + limits::resolve_waiting_max + spare_entries;
  const auto most
    = actors::plan_memory(config).lookup_failures * limits::lookup_failure_bytes
      + entries * limits::identity_entry_bytes;
  const auto held
    = x.metrics()
        .gauge("weir_memory_held_bytes",
               "Bytes in queues and caches, by their kind", "by", "identity")
        .value();
  if (held <= most)
    return {};
  return std::to_string(held) + " bytes are held of identities, more than "
         + std::to_string(most);
}

/// A repo whose identity ends without an event may be erased at any time, which
/// writes, too.
bool may_erase(scene& x) {
  const auto& truth = x.life().truth();
  for (size_t i = 0; i < truth.accounts(); ++i)
    if (truth.view(i).status == simnet::standing::tombstoned)
      return true;
  return false;
}

/// Operations that the node has read from the directory's export.
uint64_t read_of_exports(scene& x) {
  return apps::metric_total(x.metrics().render(),
                            "weir_identity_export_operations_total");
}

} // namespace

std::string past_a_bound(scene& x) {
  if (!x.node_runs())
    return {};
  auto out = check_repos(x);
  if (out.empty())
    out = check_streams(x);
  return out.empty() ? check_look_ups(x) : out;
}

bound_watch::bound_watch(scene& x, std::chrono::microseconds interval)
  : scene_(x), interval_(interval) {
  arm();
}

bound_watch::~bound_watch() {
  scene_.time().cancel(next_);
}

void bound_watch::arm() {
  next_ = scene_.time().set(scene_.time().now() + interval_, [this] {
    if (broken_.empty())
      broken_ = past_a_bound(scene_);
    arm();
  });
}

std::string weigh_commits(scene& x) {
  if (may_erase(x))
    return {};
  auto& disk = x.disk_faults();
  const auto measure = [&](const std::function<void()>& happen) {
    const auto before = disk.journaled();
    for (size_t i = 0; i < commits_weighed; ++i) {
      happen();
      x.steps().run_for(5s);
    }
    return disk.journaled() - before;
  };
  const auto rest = measure([] {});
  const auto weigh = [&] {
    const auto work = measure([&] { x.life().traffic().post(0); });
    return (work - std::min(rest, work)) / commits_weighed;
  };
  // What an export of the directory says is written, too, when it is read.
  const auto exports = read_of_exports(x);
  auto each = weigh();
  if (each > commit_bytes_max && read_of_exports(x) != exports)
    each = weigh();
  if (each <= commit_bytes_max)
    return {};
  return "a commit of one record writes " + std::to_string(each)
         + " bytes, more than " + std::to_string(commit_bytes_max);
}

} // namespace weir::sim
