#include "tests/sim/comparison.hpp"

#include <algorithm>

namespace weir::sim {

namespace {

using simnet::standing;

class comparer {
public:
  comparer(const node_repos& node, const apps::event_copy& copy,
           const allowances& may)
    : node_(node), copy_(copy), may_(may) {
    // nop
  }

  std::string check(const simnet::expected_account& x) const;

private:
  standing wanted(const simnet::account_view& x) const;
  bool is_held(const simnet::account_view& x) const;
  std::string check_active(const simnet::expected_account& x) const;
  std::string check_inactive(const simnet::account_view& x,
                             standing wanted) const;
  std::string check_copy(const simnet::expected_account& x) const;

  const node_repos& node_;
  const apps::event_copy& copy_;
  const allowances& may_;
};

bool comparer::is_held(const simnet::account_view& x) const {
  const auto listed = node_.find(x.id.str());
  return listed != node_.end() && !listed->second.rev.empty();
}

/// The state of an account that the node must have.
standing comparer::wanted(const simnet::account_view& x) const {
  auto out = x.status;
  if (out == standing::tombstoned)
    out = is_held(x)
              && (may_.lost_events || may_.untold.contains(x.id.str()))
            ? standing::active
            : standing::deleted;
  if (out == standing::active && x.relay_takedown && may_.relayed)
    out = standing::takendown;
  return out;
}

std::string comparer::check(const simnet::expected_account& x) const {
  const auto status = wanted(x.account);
  const auto is_known = node_.contains(x.account.id.str());
  if (!is_known)
    // It may have been deleted before the node could know it.
    return status == standing::deleted ? "" : "is not known to the node";
  return status == standing::active ? check_active(x)
                                    : check_inactive(x.account, status);
}

std::string comparer::check_active(const simnet::expected_account& x) const {
  const auto& listed = node_.at(x.account.id.str());
  if (listed.status != "synced")
    return "is " + listed.status + " in the node";
  if (listed.rev != x.account.rev.str())
    return "is at " + listed.rev + " in the node, at " + x.account.rev.str()
           + " in the network"
           + (listed.reason.empty() ? "" : " (" + listed.reason + ")");
  if (listed.records != x.records.size())
    return "has " + std::to_string(listed.records) + " records in the node, "
           + std::to_string(x.records.size()) + " in the network";
  // The node does not check it again: its fetch had no position yet, or began
  // before its stream lost events, and the listing after that ended before the
  // fetch.
  const auto is_unproved
    = listed.reason.find("was never compared") != std::string::npos
      || listed.reason.find("was proved with epoch") != std::string::npos;
  if (listed.complete != true && !(may_.unproved && is_unproved))
    return "is in sync, and not complete: " + listed.reason;
  return may_.unacked ? "" : check_copy(x);
}

std::string comparer::check_copy(const simnet::expected_account& x) const {
  const auto copied = copy_.accounts().find(x.account.id.str());
  if (copied == copy_.accounts().end())
    return "is not known to the application";
  const auto& copy = copied->second;
  if (!copy.active || copy.status != "active")
    return "is " + copy.status + " for the application";
  if (!may_.lost_events && copy.handle != x.account.handle)
    return "is called " + copy.handle + " by the application, is "
           + x.account.handle;
  size_t equal = 0;
  for (const auto& each : x.records) {
    const auto found = copy.records.find(each.path);
    equal += found != copy.records.end()
                 && found->second == each.id.to_text()
               ? 1
               : 0;
  }
  if (equal == x.records.size() && equal == copy.records.size())
    return "";
  return "differs for the application: "
         + std::to_string(x.records.size() - equal)
         + " records missing or other, "
         + std::to_string(copy.records.size() - equal) + " of its own";
}

std::string comparer::check_inactive(const simnet::account_view& x,
                                     standing wanted) const {
  const auto& listed = node_.at(x.id.str());
  if (listed.complete)
    return std::string{"is active in the node, is "} + status_word(wanted);
  if (wanted == standing::deleted && listed.records != 0)
    return "was deleted, and " + std::to_string(listed.records)
           + " records are still there";
  const auto copied = copy_.accounts().find(x.id.str());
  if (may_.unacked || copied == copy_.accounts().end())
    return "";
  const auto& copy = copied->second;
  // Both the host and the relay may have taken it down, and either state is
  // right.
  const auto by_relay = x.relay_takedown && may_.relayed
                        && copy.status == status_word(standing::takendown);
  if (copy.active || (copy.status != status_word(wanted) && !by_relay))
    return "is " + copy.status + " for the application, is "
           + status_word(wanted);
  if (wanted == standing::deleted && !copy.records.empty())
    return "was deleted, and the application has "
           + std::to_string(copy.records.size()) + " records";
  return "";
}

} // namespace

differences compare(const std::vector<simnet::expected_account>& truth,
                    const node_repos& node, const apps::event_copy& copy,
                    const allowances& may) {
  const comparer compare{node, copy, may};
  differences out;
  const auto note = [&out](const std::string& did, const std::string& how) {
    if (out.wrong.empty())
      out.first = did + " " + how;
    out.wrong.insert(did);
  };
  std::set<std::string> known = may.unjudged;
  for (const auto& x : truth) {
    known.insert(x.account.id.str());
    if (const auto how = compare.check(x); !how.empty())
      note(x.account.id.str(), how);
  }
  for (const auto& [did, ignored] : node)
    if (!known.contains(did))
      note(did, "is not of this network");
  return out;
}

std::string
false_claim(const std::vector<simnet::expected_account>& truth,
            const node_repos& node, wall_time since) {
  for (const auto& x : truth) {
    const auto listed = node.find(x.account.id.str());
    if (listed == node.end() || listed->second.complete != true
        || x.account.status != standing::active
        || x.account.rev.time() > since)
      continue;
    const auto& claimed = listed->second;
    if (claimed.rev != x.account.rev.str()
        || claimed.records != x.records.size())
      return x.account.id.str() + " is called complete with "
             + std::to_string(claimed.records) + " records at " + claimed.rev
             + ", and has " + std::to_string(x.records.size()) + " at "
             + x.account.rev.str();
  }
  return "";
}

} // namespace weir::sim
