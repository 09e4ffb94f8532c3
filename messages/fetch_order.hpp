#pragma once

#include "atproto/identifiers.hpp"
#include "atproto/signature.hpp"
#include "storage/format/records.hpp"
#include "wire/filter.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace weir {

/// What a REPO wants to be fetched: its row says `syncing` from now on.
struct fetch_order {
  uint64_t job = 0;
  std::string pds;
  atproto::public_key key;
  /// What the store has of it, with which the answer is compared. Null: nothing.
  std::shared_ptr<const storage::chain_row> base;
  atproto::tid least; ///< An older root is no success; undefined: any is one.
  wire::collection_filter filter;
};

} // namespace weir
