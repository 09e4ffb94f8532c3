#include "storage/format/key_codec.hpp"

#include "atproto/sha256.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace weir::storage {

namespace {

constexpr std::string_view plc_prefix = "did:plc:";
constexpr size_t plc_text_size = 24;
constexpr size_t plc_packed_size = 15;
constexpr uint8_t plc_tag = 1;
constexpr uint8_t text_did_tag = 2;

// Digits come before letters, as in ASCII, so packed DIDs sort as their texts
// do.
constexpr std::string_view plc_alphabet = "234567abcdefghijklmnopqrstuvwxyz";

constexpr auto plc_values = [] {
  std::array<uint8_t, 256> out{};
  out.fill(0xff);
  for (size_t i = 0; i < plc_alphabet.size(); ++i)
    out[static_cast<uint8_t>(plc_alphabet[i])] = static_cast<uint8_t>(i);
  return out;
}();

// Escapes of text inside a key: NUL becomes 00 FF, and the end is 00 01.
constexpr char nul_escape = '\xff';
constexpr char text_end = '\x01';

/// Appends 24 base32 characters as 15 bytes; false when there are other
/// characters.
bool pack_plc(std::string_view text, std::string& out) {
  std::array<char, plc_packed_size> packed{};
  for (size_t group = 0; group < 3; ++group) {
    uint64_t bits = 0;
    for (size_t i = 0; i < 8; ++i) {
      const auto value = plc_values[static_cast<uint8_t>(text[group * 8 + i])];
      if (value == 0xff)
        return false;
      bits = bits << 5 | value;
    }
    for (size_t i = 0; i < 5; ++i)
      packed[group * 5 + i] = static_cast<char>(bits >> (32 - 8 * i));
  }
  out.append(packed.data(), packed.size());
  return true;
}

std::string unpack_plc(std::string_view packed) {
  std::string out{plc_prefix};
  for (size_t group = 0; group < 3; ++group) {
    uint64_t bits = 0;
    for (size_t i = 0; i < 5; ++i)
      bits = bits << 8 | static_cast<uint8_t>(packed[group * 5 + i]);
    for (size_t i = 0; i < 8; ++i)
      out += plc_alphabet[bits >> (35 - 5 * i) & 31];
  }
  return out;
}

bool looks_plc(std::string_view did) noexcept {
  return did.size() == plc_prefix.size() + plc_text_size
         && did.starts_with(plc_prefix);
}

} // namespace

short_hash short_hash_of(const atproto::cid& x) {
  short_hash out;
  if (x.is_dag_cbor() || x.is_raw()) {
    std::copy_n(x.hash_data(), out.size(), out.begin());
  } else {
    const auto digest = atproto::sha256(x.view());
    std::copy_n(digest.begin(), out.size(), out.begin());
  }
  return out;
}

void key_writer::put(const atproto::did& x) {
  const std::string_view text = x.str();
  if (looks_plc(text)) {
    put(plc_tag);
    if (pack_plc(text.substr(plc_prefix.size()), out_))
      return;
    out_.pop_back();
  }
  put(text_did_tag);
  put(x.str());
}

void key_writer::put(const short_hash& x) {
  out_.append(reinterpret_cast<const char*>(x.data()), x.size());
}

void key_writer::put(const std::string& x) {
  for (const char c : x) {
    out_.push_back(c);
    if (c == '\0')
      out_.push_back(nul_escape);
  }
  out_.push_back('\0');
  out_.push_back(text_end);
}

void key_writer::put(const record_key& x) {
  const auto id = atproto::tid::parse(x.text);
  if (id && id->str() == x.text) {
    put(tid_key_tag);
    put(*id);
  } else {
    put(text_key_tag);
    out_ += x.text;
  }
}

bool key_reader::take(size_t n, std::string_view& out) noexcept {
  if (rest_.size() < n)
    return false;
  out = rest_.substr(0, n);
  rest_.remove_prefix(n);
  return true;
}

bool key_reader::get(atproto::tid& x) noexcept {
  uint64_t value = 0;
  const bool ok = get(value);
  x = atproto::tid{value};
  return ok;
}

bool key_reader::get(atproto::did& x) {
  uint8_t tag = 0;
  if (!get(tag))
    return false;
  std::string_view packed;
  if (tag == plc_tag) {
    if (!take(plc_packed_size, packed))
      return false;
    x = atproto::did::trusted(unpack_plc(packed));
    return true;
  }
  std::string text;
  std::string scratch;
  if (tag != text_did_tag || !get(text))
    return false;
  // A DID that can be packed must be packed, so that it has only one key.
  if (looks_plc(text)
      && pack_plc(std::string_view{text}.substr(plc_prefix.size()), scratch))
    return false;
  x = atproto::did::trusted(std::move(text));
  return true;
}

bool key_reader::get(short_hash& x) noexcept {
  std::string_view part;
  if (!take(x.size(), part))
    return false;
  std::copy(part.begin(), part.end(), x.begin());
  return true;
}

bool key_reader::get(std::string& x) {
  x.clear();
  for (size_t i = 0; i + 1 < rest_.size(); ++i) {
    x.push_back(rest_[i]);
    if (rest_[i] != '\0')
      continue;
    ++i;
    if (rest_[i] == text_end) {
      x.pop_back();
      rest_.remove_prefix(i + 1);
      return true;
    }
    if (rest_[i] != nul_escape)
      return false;
  }
  return false;
}

bool key_reader::get(record_key& x) {
  uint8_t tag = 0;
  if (!get(tag))
    return false;
  if (tag == tid_key_tag) {
    atproto::tid id;
    if (!get(id))
      return false;
    x.text = id.str();
    const auto back = atproto::tid::parse(x.text);
    return back && *back == id;
  }
  x.text = rest_;
  rest_ = {};
  const auto id = atproto::tid::parse(x.text);
  return tag == text_key_tag && !(id && id->str() == x.text);
}

std::string prefix_end(std::string prefix) {
  while (!prefix.empty() && prefix.back() == '\xff')
    prefix.pop_back();
  if (!prefix.empty())
    ++prefix.back();
  return prefix;
}

error bad_key(table x) {
  return fail(ec::storage_failure, std::string{"a key of the table "}
                                     + to_string(x) + " is damaged");
}

namespace {

struct named_table {
  table number;
  const char* name;
};

/// Every table of the format. The compiler does not notice when one is missing;
/// KeysTest does.
constexpr named_table table_names[] = {
  {table::meta, "meta"},
  {table::configuration, "configuration"},
  {table::collection_name, "collection_name"},
  {table::collection_id, "collection_id"},
  {table::log_block, "log_block"},
  {table::content_block, "content_block"},
  {table::stream_block, "stream_block"},
  {table::chain, "chain"},
  {table::record_head, "record_head"},
  {table::collection_member, "collection_member"},
  {table::content_reference, "content_reference"},
  {table::time_index, "time_index"},
  {table::kept_content, "kept_content"},
  {table::repo, "repo"},
  {table::repo_by_status, "repo_by_status"},
  {table::member, "member"},
  {table::sync_buffer, "sync_buffer"},
  {table::identity, "identity"},
  {table::erasure, "erasure"},
  {table::exported, "exported"},
  {table::upstream, "upstream"},
  {table::listing, "listing"},
  {table::consumer, "consumer"},
  {table::acked, "acked"},
  {table::dead_letter, "dead_letter"},
};

} // namespace

bool is_table(table x) noexcept {
  return std::ranges::find(table_names, x, &named_table::number)
         != std::end(table_names);
}

const char* to_string(table x) noexcept {
  for (const auto& [known, name] : table_names)
    if (known == x)
      return name;
  return "unknown";
}

} // namespace weir::storage
