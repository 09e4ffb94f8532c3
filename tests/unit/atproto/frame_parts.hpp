#pragma once

#include "atproto/cid.hpp"
#include "atproto/dag_cbor.hpp"
#include "atproto/frame.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

// Frames in parts: each test changes a field before the bytes are joined.

namespace weir::tests::frames {

using namespace atproto;

constexpr std::string_view who = "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa";
constexpr std::string_view some_time = "2026-01-01T00:00:00.000Z";
constexpr std::string_view some_rev = "3m2bypluud2a2";

inline const cid some_cid = cid::of_dag_cbor(bytes{0xa0});
inline const cid other_cid = cid::of_dag_cbor(bytes{0x80});

/// A map that is being made: encoded values by key, in any order.
using fields = std::vector<std::pair<std::string, bytes>>;

/// The error with which a frame was refused.
inline ec decode_error(bytes_view x) {
  const auto out = decode_frame(x);
  return out ? ec::none : out.error().code;
}

inline bytes encode(const std::function<void(cbor::writer&)>& put) {
  cbor::writer out;
  put(out);
  return out.take();
}

inline bytes text(std::string_view x) {
  return encode([&](auto& out) {
    out.put_text(x);
  });
}

inline bytes number(int64_t x) {
  return encode([&](auto& out) {
    out.put_int(x);
  });
}

inline bytes link(const cid& x) {
  return encode([&](auto& out) {
    out.put_link(x);
  });
}

inline bytes null() {
  return encode([](auto& out) {
    out.put_null();
  });
}

inline bytes boolean(bool x) {
  return encode([&](auto& out) {
    out.put_bool(x);
  });
}

inline bytes map(const fields& x) {
  cbor::writer out;
  out.begin_map(x.size());
  for (const auto& [key, value] : x)
    out.put_text(key).put_raw(value);
  return out.take();
}

inline bytes array(const std::vector<bytes>& x) {
  cbor::writer out;
  out.begin_array(x.size());
  for (const auto& item : x)
    out.put_raw(item);
  return out.take();
}

/// `x` with the value of a key replaced or added, or removed if it is empty.
inline fields with(fields x, std::string_view key, bytes value) {
  std::erase_if(x, [&](const auto& entry) {
    return entry.first == key;
  });
  if (!value.empty())
    x.emplace_back(key, std::move(value));
  return x;
}

inline bytes join(bytes x, const bytes& y) {
  x.insert(x.end(), y.begin(), y.end());
  return x;
}

inline bytes frame(std::string_view t, const fields& payload) {
  return join(map({{"t", text(t)}, {"op", number(1)}}), map(payload));
}

inline bytes op(std::string_view action, const bytes& id,
                const bytes& prev = {}) {
  fields out{{"cid", id}, {"path", text("a.b.c/1")}, {"action", text(action)}};
  return map(prev.empty() ? out : with(out, "prev", prev));
}

inline fields commit_fields() {
  return {
    {"ops", array({op("create", link(some_cid))})},
    {"rev", text(some_rev)},
    {"seq", number(7)},
    {"repo", text(who)},
    {"time", text(some_time)},
    {"blobs", array({})},
    {"since", null()},
    {"blocks", encode([](auto& out) {
       out.put_bytes(bytes{1, 2});
     })},
    {"commit", link(some_cid)},
    {"rebase", boolean(false)},
    {"tooBig", boolean(false)},
    {"prevData", link(other_cid)},
  };
}

inline fields sync_fields() {
  return {{"did", text(who)},
          {"rev", text(some_rev)},
          {"seq", number(7)},
          {"time", text(some_time)},
          {"blocks", encode([](auto& out) {
             out.put_bytes(bytes{1});
           })}};
}

inline fields account_fields() {
  return {{"did", text(who)},
          {"seq", number(7)},
          {"time", text(some_time)},
          {"active", boolean(false)},
          {"status", text("deactivated")}};
}

inline fields identity_fields() {
  return {{"did", text(who)},
          {"seq", number(7)},
          {"time", text(some_time)},
          {"handle", text("a.test")}};
}

} // namespace weir::tests::frames
