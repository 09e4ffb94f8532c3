#pragma once

#include "storage/format/update.hpp"
#include "tests/support/repo_builder.hpp"

#include <string>
#include <utility>

namespace weir::tests {

/// The operation that an import reports for one new record with key
/// `app.test.note/` and `rkey`.
inline storage::new_operation create_op(std::string rkey) {
  storage::new_operation out;
  out.scope = "app.test.note";
  out.rkey = std::move(rkey);
  out.id = atproto::cid::of_dag_cbor(make_record(out.rkey));
  return out;
}

} // namespace weir::tests
