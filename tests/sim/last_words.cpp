#include "tests/sim/last_words.hpp"

#include "actors/router/limits.hpp"
#include "tests/sim/deed_effects.hpp"

#include <utility>

namespace weir::sim {

void last_words::note(const deed& x, std::optional<size_t> host) {
  if (scene_.settings().audited)
    return; // Listings show it.
  denied_ |= is_of_directory(x)
             || (x.kind == deed_kind::fault
                 && x.what == simnet::fault_kind::unlisted_repo);
  if (x.kind != deed_kind::fault)
    return;
  if (x.what == simnet::fault_kind::restart_sequence
      && has_few_events(scene_.life().truth(), host))
    for (size_t i = 0; i < scene_.urls().hosts.size(); ++i)
      if (!host || *host == i)
        renumbered_.insert(i);
  // A wrong status is accepted at once.
  const auto grace = scene_.settings().node.gone_grace;
  const auto lasting = x.what == simnet::fault_kind::missing_repo ? x.lasting
                       : x.what == simnet::fault_kind::false_status
                         ? std::chrono::microseconds{grace}
                         : std::chrono::microseconds{0};
  for (size_t i = 0; i < scene_.urls().hosts.size(); ++i)
    if (!host || *host == i)
      denied_for_[i] += lasting;
}

/// Its host denied it for so long that the node had to accept that.
bool last_words::is_disowned(const simnet::account_view& x,
                             const node_repos& known) const {
  const auto lasted = denied_for_.find(x.host);
  const auto listed = known.find(x.id.str());
  return lasted != denied_for_.end()
         && lasted->second >= scene_.settings().node.gone_grace
         && listed != known.end() && listed->second.status != "synced";
}

/// The node does not report its copy as complete, and no check of all rows
/// runs.
bool last_words::is_unproved(const simnet::account_view& x,
                             const node_repos& known) const {
  const auto listed = known.find(x.id.str());
  if (!is_unlooked() || listed == known.end())
    return false;
  const auto& why = listed->second.reason;
  return why.find("was never compared") != std::string::npos
         || why.find("was proved with epoch") != std::string::npos
         // Its host served an older copy than it had named.
         || why.find("its upstream named it from rev") != std::string::npos;
}

/// The directory was wrong, and no check of all rows finds look-ups that are
/// due.
bool last_words::is_taken_for_deleted(const simnet::account_view& x,
                                      const node_repos& known) const {
  const auto listed = known.find(x.id.str());
  return is_unlooked() && listed != known.end()
         && listed->second.account == "deleted"
         && x.status != simnet::standing::deleted
         && x.status != simnet::standing::tombstoned;
}

bool last_words::is_unlooked() const {
  const auto& settings = scene_.settings();
  return !settings.audited
         && settings.node.completeness_interval > std::chrono::hours{24};
}

std::optional<node_repos> last_words::list() const {
  if (scene_.node_runs())
    if (auto listed = scene_.repos())
      return std::move(*listed);
  return std::nullopt;
}

bool last_words::say_to_waiting() {
  const auto& settings = scene_.settings();
  const auto may_sleep
    = is_unlooked()
      && settings.node.most.residents != limits::resident_repos_max;
  if (!may_sleep && settings.audited)
    return true;
  const auto known = list();
  if (!known)
    return false;
  auto& truth = scene_.life().truth();
  for (size_t i = 0; i < truth.accounts(); ++i) {
    const auto x = truth.view(i);
    const auto listed = known->find(x.id.str());
    // A copy that lost a commit has another rev, and is not helped.
    if (listed == known->end() || listed->second.rev != x.rev.str())
      continue;
    const auto says = [&why = listed->second.reason](std::string_view words) {
      return why.find(words) != std::string::npos;
    };
    if ((may_sleep && says("waits until it can be verified"))
        // No listing takes back what a forged frame named (docs/adr/0020, 5).
        || (!settings.audited && says("its upstream named it from rev")))
      scene_.life().traffic().post(i);
  }
  return true;
}

void last_words::say() {
  auto& truth = scene_.life().truth();
  const auto known = list().value_or(node_repos{});
  for (size_t i = 0; i < truth.accounts(); ++i) {
    const auto x = truth.view(i);
    const auto is_active = x.status == simnet::standing::active;
    const auto is_renumbered = renumbered_.contains(x.host);
    if (is_renumbered)
      truth.announce_account(*truth.at(i), x.host,
                             is_active ? nullptr
                                       : simnet::status_word(x.status));
    // The commit of an account that moved is not signed by its new key until
    // the account writes (protocol-coverage.md 11.3). Where seqs that began
    // anew passed the node's position, only the next commit shows what was
    // lost.
    if (is_active
        && (is_renumbered || x.listed_rev != x.rev || is_unproved(x, known)))
      scene_.life().traffic().post(i);
    else if (!is_active && is_taken_for_deleted(x, known))
      truth.announce_account(*truth.at(i), x.host,
                             simnet::status_word(x.status));
    // A new account that the directory denied, or that the only listing left
    // out, is announced again.
    else if (denied_ && !known.contains(x.id.str()))
      truth.announce_identity(*truth.at(i), true);
    // For an account that a fetch found gone, its host says that it has it.
    else if (is_active && is_disowned(x, known))
      truth.announce_account(*truth.at(i), x.host, nullptr);
  }
  denied_for_.clear();
  renumbered_.clear();
}

void last_words::say_of_relay(const std::set<std::string>& removed) {
  const auto& settings = scene_.settings();
  if (settings.audited)
    return;
  const auto all = settings.node.mode == actors::tracking_mode::manual;
  auto& truth = scene_.life().truth();
  const auto* word = simnet::status_word(simnet::standing::takendown);
  for (size_t i = 0; i < truth.accounts(); ++i)
    if (const auto x = truth.view(i);
        x.relay_takedown && (all || removed.contains(x.id.str())))
      truth.announce_relay_account(*truth.at(i), word);
}

} // namespace weir::sim
