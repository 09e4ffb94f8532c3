#include "atproto/identifiers.hpp"

#include "atproto/limits.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace weir::atproto {

namespace {

// -- character classes --------------------------------------------------------

constexpr bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

constexpr bool is_lower(char c) noexcept {
  return c >= 'a' && c <= 'z';
}

constexpr bool is_letter(char c) noexcept {
  return is_lower(c) || (c >= 'A' && c <= 'Z');
}

constexpr bool is_alnum(char c) noexcept {
  return is_letter(c) || is_digit(c);
}

/// A table over all bytes that is true for letters, digits and `more`.
constexpr auto alnum_and(std::string_view more) {
  std::array<bool, 256> out{};
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = is_alnum(static_cast<char>(i));
  for (const char c : more)
    out[static_cast<uint8_t>(c)] = true;
  return out;
}

constexpr auto did_characters = alnum_and("._:%-");
constexpr auto record_key_characters = alnum_and(".-_:~");

bool all_in(const std::array<bool, 256>& allowed, std::string_view x) noexcept {
  return std::all_of(x.begin(), x.end(), [&](char c) {
    return allowed[static_cast<uint8_t>(c)];
  });
}

char to_lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool equal_ignoring_case(std::string_view x, std::string_view y) noexcept {
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](char a, char b) {
    return to_lower(a) == to_lower(b);
  });
}

// -- names of dotted labels ---------------------------------------------------

/// A label of a domain name: letters, digits and inner hyphens.
bool valid_label(std::string_view x) noexcept {
  return !x.empty() && x.size() <= limits::label_bytes_max
         && is_alnum(x.front()) && is_alnum(x.back())
         && std::all_of(x.begin(), x.end(), [](char c) {
              return is_alnum(c) || c == '-';
            });
}

/// Calls `check` for each label until it returns false. Returns the number of
/// labels, or 0 when one was refused.
template <class Check>
size_t count_labels(std::string_view x, Check check) noexcept {
  for (size_t n = 1;; ++n) {
    const auto dot = x.find('.');
    if (!check(x.substr(0, dot)))
      return 0;
    if (dot == std::string_view::npos)
      return n;
    x.remove_prefix(dot + 1);
  }
}

/// Top-level domains that no handle may have (protocol-coverage.md 0.6).
constexpr std::array<std::string_view, 8> denied_domains{
  "alt",     "arpa",  "example",   "internal",
  "invalid", "local", "localhost", "onion"};

// -- date and time ------------------------------------------------------------

/// Takes `size` digits off the front of `x`; -1 when they are not there.
int take_digits(std::string_view& x, size_t size) noexcept {
  if (x.size() < size)
    return -1;
  int out = 0;
  for (size_t i = 0; i < size; ++i) {
    if (!is_digit(x[i]))
      return -1;
    out = out * 10 + (x[i] - '0');
  }
  x.remove_prefix(size);
  return out;
}

bool take(std::string_view& x, char c) noexcept {
  if (!x.starts_with(c))
    return false;
  x.remove_prefix(1);
  return true;
}

int days_in_month(int year, int month) noexcept {
  constexpr std::array<int, 12> days{31, 28, 31, 30, 31, 30,
                                     31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return days[static_cast<size_t>(month - 1)] + (month == 2 && leap ? 1 : 0);
}

bool within(int x, int low, int high) noexcept {
  return x >= low && x <= high;
}

/// Takes `Z` or an offset and sets `minutes`. `-00:00` is refused: RFC 3339 has
/// it, but ISO 8601 has not.
bool take_zone(std::string_view& x, int& minutes) noexcept {
  minutes = 0;
  if (take(x, 'Z'))
    return true;
  const bool west = x.starts_with('-');
  if (!west && !x.starts_with('+'))
    return false;
  x.remove_prefix(1);
  const auto hour = take_digits(x, 2);
  const bool colon = take(x, ':');
  const auto minute = take_digits(x, 2);
  if (!within(hour, 0, 23) || !colon || !within(minute, 0, 59))
    return false;
  minutes = (hour * 60 + minute) * (west ? -1 : 1);
  return !west || minutes != 0;
}

/// Takes a dot and the digits after it, if there is one.
bool take_fraction(std::string_view& x, int& micros) noexcept {
  constexpr size_t digits_max = 20;
  micros = 0;
  if (!take(x, '.'))
    return true;
  const auto digits = std::min(x.find_first_not_of("0123456789"), x.size());
  if (digits == 0 || digits > digits_max)
    return false;
  int worth = 100'000;
  for (size_t i = 0; i < digits; ++i, worth /= 10)
    micros += (x[i] - '0') * worth;
  x.remove_prefix(digits);
  return true;
}

// -- hash ---------------------------------------------------------------------

constexpr uint64_t prime1 = 0x9e37'79b1'85eb'ca87u;
constexpr uint64_t prime2 = 0xc2b2'ae3d'27d4'eb4fu;
constexpr uint64_t prime3 = 0x1656'67b1'9e37'79f9u;
constexpr uint64_t prime4 = 0x85eb'ca77'c2b2'ae63u;
constexpr uint64_t prime5 = 0x27d4'eb2f'1656'67c5u;

/// Loads `size` bytes as little-endian on every machine.
uint64_t load(const char* x, size_t size) noexcept {
  uint64_t out = 0;
  for (size_t i = 0; i < size; ++i)
    out |= uint64_t{static_cast<uint8_t>(x[i])} << (8 * i);
  return out;
}

uint64_t mix(uint64_t lane, uint64_t word) noexcept {
  return std::rotl(lane + word * prime2, 31) * prime1;
}

// -- TID ----------------------------------------------------------------------

constexpr std::string_view tid_letters = "234567abcdefghijklmnopqrstuvwxyz";
constexpr size_t tid_size = 13;

constexpr auto tid_values = [] {
  std::array<int8_t, 256> out{};
  out.fill(-1);
  for (size_t i = 0; i < tid_letters.size(); ++i)
    out[static_cast<uint8_t>(tid_letters[i])] = static_cast<int8_t>(i);
  return out;
}();

} // namespace

bool valid_did(std::string_view x) noexcept {
  constexpr std::string_view scheme = "did:";
  if (x.size() > limits::did_bytes_max || !x.starts_with(scheme))
    return false;
  x.remove_prefix(scheme.size());
  const auto colon = x.find(':');
  if (colon == std::string_view::npos)
    return false;
  const auto method = x.substr(0, colon);
  const auto id = x.substr(colon + 1);
  return !method.empty() && std::all_of(method.begin(), method.end(), is_lower)
         && !id.empty() && all_in(did_characters, id) && id.back() != ':'
         && id.back() != '%';
}

bool supported_did(std::string_view x) noexcept {
  constexpr std::string_view plc = "did:plc:";
  constexpr std::string_view web = "did:web:";
  constexpr std::string_view local = "localhost%3A";
  constexpr size_t plc_id_size = 24;
  if (x.starts_with(plc)) {
    x.remove_prefix(plc.size());
    return x.size() == plc_id_size
           && std::all_of(x.begin(), x.end(), [](char c) {
                return is_lower(c) || (c >= '2' && c <= '7');
              });
  }
  if (!x.starts_with(web))
    return false;
  x.remove_prefix(web.size());
  if (!x.starts_with(local))
    return valid_handle(x);
  x.remove_prefix(local.size());
  const auto digits = x.size();
  const auto port = digits <= 5 ? take_digits(x, digits) : -1;
  return within(port, 1, 65535);
}

bool valid_nsid(std::string_view x) noexcept {
  const auto name_at = x.rfind('.');
  if (x.size() > limits::nsid_bytes_max || name_at == std::string_view::npos)
    return false;
  const auto authority = x.substr(0, name_at);
  const auto name = x.substr(name_at + 1);
  return authority.size() <= limits::handle_bytes_max
         && is_letter(authority.empty() ? '.' : authority.front())
         && count_labels(authority, valid_label) >= 2 && !name.empty()
         && name.size() <= limits::label_bytes_max && is_letter(name.front())
         && std::all_of(name.begin(), name.end(), is_alnum);
}

bool valid_record_key(std::string_view x) noexcept {
  return !x.empty() && x.size() <= limits::record_key_bytes_max && x != "."
         && x != ".." && all_in(record_key_characters, x);
}

bool valid_handle(std::string_view x) noexcept {
  if (x.size() > limits::handle_bytes_max || count_labels(x, valid_label) < 2)
    return false;
  const auto domain = x.substr(x.rfind('.') + 1);
  return is_letter(domain.front())
         && std::none_of(denied_domains.begin(), denied_domains.end(),
                         [&](std::string_view denied) {
                           return equal_ignoring_case(domain, denied);
                         });
}

bool valid_repo_path(std::string_view x) noexcept {
  const auto slash = x.find('/');
  return slash != std::string_view::npos
         && x.size() <= limits::mst_key_bytes_max
         && valid_nsid(x.substr(0, slash))
         && valid_record_key(x.substr(slash + 1));
}

std::optional<wall_time> parse_datetime(std::string_view x) noexcept {
  using namespace std::chrono;
  const auto year = take_digits(x, 4);
  bool form = take(x, '-');
  const auto month = take_digits(x, 2);
  form = form && take(x, '-');
  const auto day = take_digits(x, 2);
  form = form && take(x, 'T');
  const auto hour = take_digits(x, 2);
  form = form && take(x, ':');
  const auto minute = take_digits(x, 2);
  form = form && take(x, ':');
  const auto second = take_digits(x, 2);
  int micros = 0;
  int zone = 0;
  if (!form || year < 0 || !within(month, 1, 12)
      || !within(day, 1, days_in_month(year, month)) || !within(hour, 0, 23)
      || !within(minute, 0, 59) || !within(second, 0, 59)
      || !take_fraction(x, micros) || !take_zone(x, zone) || !x.empty())
    return std::nullopt;
  // In UTC the moment must not be before year 0.
  const auto since_new_year = (day - 1) * 24 * 60 + hour * 60 + minute;
  if (year == 0 && month == 1 && since_new_year < zone)
    return std::nullopt;
  const sys_days date{year_month_day{
    std::chrono::year{year}, std::chrono::month(static_cast<unsigned>(month)),
    std::chrono::day(static_cast<unsigned>(day))}};
  const microseconds out = date.time_since_epoch() + hours{hour}
                           + minutes{minute - zone} + seconds{second}
                           + microseconds{micros};
  return wall_time{out.count()};
}

result<did> did::parse(std::string_view x) {
  if (!valid_did(x))
    return fail(ec::malformed, "not a DID, such as did:plc:... or did:web:...");
  return trusted(std::string{x});
}

// XXH64 with seed 0. It never changes: partitions and routing depend on its
// values.
uint64_t stable_hash(std::string_view x) noexcept {
  const auto* at = x.data();
  auto left = x.size();
  auto hash = prime5;
  if (left >= 32) {
    std::array<uint64_t, 4> lanes{prime1 + prime2, prime2, 0, 0 - prime1};
    for (; left >= 32; left -= 32)
      for (auto& lane : lanes) {
        lane = mix(lane, load(at, 8));
        at += 8;
      }
    hash = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7)
           + std::rotl(lanes[2], 12) + std::rotl(lanes[3], 18);
    for (const auto lane : lanes)
      hash = (hash ^ mix(0, lane)) * prime1 + prime4;
  }
  hash += x.size();
  for (; left >= 8; left -= 8, at += 8)
    hash = std::rotl(hash ^ mix(0, load(at, 8)), 27) * prime1 + prime4;
  if (left >= 4) {
    hash = std::rotl(hash ^ load(at, 4) * prime1, 23) * prime2 + prime3;
    at += 4;
    left -= 4;
  }
  for (; left > 0; --left, ++at)
    hash = std::rotl(hash ^ load(at, 1) * prime5, 11) * prime1;
  hash = (hash ^ hash >> 33) * prime2;
  hash = (hash ^ hash >> 29) * prime3;
  return hash ^ hash >> 32;
}

std::optional<tid> tid::parse(std::string_view x) noexcept {
  if (x.size() != tid_size || x.front() > 'j')
    return std::nullopt;
  uint64_t value = 0;
  for (const char c : x) {
    const auto digit = tid_values[static_cast<uint8_t>(c)];
    if (digit < 0)
      return std::nullopt;
    value = value << 5 | static_cast<uint64_t>(digit);
  }
  return tid{value};
}

std::string tid::str() const {
  std::string out(tid_size, tid_letters[0]);
  auto rest = value_;
  for (auto i = tid_size; i > 0; rest >>= 5)
    out[--i] = tid_letters[rest & 0x1f];
  return out;
}

path_parts split_path(std::string_view path) noexcept {
  const auto slash = path.find('/');
  return {path.substr(0, slash), path.substr(slash + 1)};
}

} // namespace weir::atproto
