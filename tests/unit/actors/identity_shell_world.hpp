#pragma once

#include "actors/identity/identity.hpp"
#include "actors/support/store_readers.hpp"
#include "messages/identity.hpp"
#include "messages/journal.hpp"
#include "storage/log/tail_cache.hpp"
#include "tests/unit/actors/shell_fixture.hpp"
#include "tests/unit/storage/journal_fixture.hpp"

namespace weir::tests {

using namespace weir::actors;

/// Records the look-ups.
class quiet_network final : public identity_network {
public:
  void fetch_document(const atproto::did& repo, identity_actor) override {
    documents.push_back(repo);
  }

  void fetch_export(uint64_t after, size_t lines, identity_actor) override {
    pages.emplace_back(after, lines);
  }

  void resolve_handle(const atproto::did&, const std::string& handle,
                      identity_actor) override {
    handles.push_back(handle);
  }

  std::vector<atproto::did> documents;
  std::vector<std::pair<uint64_t, size_t>> pages;
  std::vector<std::string> handles;
};

class IdentityShellTest : public ShellFixture {
protected:
  IdentityShellTest() {
    home->readers.push_back(reader.as<reader_actor>());
    home->journal = journal.as<journal_actor>();
    identity = keep(spawn_identity(sys, shared, {}, network));
  }

  void ask(const probe& who, size_t repo = 1, bool fresh = false) {
    tell(identity,
         identity_ask{shell_repo(repo), fresh}, who.as<identity_sink>());
  }

  /// The store answers that it has nothing about a repo.
  void not_stored(size_t repo = 1) {
    tell(identity, identity_stored{shell_repo(repo), std::nullopt});
  }

  void document(size_t repo = 1, std::string handle = {}) {
    identity_document x;
    x.repo = shell_repo(repo);
    x.doc->id = x.repo;
    x.doc->signing_key = "zKey" + std::to_string(repo);
    x.doc->claimed_handle = std::move(handle);
    tell(identity, x);
  }

  void no_document(size_t repo = 1) {
    identity_document x;
    x.repo = shell_repo(repo);
    x.doc = fail(ec::unreachable);
    tell(identity, x);
  }

  /// The keys that were reported since the last call.
  static std::vector<std::string> keys(probe& x) {
    std::vector<std::string> out;
    for (const auto& fact : x.take<identity_answer>())
      out.push_back(fact.fact ? fact.fact->signing_key : "");
    return out;
  }

  test_store store;
  probe reader{sys};
  probe journal{sys};
  probe ann{sys};
  probe bob{sys};
  std::shared_ptr<quiet_network> network = std::make_shared<quiet_network>();
  identity_actor identity;
};

} // namespace weir::tests
