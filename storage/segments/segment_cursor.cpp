#include "storage/segments/segment_cursor.hpp"

#include "storage/disk/safe_env_disk.hpp"
#include "storage/segments/limits.hpp"

#include <leveldb/env.h>

namespace weir::storage {

segment_cursor::segment_cursor(leveldb::Env& files,
                               const std::vector<segment>& all,
                               uint64_t identity, size_t at, uint64_t offset,
                               op_id next)
  : files_(files), all_(all), identity_(identity), at_(at), offset_(offset),
    next_(next) {}

segment_cursor::~segment_cursor() = default;
segment_cursor::segment_cursor(segment_cursor&&) noexcept = default;

result<bool> segment_cursor::next() {
  for (; at_ < all_.size() && offset_ == all_[at_].bytes; ++at_) {
    offset_ = 0;
    file_.reset();
  }
  if (at_ >= all_.size())
    return false;
  if (auto ok = open(); !ok)
    return ok.error();
  begin_ = offset_;
  const auto head = read(frame_header_bytes);
  if (!head)
    return head.error();
  const auto header = read_header(*head);
  if (header.identity != identity_ || header.first != next_
      || header.size > limits::segment_frame_bytes_max)
    return damaged("something else lies where operation "
                   + std::to_string(next_) + " belongs");
  auto payload = read(header.size);
  if (!payload)
    return payload.error();
  if (!is_sound(*head, *payload))
    return damaged("the checksum of operation " + std::to_string(next_)
                   + " is wrong");
  first_ = header.first;
  const auto owner = std::make_shared<const std::string>(std::move(*payload));
  payload_ = {owner, as_bytes(*owner)};
  return true;
}

result<void> segment_cursor::open() {
  if (file_)
    return {};
  leveldb::SequentialFile* file = nullptr;
  auto status = files_.NewSequentialFile(all_[at_].name, &file);
  file_.reset(file);
  if (status.ok())
    status = file_->Skip(offset_);
  return status.ok() ? result<void>{} : disk_error(status);
}

result<std::string> segment_cursor::read(size_t size) {
  if (size > all_[at_].bytes - offset_)
    return damaged("it ends inside of operation " + std::to_string(next_));
  std::string out(size, '\0');
  for (size_t got = 0; got < size;) {
    leveldb::Slice part;
    const auto status = file_->Read(size - got, &part, out.data() + got);
    if (!status.ok())
      return disk_error(status);
    if (part.empty())
      return damaged("it ends early");
    // An Env may answer with memory of its own.
    if (part.data() != out.data() + got)
      out.replace(got, part.size(), part.data(), part.size());
    got += part.size();
  }
  offset_ += size;
  return out;
}

error segment_cursor::damaged(const std::string& why) const {
  return fail(ec::storage_failure, "the segment " + all_[at_].name
                                     + " is damaged at byte "
                                     + std::to_string(begin_) + ": " + why);
}

} // namespace weir::storage
