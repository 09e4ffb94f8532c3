#pragma once

#include "base/bytes.hpp"
#include "base/error.hpp"

#include <string>

namespace weir::atproto {

/// Why a valid record cannot be given to strict JSON clients. Tap's clients
/// would reject the whole event and never acknowledge it (api.md, Events).
enum class json_hazard : uint8_t {
  none = 0,
  unsafe_integer, ///< An integer beyond 2^53 - 1 in size.
  floating_point, ///< A float; atproto forbids floats in records.
  forbidden_key,  ///< The key `__proto__`.
  bad_special, ///< A map that looks like $link, $bytes or a blob and is none.
};

/// Converts one DAG-CBOR record to JSON text in one pass (protocol-coverage.md
/// 6.12). Links become {"$link"}, bytes become {"$bytes"} in base64 without
/// padding. Appends to `out`; after an error or a hazard `out` is as it was
/// before.
///
/// The input is checked strictly on the way, so `cbor::validate` need not be
/// called first.
/// @returns the hazard that was found, or `json_hazard::none` when the record
/// was appended.
result<json_hazard> append_record_json(bytes_view record, std::string& out);

/// Appends `text` as a JSON string with quotes. @pre `text` is valid UTF-8.
void append_json_string(std::string_view text, std::string& out);

} // namespace weir::atproto
