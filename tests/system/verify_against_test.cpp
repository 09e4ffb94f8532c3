#include "actors/support/limits.hpp"
#include "storage/format/values.hpp"
#include "storage/log/repo_guards.hpp"
#include "tests/system/patience.hpp"
#include "tests/system/verify_store.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <thread>

// `weir verify --against URL` checks architecture.md I9 against a running
// network.

namespace weir::tests {

namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;
using namespace storage;

class VerifyAgainstTest : public verify_store {
protected:
  verdict against(const std::string& where,
                  std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--against", net.urls().relay});
    return verify(where, std::move(more));
  }

  /// An account with a few records that the network knows as active.
  simnet::account_view account(size_t n) { return net.life().truth().view(n); }
};

/// Writes that all streams have passed everything before `until`.
void claim_passed(damaged_copy& x, wall_time until) {
  x.change<upstream_row>(upstream_key{1}, [&](auto& row) {
    row.passed_us = until.micros;
  });
}

simnet::fault fault_of(simnet::fault_kind kind, const atproto::did& repo) {
  simnet::fault out;
  out.kind = kind;
  out.did = repo.str();
  return out;
}

/// Makes a new record that no stream tells.
void commit_in_silence(simnet::world& world, size_t account) {
  const auto x = world.at(account);
  std::vector<simnet::change> changes;
  changes.push_back(world.new_change(*x));
  x->muted = true;
  world.commit(*x, std::move(changes));
  x->muted = false;
}

/// The first head of a repo.
record_head_key head_of(damaged_copy& x, const atproto::did& repo) {
  x.of(repo);
  const auto rows = x.db().scan(range_of<record_head_key>(0, repo));
  return decode_key<record_head_key>(rows.key()).value();
}

} // namespace

TEST_F(VerifyAgainstTest, AStoreThatEqualsTheNetworkIsGood) {
  const auto x = against(data, {"--strict"});
  EXPECT_EQ(x.status, 0) << x.findings << x.errors;
  const auto truth = net.life().truth().expected();
  uint64_t records = 0;
  for (const auto& each : truth)
    records += each.records.size();
  EXPECT_EQ(x.count("repos compared"), truth.size());
  EXPECT_EQ(x.count("records compared"), records);
}

TEST_F(VerifyAgainstTest, EveryRecordThatDiffersIsNamed) {
  damaged_copy copy{data};
  const auto other = head_of(copy, account(0).id);
  copy.change<record_head>(other, [](auto& head) {
    head.id = atproto::cid::of_dag_cbor(as_bytes("other"));
  });
  const auto lost = head_of(copy, account(1).id);
  copy.erase(encode_key(lost));
  auto invented = head_of(copy, account(2).id);
  const auto value = copy.get(encode_key(invented));
  invented.rkey.text = "zzzz-invented";
  copy.put(encode_key(invented), value);
  const auto x = against(copy.close());
  EXPECT_EQ(x.status, 1);
  EXPECT_THAT(x.findings,
              HasSubstr(other.rkey.text + " has another cid than at the host"));
  EXPECT_THAT(x.errors, HasSubstr("restore a backup"));
  EXPECT_THAT(x.findings, HasSubstr(lost.rkey.text + " is missing here"));
  EXPECT_THAT(x.findings, HasSubstr("zzzz-invented is not at the host"));
  for (const auto& key : {other, lost, invented})
    EXPECT_THAT(x.findings, HasSubstr("I9 " + key.repo.str() + " "));
}

TEST_F(VerifyAgainstTest, AnotherTreeOrALaterRevisionThanTheHostsIsNamed) {
  damaged_copy copy{data};
  const auto edit = [&](const atproto::did& repo, auto change) {
    copy.of(repo);
    const auto key = encode_key(chain_key{repo});
    auto chain = decode_chain(copy.get(key), copy.names()).value().chain;
    change(chain);
    copy.put(key, encode_chain(chain, copy.names()).value());
  };
  edit(account(0).id, [](auto& chain) {
    chain.data = atproto::cid::of_dag_cbor(as_bytes("other"));
  });
  edit(account(1).id, [](auto& chain) {
    chain.rev = atproto::tid{chain.rev.value() + 1'000'000};
  });
  const auto x = against(copy.close());
  EXPECT_EQ(x.status, 1);
  EXPECT_THAT(x.findings, HasSubstr("I9 " + account(0).id.str()
                                    + " has another tree than the host"));
  EXPECT_THAT(x.findings, HasSubstr("ahead of the host's"));
}

// A host may have new commits since the node stopped. Such repos are listed
// separately and are findings only on request.
TEST_F(VerifyAgainstTest, WhatIsMerelyNewerAtTheHostIsStrictlyAFinding) {
  net.life().traffic().post(0);
  const auto calm = against(data);
  EXPECT_EQ(calm.status, 0) << calm.findings << calm.errors;
  EXPECT_EQ(calm.findings, "");
  EXPECT_EQ(calm.count("newer at the host"), 1u);
  EXPECT_THAT(calm.newer, HasSubstr(account(0).id.str() + " is at "));
  const auto strict = against(data, {"--strict"});
  EXPECT_EQ(strict.status, 1);
  EXPECT_THAT(strict.findings,
              HasSubstr("I9 " + account(0).id.str() + " is at "));
}

// A rev that the node's streams have already passed is not newer at the host:
// the node has missed it.
TEST_F(VerifyAgainstTest, ARepoThatIsStaleIsAFinding) {
  const auto did = account(0).id;
  damaged_copy copy{data};
  claim_passed(copy, account(0).rev.time());
  copy.of(did);
  const auto key = encode_key(chain_key{did});
  auto chain = decode_chain(copy.get(key), copy.names()).value().chain;
  chain.rev = atproto::tid{chain.rev.value() - 1'000'000};
  chain.data = atproto::cid::of_dag_cbor(as_bytes("before"));
  copy.put(key, encode_chain(chain, copy.names()).value());
  const auto x = against(copy.close());
  EXPECT_EQ(x.status, 1);
  EXPECT_THAT(x.findings, HasSubstr("I9 " + did.str() + " is at "));
  EXPECT_THAT(x.findings, HasSubstr("which the node says it has passed"));
  EXPECT_EQ(x.count("newer at the host"), 0u);
}

// The limit is the time that the streams have passed, to the microsecond,
// whenever the store was last written.
TEST_F(VerifyAgainstTest, WhatTheStreamsHavePassedIsTheBorder) {
  net.life().traffic().post(0);
  const auto at = account(0).rev.time();
  const auto where_passed = [&](wall_time until) {
    damaged_copy copy{data};
    claim_passed(copy, until);
    return against(copy.close());
  };
  const auto before = where_passed(at + -1us);
  EXPECT_EQ(before.status, 0) << before.findings;
  EXPECT_EQ(before.count("newer at the host"), 1u);
  const auto passed = where_passed(at);
  EXPECT_EQ(passed.status, 1);
  EXPECT_THAT(passed.findings,
              HasSubstr("I9 " + account(0).id.str() + " is at "));
  EXPECT_EQ(passed.count("newer at the host"), 0u);
}

// A commit was lost on a stream that was then quiet. Nothing was written since,
// but the repo is not merely newer at the host. A commit after the node's end
// is.
TEST_F(VerifyAgainstTest, ACommitThatWasMissedJustBeforeTheEndIsAFinding) {
  const temp_dir own;
  const auto where = own.at("data");
  const auto lost = account(0).id;
  {
    const auto web = apps::web_client::make();
    program node{net.arguments(where, {"--listing-interval", "24h"})};
    const auto at = parse_ready(node.read_line(node_patience).value_or(""));
    ASSERT_NE(at.data, "") << tail_of(node.errors());
    ASSERT_TRUE(eventually(node_patience, [&] {
      return status_of(*web, at).synced == net.life().truth().accounts();
    }));
    // The time is what is tested: after it a stream counts as quiet.
    std::this_thread::sleep_for(limits::passed_quiet_min + 1s);
    commit_in_silence(net.life().truth(), 0);
    node.send(SIGTERM);
    ASSERT_EQ(node.wait(node_patience), 0) << tail_of(node.errors());
  }
  net.life().traffic().post(1);
  const auto x = against(where);
  EXPECT_EQ(x.status, 1);
  EXPECT_THAT(x.findings, HasSubstr("I9 " + lost.str() + " is at "));
  EXPECT_THAT(x.findings, HasSubstr("which the node says it has passed"));
  EXPECT_EQ(x.count("newer at the host"), 1u) << x.newer;
  EXPECT_THAT(x.newer, HasSubstr(account(1).id.str()));
}

// The node does not know the key. Without a directory it cannot be decided what
// the key signs.
TEST_F(VerifyAgainstTest, ARepoOfAnotherKeyIsAFindingUnlessADocumentTellsIt) {
  const auto did = account(0).id;
  ASSERT_TRUE(
    net.life().faults().inject(fault_of(simnet::fault_kind::rotate_key, did)));
  net.life().traffic().post(0);
  const auto blind = against(data);
  EXPECT_EQ(blind.status, 1);
  EXPECT_THAT(blind.findings,
              HasSubstr("I9 " + did.str()
                        + " cannot be proved by the key known here"));
  EXPECT_EQ(blind.count("not proved by the key known here"), 1u);
  const std::vector<std::string> directory{"--plc-url", net.urls().plc};
  const auto calm = against(data, directory);
  EXPECT_EQ(calm.status, 0) << calm.findings << calm.errors;
  EXPECT_EQ(calm.count("of another key than here"), 1u);
  EXPECT_EQ(calm.count("newer at the host"), 1u);
  damaged_copy copy{data};
  claim_passed(copy, account(0).rev.time());
  const auto missed = against(copy.close(), directory);
  EXPECT_EQ(missed.status, 1);
  EXPECT_THAT(missed.findings, HasSubstr("which the node says it has passed"));
}

TEST_F(VerifyAgainstTest, ADirectoryThatDoesNotAnswerExplainsNothing) {
  const auto did = account(0).id;
  ASSERT_TRUE(
    net.life().faults().inject(fault_of(simnet::fault_kind::rotate_key, did)));
  net.life().traffic().post(0);
  auto down = fault_of(simnet::fault_kind::directory_down, did);
  down.count = 0;
  ASSERT_TRUE(net.life().faults().inject(down));
  const auto x = against(data, {"--plc-url", net.urls().plc});
  EXPECT_EQ(x.status, 1);
  EXPECT_THAT(x.findings, HasSubstr("cannot be proved by the key known here"));
  EXPECT_THAT(x.findings, HasSubstr("its document: HTTP 503"));
}

// protocol-coverage.md 4.1: the host's state of the account is known and equal
TEST_F(VerifyAgainstTest, AnAccountThatAnotherRelayTookDownIsNoFinding) {
  const auto did = account(0).id;
  damaged_copy copy{data};
  copy.of(did);
  const auto by_relay = [&](uint32_t relay) {
    copy.change<repo_row>(repo_key{did}, [&](auto& row) {
      row.account = account_status::takendown;
      row.words.relays = {{account_status::takendown, {relay, 1, 1}}};
    });
  };
  by_relay(77);
  const auto other = against(copy.close());
  EXPECT_EQ(other.count("taken down by another relay"), 1u);
  EXPECT_THAT(other.findings, Not(HasSubstr("active at the host")));
}

// -- accounts -----------------------------------------------------------------

namespace {

/// Removes the rows that say that a repo is known, and also those that say that
/// it is tracked unless `tracked`.
void lose_repo(damaged_copy& x, const atproto::did& repo, bool tracked) {
  x.of(repo);
  const auto row
    = decode_value<repo_row>(x.get(encode_key(repo_key{repo}))).value();
  x.erase(encode_key(repo_key{repo}));
  x.erase(encode_key(repo_by_status_key{row.status, due_of(row), repo}));
  x.erase(encode_key(chain_key{repo}));
  if (!tracked)
    x.erase(encode_key(member_key{default_dataset, repo}));
}

/// Adds a repo that waits for its first fetch.
void invent_repo(damaged_copy& x, const atproto::did& repo) {
  x.of(repo);
  x.put(encode_key(repo_key{repo}), encode_value(repo_row{}));
  x.put(encode_key(repo_by_status_key{repo_status::pending, 0, repo}), "");
  x.put(encode_key(member_key{default_dataset, repo}),
        encode_value(member_row{}));
}

const auto stranger = atproto::did::trusted("did:plc:zzzzzzzzzzzzzzzzzzzzzzzz");

} // namespace

// Whether an account is missing is known for tracked ones. For all others it is
// only known when the node follows the whole network, which its operator must
// say.
TEST_F(VerifyAgainstTest, ARepoThatIsMissingWhollyIsNamed) {
  const auto lost = account(0).id;
  const auto finding = "I9 " + lost.str() + " is at ";
  damaged_copy copy{data};
  claim_passed(copy, account(0).rev.time());
  lose_repo(copy, lost, false);
  const auto where = copy.close();
  const auto some = against(where);
  EXPECT_EQ(some.count("not followed here"), 1u);
  EXPECT_THAT(some.findings, Not(HasSubstr("I9 ")));
  const auto all = against(where, {"--full-network"});
  EXPECT_EQ(all.status, 1);
  EXPECT_THAT(all.findings, HasSubstr(finding));
  EXPECT_THAT(all.findings, HasSubstr("which the node says it has passed, and "
                                      "not known here"));
}

TEST_F(VerifyAgainstTest, ATrackedRepoThatIsMissingIsNamed) {
  damaged_copy copy{data};
  lose_repo(copy, account(0).id, true);
  const auto x = against(copy.close());
  EXPECT_EQ(x.status, 1);
  EXPECT_THAT(x.findings,
              HasSubstr("I9 " + account(0).id.str()
                        + " is tracked and active at the host, and not known "
                          "here"));
}

TEST_F(VerifyAgainstTest, ARepoThatTheHostDoesNotHaveIsNamed) {
  damaged_copy copy{data};
  invent_repo(copy, stranger);
  const auto where = copy.close();
  const auto x = against(where);
  EXPECT_EQ(x.status, 1);
  EXPECT_THAT(x.findings,
              HasSubstr("I9 " + stranger.str()
                        + " is active here and not at the host"));
}

TEST_F(VerifyAgainstTest, AccountsWhoseStateDiffersAreFindings) {
  simnet::fault away;
  away.kind = simnet::fault_kind::deactivate;
  away.did = account(1).id.str();
  ASSERT_TRUE(net.life().faults().inject(away));
  const auto gone = account(2).id;
  damaged_copy copy{data};
  copy.of(gone);
  copy.change<repo_row>(repo_key{gone}, [](auto& row) {
    row.account = row.words.host = account_status::deleted;
  });
  const auto x = against(copy.close());
  EXPECT_EQ(x.status, 1);
  EXPECT_THAT(x.findings, HasSubstr("I9 " + away.did
                                    + " is active here and not active at the "
                                      "host"));
  EXPECT_THAT(x.findings, HasSubstr("I9 " + gone.str()
                                    + " is deleted here and active at the "
                                      "host"));
}

TEST_F(VerifyAgainstTest, AnAccountThatIsNewAtTheHostProvesNothing) {
  const auto made = account(net.life().truth().add_account()).id;
  const auto calm = against(data, {"--full-network"});
  EXPECT_EQ(calm.status, 0) << calm.findings << calm.errors;
  EXPECT_EQ(calm.count("newer at the host"), 1u);
  const auto strict = against(data, {"--full-network", "--strict"});
  EXPECT_EQ(strict.status, 1);
  EXPECT_THAT(strict.findings, HasSubstr("I9 " + made.str()));
}

// A PDS is compared with its own accounts only.
TEST_F(VerifyAgainstTest, APdsIsComparedWithItsOwnAccounts) {
  const auto x = verify(
    data, {"--against", net.urls().hosts.at(0), "--strict", "--full-network"});
  EXPECT_EQ(x.status, 0) << x.findings << x.errors;
  EXPECT_GT(x.count("repos compared"), 0u);
  EXPECT_GT(x.count("of other hosts"), 0u);
  EXPECT_LT(x.count("accounts compared"), net.life().truth().accounts());
}

TEST_F(VerifyAgainstTest, AHostThatDoesNotAnswerProvesNothing) {
  net.life().stop();
  const auto x = against(data);
  EXPECT_EQ(x.status, 1);
  EXPECT_THAT(x.findings, HasSubstr("cannot be compared"));
}

} // namespace weir::tests
