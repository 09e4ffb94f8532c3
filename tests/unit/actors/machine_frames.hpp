#pragma once

#include "atproto/frame.hpp"
#include "base/bytes.hpp"

#include <string_view>

/// Frames with one or two fields, for tests of machines.
namespace weir::tests {

constexpr std::string_view frame_time = "2026-01-01T00:00:00.000Z";

inline atproto::did test_did(char last = 'a') {
  std::string text = "did:plc:aaaaaaaaaaaaaaaaaaaaaaa";
  text += last;
  return atproto::did::trusted(std::move(text));
}

inline shared_bytes account_frame(int64_t seq, bool active = true,
                                  std::string_view status = {},
                                  const atproto::did& who = test_did()) {
  return shared_bytes{
    atproto::encode_frame(atproto::account_event{seq, who, frame_time, active,
                                                 status})};
}

inline shared_bytes identity_frame(int64_t seq,
                                   const atproto::did& who = test_did()) {
  return shared_bytes{
    atproto::encode_frame(atproto::identity_event{seq, who, frame_time, {}})};
}

/// A #commit frame without a valid signature.
inline shared_bytes commit_frame(int64_t seq, atproto::tid rev,
                                 const atproto::did& who = test_did()) {
  atproto::commit_event out;
  out.seq = seq;
  out.repo = who;
  out.time = frame_time;
  out.rev = rev;
  out.commit = atproto::cid::of_dag_cbor(bytes{0xa0});
  return shared_bytes{atproto::encode_frame(out)};
}

inline shared_bytes sync_frame(int64_t seq, atproto::tid rev,
                               const atproto::did& who = test_did()) {
  return shared_bytes{atproto::encode_frame(
    atproto::sync_event{seq, who, frame_time, rev, {}})};
}

inline shared_bytes info_frame(std::string_view name) {
  return shared_bytes{atproto::encode_frame(atproto::info_event{name, {}})};
}

inline shared_bytes error_frame(std::string_view name) {
  return shared_bytes{atproto::encode_frame(atproto::error_event{name, {}})};
}

} // namespace weir::tests
