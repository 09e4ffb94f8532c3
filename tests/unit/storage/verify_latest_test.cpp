#include "storage/format/account_fact.hpp"
#include "storage/format/content_block.hpp"
#include "tests/unit/storage/full_store.hpp"

#include <gmock/gmock.h>

// Data that can only be compared with the last operations of a repo, or the
// last block of the log: storage-format.md 4 and 6.

namespace weir::storage {
namespace {

using testing::HasSubstr;
using testing::Not;

class VerifyLatestTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(store.findings(), "");
    const auto last = store.db->last_in(range_of<log_block_key>()).value();
    last_key = last->first;
    last_block = decode_log_block(last->second).value();
  }

  /// The findings after a change of the last block, with a correct checksum.
  std::string with_last(const std::function<void(log_block&)>& change) {
    auto block = last_block;
    change(block);
    return store.findings_with(last_key, encode_log_block(block).value());
  }

  std::string with_row(const std::function<void(repo_row&)>& change) {
    auto row = store.synced.row;
    change(row);
    return store.findings_with(encode_key(repo_key{store.synced.repo}),
                               encode_value(row));
  }

  std::string with_chain(const std::function<void(chain_row&)>& change) {
    auto chain = *store.synced.chain;
    change(chain);
    return store.findings_with(encode_key(chain_key{store.synced.repo}),
                               encode_chain(chain, *store.names).value());
  }

  tests::full_store store;
  std::string last_key;
  log_block last_block; ///< A record and its commit.
};

// -- facts --------------------------------------------------------------------

TEST_F(VerifyLatestTest, AFactHasTheCidOfItsText) {
  const auto fact = store.synced.fact(identity_scope);
  EXPECT_EQ(fact.id, atproto::cid::of_raw(fact.content.view()));
  const auto key = encode_key(content_block_key{0, 1}); // The first operation.
  ASSERT_EQ(
    content_block_reader::open(store.get_raw(key)).value().at(0)->body.size(),
    fact.content.size());
  content_block_writer other;
  other.add(as_bytes(R"({"handle":"b.test","is_active":true})"));
  EXPECT_THAT(store.findings_with(key, other.take()),
              HasSubstr("operation 1: its content does not hash to its CID"));
}

TEST_F(VerifyLatestTest, ARowSaysOfTheAccountWhatTheLastFactDoes) {
  EXPECT_THAT(with_row([](auto& x) {
                x.account = account_status::takendown;
              }),
              HasSubstr("the last fact in the log"));
  EXPECT_THAT(with_row([](auto& x) {
                x.handle = "other.test";
              }),
              HasSubstr("the last fact in the log"));
  auto row = store.pending.row;
  row.account = row.words.host = account_status::deleted;
  EXPECT_THAT(store.findings_with(encode_key(repo_key{store.pending.repo}),
                                  encode_value(row)),
              HasSubstr("no fact in the log does"));
}

// CONS-06: completeness depends on it.
TEST_F(VerifyLatestTest, ARepoWasIndexedAtACommitOfItsLog) {
  EXPECT_THAT(with_row([](auto& x) {
                x.last_indexed_rev
                  = atproto::tid{x.last_indexed_rev.value() - 1};
              }),
              HasSubstr("a revision of which the log has no commit"));
  EXPECT_EQ(with_row([](auto& x) {
              x.last_indexed_rev = {};
            }),
            "");
}

TEST_F(VerifyLatestTest, ARowIsTheRowOfAJobAndOfItsChain) {
  EXPECT_THAT(with_row([](auto& x) {
                x.resync_id = 7;
              }),
              HasSubstr("it has a job that is over"));
  EXPECT_THAT(with_row([](auto& x) {
                x.last_indexed_rev = atproto::tid{~0u};
              }),
              HasSubstr("it was indexed at a later revision"));
  auto row = store.syncing.row;
  row.resync_id = 0;
  EXPECT_THAT(store.findings_with(encode_key(repo_key{store.syncing.repo}),
                                  encode_value(row)),
              HasSubstr("it is syncing without a job"));
}

// -- chains -------------------------------------------------------------------

TEST_F(VerifyLatestTest, AChainIsAtTheLastCommit) {
  EXPECT_THAT(with_chain([](auto& x) {
                x.commit = tests::cid_of("other");
              }),
              HasSubstr("the chain is not at operation"));
  EXPECT_THAT(with_chain([](auto& x) {
                x.rev = atproto::tid{x.rev.value() + 1};
              }),
              HasSubstr("the chain is not at operation"));
  EXPECT_THAT(with_chain([](auto& x) {
                x.data = tests::cid_of("other");
              }),
              HasSubstr("another repo, revision or tree than the commit"));
  EXPECT_THAT(with_chain([](auto& x) {
                x.rev = {}, x.data = {}, x.commit = {};
              }),
              HasSubstr("differ in whether there is one"));
}

TEST_F(VerifyLatestTest, AChainIsInOrderAndOfSomething) {
  EXPECT_THAT(with_chain([](auto& x) {
                std::swap(x.streams.front(), x.streams.back());
              }),
              HasSubstr("the streams of its chain are not in order"));
  EXPECT_THAT(with_chain([](auto& x) {
                x.streams.clear();
              }),
              HasSubstr("it has a chain of nothing"));
}

// The tree of a repo that is not synced, or is filtered, cannot be rebuilt: its
// last commit gives its root.
TEST_F(VerifyLatestTest, TheRootOfAFilteredRepoIsThatOfItsCommit) {
  store.put_raw(encode_key(member_key{default_dataset, store.synced.repo}),
                encode_value(member_row{0, {"app.a.x"}}));
  EXPECT_EQ(store.findings(), "");
  const auto found = with_chain([](auto& x) {
    x.data = tests::cid_of("other");
  });
  EXPECT_THAT(found, Not(HasSubstr("I2")));
  EXPECT_THAT(found, HasSubstr("tree than the commit it is at"));
}

// -- the last block -----------------------------------------------------------

TEST_F(VerifyLatestTest, AnyFieldOfTheLastBlockIsFound) {
  using block_change = std::function<void(log_block&)>;
  const std::pair<const char*, block_change> all[] = {
    {"repo",
     [&](auto& x) {
       x.repo = store.failed.repo;
     }},
    {"rev",
     [](auto& x) {
       x.rev = atproto::tid{x.rev.value() + 1};
     }},
    {"no rev",
     [](auto& x) {
       x.rev = {};
     }},
    {"resync",
     [](auto& x) {
       x.from = provenance::resync;
     }},
    {"live",
     [](auto& x) {
       x.live = false;
     }},
    {"job",
     [](auto& x) {
       x.job = 7;
     }},
    {"cause",
     [](auto& x) {
       x.cause = {1};
     }},
    {"time",
     [](auto& x) {
       ++x.time_us;
     }},
    {"written later",
     [](auto& x) {
       x.written_us += 60'000'000;
     }},
    {"written before",
     [](auto& x) {
       x.written_us -= 60'000'000;
     }},
    {"previous",
     [](auto& x) {
       x.previous[0] ^= 1;
     }},
    {"scope",
     [](auto& x) {
       --x.streams[0].scope;
     }},
    {"branch",
     [](auto& x) {
       x.streams[0].branch = denied_branch;
     }},
    {"index",
     [](auto& x) {
       ++x.streams[0].first_index;
     }},
    {"stream hash",
     [](auto& x) {
       x.streams[0].previous[0] ^= 1;
     }},
    {"stream",
     [](auto& x) {
       std::swap(x.ops[0].stream, x.ops[1].stream);
     }},
    {"action",
     [](auto& x) {
       x.ops[0].action = atproto::op_action::update;
     }},
    {"undecodable",
     [](auto& x) {
       x.ops[0].undecodable = true;
     }},
    {"skip",
     [](auto& x) {
       x.ops[0].skip = 1;
     }},
    {"rkey",
     [](auto& x) {
       x.ops[0].rkey = "other";
     }},
    {"cid",
     [](auto& x) {
       x.ops[0].id = tests::cid_of("other");
     }},
    {"no content",
     [](auto& x) {
       x.ops[0].content = 0;
     }},
    {"other content",
     [](auto& x) {
       --x.ops[0].content;
     }},
    {"less",
     [](auto& x) {
       x.ops.pop_back(), x.streams.pop_back();
     }},
    {"more",
     [](auto& x) {
       x.ops.push_back(x.ops.back());
     }},
  };
  for (const auto& [what, how] : all)
    EXPECT_NE(with_last(how), "") << what;
}

// docs/storage-format.md 6: nothing else contains these three.
TEST_F(VerifyLatestTest, ReceiptOfTheLastBlockIsKnownToItAlone) {
  EXPECT_EQ(with_last([](auto& x) {
              ++x.written_us;
            }),
            "");
  EXPECT_EQ(with_last([](auto& x) {
              x.from = provenance::buffer;
            }),
            "");
  EXPECT_EQ(with_last([](auto& x) {
              ++x.passed;
            }),
            "");
}

TEST_F(VerifyLatestTest, WhatNoWriterPutsIntoABlockIsFound) {
  const auto expect = [&](const std::function<void(log_block&)>& change,
                          const std::string& words) {
    EXPECT_THAT(with_last(change), HasSubstr(words));
  };
  expect(
    [](auto& x) {
      x.ops[1].action = atproto::op_action::remove;
    },
    "it deletes a commit, or has no revision");
  expect(
    [](auto& x) {
      x.ops[1].content = 0;
    },
    "it is a commit without its block");
  expect(
    [](auto& x) {
      x.ops[1].rkey = "self";
    },
    "it is of no collection and names a record");
  expect(
    [](auto& x) {
      x.ops[0].action = atproto::op_action::remove;
    },
    "it deletes a record and has content");
  expect(
    [](auto& x) {
      x.ops[0].rkey.clear();
    },
    "it has no record key");
  expect(
    [](auto& x) {
      x.ops[0].id = atproto::cid::of_raw({});
    },
    "its content has a CID that no record has");
  expect(
    [](auto& x) {
      x.streams[1].scope = account_scope_id;
    },
    "it is a fact and changes a record, or has a revision");
  expect(
    [](auto& x) {
      x.streams = {{account_scope_id, main_branch, 0, {}}};
      x.rev = {};
      x.ops = {{0,
                atproto::op_action::update,
                false,
                0,
                {},
                atproto::cid::of_raw({}),
                0}};
    },
    "it is a fact without its text");
  expect(
    [](auto& x) {
      x.streams[1].scope = local_scope_id;
    },
    "it is of a scope that nothing writes");
}

} // namespace
} // namespace weir::storage
