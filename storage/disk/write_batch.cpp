#include "storage/disk/write_batch.hpp"

#include "storage/disk/slice.hpp"

#include <leveldb/write_batch.h>

#include <cassert>

namespace weir::storage {

namespace {

class row_giver final : public leveldb::WriteBatch::Handler {
public:
  using taker = std::function<void(std::string_view, const std::string_view*)>;

  explicit row_giver(const taker& take) : take_(take) {}

  void Put(const leveldb::Slice& key, const leveldb::Slice& value) override {
    const auto text = view(value);
    take_(view(key), &text);
  }

  void Delete(const leveldb::Slice& key) override { take_(view(key), nullptr); }

private:
  const taker& take_;
};

} // namespace

write_batch::write_batch() : rep_(std::make_unique<leveldb::WriteBatch>()) {}

write_batch::~write_batch() = default;
write_batch::write_batch(write_batch&&) noexcept = default;
write_batch& write_batch::operator=(write_batch&&) noexcept = default;

void write_batch::put(std::string_view key, std::string_view value) {
  rep_->Put(slice(key), slice(value));
  ++rows_;
  bytes_ += key.size() + value.size();
}

void write_batch::erase(std::string_view key) {
  rep_->Delete(slice(key));
  ++rows_;
  bytes_ += key.size();
}

void write_batch::clear() {
  rep_->Clear();
  rows_ = bytes_ = 0;
}

void write_batch::for_each(
  const std::function<void(std::string_view, const std::string_view*)>& take)
  const {
  row_giver giver{take};
  // It fails only for a batch that was not made by the calls of this class.
  const auto ok = rep_->Iterate(&giver);
  assert(ok.ok());
  static_cast<void>(ok);
}

} // namespace weir::storage
