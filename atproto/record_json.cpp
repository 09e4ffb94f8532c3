#include "atproto/record_json.hpp"

#include "atproto/base_encodings.hpp"
#include "atproto/cbor_walk.hpp"
#include "atproto/limits.hpp"

#include <charconv>

namespace weir::atproto {

namespace {

using cbor::fault;

/// Appends to a string through a raw pointer. Until `finish` the string is
/// longer than its content.
class text_sink {
public:
  text_sink(std::string& out, size_t expected) : out_(out) {
    const auto start = out.size();
    out.resize(start + expected);
    at_ = out.data() + start;
    end_ = at_ + expected;
  }

  /// Makes room for `n` more characters. `advance` then says how many were
  /// used.
  char* room(size_t n) {
    if (static_cast<size_t>(end_ - at_) < n)
      grow(n);
    return at_;
  }

  void advance(char* end) noexcept { at_ = end; }

  void put(char c) {
    *room(1) = c;
    ++at_;
  }

  void put(std::string_view x) {
    std::memcpy(room(x.size()), x.data(), x.size());
    at_ += x.size();
  }

  /// The last character. @pre something was written
  char& back() noexcept { return at_[-1]; }

  void finish() { out_.resize(static_cast<size_t>(at_ - out_.data())); }

private:
  void grow(size_t n) {
    const auto used = static_cast<size_t>(at_ - out_.data());
    out_.resize(std::max(out_.size() + out_.size() / 2, used + n));
    at_ = out_.data() + used;
    end_ = out_.data() + out_.size();
  }

  std::string& out_;
  char* at_;
  char* end_;
};

// -- strings ------------------------------------------------------------------

static_assert(std::endian::native == std::endian::little,
              "the first byte of a word is its lowest");

constexpr uint64_t each_byte = 0x0101'0101'0101'0101u;
constexpr uint64_t high_bits = each_byte * 0x80;

/// Sets the high bit of every byte below `n`. Exact up to the first such byte.
constexpr uint64_t bytes_below(uint64_t word, uint8_t n) noexcept {
  return (word - each_byte * n) & ~word & high_bits;
}

constexpr uint64_t bytes_equal(uint64_t word, char c) noexcept {
  return bytes_below(word ^ each_byte * static_cast<uint8_t>(c), 1);
}

constexpr bool must_escape(char c) noexcept {
  return static_cast<uint8_t>(c) < 0x20 || c == '"' || c == '\\';
}

/// The longest escape is \u00XX.
constexpr size_t escape_size_max = 6;

char* write_escape(char c, char* out) noexcept {
  constexpr std::string_view plain = "\"\\\b\f\n\r\t";
  constexpr std::string_view letters = "\"\\bfnrt";
  constexpr std::string_view hex = "0123456789abcdef";
  *out++ = '\\';
  if (const auto i = plain.find(c); i != std::string_view::npos) {
    *out++ = letters[i];
    return out;
  }
  out = std::copy_n("u00", 3, out);
  *out++ = hex[static_cast<uint8_t>(c) >> 4];
  *out++ = hex[static_cast<uint8_t>(c) & 0xf];
  return out;
}

/// Copies characters up to the first one that needs an escape and returns their
/// number. It may write up to seven bytes more than that.
size_t copy_plain(std::string_view x, char* out) noexcept {
  size_t i = 0;
  for (; i + 8 <= x.size(); i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, x.data() + i, 8);
    std::memcpy(out + i, &word, 8);
    const auto found = bytes_below(word, 0x20) | bytes_equal(word, '"')
                       | bytes_equal(word, '\\');
    if (found != 0)
      return i + static_cast<size_t>(std::countr_zero(found)) / 8;
  }
  for (; i < x.size() && !must_escape(x[i]); ++i)
    out[i] = x[i];
  return i;
}

void put_string(text_sink& out, std::string_view x) {
  auto* at = out.room(x.size() + 2);
  *at++ = '"';
  for (;;) {
    const auto n = copy_plain(x, at);
    at += n;
    if (n == x.size())
      break;
    out.advance(at);
    at = write_escape(x[n], out.room(escape_size_max + x.size() - n));
    x.remove_prefix(n + 1);
  }
  *at++ = '"';
  out.advance(at);
}

// -- special maps -------------------------------------------------------------

/// True for a CID of raw codec, with any hash.
bool is_blob_link(const cid& x) noexcept {
  const auto binary = x.view();
  return binary.size() > 2 && binary[0] == 1 && binary[1] == cid::codec_raw;
}

bool valid_blob(cbor::reader in, size_t size) {
  bool has_type = false;
  bool has_ref = false;
  bool has_mime_type = false;
  bool has_size = false;
  for (; size > 0; --size) {
    const auto key = in.read_text();
    if (!key)
      return false; // unreachable: the walk checked it
    if (*key == "$type") {
      has_type = in.read_text().has_value();
    } else if (*key == "ref") {
      const auto link = in.read_link();
      has_ref = link && is_blob_link(*link);
    } else if (*key == "mimeType") {
      const auto text = in.read_text();
      has_mime_type = text && text->find('/') != std::string_view::npos;
    } else if (*key == "size") {
      const auto n = in.read_int();
      has_size = n && *n >= 0;
    } else {
      return false;
    }
  }
  return has_type && has_ref && has_mime_type && has_size;
}

/// True when a strict client accepts this map as what it looks like. The map
/// has a key `$link` or `$bytes`, or its `$type` is "blob".
bool valid_special(bytes_view map) {
  cbor::reader in{map};
  const auto size = in.read_map();
  auto look = in;
  const auto key = look.read_text();
  if (!size || !key)
    return false; // unreachable: the walk checked it
  if (*size != 1)
    return valid_blob(in, *size);
  const auto value = look.read_text();
  if (!value)
    return false;
  if (*key == "$link")
    return value->size() <= limits::json_cid_text_max
           && cid::from_text(*value).has_value();
  return *key == "$bytes" && decode_base64(*value).has_value();
}

// -- record -------------------------------------------------------------------

/// Writes each item during the walk. Every value ends with a comma, and the end
/// of its container overwrites the last one.
class json_writer {
public:
  explicit json_writer(text_sink& out) noexcept : out_(out) {}

  json_hazard hazard() const noexcept { return hazard_; }

  void on_integer(bool negative, uint64_t n) {
    constexpr auto safe_max = static_cast<uint64_t>(limits::safe_integer_max);
    if (n > safe_max - (negative ? 1 : 0))
      return found(json_hazard::unsafe_integer);
    constexpr size_t digits_max = 20;
    const auto value
      = negative ? -1 - static_cast<int64_t>(n) : static_cast<int64_t>(n);
    auto* at = out_.room(digits_max + 1);
    at = std::to_chars(at, at + digits_max, value).ptr;
    *at++ = ',';
    out_.advance(at);
  }

  void on_bool(bool x) { out_.put(x ? "true," : "false,"); }

  void on_null() { out_.put("null,"); }

  void on_double(double) { found(json_hazard::floating_point); }

  void on_text(std::string_view x) {
    put_string(out_, x);
    out_.put(',');
  }

  void on_bytes(bytes_view x) {
    out_.put(R"({"$bytes":")");
    out_.advance(write_base64(x, out_.room(base64_size(x.size()))));
    out_.put(R"("},)");
  }

  void on_link(bytes_view x) {
    out_.put(R"({"$link":")");
    put_cid(x);
    out_.put(R"("},)");
  }

  void on_key(std::string_view key, bytes_view value) {
    if (key.starts_with('$'))
      look_at_special(key, value);
    else if (key == "__proto__")
      found(json_hazard::forbidden_key);
    put_string(out_, key);
    out_.put(':');
  }

  void begin_array() {
    ++depth_;
    out_.put('[');
  }

  void end_array() { end(']'); }

  void begin_map() {
    special_ &= ~(uint64_t{1} << ++depth_);
    out_.put('{');
  }

  void end_map(bytes_view whole) {
    if ((special_ >> depth_ & 1) != 0 && hazard_ == json_hazard::none
        && !valid_special(whole))
      found(json_hazard::bad_special);
    end('}');
  }

private:
  void found(json_hazard x) noexcept {
    if (hazard_ == json_hazard::none)
      hazard_ = x;
  }

  void end(char c) {
    --depth_;
    if (out_.back() == ',')
      out_.back() = c;
    else
      out_.put(c);
    out_.put(',');
  }

  void put_cid(bytes_view x) {
    constexpr size_t v1_text_bytes_max
      = (limits::json_cid_text_max - 1) * 5 / 8;
    if (x.size() == cid::blessed_size && x[0] == 1) {
      auto* at = out_.room(1 + base32_size(cid::blessed_size));
      *at++ = 'b';
      out_.advance(write_base32(x, at));
    } else if (x.size() > v1_text_bytes_max) {
      found(json_hazard::bad_special);
    } else if (const auto id = cid::from_bytes(x)) {
      out_.put(id->to_text());
    }
  }

  /// Most maps with a `$` key have only a `$type`, which needs no further
  /// check.
  void look_at_special(std::string_view key, bytes_view value) {
    constexpr std::string_view blob = "\x64"
                                      "blob"; // The text in its encoded form.
    constexpr uint8_t empty_text = cbor::major_text << 5;
    const bool alone = key == "$link" || key == "$bytes";
    if (alone && depth_ == 1)
      return found(json_hazard::bad_special); // A record must be an object.
    if (alone || (key == "$type" && as_text(value).starts_with(blob)))
      special_ |= uint64_t{1} << depth_;
    else if (key == "$type" && !value.empty()
             && (value[0] >> 5 != cbor::major_text || value[0] == empty_text))
      found(json_hazard::bad_special);
  }

  text_sink& out_;
  json_hazard hazard_ = json_hazard::none;
  size_t depth_ = 0;
  uint64_t special_ = 0; ///< One bit for each depth: check this map at its end.
};

static_assert(limits::cbor_depth_max < 64, "a bit of special_ per depth");

} // namespace

result<json_hazard> append_record_json(bytes_view record, std::string& out) {
  const auto start = out.size();
  text_sink sink{out, record.size() + record.size() / 4 + 64};
  json_writer writer{sink};
  cbor::walker<json_writer> walk{
    record, {limits::cbor_depth_max, cbor::key_order::canonical, true}, writer};
  auto what = walk.run();
  if (what == fault::none && walk.position() != record.size())
    what = fault::trailing;
  if (what == fault::none && record[0] >> 5 != cbor::major_map)
    what = fault::wrong_kind;
  if (what != fault::none || writer.hazard() != json_hazard::none) {
    out.resize(start);
    if (what != fault::none)
      return cbor::to_error(what, walk.position());
    return writer.hazard();
  }
  sink.finish();
  out.pop_back(); // Removes the comma after the record.
  return json_hazard::none;
}

void append_json_string(std::string_view text, std::string& out) {
  text_sink sink{out, text.size() + 2};
  put_string(sink, text);
  sink.finish();
}

} // namespace weir::atproto
