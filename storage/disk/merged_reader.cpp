#include "storage/disk/merged_reader.hpp"

namespace weir::storage {

merged_reader::merged_reader(std::span<const database* const> stores,
                             const key_range& range) {
  rows_.reserve(stores.size());
  for (const auto* x : stores)
    rows_.push_back(x->scan(range));
  find_first();
}

void merged_reader::find_first() {
  for (size_t i = 0; i < rows_.size(); ++i)
    if (rows_[i].valid() && (!valid() || rows_[i].key() < key()))
      at_ = i;
}

void merged_reader::next() {
  rows_[at_].next();
  find_first();
}

result<void> merged_reader::status() const {
  for (const auto& x : rows_)
    if (auto ok = x.status(); !ok)
      return ok;
  return {};
}

} // namespace weir::storage
