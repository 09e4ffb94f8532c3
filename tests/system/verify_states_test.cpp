#include "storage/format/values.hpp"
#include "storage/log/repo_guards.hpp"
#include "tests/system/hostile_host.hpp"
#include "tests/system/patience.hpp"
#include "tests/system/verify_store.hpp"

#include <gmock/gmock.h>

#include <csignal>

// `weir verify --against URL` and repos that are not reported as true copies
// here (architecture.md I9): a store in which nothing is compared is not good.

namespace weir::tests {

namespace {

using testing::HasSubstr;
using testing::Not;
using namespace storage;

class VerifyStatesTest : public verify_store {
protected:
  verdict against(const std::string& where,
                  std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--against", net.urls().relay});
    return verify(where, std::move(more));
  }

  atproto::did account(size_t n) { return net.life().truth().view(n).id; }

  void inject(simnet::fault_kind kind, const std::string& did = {},
              size_t count = 1) {
    simnet::fault x;
    x.kind = kind;
    x.did = did;
    x.count = count;
    ASSERT_TRUE(net.life().faults().inject(x));
  }

  /// A life of the node in which each repo is fetched again and every fetch
  /// fails.
  void let_every_repo_fail() {
    inject(simnet::fault_kind::failing_repo, {}, 0);
    const auto web = apps::web_client::make();
    program node{net.arguments(data)};
    const auto at = parse_ready(node.read_line(node_patience).value_or(""));
    ASSERT_NE(at.data, "") << tail_of(node.errors());
    const auto accounts = net.life().truth().accounts();
    boost::json::array dids;
    for (size_t i = 0; i < accounts; ++i)
      dids.emplace_back(account(i).str());
    ASSERT_TRUE(
      web->post(at.data + "/repos/resync",
                boost::json::serialize(boost::json::object{{"dids", dids}})));
    EXPECT_TRUE(eventually(node_patience, [&] {
      const auto failed = web->get(at.data + "/repos/errors").value();
      return boost::json::parse(as_text(failed.body))
               .at("repos")
               .as_array()
               .size()
             == accounts;
    })) << tail_of(node.errors());
    node.send(SIGTERM);
    ASSERT_EQ(node.wait(node_patience), 0) << tail_of(node.errors());
    inject(simnet::fault_kind::mend);
  }
};

/// Changes a row of a repo, and the row that finds the repo by its status.
template <class Change>
void change_repo(damaged_copy& x, const atproto::did& repo, Change edit) {
  x.of(repo);
  const auto by_status = [&] {
    const auto row
      = decode_value<repo_row>(x.get(encode_key(repo_key{repo}))).value();
    return encode_key(repo_by_status_key{row.status, due_of(row), repo});
  };
  x.erase(by_status());
  x.change<repo_row>(repo_key{repo}, edit);
  x.put(by_status(), "");
}

void set_status(damaged_copy& x, const atproto::did& repo, repo_status status,
                const std::string& why = {}) {
  change_repo(x, repo, [&](repo_row& row) {
    row.status = status;
    row.error = why;
    row.resync_id = status == repo_status::syncing ? 1 : 0;
  });
}

void deactivate(damaged_copy& x, const atproto::did& repo) {
  change_repo(x, repo, [](repo_row& row) {
    row.account = row.words.host = account_status::deactivated;
  });
}

/// Adds a repo that was inactive when it was found and has no records here.
void invent_away(damaged_copy& x, const atproto::did& repo) {
  x.of(repo);
  repo_row row;
  row.account = row.words.host = account_status::deactivated;
  x.put(encode_key(repo_key{repo}), encode_value(row));
  x.put(encode_key(repo_by_status_key{row.status, due_of(row), repo}), "");
  x.put(encode_key(member_key{default_dataset, repo}),
        encode_value(member_row{}));
}

const auto nobody = atproto::did::trusted("did:plc:zzzzzzzzzzzzzzzzzzzzzzzz");

} // namespace

TEST_F(VerifyStatesTest, AStoreOfWhichEachRepoFailedIsNotGood) {
  ASSERT_NO_FATAL_FAILURE(let_every_repo_fail());
  for (const auto& more : std::vector<std::vector<std::string>>{
         {}, {"--strict"}, {"--strict", "--full-network"}}) {
    const auto x = against(data, more);
    EXPECT_EQ(x.status, 1);
    EXPECT_EQ(x.count("repos compared"), 0u);
    for (size_t i = 0; i < net.life().truth().accounts(); ++i)
      EXPECT_THAT(x.findings, HasSubstr("I9 " + account(i).str()
                                        + " is in state error here and active "
                                          "at the host: "));
    EXPECT_THAT(x.findings, HasSubstr("500"));
  }
}

TEST_F(VerifyStatesTest, ARepoThatFailedOrLostItsPlaceIsAFinding) {
  for (const auto status : {repo_status::error, repo_status::desync}) {
    damaged_copy copy{data};
    set_status(copy, account(0), status, "the reason of it");
    const auto x = against(copy.close());
    EXPECT_EQ(x.status, 1);
    EXPECT_EQ(x.findings, "I9 " + account(0).str() + " is in state "
                            + to_string(status)
                            + " here and active at the host: the reason of "
                              "it\n");
  }
}

TEST_F(VerifyStatesTest, ARepoThatWaitsForItsFetchIsNamedApart) {
  damaged_copy copy{data};
  set_status(copy, account(0), repo_status::pending);
  set_status(copy, account(1), repo_status::syncing);
  const auto where = copy.close();
  const auto calm = against(where);
  EXPECT_EQ(calm.status, 0) << calm.findings << calm.errors;
  EXPECT_EQ(calm.findings, "");
  EXPECT_EQ(calm.count("not fetched yet"), 2u);
  EXPECT_THAT(calm.unfinished, HasSubstr(account(0).str()
                                         + " is in state pending here"));
  EXPECT_THAT(calm.unfinished, HasSubstr(account(1).str()
                                         + " is in state syncing here"));
  const auto strict = against(where, {"--strict"});
  EXPECT_EQ(strict.status, 1);
  EXPECT_THAT(strict.findings,
              HasSubstr("I9 " + account(0).str() + " is in state pending"));
  const auto said = run_program({"verify", where, "--against",
                                 net.urls().relay});
  EXPECT_THAT(said.output, HasSubstr("unfinished  " + account(0).str()));
  EXPECT_THAT(said.output, HasSubstr("good, 2 not fetched yet"));
}

// The PDS lists it, but the node never learnt its host.
TEST_F(VerifyStatesTest, ARepoWhoseHostWasNotFoundIsAFindingAtItsPds) {
  const auto lost = net.life().truth().view(0);
  damaged_copy copy{data};
  change_repo(copy, lost.id, [](repo_row& row) {
    row.status = repo_status::error;
    row.error = "no document";
    row.pds.clear();
  });
  const auto x
    = verify(copy.close(), {"--against", net.urls().hosts.at(lost.host)});
  EXPECT_EQ(x.status, 1);
  EXPECT_EQ(x.findings, "I9 " + lost.id.str()
                          + " is in state error here and active at the host: "
                            "no document\n");
}

// -- accounts that are not active here ----------------------------------------

TEST_F(VerifyStatesTest, AnAccountThatIsAwayOnBothSidesIsGood) {
  inject(simnet::fault_kind::deactivate, account(0).str());
  damaged_copy copy{data};
  deactivate(copy, account(0));
  const auto x = against(copy.close());
  EXPECT_THAT(x.findings, Not(HasSubstr("I9")));
  EXPECT_EQ(x.unfinished, "");
  EXPECT_EQ(x.count("not active here"), 1u);
}

TEST_F(VerifyStatesTest, RecordsOfAnAccountThatIsGoneAtTheHostAreAFinding) {
  inject(simnet::fault_kind::remove, account(0).str());
  damaged_copy copy{data};
  deactivate(copy, account(0));
  const auto x = against(copy.close());
  EXPECT_EQ(x.status, 1);
  EXPECT_THAT(x.findings, HasSubstr("I9 " + account(0).str()
                                    + " is deactivated here and gone at the "
                                      "host, and its records are kept"));
}

TEST_F(VerifyStatesTest, AnAccountOfWhichNothingIsKeptIsNamedApartWhenGone) {
  damaged_copy copy{data};
  invent_away(copy, nobody);
  const auto where = copy.close();
  const auto calm = against(where);
  EXPECT_THAT(calm.findings, Not(HasSubstr("I9")));
  EXPECT_EQ(calm.count("gone at the host"), 1u);
  EXPECT_THAT(calm.unfinished,
              HasSubstr(nobody.str()
                        + " is deactivated here and gone at the host"));
  const auto strict = against(where, {"--strict"});
  EXPECT_THAT(strict.findings, HasSubstr("I9 " + nobody.str()));
}

// A host without a listing is asked about each account.
TEST_F(VerifyStatesTest, WithoutAListingAnAccountThatIsActiveThereIsFound) {
  hostile_host host;
  host.on("/xrpc/com.atproto.sync.listRepos", say(http_answer(501, "{}")));
  host.on("/xrpc/com.atproto.sync.getRepoStatus",
          say(http_answer(200, R"({"active":true})")));
  damaged_copy copy{data};
  invent_away(copy, nobody);
  const auto x = verify(copy.close(), {"--against", host.url()});
  EXPECT_EQ(x.count("without a listing"), 1u);
  EXPECT_THAT(x.findings, HasSubstr("I9 " + nobody.str()
                                    + " is deactivated here and active at the "
                                      "host"));
}

// protocol-coverage.md 4.t7: no host withdraws it, but the directory's answer
// may have been wrong; no relay is involved.
TEST_F(VerifyStatesTest, ATombstoneOfAnAccountThatIsActiveThereIsAFinding) {
  damaged_copy copy{data};
  change_repo(copy, account(0), [](repo_row& row) {
    row.account = account_status::deleted;
    row.words.tombstoned = true;
  });
  const auto where = copy.close();
  const auto found = "I9 " + account(0).str()
                     + " is deleted here because the directory had a "
                       "tombstone for it, and active at the host";
  for (const auto& origin :
       {net.urls().relay,
        net.urls().hosts.at(net.life().truth().view(0).host)}) {
    const auto x = verify(where, {"--against", origin});
    EXPECT_EQ(x.status, 1);
    EXPECT_THAT(x.findings, HasSubstr(found + "\n"));
    EXPECT_EQ(x.count("taken down by another relay"), 0u);
  }
  const std::vector<std::string> asked{"--plc-url", net.urls().plc};
  EXPECT_THAT(against(where, asked).findings,
              HasSubstr(found + "; the directory has a document\n"));
  inject(simnet::fault_kind::directory_down);
  EXPECT_THAT(against(where, asked).findings,
              HasSubstr(found + "; its document: HTTP 503\n"));
  inject(simnet::fault_kind::tombstone, account(0).str());
  const auto x = against(where, asked);
  EXPECT_THAT(x.findings, Not(HasSubstr("I9")));
  EXPECT_EQ(x.count("tombstoned by the directory"), 1u);
}

// No statement supports the state in its row: another relay did not cause it.
TEST_F(VerifyStatesTest, AnAccountThatNobodyTookDownIsAFinding) {
  damaged_copy copy{data};
  change_repo(copy, account(0), [](repo_row& row) {
    row.account = account_status::takendown;
    row.words.relays = {{account_status::active, {77, 1, 1}}};
  });
  const auto x = against(copy.close());
  EXPECT_EQ(x.status, 1);
  EXPECT_THAT(x.findings, HasSubstr("I9 " + account(0).str()
                                    + " is takendown here and active at the "
                                      "host"));
  EXPECT_EQ(x.count("taken down by another relay"), 0u);
}

// -- what it prints -----------------------------------------------------------

// A refusal's text is passed on, but must not control a terminal.
TEST_F(VerifyStatesTest, WhatARepoSaysOfItsFailureNeverReachesATerminalRaw) {
  const std::string steering = "\x1b]0;PWN\x07 \xc2\x9b" "31m \xe2\x80\xae";
  damaged_copy copy{data};
  set_status(copy, account(0), repo_status::error, steering);
  const auto where = copy.close();
  const auto json = against(where);
  EXPECT_THAT(json.findings, HasSubstr(steering)) << "a parser gives it back";
  for (const auto& more : std::vector<std::string>{"--json", "--strict"}) {
    const auto x = run_program(
      {"verify", where, more, "--against", net.urls().relay});
    EXPECT_EQ(x.status, 1);
    for (const auto* raw : {"\x1b", "\x07", "\xc2\x9b", "\xe2\x80\xae"})
      EXPECT_THAT(x.output, Not(HasSubstr(raw))) << more;
    EXPECT_THAT(x.output, HasSubstr("\\u009b31m \\u202e")) << more;
  }
}

} // namespace weir::tests
