#pragma once

#include "base/bytes.hpp"
#include "base/error.hpp"

#include <string>

namespace weir::atproto {

/// Why a well-formed record cannot be handed to strict JSON clients
/// (api.md, Events: such an event would fail as a whole and never be acked).
enum class json_hazard : uint8_t {
  none = 0,
  unsafe_integer, ///< Beyond 2^53 - 1 in size.
  floating_point, ///< atproto forbids floats in records.
  forbidden_key,  ///< `__proto__`.
  bad_special,    ///< Map that looks like $link, $bytes or a blob and is none.
};

/// Converts one DAG-CBOR record to JSON text in one pass
/// (protocol-coverage.md 6.12): links as {"$link"}, bytes as {"$bytes"} in
/// base64 without padding. Appends to `out`; on error or hazard `out` is
/// restored to what it was.
///
/// The input is checked strictly on the way; a separate `cbor::validate` is not
/// needed.
/// @returns the hazard found, `json_hazard::none` when `out` got the record.
result<json_hazard> append_record_json(bytes_view record, std::string& out);

/// Appends `text` as a JSON string with quotes. @pre valid UTF-8.
void append_json_string(std::string_view text, std::string& out);

} // namespace weir::atproto
