#include "storage/backup/file_copy.hpp"

#include "atproto/base_encodings.hpp"
#include "storage/backup/limits.hpp"
#include "storage/disk/safe_env_disk.hpp"

#include <algorithm>

namespace weir::storage {

error backup_error(const leveldb::Status& x) {
  auto out = disk_error(x);
  if (out.code == ec::disk_full)
    out.context += "; make room on that disk, or choose another";
  return out;
}

result<file_copy> file_copy::open(disk_env& disk, const std::string& from,
                                  uint64_t bytes, const std::string& to) {
  file_copy out;
  leveldb::SequentialFile* in = nullptr;
  if (const auto x = disk.NewSequentialFile(from, &in); !x.ok())
    return backup_error(x);
  out.in_.reset(in);
  if (!to.empty()) {
    leveldb::WritableFile* copy = nullptr;
    if (const auto x = disk.NewWritableFile(to, &copy); !x.ok())
      return backup_error(x);
    out.out_.reset(copy);
  }
  out.name_ = from;
  out.left_ = bytes;
  out.scratch_.resize(
    static_cast<size_t>(std::min<uint64_t>(bytes, limits::backup_piece_bytes)));
  return out;
}

result<std::string> file_copy::step() {
  if (left_ > 0) {
    const auto want = std::min<uint64_t>(left_, scratch_.size());
    leveldb::Slice piece;
    auto x = in_->Read(static_cast<size_t>(want), &piece, scratch_.data());
    if (x.ok() && piece.empty())
      return fail(ec::storage_failure,
                  name_ + " ends " + std::to_string(left_) + " bytes early");
    if (x.ok() && out_)
      x = out_->Append(piece);
    if (!x.ok())
      return backup_error(x);
    sum_.update(as_bytes({piece.data(), piece.size()}));
    left_ -= piece.size();
    if (left_ > 0)
      return std::string{};
  }
  if (out_) {
    auto x = out_->Sync();
    if (x.ok())
      x = out_->Close();
    out_ = nullptr;
    if (!x.ok())
      return backup_error(x);
  }
  return atproto::encode_hex(sum_.finish());
}

} // namespace weir::storage
