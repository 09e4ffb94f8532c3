#pragma once

#include "storage/format/values.hpp"

#include <map>
#include <string>

// One row of each kind in which no field has its default value.

namespace weir::tests {

/// Gives these names the ids 16, 17, ...
class fixed_names final : public storage::collection_names {
public:
  fixed_names(std::initializer_list<std::string> names) {
    auto id = storage::first_collection_id;
    for (const auto& name : names)
      names_[id++] = name;
  }

  std::optional<uint32_t> id_of(std::string_view name) const override {
    for (const auto& [id, known] : names_)
      if (known == name)
        return id;
    return std::nullopt;
  }

  std::optional<std::string> name_of(uint32_t id) const override {
    const auto at = names_.find(id);
    return at != names_.end() ? std::optional{at->second} : std::nullopt;
  }

  bool was_given(uint32_t id) const override { return names_.contains(id); }

private:
  std::map<uint32_t, std::string> names_;
};

inline atproto::digest digest_of_byte(uint8_t x) {
  atproto::digest out;
  out.fill(x);
  return out;
}

inline const atproto::did sample_did
  = atproto::did::trusted("did:plc:ewvi7nxzyoun6zhxrhs64oiz");

inline const auto sample_cid
  = atproto::cid{atproto::cid::codec_dag_cbor, digest_of_byte(0xaa)};

inline storage::repo_row sample_repo() {
  return {storage::repo_status::error,
          storage::account_status::suspended,
          {7, 2, 12345},
          atproto::tid{11},
          atproto::tid{12},
          3,
          true,
          "it failed",
          5,
          1'700'000'060,
          1'700'000'000,
          0xfedcba9876543210,
          8,
          900,
          "https://pds.example.com",
          "alice.test",
          {storage::account_status::active,
           true,
           {9, 1, 77},
           {{storage::account_status::suspended, {7, 2, 12346}},
            {storage::account_status::active, {8, 1, 5}}},
           true,
           7},
          true,
          atproto::tid{13},
          atproto::tid{14},
          1'700'000'001,
          0x123456789abcdef0,
          7};
}

inline storage::chain_row sample_chain() {
  return {atproto::tid{99},
          sample_cid,
          atproto::cid{atproto::cid::codec_dag_cbor, digest_of_byte(0xbb)},
          42,
          {{"$account", 1, digest_of_byte(1), 0},
           {"$commit", 9, digest_of_byte(2), 0},
           {"app.test.note", 300, digest_of_byte(3), 42},
           {"app.test.rare", 120, digest_of_byte(4), 7, true}},
          77,
          100,
          atproto::tid{98},
          3,
          shared_bytes{bytes{1, 2, 3}}};
}

/// A commit that changes two collections, with every kind of operation.
inline storage::log_block sample_block() {
  using enum atproto::op_action;
  storage::log_block x;
  x.repo = sample_did;
  x.rev = atproto::tid{99};
  x.from = storage::provenance::buffer;
  x.live = false;
  x.job = 1234;
  x.cause = {1, 2, 3};
  x.time_us = 1'700'000'000'000'000;
  x.written_us = 1'700'000'000'250'000;
  x.previous = digest_of_byte(4);
  x.events_before = 500;
  x.passed = 12;
  x.streams
    = {{storage::commit_scope_id, storage::main_branch, 8, digest_of_byte(5)},
       {16, storage::main_branch, 0, {}},
       {17, storage::denied_branch, 300, digest_of_byte(6)}};
  x.ops = {{1, create, false, 0, "3jzfcijpj2z2a", sample_cid, 70},
           {1, create, true, 0, "self",
            atproto::cid{atproto::cid::codec_raw, digest_of_byte(0xcc)}, 0},
           {2, update, false, 3, "3jzfcijpj2z2a", sample_cid, 71, 66},
           {1, remove, false, 0, "other", {}, 0, 5},
           {0, create, false, 0, "", sample_cid, 1000}};
  return x;
}

} // namespace weir::tests
