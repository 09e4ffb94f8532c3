#include "storage/disk/store_identity.hpp"

#include "base/parse_number.hpp"
#include "storage/disk/safe_env_disk.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

namespace weir::storage {

namespace {

using leveldb::Status;

constexpr std::string_view title = "weir store\n";
constexpr std::string_view format_label = "format: ";
constexpr std::string_view identity_label = "identity: ";
/// The label of a line that only stores of several partitions have.
constexpr std::string_view partition_label = "partition: ";
constexpr size_t identity_digits = 16;

/// Files that may be in a directory before a store is complete, and those that
/// a file system makes itself.
constexpr std::string_view no_strangers[] = {
  ".",    "..",  "lost+found", "OWNER", "FORMAT", "FORMAT.draft",
  "LOCK", "LOG", "LOG.old",
};

result<void> made(const Status& x, const std::string& directory) {
  if (x.ok())
    return {};
  const auto why = disk_error(x);
  return fail(why.code, "the store in " + directory
                          + " cannot be made: " + why.context
                          + (why.code == ec::disk_full
                               ? "" // Said by whoever opens it.
                               : "; data_dir must be a directory that the user "
                                 "of this program may write"));
}

/// A store needs a directory of its own, so that a typing error does not make
/// one in a home directory or in /etc.
result<void> check_no_strangers(disk_env& disk, const std::string& directory) {
  std::vector<std::string> names;
  if (!disk.GetChildren(directory, &names).ok())
    return {}; // It is absent, or creating it will say why not.
  for (const auto& x : names)
    if (std::ranges::find(no_strangers, x) == std::end(no_strangers))
      return fail(ec::invalid_argument,
                  directory + " holds other files (" + x
                    + ") and no store; choose an empty or a new directory");
  return {};
}

std::string format_file(const std::string& directory) {
  return directory + "/FORMAT";
}

/// Takes `label`, a text and a line end off `rest`.
std::optional<std::string_view> take_line(std::string_view& rest,
                                          std::string_view label) noexcept {
  const auto end = rest.find('\n');
  if (!rest.starts_with(label) || end == std::string_view::npos)
    return std::nullopt;
  const auto out = rest.substr(label.size(), end - label.size());
  rest.remove_prefix(end + 1);
  return out;
}

/// Takes the line "partition: 2 of 4" off.
bool take_partition(std::string_view& rest, store_identity& out) noexcept {
  const auto line = take_line(rest, partition_label);
  const auto middle = line ? line->find(" of ") : std::string_view::npos;
  if (middle == std::string_view::npos)
    return false;
  const auto which = parse_number<uint16_t>(line->substr(0, middle));
  const auto all = parse_number<uint16_t>(line->substr(middle + 4));
  if (!which || !all || *which >= *all)
    return false;
  out.partition = *which;
  out.partitions = *all;
  return true;
}

/// Reads the file instead of asking whether it exists: that call cannot
/// distinguish "no" from a failed disk.
result<std::optional<std::string>> read_if_there(disk_env& disk,
                                                 const std::string& name) {
  std::optional<std::string> out{std::in_place};
  const auto status = leveldb::ReadFileToString(&disk, name, &*out);
  if (status.IsNotFound())
    return std::optional<std::string>{};
  if (!status.ok())
    return disk_error(status);
  return out;
}

Status create_directories(disk_env& disk, const std::string& directory) {
  for (size_t end = 0; end != std::string::npos;) {
    end = directory.find('/', end + 1);
    const auto part = directory.substr(0, end);
    if (part.empty())
      continue;
    const auto slash = part.rfind('/');
    const auto parent = slash == std::string::npos ? "."
                        : slash == 0               ? "/"
                                                   : part.substr(0, slash);
    if (disk.FileExists(part)) {
      // Another process has just made it, or an earlier start ended here. When
      // we lack the permission to sync it, that is not our task.
      disk.sync_directory(parent);
      continue;
    }
    if (const auto x = disk.CreateDir(part); !x.ok())
      return x;
    if (const auto x = disk.sync_directory(parent); !x.ok())
      return x;
  }
  return Status::OK();
}

} // namespace

std::string to_text(const store_identity& x) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out{title};
  out.append(format_label).append(x.format).append("\n");
  out.append(identity_label);
  for (size_t i = identity_digits; i-- > 0;)
    out += digits[x.log_identity >> (4 * i) & 15];
  out += '\n';
  if (x.partitions > 1)
    out.append(partition_label)
      .append(std::to_string(x.partition))
      .append(" of ")
      .append(std::to_string(x.partitions))
      .append("\n");
  return out;
}

std::optional<store_identity> parse_store_identity(std::string_view text) {
  const auto whole = text;
  if (!text.starts_with(title))
    return std::nullopt;
  text.remove_prefix(title.size());
  const auto format = take_line(text, format_label);
  if (!format)
    return std::nullopt;
  store_identity out{std::string{*format}};
  if (*format != store_format)
    return out; // The rest is for readers of that format.
  const auto digits = take_line(text, identity_label);
  if (!digits || digits->size() != identity_digits)
    return std::nullopt;
  const auto* end = digits->data() + digits->size();
  const auto parsed
    = std::from_chars(digits->data(), end, out.log_identity, 16);
  if (parsed.ec != std::errc{} || parsed.ptr != end || out.log_identity == 0)
    return std::nullopt;
  if (!text.empty() && !take_partition(text, out))
    return std::nullopt;
  // A text that says the same in another way, as with capitals, is refused.
  if (to_text(out) != whole)
    return std::nullopt;
  return out;
}

result<std::optional<store_identity>>
read_store_identity(disk_env& disk, const std::string& directory) {
  const auto text = read_if_there(disk, format_file(directory));
  if (!text)
    return fail(text.error().code,
                "the store in " + directory
                  + " cannot be read: " + text.error().context
                  + "; data_dir must be a directory of the user who runs this");
  if (!*text) {
    const auto other = read_if_there(disk, directory + "/CURRENT");
    if (!other)
      return other.error();
    if (*other)
      return fail(ec::invalid_argument,
                  directory
                    + " holds a database that is not Weir's; choose "
                      "another directory");
    return std::optional<store_identity>{};
  }
  auto out = parse_store_identity(**text);
  if (!out)
    return fail(ec::storage_failure,
                format_file(directory) + " is damaged; restore a backup");
  if (out->format != store_format)
    return fail(ec::invalid_argument,
                "the store in " + directory + " has the format \"" + out->format
                  + "\", this version reads \"" + std::string{store_format}
                  + "\"; nothing was changed, use the version that made it");
  return out;
}

result<void> make_store_directory(disk_env& disk,
                                  const std::string& directory) {
  if (auto x = check_no_strangers(disk, directory); !x)
    return x;
  return made(create_directories(disk, directory), directory);
}

result<void> write_store_identity(disk_env& disk, const std::string& directory,
                                  const store_identity& x) {
  auto status = replace_file(disk, format_file(directory), to_text(x));
  if (status.ok())
    status = disk.sync_directory(directory);
  return made(status, directory);
}

} // namespace weir::storage
