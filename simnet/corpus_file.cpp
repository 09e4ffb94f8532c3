#include "simnet/corpus_file.hpp"

#include "atproto/dag_cbor.hpp"
#include "atproto/sha256.hpp"

#include <algorithm>
#include <string_view>

namespace weir::simnet {

namespace {

using atproto::cbor::reader;

constexpr std::string_view magic = "WEIRNET1";
constexpr size_t footer_size = 8 + 8 + 32;

template <class T>
T read_little(const uint8_t* at) {
  T out = 0;
  for (size_t i = sizeof(T); i > 0; --i)
    out = static_cast<T>(out << 8 | at[i - 1]);
  return out;
}

frame_place decode_place(const uint8_t* at) {
  frame_place out;
  out.offset = read_little<uint64_t>(at);
  out.seq = static_cast<int64_t>(read_little<uint64_t>(at + 8));
  out.size = read_little<uint32_t>(at + 16);
  out.account = read_little<uint32_t>(at + 20);
  out.records = static_cast<int32_t>(read_little<uint32_t>(at + 24));
  out.commit = at[28] != 0;
  return out;
}

error bad_index() {
  return fail(ec::malformed, "the corpus file is damaged or cut off");
}

/// Reads values and remembers whether one was missing.
class taker {
public:
  explicit taker(bytes_view x) : in_(x) {}

  std::string text() { return std::string{take(in_.read_text())}; }

  uint64_t number() { return static_cast<uint64_t>(take(in_.read_int())); }

  atproto::cid link() { return take(in_.read_link()); }

  bytes_view raw() { return take(in_.read_bytes()); }

  size_t array() { return take(in_.read_array()); }

  bool good() const noexcept { return good_; }

private:
  template <class T>
  T take(result<T> x) {
    good_ = good_ && x.has_value();
    return good_ ? std::move(*x) : T{};
  }

  reader in_;
  bool good_ = true;
};

corpus_account take_account(taker& in) {
  corpus_account out;
  in.array();
  out.id = atproto::did::trusted(in.text());
  out.handle = in.text();
  out.signing_key = in.text();
  out.host = in.number();
  out.rev = atproto::tid{in.number()};
  out.head = in.link();
  out.data = in.link();
  out.records = in.number();
  out.car_offset = in.number();
  out.car_size = in.number();
  return out;
}

/// True when all offsets are inside of the file and all references exist.
bool sound(const corpus_index& x, uint64_t size) {
  const auto inside = [size](uint64_t offset, uint64_t n) {
    return offset <= size && n <= size - offset;
  };
  return std::ranges::all_of(x.accounts,
                             [&](const corpus_account& y) {
                               return y.host < x.hosts
                                      && inside(y.car_offset, y.car_size);
                             })
         && std::ranges::all_of(x.frames, [&](const frame_place& y) {
              return y.account < x.accounts.size() && inside(y.offset, y.size);
            });
}

} // namespace

result<corpus_index> read_corpus_index(bytes_view file) {
  if (file.size() < magic.size() + footer_size
      || as_text(file.first(magic.size())) != magic)
    return fail(ec::malformed, "this is no corpus file");
  const auto footer = file.last(footer_size);
  const auto offset = read_little<uint64_t>(footer.data());
  const auto size = read_little<uint64_t>(footer.data() + 8);
  const auto body = file.size() - footer_size;
  if (offset > body || size > body - offset)
    return bad_index();
  const auto index = file.subspan(offset, size);
  const auto hash = atproto::sha256(index);
  if (!std::equal(hash.begin(), hash.end(), footer.begin() + 16))
    return bad_index();
  taker in{index};
  corpus_index out;
  in.array();
  out.hosts = in.number();
  const auto accounts = in.array();
  for (size_t i = 0; i < accounts && in.good(); ++i)
    out.accounts.push_back(take_account(in));
  const auto places = in.raw();
  for (size_t at = 0; at + frame_place::encoded_size <= places.size();
       at += frame_place::encoded_size)
    out.frames.push_back(decode_place(places.data() + at));
  if (!in.good() || !sound(out, body))
    return bad_index();
  return out;
}

} // namespace weir::simnet
