#include "atproto/frame.hpp"

#include "atproto/dag_cbor.hpp"
#include "atproto/limits.hpp"

namespace weir::atproto {

namespace {

/// What happened to one entry of a payload.
enum class taken : uint8_t { yes, unknown, wrong, too_large };

// -- values -------------------------------------------------------------------

/// Moves what was read to `out`.
template <class Read, class T>
taken take_read(Read x, T& out) {
  if (!x)
    return taken::wrong;
  out = std::move(*x);
  return taken::yes;
}

taken take(cbor::reader& in, std::string_view& out) {
  return take_read(in.read_text(), out);
}

taken take(cbor::reader& in, bool& out) {
  return take_read(in.read_bool(), out);
}

taken take(cbor::reader& in, cid& out) {
  return take_read(in.read_link(), out);
}

/// Reads a text that `T::parse` takes.
template <class T>
taken take_parsed(cbor::reader& in, T& out) {
  const auto text = in.read_text();
  return text ? take_read(T::parse(*text), out) : taken::wrong;
}

taken take(cbor::reader& in, did& out) {
  return take_parsed(in, out);
}

taken take(cbor::reader& in, tid& out) {
  return take_parsed(in, out);
}

taken take(cbor::reader& in, std::optional<tid>& out) {
  return in.try_null() ? taken::yes : take(in, out.emplace());
}

/// Null counts as absent.
template <class T>
taken take_optional(cbor::reader& in, T& out) {
  return in.try_null() ? taken::yes : take(in, out);
}

taken take_seq(cbor::reader& in, int64_t& out) {
  const auto x = in.read_int();
  if (!x || *x < 1 || *x > limits::safe_integer_max)
    return taken::wrong;
  out = *x;
  return taken::yes;
}

taken take_blocks(cbor::reader& in, bytes_view& out, size_t bytes_max) {
  const auto got = take_read(in.read_bytes(), out);
  return out.size() > bytes_max ? taken::too_large : got;
}

// -- maps ---------------------------------------------------------------------

/// Reads a map. `take_field(key)` reads the value of a key it knows and returns
/// what happened. The error names the first entry that is wrong, or the first
/// of the `required` keys that is absent.
template <class TakeField>
result<void> read_fields(cbor::reader& in,
                         std::initializer_list<std::string_view> required,
                         TakeField take_field) {
  const auto size = in.read_map();
  if (!size)
    return size.error();
  unsigned seen = 0;
  for (size_t i = 0; i < *size; ++i) {
    const auto key = in.read_text();
    if (!key)
      return key.error();
    for (size_t j = 0; j < required.size(); ++j)
      if (required.begin()[j] == *key)
        seen |= 1u << j;
    switch (take_field(*key)) {
      case taken::yes:
        break;
      case taken::unknown:
        if (auto skipped = in.skip(limits::frame_depth_max); !skipped)
          return skipped.error();
        break;
      case taken::wrong:
        return fail(ec::malformed, "wrong field " + std::string{*key});
      case taken::too_large:
        return fail(ec::limit_reached, "too large: " + std::string{*key});
    }
  }
  for (size_t j = 0; j < required.size(); ++j)
    if ((seen >> j & 1) == 0)
      return fail(ec::malformed,
                  "missing field " + std::string{required.begin()[j]});
  return {};
}

taken take_action(cbor::reader& in, op_action& out) {
  std::string_view name;
  if (take(in, name) != taken::yes)
    return taken::wrong;
  for (const auto x : {op_action::create, op_action::update, op_action::remove})
    if (name == to_string(x)) {
      out = x;
      return taken::yes;
    }
  return taken::wrong;
}

/// Which fields each action must have (protocol-coverage.md 2). An update or
/// delete may lack `prev`: the sender may be older than this rule.
bool fits_action(const commit_op& x) noexcept {
  switch (x.action) {
    case op_action::create:
      return x.id.defined() && !x.prev.defined();
    case op_action::update:
      return x.id.defined() && x.id != x.prev;
    case op_action::remove:
      return !x.id.defined();
  }
  return false; // unreachable: these are all actions
}

result<commit_op> read_op(cbor::reader& in) {
  commit_op out;
  auto read = read_fields(in, {"action", "cid", "path"}, [&](auto key) {
    if (key == "action")
      return take_action(in, out.action);
    if (key == "path")
      return take(in, out.path);
    if (key == "cid")
      return take_optional(in, out.id);
    if (key == "prev")
      return take_optional(in, out.prev);
    return taken::unknown;
  });
  if (!read)
    return read.error();
  if (!fits_action(out))
    return fail(ec::malformed, "op with a wrong combination of fields");
  return out;
}

taken take_ops(cbor::reader& in, std::vector<commit_op>& out) {
  const auto size = in.read_array();
  if (!size)
    return taken::wrong;
  if (*size > limits::commit_ops_max)
    return taken::too_large;
  out.reserve(*size);
  for (size_t i = 0; i < *size; ++i) {
    auto op = read_op(in);
    if (!op)
      return taken::wrong;
    out.push_back(std::move(*op));
  }
  return taken::yes;
}

// -- payloads -----------------------------------------------------------------

/// Reads a field that several kinds of events have. #info and #error have only
/// a message.
template <class Event>
taken take_shared(cbor::reader& in, std::string_view key, Event& out) {
  if constexpr (requires { out.message; }) {
    if (key == "message")
      return take_optional(in, out.message);
  } else if (key == (std::is_same_v<Event, commit_event> ? "repo" : "did")) {
    return take(in, out.repo);
  } else if (key == "seq") {
    return take_seq(in, out.seq);
  } else if (key == "time") {
    return take(in, out.time);
  } else if constexpr (requires { out.rev; }) {
    if (key == "rev")
      return take(in, out.rev);
  }
  return taken::unknown;
}

/// Reads a payload with these `required` fields. `take_field(key, out)` reads
/// the value of a key into the event, unless `take_shared` does.
template <class Event, class TakeField>
result<frame_event> read_event(cbor::reader& in,
                               std::initializer_list<std::string_view> required,
                               TakeField take_field) {
  Event out;
  auto read = read_fields(in, required, [&](auto key) {
    const auto shared = take_shared(in, key, out);
    return shared == taken::unknown ? take_field(key, out) : shared;
  });
  if (!read)
    return read.error();
  return out;
}

result<frame_event> read_commit(cbor::reader& in) {
  return read_event<commit_event>(
    in, {"seq", "repo", "time", "rev", "since", "commit", "blocks", "ops"},
    [&](auto key, auto& out) {
      if (key == "since")
        return take(in, out.since);
      if (key == "commit")
        return take(in, out.commit);
      if (key == "prevData")
        return take_optional(in, out.prev_data);
      if (key == "blocks")
        return take_blocks(in, out.blocks, limits::commit_blocks_bytes_max);
      if (key == "ops")
        return take_ops(in, out.ops);
      if (key == "tooBig")
        return take_optional(in, out.too_big);
      return taken::unknown;
    });
}

result<frame_event> read_sync(cbor::reader& in) {
  return read_event<sync_event>(
    in, {"seq", "did", "time", "rev", "blocks"}, [&](auto key, auto& out) {
      return key == "blocks"
               ? take_blocks(in, out.blocks, limits::sync_blocks_bytes_max)
               : taken::unknown;
    });
}

result<frame_event> read_identity(cbor::reader& in) {
  return read_event<identity_event>(
    in, {"seq", "did", "time"}, [&](auto key, auto& out) {
      return key == "handle" ? take_optional(in, out.handle) : taken::unknown;
    });
}

result<frame_event> read_account(cbor::reader& in) {
  return read_event<account_event>(
    in, {"seq", "did", "time", "active"}, [&](auto key, auto& out) {
      if (key == "active")
        return take(in, out.active);
      return key == "status" ? take_optional(in, out.status) : taken::unknown;
    });
}

/// @param name The key of what it is about.
template <class Event>
result<frame_event> read_message(cbor::reader& in, std::string_view name) {
  return read_event<Event>(in, {name}, [&](auto key, auto& out) {
    return key == name ? take(in, out.name) : taken::unknown;
  });
}

} // namespace

const char* to_string(op_action x) noexcept {
  switch (x) {
    case op_action::create:
      return "create";
    case op_action::update:
      return "update";
    case op_action::remove:
      return "delete";
  }
  return "unknown";
}

result<frame_event> decode_frame(bytes_view frame) {
  // The peek checks the form of both items. So the reader below can only fail
  // for a field of the wrong kind.
  const auto peeked = peek_frame(frame);
  if (!peeked)
    return peeked.error();
  cbor::reader in{frame};
  if (auto header = in.skip(limits::frame_depth_max); !header)
    return header.error();
  switch (peeked->kind) {
    case frame_kind::commit:
      return read_commit(in);
    case frame_kind::sync:
      return read_sync(in);
    case frame_kind::identity:
    case frame_kind::account:
      if (frame.size() > limits::notice_frame_bytes_max)
        return fail(ec::limit_reached, "bytes of an #account or #identity");
      return peeked->kind == frame_kind::identity ? read_identity(in)
                                                  : read_account(in);
    case frame_kind::info:
      return read_message<info_event>(in, "name");
    case frame_kind::error:
      return read_message<error_event>(in, "error");
    case frame_kind::unknown:
      break;
  }
  return fail(ec::invalid_argument, "frame of an unknown kind");
}

} // namespace weir::atproto
