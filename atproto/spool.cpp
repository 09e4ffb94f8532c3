#include "atproto/spool.hpp"

namespace weir::atproto {

namespace {

class memory_spool final : public spool {
public:
  explicit memory_spool(uint64_t bytes_max) : bytes_max_(bytes_max) {}

  result<void> append(bytes_view chunk) override {
    if (chunk.size() > bytes_max_ - data_.size())
      return fail(ec::limit_reached, "spool in memory is full");
    data_.insert(data_.end(), chunk.begin(), chunk.end());
    return {};
  }

  result<bytes_view> read(uint64_t offset, size_t size) override {
    if (offset > data_.size() || size > data_.size() - offset)
      return fail(ec::storage_failure, "read behind the end of a spool");
    return bytes_view{data_}.subspan(static_cast<size_t>(offset), size);
  }

private:
  bytes data_;
  uint64_t bytes_max_;
};

} // namespace

std::unique_ptr<spool> make_memory_spool(uint64_t bytes_max) {
  return std::make_unique<memory_spool>(bytes_max);
}

} // namespace weir::atproto
