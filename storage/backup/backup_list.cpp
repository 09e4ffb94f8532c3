#include "storage/backup/backup_list.hpp"

#include "atproto/base_encodings.hpp"
#include "atproto/sha256.hpp"
#include "base/parse_number.hpp"
#include "storage/backup/limits.hpp"
#include "storage/disk/safe_env_disk.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <numeric>

namespace weir::storage {

namespace {

constexpr std::string_view list_title = "weir backup 1\n";
constexpr std::string_view sum_label = "sum: ";
constexpr size_t sum_digits = 64;

std::string sum_of(std::string_view text) {
  return atproto::encode_hex(atproto::sha256(as_bytes(text)));
}

std::string hex_number(uint64_t x) {
  char out[17];
  std::snprintf(out, sizeof out, "%016llx", static_cast<unsigned long long>(x));
  return out;
}

/// A name that a file of a store can have. None leads out of a folder.
bool is_store_name(std::string_view x) {
  const auto is_fit = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z')
           || (c >= 'a' && c <= 'z') || c == '-' || c == '_' || c == '.';
  };
  return !x.empty() && x.front() != '.' && std::ranges::all_of(x, is_fit);
}

bool is_store_path(std::string_view x) {
  constexpr std::string_view folder = "partition-";
  const auto slash = x.find('/');
  if (slash == std::string_view::npos)
    return is_store_name(x);
  const auto first = x.substr(0, slash);
  return first.starts_with(folder)
         && parse_number<uint16_t>(first.substr(folder.size())).has_value()
         && is_store_name(x.substr(slash + 1));
}

/// Takes lines and words off a text; `ok` is false once one was not there.
class list_reader {
public:
  explicit list_reader(std::string_view x) noexcept : rest_(x) {}

  bool ok() const noexcept { return ok_; }

  bool at_end() const noexcept { return rest_.empty(); }

  /// The rest of a line that begins with `label`.
  std::string_view line(std::string_view label) noexcept {
    const auto end = rest_.find('\n');
    if (!rest_.starts_with(label) || end == std::string_view::npos) {
      ok_ = false;
      return {};
    }
    const auto out = rest_.substr(label.size(), end - label.size());
    rest_.remove_prefix(end + 1);
    return out;
  }

  /// The first word of a line.
  std::string_view word(std::string_view& line) noexcept {
    const auto end = std::min(line.find(' '), line.size());
    const auto out = line.substr(0, end);
    line.remove_prefix(std::min(line.size(), end + 1));
    ok_ = ok_ && !out.empty();
    return out;
  }

  template <class T>
  T number(std::string_view text) noexcept {
    const auto out = parse_number<T>(text);
    ok_ = ok_ && out.has_value();
    return out.value_or(T{});
  }

  uint64_t hex(std::string_view text) noexcept {
    uint64_t out = 0;
    const auto* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, out, 16);
    ok_ = ok_ && parsed.ec == std::errc{} && parsed.ptr == end;
    return out;
  }

private:
  std::string_view rest_;
  bool ok_ = true;
};

backup_entry read_entry(list_reader& in, std::string_view line) {
  backup_entry out;
  out.sum = in.word(line);
  out.bytes = in.number<uint64_t>(in.word(line));
  out.node = in.number<uint64_t>(in.word(line));
  out.changed_ns = in.number<int64_t>(in.word(line));
  out.path = line;
  return out;
}

error damaged_list(const std::string& path) {
  return fail(ec::storage_failure,
              path + " is damaged, so this is no backup any more: use another");
}

} // namespace

uint64_t backup_list::bytes() const noexcept {
  return std::accumulate(files.begin(), files.end(), uint64_t{0},
                         [](uint64_t sum, const backup_entry& x) {
                           return sum + x.bytes;
                         });
}

std::string to_text(const backup_list& x) {
  std::string out{list_title};
  out += "store: " + x.store + "\nlog: " + hex_number(x.log_identity)
         + "\nlog_epoch: " + x.log_epoch
         + "\npartitions: " + std::to_string(x.partitions)
         + "\nmade_us: " + std::to_string(x.made.micros) + "\n";
  for (const auto last : x.last_operations)
    out += "last_operation: " + std::to_string(last) + "\n";
  out += "files: " + std::to_string(x.files.size()) + "\n";
  for (const auto& each : x.files)
    out += each.sum + " " + std::to_string(each.bytes) + " "
           + std::to_string(each.node) + " " + std::to_string(each.changed_ns)
           + " " + each.path + "\n";
  return out += std::string{sum_label} + sum_of(out) + "\n";
}

std::optional<backup_list> parse_backup_list(std::string_view text) {
  const auto whole = text;
  const auto sum_begin = text.rfind("\n" + std::string{sum_label});
  if (!text.starts_with(list_title) || sum_begin == std::string_view::npos
      || !text.substr(sum_begin + 1 + sum_label.size())
            .starts_with(sum_of(text.substr(0, sum_begin + 1))))
    return std::nullopt;
  list_reader in{text.substr(0, sum_begin + 1)};
  backup_list out;
  in.line(list_title.substr(0, list_title.size() - 1));
  out.store = in.line("store: ");
  out.log_identity = in.hex(in.line("log: "));
  out.log_epoch = in.line("log_epoch: ");
  out.partitions = in.number<uint16_t>(in.line("partitions: "));
  out.made.micros = in.number<int64_t>(in.line("made_us: "));
  for (uint16_t i = 0; in.ok() && i < out.partitions; ++i)
    out.last_operations.push_back(
      in.number<uint64_t>(in.line("last_operation: ")));
  for (auto left = in.number<uint64_t>(in.line("files: ")); in.ok() && left > 0;
       --left) {
    out.files.push_back(read_entry(in, in.line("")));
    if (!is_store_path(out.files.back().path)
        || out.files.back().sum.size() != sum_digits)
      return std::nullopt;
  }
  // A text that says the same in another way is not ours.
  if (!in.ok() || !in.at_end() || to_text(out) != whole)
    return std::nullopt;
  return out;
}

result<backup_list> load_backup_list(disk_env& disk,
                                     const std::string& folder) {
  const auto path = folder + "/" + backup_list_name;
  uint64_t size = 0;
  std::string text;
  auto status = disk.GetFileSize(path, &size);
  if (status.ok() && size > limits::backup_list_bytes_max)
    return fail(ec::limit_reached,
                path + " has more than "
                  + std::to_string(limits::backup_list_bytes_max) + " bytes");
  if (status.ok())
    status = leveldb::ReadFileToString(&disk, path, &text);
  if (status.IsNotFound())
    return fail(ec::not_found, "there is no backup in " + folder);
  if (!status.ok())
    return disk_error(status);
  auto out = parse_backup_list(text);
  if (!out)
    return damaged_list(path);
  if (out->store != store_format)
    return fail(ec::invalid_argument,
                "the backup in " + folder + " has the format \"" + out->store
                  + "\", this version reads \"" + std::string{store_format}
                  + "\": use the version that made it");
  return std::move(*out);
}

} // namespace weir::storage
