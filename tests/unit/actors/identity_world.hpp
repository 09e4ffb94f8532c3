#pragma once

#include "actors/identity/identity_machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::tests::identities {

using namespace std::chrono_literals;
using namespace weir::actors;

inline atproto::did repo_of(int x) {
  return atproto::did::trusted("did:plc:r" + std::to_string(x));
}

inline const auto alice = repo_of(1);

/// A did:web, whose document is on a host of its own.
inline atproto::did web_repo(int x) {
  return atproto::did::trusted("did:web:r" + std::to_string(x) + ".test");
}

/// A resolver whose store and directory answer as the test says.
class resolver {
public:
  explicit resolver(identity_options options = {}) : machine(options) {
    // nop
  }

  void ask(waiter_id who, bool fresh = false,
           const atproto::did& repo = alice) {
    last = machine.on_ask(repo, who, fresh, now, wall);
  }

  void loaded(std::optional<storage::identity_row> row,
              const atproto::did& repo = alice) {
    last = machine.on_loaded(repo, std::move(row), now, wall);
  }

  void document(const result<atproto::did_document>& doc, bool gone = false,
                const atproto::did& repo = alice) {
    last = machine.on_document(repo, doc, gone, now, wall);
  }

  void handle(const std::string& name, const result<atproto::did>& owner) {
    last = machine.on_handle(alice, name, owner);
  }

  void pass(std::chrono::microseconds x) {
    now = now + x;
    wall = wall + x;
  }

  /// Asks for the first time; nothing is stored.
  void fetch(waiter_id who, const atproto::did& repo = alice) {
    ask(who, false, repo);
    loaded(std::nullopt, repo);
  }

  identity_machine machine;
  identity_machine::effects last;
  steady_time now{1'000'000'000};
  wall_time wall{1'700'000'000'000'000};
};

inline atproto::did_document doc_of(std::string handle = {}) {
  atproto::did_document out;
  out.id = alice;
  out.signing_key = "zKey";
  out.pds = "https://pds.test";
  out.claimed_handle = std::move(handle);
  return out;
}

inline storage::identity_row row_at(const resolver& x,
                                    std::chrono::seconds age) {
  storage::identity_row out;
  out.signing_key = "zOld";
  out.fetched_at = x.wall.seconds() - age.count();
  return out;
}

} // namespace weir::tests::identities
