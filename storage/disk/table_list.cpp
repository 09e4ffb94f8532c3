#include "storage/disk/table_list.hpp"

#include <charconv>
#include <optional>

namespace weir::storage {

namespace {

bool is_printed_as_it_is(unsigned x) noexcept {
  return x >= ' ' && x <= '~';
}

/// Printable bytes stand for themselves, even a backslash. Only an escape of a
/// byte that could not be printed otherwise is an escape.
std::string unescape(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    unsigned value = 0;
    const auto* digits = text.data() + 2;
    if (text.size() >= 4 && text.starts_with("\\x")
        && std::from_chars(digits, digits + 2, value, 16).ptr == digits + 2
        && !is_printed_as_it_is(value)) {
      out += static_cast<char>(value);
      text.remove_prefix(4);
    } else {
      out += text.front();
      text.remove_prefix(1);
    }
  }
  return out;
}

/// Reads the key of `'key' @ sequence : kind`.
std::optional<std::string> user_key(std::string_view text) {
  const auto end = text.rfind("' @ ");
  if (!text.starts_with('\'') || end == std::string_view::npos || end == 0)
    return std::nullopt;
  return unescape(text.substr(1, end - 1));
}

/// Offset of the opening quote of the last key in a line. A key may contain the
/// text between two keys, so this is the first place that follows a sequence
/// number and kind.
size_t middle_of(std::string_view keys) {
  constexpr std::string_view middle = " .. '";
  for (auto at = keys.find(middle); at != std::string_view::npos;
       at = keys.find(middle, at + 1)) {
    const auto digit = at == 0 ? ' ' : keys[at - 1];
    const auto first = keys.substr(0, at);
    const auto kind = first.rfind("' @ ");
    if ((digit == '0' || digit == '1') && kind != std::string_view::npos
        && first.find_first_not_of("0123456789 :", kind + 4)
             == std::string_view::npos)
      return at;
  }
  return std::string_view::npos;
}

std::optional<table_file> parse_table(std::string_view line) {
  table_file out;
  const auto* end = line.data() + line.size();
  const auto number = std::from_chars(line.data() + 1, end, out.number);
  const auto open = line.find('[');
  if (!line.starts_with(' ') || number.ec != std::errc{} || number.ptr == end
      || *number.ptr != ':' || open == std::string_view::npos
      || !line.ends_with(']'))
    return std::nullopt;
  const auto keys = line.substr(open + 1, line.size() - open - 2);
  const auto middle = middle_of(keys);
  if (middle == std::string_view::npos)
    return std::nullopt;
  const auto smallest = user_key(keys.substr(0, middle));
  const auto largest = user_key(keys.substr(middle + 4));
  if (!smallest || !largest)
    return std::nullopt;
  out.smallest = *smallest;
  out.largest = *largest;
  return out;
}

} // namespace

result<std::vector<table_file>> parse_tables(std::string_view text) {
  std::vector<table_file> out;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.empty() || line.starts_with("--- level "))
      continue;
    auto table = parse_table(line);
    if (!table)
      return fail(ec::storage_failure,
                  "LevelDB lists its tables in another form");
    out.push_back(std::move(*table));
  }
  return out;
}

result<std::vector<table_file>> list_tables(leveldb::DB& db) {
  std::string text;
  if (!db.GetProperty("leveldb.sstables", &text))
    return fail(ec::storage_failure, "LevelDB does not list its tables");
  return parse_tables(text);
}

} // namespace weir::storage
