#pragma once

#include "atproto/dag_cbor.hpp"
#include "base/bytes.hpp"

#include <boost/json/value.hpp>

namespace weir::atproto {

/// The DAG-CBOR of a value in atproto's JSON form: maps of just a good `$link`
/// or `$bytes` become links and bytes, integral doubles integers, all else what
/// it is. An encoder of its own, so that vectors in JSON can be compared with
/// bytes made by others.
bytes json_to_cbor(const boost::json::value& x);

/// A frame of a stream.
shared_bytes json_frame(const boost::json::value& header,
                        const boost::json::value& body);

} // namespace weir::atproto
