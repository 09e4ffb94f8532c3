#pragma once

#include "atproto/cid.hpp"
#include "atproto/identifiers.hpp"
#include "base/bytes.hpp"

#include <optional>
#include <string>
#include <variant>
#include <vector>

/// Frames of `com.atproto.sync.subscribeRepos` (protocol-coverage.md 1 to 4).
namespace weir::atproto {

enum class frame_kind : uint8_t {
  commit,
  sync,
  identity,
  account,
  info,   ///< No seq.
  error,  ///< op -1: the stream ends after it.
  unknown ///< Unknown op or t; its seq counts when it has one.
};

/// What the UPSTREAM needs of a frame, read without building the body.
struct frame_peek {
  frame_kind kind = frame_kind::unknown;
  int64_t seq = 0; ///< 0 when absent or not in 1..2^53-1.
  /// `repo` of a #commit, else `did`. Borrowed; empty when absent or no text.
  /// Syntax not checked.
  std::string_view did;
  /// Of a #commit or #sync, as `did`: when its repo was changed.
  std::string_view rev;
  /// When its host made the frame, as `did`.
  std::string_view time;
};

/// Reads header and the few payload keys; checks that the frame is exactly two
/// well-formed maps in strict DAG-CBOR, but for the order of keys. Whatever
/// error it returns ends the connection (protocol-coverage.md 1.4, 1.6); a
/// wrong field does not, it is left to `decode_frame`.
result<frame_peek> peek_frame(bytes_view frame);

enum class op_action : uint8_t { create = 1, update = 2, remove = 3 };

/// "create", "update" or "delete".
const char* to_string(op_action x) noexcept;

struct commit_op {
  op_action action = op_action::create;
  std::string_view path; ///< Borrowed from the frame; syntax not checked.
  cid id;                ///< Undefined on delete.
  cid prev;              ///< Undefined when absent.
};

/// Fields of a #commit with types and sizes checked (protocol-coverage.md 2,
/// 2.1.1). Views borrow from the frame.
struct commit_event {
  int64_t seq = 0;
  did repo;
  std::string_view time;
  tid rev;
  std::optional<tid> since;
  cid commit;
  cid prev_data; ///< Undefined when absent.
  bytes_view blocks;
  std::vector<commit_op> ops;
  bool too_big = false;
};

struct sync_event {
  int64_t seq = 0;
  did repo;
  std::string_view time;
  tid rev;
  bytes_view blocks;
};

struct identity_event {
  int64_t seq = 0;
  did repo;
  std::string_view time;
  std::string_view handle; ///< A hint only; may be empty.
};

struct account_event {
  int64_t seq = 0;
  did repo;
  std::string_view time;
  bool active = false;
  std::string_view status; ///< Empty when absent.
};

struct info_event {
  std::string_view name;
  std::string_view message;
};

struct error_event {
  std::string_view name;
  std::string_view message;
};

using frame_event = std::variant<commit_event, sync_event, identity_event,
                                 account_event, info_event, error_event>;

/// Decodes a known frame completely. The frame outlives the event.
/// `ec::malformed` names the field; `ec::limit_reached` the size that was
/// passed. An unknown kind is `ec::invalid_argument`.
result<frame_event> decode_frame(bytes_view frame);

/// What `encode_frame` needs; the simulated network speaks through these.
bytes encode_frame(const commit_event& x);
bytes encode_frame(const sync_event& x);
bytes encode_frame(const identity_event& x);
bytes encode_frame(const account_event& x);
bytes encode_frame(const info_event& x);
bytes encode_frame(const error_event& x);

} // namespace weir::atproto
