#include "tests/system/crowd_rows.hpp"

#include "actors/support/placement.hpp"
#include "storage/format/keys_repo.hpp"
#include "storage/format/values.hpp"
#include "storage/log/repo_guards.hpp"

#include <string>

namespace weir::tests {

atproto::did crowd_did(size_t n) {
  std::string text = "did:plc:2222222222222222222";
  for (const auto c : std::to_string(10'000 + n))
    text += static_cast<char>('a' + (c - '0'));
  return atproto::did::trusted(text);
}

storage::write_batch crowd_rows(const storage::repo_row& row, size_t repos,
                                const storage::store_identity& which) {
  const actors::placement places{which.partitions, 1};
  storage::write_batch out;
  for (size_t i = 0; i < repos; ++i) {
    const auto did = crowd_did(i);
    if (places.partition_of(did) != which.partition)
      continue;
    out.put(encode_key(storage::repo_key{did}), storage::encode_value(row));
    out.put(encode_key(storage::repo_by_status_key{
              row.status, storage::due_of(row), did}),
            "");
    out.put(encode_key(storage::member_key{storage::default_dataset, did}),
            storage::encode_value(storage::member_row{1, {}}));
  }
  return out;
}

} // namespace weir::tests
