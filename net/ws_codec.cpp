#include "net/ws_codec.hpp"

#include <openssl/evp.h>
#include <openssl/sha.h>

#include <algorithm>
#include <cstring>

namespace weir::net {

namespace {

constexpr uint8_t fin_bit = 0x80;
constexpr uint8_t reserved_bits = 0x70;
constexpr uint8_t mask_bit = 0x80;

bool is_control(ws_opcode x) noexcept {
  return static_cast<uint8_t>(x) >= 8;
}

bool is_known(uint8_t x) noexcept {
  return x <= 2 || (x >= 8 && x <= 10);
}

uint64_t read_big_endian(const uint8_t* from, size_t n) noexcept {
  uint64_t x = 0;
  for (size_t i = 0; i < n; ++i)
    x = (x << 8) | from[i];
  return x;
}

/// Eight bytes at once, in the order of the machine.
uint64_t load_word(const uint8_t* from) noexcept {
  uint64_t x = 0;
  std::memcpy(&x, from, sizeof(x));
  return x;
}

void append_big_endian(bytes& out, uint64_t x, unsigned n) {
  while (n-- > 0)
    out.push_back(static_cast<uint8_t>(x >> (8 * n)));
}

} // namespace

bytes ws_frame(ws_opcode opcode, bytes_view payload,
               std::optional<std::array<uint8_t, 4>> mask) {
  bytes out;
  out.reserve(payload.size() + 14);
  out.push_back(static_cast<uint8_t>(fin_bit | static_cast<uint8_t>(opcode)));
  uint8_t masked = mask ? mask_bit : 0;
  if (payload.size() < 126) {
    out.push_back(static_cast<uint8_t>(masked | payload.size()));
  } else if (payload.size() <= 0xffff) {
    out.push_back(static_cast<uint8_t>(masked | 126));
    append_big_endian(out, payload.size(), 2);
  } else {
    out.push_back(static_cast<uint8_t>(masked | 127));
    append_big_endian(out, payload.size(), 8);
  }
  if (mask)
    out.insert(out.end(), mask->begin(), mask->end());
  auto start = out.size();
  out.insert(out.end(), payload.begin(), payload.end());
  if (mask)
    for (size_t i = 0; i < payload.size(); ++i)
      out[start + i] ^= (*mask)[i % 4];
  return out;
}

bytes ws_close_payload(uint16_t code, std::string_view reason) {
  bytes out;
  append_big_endian(out, code, 2);
  auto room = ws_control_bytes_max - 2;
  while (reason.size() > room || !is_utf8(reason))
    reason.remove_suffix(1);
  out.insert(out.end(), reason.begin(), reason.end());
  return out;
}

bool is_valid_close_code(uint16_t code) noexcept {
  return (code >= 1000 && code <= 1014 && (code < 1004 || code > 1006))
         || (code >= 3000 && code <= 4999);
}

std::string base64(bytes_view x) {
  std::string out((x.size() + 2) / 3 * 4 + 1, '\0'); // EVP ends it with NUL.
  auto n = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                           x.data(), static_cast<int>(x.size()));
  out.resize(static_cast<size_t>(n));
  return out;
}

std::string ws_accept_key(std::string_view key) {
  auto text = std::string{key} + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  std::array<uint8_t, SHA_DIGEST_LENGTH> digest;
  SHA1(as_bytes(text).data(), text.size(), digest.data());
  return base64(digest);
}

bool is_ws_key(std::string_view key) {
  constexpr size_t key_bytes = 16;
  std::array<uint8_t, 18> decoded{}; // The padding becomes two zero bytes.
  return key.size() == 24
         && EVP_DecodeBlock(decoded.data(), as_bytes(key).data(), 24) == 18
         && base64(bytes_view{decoded}.first(key_bytes)) == key;
}

bool is_utf8(std::string_view text) noexcept {
  auto x = as_bytes(text);
  size_t i = 0;
  auto follows = [&x](size_t at, uint8_t low, uint8_t high) {
    return at < x.size() && x[at] >= low && x[at] <= high;
  };
  constexpr uint64_t beyond_ascii = 0x8080'8080'8080'8080;
  while (i < x.size()) {
    auto c = x[i];
    if (i + 8 <= x.size() && (load_word(&x[i]) & beyond_ascii) == 0) {
      i += 8;
    } else if (c < 0x80) {
      ++i;
    } else if (c >= 0xc2 && c <= 0xdf) {
      if (!follows(i + 1, 0x80, 0xbf))
        return false;
      i += 2;
    } else if (c >= 0xe0 && c <= 0xef) {
      uint8_t low = c == 0xe0 ? 0xa0 : 0x80;
      uint8_t high = c == 0xed ? 0x9f : 0xbf;
      if (!follows(i + 1, low, high) || !follows(i + 2, 0x80, 0xbf))
        return false;
      i += 3;
    } else if (c >= 0xf0 && c <= 0xf4) {
      uint8_t low = c == 0xf0 ? 0x90 : 0x80;
      uint8_t high = c == 0xf4 ? 0x8f : 0xbf;
      if (!follows(i + 1, low, high) || !follows(i + 2, 0x80, 0xbf)
          || !follows(i + 3, 0x80, 0xbf))
        return false;
      i += 4;
    } else {
      return false;
    }
  }
  return true;
}

std::span<uint8_t> ws_decoder::prepare() {
  // Behind a large message another one is likely. Only its header is read
  // ahead, because what is read ahead of a payload is copied once more.
  const auto most
    = direct_ && !in_payload_ ? buffer_bytes_start : buffer_bytes_max;
  direct_ = in_payload_ && header_.size - filled_ > direct_bytes_min;
  if (direct_)
    return {payload_data() + filled_, header_.size - filled_};
  if (begin_ == end_) {
    begin_ = end_ = 0;
    if (small_reads_ > small_reads_max)
      buffer_ = bytes(buffer_bytes_start);
  }
  if (begin_ > 0) {
    std::copy(buffer_.begin() + static_cast<ptrdiff_t>(begin_),
              buffer_.begin() + static_cast<ptrdiff_t>(end_), buffer_.begin());
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == buffer_.size())
    buffer_.resize(std::max(buffer_bytes_start, buffer_.size() * 2));
  const auto room = std::span{buffer_}.subspan(end_);
  return room.first(std::min(room.size(), most));
}

void ws_decoder::commit(size_t n) {
  if (direct_) {
    unmask({payload_data() + filled_, n}, filled_);
    filled_ += n;
    return;
  }
  end_ += n;
  auto small
    = n < buffer_bytes_start / 2 && buffer_.size() > buffer_bytes_start;
  small_reads_ = small ? small_reads_ + 1 : 0;
  // When a read fills the buffer, more bytes are likely to follow.
  if (end_ == buffer_.size() && buffer_.size() < buffer_bytes_max)
    buffer_.resize(buffer_.size() * 2);
}

ws_decoder::event ws_decoder::next() {
  event out;
  if (failed_)
    return refuse(ws_code::protocol_error, "the stream has failed");
  if (!in_payload_) {
    if (!parse_header(out) || !accept_header(out))
      return out;
    in_payload_ = true;
    filled_ = 0;
  }
  auto n = static_cast<size_t>(
    std::min<uint64_t>(end_ - begin_, header_.size - filled_));
  place(bytes_view{buffer_}.subspan(begin_, n));
  begin_ += n;
  if (filled_ < header_.size)
    return out;
  in_payload_ = false;
  return finish_frame();
}

/// False when bytes are missing (kind none) or the header is bad (failed).
bool ws_decoder::parse_header(event& out) {
  auto have = bytes_view{buffer_}.subspan(begin_, end_ - begin_);
  if (have.size() < 2)
    return false;
  auto short_size = have[1] & 0x7f;
  size_t extra = short_size == 126 ? 2 : short_size == 127 ? 8 : 0;
  auto masked = (have[1] & mask_bit) != 0;
  auto size = 2 + extra + (masked ? 4 : 0);
  auto bad = [&](const char* reason) {
    out = refuse(ws_code::protocol_error, reason);
    return false;
  };
  if ((have[0] & reserved_bits) != 0)
    return bad("reserved bits are set");
  if (!is_known(have[0] & 0x0f))
    return bad("unknown opcode");
  if (masked != masked_)
    return bad(masked_ ? "frame is not masked" : "frame is masked");
  if (have.size() < size)
    return false;
  header_.fin = (have[0] & fin_bit) != 0;
  header_.opcode = static_cast<ws_opcode>(have[0] & 0x0f);
  header_.size = extra == 0 ? static_cast<uint64_t>(short_size)
                            : read_big_endian(have.data() + 2, extra);
  if ((extra == 2 && header_.size < 126)
      || (extra == 8 && (header_.size <= 0xffff || header_.size >> 63 != 0)))
    return bad("frame length is not minimal");
  if (masked)
    std::copy_n(have.begin() + static_cast<ptrdiff_t>(2 + extra), 4,
                header_.mask.begin());
  begin_ += size;
  return true;
}

/// Checks the header against the state and makes room for the payload.
bool ws_decoder::accept_header(event& out) {
  if (is_control(header_.opcode)) {
    if (!header_.fin || header_.size > ws_control_bytes_max) {
      out = refuse(ws_code::protocol_error, "bad control frame");
      return false;
    }
  } else {
    if ((header_.opcode == ws_opcode::continuation) != in_message_) {
      out = refuse(ws_code::protocol_error, "fragments out of order");
      return false;
    }
    if (header_.size > message_bytes_max_ - assembled_.size()) {
      out = refuse(ws_code::too_big, "message is too big");
      return false;
    }
    if (!in_message_)
      message_opcode_ = header_.opcode;
    if (in_message_ || !header_.fin) {
      in_message_ = true;
      assembled_.resize(assembled_.size() + header_.size);
      return true;
    }
  }
  single_ = std::make_shared_for_overwrite<uint8_t[]>(header_.size);
  return true;
}

void ws_decoder::place(bytes_view from) {
  if (from.empty())
    return;
  auto to = payload_data() + filled_;
  std::memcpy(to, from.data(), from.size());
  unmask({to, from.size()}, filled_);
  filled_ += from.size();
}

void ws_decoder::unmask(std::span<uint8_t> part, size_t offset) const noexcept {
  if (!masked_)
    return;
  std::array<uint8_t, 8> key;
  for (size_t i = 0; i < key.size(); ++i)
    key[i] = header_.mask[(offset + i) % 4];
  size_t i = 0;
  for (const auto by = load_word(key.data()); i + 8 <= part.size(); i += 8) {
    const auto word = load_word(&part[i]) ^ by;
    std::memcpy(&part[i], &word, sizeof(word));
  }
  for (; i < part.size(); ++i)
    part[i] ^= key[i % 8];
}

ws_decoder::event ws_decoder::finish_frame() {
  if (!is_control(header_.opcode))
    return finish_message();
  bytes_view view{single_.get(), header_.size};
  shared_bytes payload{std::exchange(single_, nullptr), view};
  switch (header_.opcode) {
    case ws_opcode::ping:
      return {kind::ping, std::move(payload)};
    case ws_opcode::pong:
      return {kind::pong, std::move(payload)};
    default:
      return finish_close(std::move(payload));
  }
}

ws_decoder::event ws_decoder::finish_message() {
  if (!header_.fin)
    return {kind::fragment};
  shared_bytes message;
  if (in_message_) {
    message = shared_bytes{std::exchange(assembled_, {})};
    in_message_ = false;
  } else {
    bytes_view view{single_.get(), header_.size};
    message = shared_bytes{std::exchange(single_, nullptr), view};
  }
  if (message_opcode_ == ws_opcode::binary)
    return {kind::binary, std::move(message)};
  if (!is_utf8(as_text(message.view())))
    return refuse(ws_code::bad_data, "text is not UTF-8");
  return {kind::text, std::move(message)};
}

ws_decoder::event ws_decoder::finish_close(shared_bytes payload) {
  if (payload.empty())
    return {kind::close};
  if (payload.size() == 1)
    return refuse(ws_code::protocol_error, "bad close frame");
  auto code = static_cast<uint16_t>(read_big_endian(payload.data(), 2));
  auto reason = payload.slice(2, payload.size() - 2);
  if (!is_valid_close_code(code))
    return refuse(ws_code::protocol_error, "bad close code");
  if (!is_utf8(as_text(reason.view())))
    return refuse(ws_code::bad_data, "close reason is not UTF-8");
  return {kind::close, std::move(reason), code};
}

} // namespace weir::net
