#pragma once

#include "atproto/dag_cbor.hpp"
#include "base/bytes.hpp"

#include <boost/json/value.hpp>

namespace weir::atproto {

/// The DAG-CBOR of a value in atproto's JSON form: maps with only a valid
/// `$link` or `$bytes` become links and bytes, integral doubles become
/// integers, and everything else keeps its type. It is a separate encoder, so
/// that vectors in JSON can be compared with bytes from other programs.
bytes json_to_cbor(const boost::json::value& x);

/// A frame of a stream.
shared_bytes json_frame(const boost::json::value& header,
                        const boost::json::value& body);

} // namespace weir::atproto
