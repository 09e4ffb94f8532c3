#include "actors/support/limits_health.hpp"
#include "tests/unit/actors/identity_shell_world.hpp"

// architecture.md, Health: what an IDENTITY reports about the directory and the
// resolver.
namespace weir::tests {
namespace {

class IdentityHealthTest : public IdentityShellTest {
protected:
  /// Such a look-up of several accounts, and the finding about the directory.
  std::string named_for(identity_document x,
                        const std::string& name = "did:plc:a",
                        const atproto::did& proved = {},
                        size_t accounts = limits::health_failures_min) {
    shared->health.with([&](health_machine& y) {
      y = health_machine{};
      if (!proved.empty())
        y.remember(proved, true);
    });
    for (size_t i = 0; i < accounts; ++i) {
      x.repo = atproto::did::trusted(name + std::to_string(i));
      tell(identity, x);
    }
    storage::tail_cache tail{1};
    store_readers rows{*store.db, *store.names, tail};
    shared->stores = {shared->places(), {&rows}};
    for (auto& job : reader.take<reader_job>())
      job.run(rows);
    return shared->health.with([this](health_machine& y) {
      y.look({}, {}, time.steady_now(), {});
      return y.findings().empty() ? std::string{} : y.findings()[0].error;
    });
  }
};

} // namespace

TEST_F(IdentityHealthTest, HealthHearsOfDocumentsThatAreOfNoUse) {
  identity_document x;
  x.doc->signing_key = "zKey";
  x.doc->pds = "https://a.test";
  EXPECT_EQ(named_for(x), "");
  x.doc->pds = "";
  EXPECT_EQ(named_for(x), "the document names no PDS");
  x.doc->signing_key = "";
  EXPECT_EQ(named_for(x), "the document has no usable signing key");
  x.gone = true;
  EXPECT_EQ(named_for(x), "the DID is tombstoned");
  x = {};
  x.doc = fail(ec::limit_reached, "too large");
  EXPECT_EQ(named_for(x), "limit_reached: too large");
  x.doc = fail(ec::not_found, "not registered");
  EXPECT_EQ(named_for(x), "not_found: not registered");
  EXPECT_EQ(named_for(x, "did:web:a"), "") << "others know those";
}

// The bridge knows which answers these are
TEST_F(IdentityHealthTest, HealthHearsOfAnswersThatNoDirectoryGives) {
  identity_document x;
  x.doc = fail(ec::not_found, "not registered");
  x.is_foreign = true;
  EXPECT_EQ(named_for(x, "did:plc:a", {}, 1),
            "not_found: not registered, in words that no directory uses");
  x.is_foreign = false;
  EXPECT_EQ(named_for(x, "did:plc:a", {}, 1), "");
  x.doc = fail(ec::unreachable, "refused");
  EXPECT_EQ(named_for(x, "did:plc:a", {}, 1), "unreachable: refused");
  x.limited = 3s;
  EXPECT_EQ(named_for(x, "did:plc:a", {}, 1), "unreachable: refused")
    << "nobody has been answered yet";
}

TEST_F(IdentityHealthTest, HealthHearsOfAResolverThatDoesNotAnswer) {
  shared->health.with([](health_machine& x) {
    x.begin("https://plc.test", "https://resolver.test");
  });
  const auto named = [&](identity_handle x) {
    tell(identity, x);
    return shared->health.with([this](health_machine& y) {
      y.look({}, {}, time.steady_now(), {});
      return y.findings().empty() ? std::string{} : y.findings()[0].error;
    });
  };
  const auto& failures = shared->metrics.counter(
    "weir_identity_handle_failures_total",
    "Handles that could not be checked, because nobody answered for them");
  identity_handle x{shell_repo(1), "ann.test",
                    fail(ec::unreachable, "refused")};
  EXPECT_EQ(named(x), "") << "it was not asked";
  EXPECT_EQ(failures.value(), 1u);
  x.resolver = resolver_answer::none;
  EXPECT_EQ(named(x), "unreachable: refused");
  EXPECT_EQ(failures.value(), 2u);
  x.owner = fail(ec::not_found, "no such handle");
  EXPECT_EQ(named(x), "not_found: no such handle") << "nor does it say it so";
  x.resolver = resolver_answer::given;
  EXPECT_EQ(named(x), "");
  EXPECT_EQ(failures.value(), 2u);
}

// A directory keeps every document
TEST_F(IdentityHealthTest, WhatTheStoreHasTheDirectoryMustHave) {
  identity_document x;
  x.doc = fail(ec::not_found, "not registered");
  const auto proved = atproto::did::trusted("did:plc:b");
  EXPECT_EQ(named_for(x, "did:plc:a", proved), "") << "nobody knew them";
  for (const auto tombstoned : {true, false}) {
    storage::journal_batch had;
    for (size_t i = 0; i < limits::health_failures_min; ++i) {
      auto& row = had.identities.emplace_back();
      row.first = atproto::did::trusted("did:plc:a" + std::to_string(i));
      row.second.tombstoned = tombstoned;
    }
    store.commit(std::move(had));
    EXPECT_EQ(named_for(x, "did:plc:a", proved),
              tombstoned ? "" : "not_found: not registered");
  }
}

} // namespace weir::tests
