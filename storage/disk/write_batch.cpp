#include "storage/disk/write_batch.hpp"

#include "storage/disk/slice.hpp"

#include <leveldb/write_batch.h>

namespace weir::storage {

write_batch::write_batch() : rep_(std::make_unique<leveldb::WriteBatch>()) {
  // nop
}

write_batch::~write_batch() = default;
write_batch::write_batch(write_batch&&) noexcept = default;
write_batch& write_batch::operator=(write_batch&&) noexcept = default;

void write_batch::put(std::string_view key, std::string_view value) {
  rep_->Put(slice(key), slice(value));
  ++puts_;
  bytes_ += key.size() + value.size();
}

void write_batch::erase(std::string_view key) {
  rep_->Delete(slice(key));
  ++erases_;
  bytes_ += key.size();
}

void write_batch::clear() {
  rep_->Clear();
  puts_ = erases_ = bytes_ = 0;
}

} // namespace weir::storage
