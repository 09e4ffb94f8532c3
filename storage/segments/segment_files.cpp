#include "storage/segments/segment_files.hpp"

#include "base/log.hpp"
#include "base/parse_number.hpp"
#include "storage/disk/store_identity.hpp"

#include <leveldb/env.h>

#include <algorithm>
#include <charconv>

namespace weir::storage {

namespace {

using leveldb::Status;

constexpr std::string_view title = "weir segments 1\nidentity: ";
constexpr size_t identity_digits = 16;
constexpr std::string_view name_begin = "operations-";
constexpr std::string_view name_end = ".seg";
constexpr size_t name_digits = 20;

result<void> done(const Status& x) {
  return x.ok() ? result<void>{} : disk_error(x);
}

std::string padded(const std::string& digits, size_t size) {
  return std::string(size - std::min(size, digits.size()), '0') + digits;
}

std::string file_of(const std::string& directory, op_id first) {
  return directory + "/" + std::string{name_begin}
         + padded(std::to_string(first), name_digits) + std::string{name_end};
}

/// The first id in the name of a segment; nothing for another file.
std::optional<op_id> id_in(std::string_view name) {
  if (!name.starts_with(name_begin) || !name.ends_with(name_end)
      || name.size() != name_begin.size() + name_digits + name_end.size())
    return std::nullopt;
  auto digits = name.substr(name_begin.size(), name_digits);
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  return parse_number<op_id>(digits);
}

std::string text_of(uint64_t identity) {
  std::string digits(identity_digits, '\0');
  const auto end
    = std::to_chars(digits.data(), digits.data() + digits.size(), identity, 16);
  digits.resize(static_cast<size_t>(end.ptr - digits.data()));
  return std::string{title} + padded(digits, identity_digits) + "\n";
}

/// 0 when the text is not that of a directory of segments.
uint64_t identity_in(const std::string& text) {
  uint64_t out = 0;
  if (text.size() > title.size())
    std::from_chars(text.data() + title.size(), text.data() + text.size(), out,
                    16);
  return text_of(out) == text ? out : 0;
}

} // namespace

segment_files::segment_files(const segment_options& options)
  : options_(options),
    disk_(options.disk != nullptr ? *options.disk : posix_disk()) {}

segment_files::~segment_files() = default;

result<std::unique_ptr<segment_files>>
segment_files::open(const segment_options& options,
                    const frame_visitor& visit) {
  std::unique_ptr<segment_files> out{new segment_files{options}};
  if (auto ok = out->claim(); !ok)
    return ok.error();
  if (auto ok = out->list(); !ok)
    return ok.error();
  if (auto ok = out->scan(visit); !ok)
    return ok.error();
  if (options.access == access_mode::owner)
    if (auto ok = out->open_last(); !ok)
      return ok.error();
  return out;
}

/// Locks the directory and reads or makes its identity.
result<void> segment_files::claim() {
  const auto& directory = options_.directory;
  const auto file = directory + "/SEGMENTS";
  const bool owns = options_.access == access_mode::owner;
  if (!disk_.FileExists(file)) {
    if (!owns)
      return fail(ec::not_found, "there are no segments in " + directory);
    if (auto ok = make_store_directory(disk_, directory); !ok)
      return ok;
  }
  if (const auto x = owns ? disk_.check_place(directory) : Status::OK();
      !x.ok())
    return fail(ec::invalid_argument, x.ToString());
  if (const auto x = disk_.lock_owner(directory + "/OWNER", !owns, lock_);
      !x.ok())
    return refuse("cannot be opened: " + x.ToString());
  std::string text;
  const auto read = leveldb::ReadFileToString(&disk_, file, &text);
  if (!read.ok() && !read.IsNotFound())
    return disk_error(read);
  if (read.ok()) {
    identity_ = identity_in(text);
    return identity_ != 0 ? result<void>{}
                          : refuse("have a damaged file SEGMENTS");
  }
  return make_identity();
}

result<void> segment_files::make_identity() {
  const auto& directory = options_.directory;
  std::vector<std::string> names;
  disk_.GetChildren(directory, &names);
  for (const auto& name : names)
    if (name != "." && name != ".." && name != "OWNER"
        && name != "SEGMENTS.draft")
      return refuse("cannot be made there: it holds other files (" + name
                    + "); choose an empty or a new directory");
  auto* random
    = options_.random != nullptr ? options_.random : &system_random();
  while (identity_ == 0)
    identity_ = random->next();
  auto status
    = replace_file(disk_, directory + "/SEGMENTS", text_of(identity_));
  if (status.ok())
    status = disk_.sync_directory(directory);
  return done(status);
}

result<void> segment_files::list() {
  std::vector<std::string> names;
  if (const auto x = disk_.GetChildren(options_.directory, &names); !x.ok())
    return disk_error(x);
  for (const auto& name : names)
    if (const auto first = id_in(name))
      all_.push_back({options_.directory + "/" + name, *first, 0, {}});
  std::ranges::sort(all_, {}, &segment::first);
  for (auto& x : all_)
    if (const auto status = disk_.GetFileSize(x.name, &x.bytes); !status.ok())
      return disk_error(status);
  return {};
}

result<void> segment_files::scan(const frame_visitor& visit) {
  segment_cursor frames{disk_, all_, identity_, 0, 0, next_};
  for (;;) {
    const auto more = frames.next();
    if (!more)
      return end_at(frames, more.error());
    if (!*more)
      break;
    const auto at = frames.segment_at();
    if (frames.offset() == 0 && all_[at].first != frames.first())
      return refuse("lack the operations before " + all_[at].name);
    const auto count = visit(frames.first(), frames.payload());
    if (!count)
      return count.error();
    mark(at, frames.first(), frames.offset());
    frames.count(*count);
    next_ = frames.first() + *count;
  }
  if (!all_.empty() && all_.back().bytes == 0 && all_.back().first != next_)
    return refuse("lack the operations before " + all_.back().name);
  return {};
}

/// The frame after the last sound one is none. That is how a crash leaves the
/// last segment, unless sound frames follow.
result<void> segment_files::end_at(const segment_cursor& frames,
                                   const error& why) {
  if (frames.segment_at() + 1 != all_.size() || why.code != ec::storage_failure)
    return why;
  auto& last = all_.back();
  std::string text;
  if (const auto x = leveldb::ReadFileToString(&disk_, last.name, &text);
      !x.ok())
    return disk_error(x);
  const auto begin = static_cast<size_t>(frames.offset());
  if (begin >= text.size() || text.size() != last.bytes
      || has_frame(std::string_view{text}.substr(begin), identity_, next_))
    return why;
  log::warn("segment_tail_cut", {{"file", last.name},
                                 {"offset", begin},
                                 {"bytes", text.size() - begin},
                                 {"reason", why.context}});
  last.bytes = begin;
  text.resize(begin);
  return options_.access == access_mode::owner ? cut(last, text)
                                               : result<void>{};
}

/// Replaces the file by what is valid of it.
result<void> segment_files::cut(segment& last, const std::string& text) {
  auto status = replace_file(disk_, last.name, text);
  if (status.ok())
    status = disk_.sync_directory(options_.directory);
  return done(status);
}

result<void> segment_files::open_last() {
  if (all_.empty())
    return {};
  leveldb::WritableFile* file = nullptr;
  const auto status = disk_.NewAppendableFile(all_.back().name, &file);
  end_.reset(file);
  return done(status);
}

result<void> segment_files::append(bytes_view payload, size_t count,
                                   sync_mode how) {
  if (failure_.code != ec::none)
    return failure_;
  if (payload.size() > limits::segment_frame_bytes_max)
    return fail(ec::limit_reached, "a transaction of "
                                     + std::to_string(payload.size())
                                     + " bytes");
  auto ok = end_ && all_.back().bytes < options_.segment_bytes_max
              ? result<void>{}
              : begin_segment();
  if (ok)
    ok = write(encode_frame(identity_, next_, payload), how);
  if (!ok) {
    failure_ = ok.error();
    return ok;
  }
  auto& last = all_.back();
  mark(all_.size() - 1, next_, last.bytes);
  last.bytes += frame_header_bytes + payload.size();
  next_ += count;
  return {};
}

/// Ends the last file durably and makes the next one.
result<void> segment_files::begin_segment() {
  if (end_) {
    auto status = end_->Sync();
    if (status.ok())
      status = end_->Close();
    end_.reset();
    if (!status.ok())
      return disk_error(status);
  }
  segment next{file_of(options_.directory, next_), next_, 0, {}};
  leveldb::WritableFile* file = nullptr;
  auto status = disk_.NewWritableFile(next.name, &file);
  end_.reset(file);
  if (status.ok())
    status = disk_.sync_directory(options_.directory);
  all_.push_back(std::move(next));
  return done(status);
}

result<void> segment_files::write(const std::string& frame, sync_mode how) {
  auto status = end_->Append(frame);
  if (status.ok())
    status = end_->Flush();
  if (status.ok() && how == sync_mode::durable)
    status = end_->Sync();
  return done(status);
}

result<void> segment_files::sync() {
  if (failure_.code != ec::none)
    return failure_;
  if (!end_)
    return {};
  const auto ok = done(end_->Sync());
  if (!ok)
    failure_ = ok.error();
  return ok;
}

void segment_files::mark(size_t at, op_id first, uint64_t offset) {
  auto& marks = all_[at].marks;
  if (marks.empty()
      || offset - marks.back().offset >= limits::segment_mark_bytes)
    marks.push_back({first, offset});
}

segment_cursor segment_files::read_from(op_id id) const {
  const auto after = std::ranges::upper_bound(all_, id, {}, &segment::first);
  if (after == all_.begin())
    return {disk_, all_, identity_, 0, 0, 1};
  const auto at = static_cast<size_t>(after - all_.begin()) - 1;
  const auto& marks = all_[at].marks;
  const auto next
    = std::ranges::upper_bound(marks, id, {}, &segment::mark::first);
  if (next == marks.begin())
    return {disk_, all_, identity_, at, 0, all_[at].first};
  const auto& place = *(next - 1);
  return {disk_, all_, identity_, at, place.offset, place.first};
}

error segment_files::refuse(const std::string& why) const {
  return fail(ec::invalid_argument,
              "the segments in " + options_.directory + " " + why);
}

} // namespace weir::storage
