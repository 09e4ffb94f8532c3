#pragma once

#include "atproto/cid.hpp"
#include "atproto/identifiers.hpp"
#include "base/bytes.hpp"

#include <optional>
#include <variant>
#include <vector>

/// Frames of `com.atproto.sync.subscribeRepos` (protocol-coverage.md 1 to 4).
namespace weir::atproto {

enum class frame_kind : uint8_t {
  commit,
  sync,
  identity,
  account,
  info,   ///< It has no sequence number.
  error,  ///< op -1; the stream ends after it.
  unknown ///< Unknown op or t. A seq counts if it has one.
};

/// What UPSTREAM needs to know of a frame, read without decoding its body.
struct frame_peek {
  frame_kind kind = frame_kind::unknown;
  int64_t seq = 0; ///< 0 when absent or not in 1..2^53-1.
  /// The `repo` of a #commit, the `did` of any other kind. Borrowed; its syntax
  /// is not checked. Empty when the field is absent or no text.
  std::string_view did;
  /// The `rev` of a #commit or #sync. Borrowed and unchecked like `did`.
  std::string_view rev;
  /// The time when the host made the frame. Borrowed, unchecked like `did`.
  std::string_view time;
};

/// Reads the header and a few keys of the payload. Checks that the frame is
/// exactly two maps in strict DAG-CBOR, except that their keys may come in any
/// order. Every error it returns ends the connection (protocol-coverage.md 1.4,
/// 1.6). A field with a wrong value is no error here; `decode_frame` finds it.
result<frame_peek> peek_frame(bytes_view frame);

enum class op_action : uint8_t { create = 1, update = 2, remove = 3 };

/// The name in the protocol: "create", "update" or "delete".
const char* to_string(op_action x) noexcept;

struct commit_op {
  op_action action = op_action::create;
  /// Borrowed from the frame. Its syntax is not checked.
  std::string_view path;
  cid id;   ///< Undefined on delete.
  cid prev; ///< Undefined when the field is absent.
};

/// The fields of a #commit after their types and sizes were checked
/// (protocol-coverage.md 2, 2.1.1). Views borrow from the frame.
struct commit_event {
  int64_t seq = 0;
  did repo;
  std::string_view time;
  tid rev;
  std::optional<tid> since;
  cid commit;
  cid prev_data; ///< Undefined when the field is absent.
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
  std::string_view handle; ///< Only a hint; may be empty.
};

struct account_event {
  int64_t seq = 0;
  did repo;
  std::string_view time;
  bool active = false;
  std::string_view status; ///< Empty when the field is absent.
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

/// Decodes a whole frame. The frame must outlive the event.
/// @returns `ec::malformed` with the name of the wrong field,
/// `ec::limit_reached` with the limit that was passed, or
/// `ec::invalid_argument` for an unknown kind.
result<frame_event> decode_frame(bytes_view frame);

/// Encodes frames for the simulated network.
bytes encode_frame(const commit_event& x);
bytes encode_frame(const sync_event& x);
bytes encode_frame(const identity_event& x);
bytes encode_frame(const account_event& x);
bytes encode_frame(const info_event& x);
bytes encode_frame(const error_event& x);

} // namespace weir::atproto
