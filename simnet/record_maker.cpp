#include "simnet/record_maker.hpp"

#include "atproto/cid.hpp"
#include "atproto/dag_cbor.hpp"
#include "atproto/identifiers.hpp"
#include "atproto/limits.hpp"
#include "simnet/datetime.hpp"

#include <array>

namespace weir::simnet {

namespace {

using atproto::cid;
using atproto::cbor::writer;

constexpr std::string_view like = "app.bsky.feed.like";
constexpr std::string_view follow = "app.bsky.graph.follow";
constexpr std::string_view repost = "app.bsky.feed.repost";
constexpr std::string_view post = "app.bsky.feed.post";
constexpr std::string_view profile = "app.bsky.actor.profile";
constexpr std::string_view play = "fm.teal.alpha.feed.play";
constexpr std::string_view note = "com.example.note";
constexpr std::string_view shape = "org.example.shape";
constexpr std::string_view unsafe_number = "org.example.number";

constexpr std::array<std::string_view, 40> words{
  "the",   "a",      "of",     "and",    "water",  "river",   "morning",
  "light", "stone",  "we",     "they",   "went",   "see",     "slowly",
  "with",  "under",  "bridge", "garden", "coffee", "again",   "today",
  "why",   "not",    "maybe",  "train",  "window", "letters", "quiet",
  "north", "summer", "naïve",  "señor",  "Straße", "東京",    "🌊",
  "🙂",  "#open",  "hello",  "world",  "\"yes\""};

/// Writes one record. Map keys come in the order of DAG-CBOR: shorter keys
/// first.
class pen {
public:
  pen(random_source& random, wall_time when, std::span<const std::string> dids)
    : random_(random), when_(when), dids_(dids) {}

  bytes write(std::string_view collection) {
    if (collection == like || collection == repost)
      write_reaction(collection);
    else if (collection == follow)
      write_follow();
    else if (collection == post)
      write_post();
    else if (collection == profile)
      write_profile();
    else if (collection == play)
      write_play();
    else if (collection == shape)
      write_shape();
    else if (collection == unsafe_number)
      write_unsafe();
    else
      write_note(collection);
    return out_.take();
  }

private:
  writer& key(std::string_view x) { return out_.put_text(x); }

  void put_type(std::string_view x) { key("$type").put_text(x); }

  void put_created_at() { key("createdAt").put_text(format_datetime(when_)); }

  const std::string& somebody() { return dids_[random_.below(dids_.size())]; }

  cid random_cid(uint8_t codec) {
    atproto::digest hash;
    random_.fill(hash);
    return {codec, hash};
  }

  void put_reference() {
    constexpr uint64_t day = 86'400'000'000;
    const auto age = static_cast<int64_t>(random_.below(day));
    const auto rkey = atproto::tid::from_time({when_.micros - age}, 1).str();
    out_.begin_map(2);
    key("cid").put_text(random_cid(cid::codec_dag_cbor).to_text());
    key("uri").put_text("at://" + somebody() + "/" + std::string{post} + "/"
                        + rkey);
  }

  void put_blob() {
    out_.begin_map(4);
    key("ref").put_link(random_cid(cid::codec_raw));
    key("size").put_int(static_cast<int64_t>(1 + random_.below(1'000'000)));
    put_type("blob");
    key("mimeType").put_text("image/jpeg");
  }

  std::string text(size_t words_min, size_t words_max) {
    std::string out;
    const auto n = words_min + random_.below(words_max - words_min + 1);
    for (size_t i = 0; i < n; ++i) {
      if (i > 0)
        out += ' ';
      out += words[random_.below(words.size())];
    }
    return out;
  }

  void write_reaction(std::string_view collection) {
    out_.begin_map(3);
    put_type(collection);
    key("subject");
    put_reference();
    put_created_at();
  }

  void write_follow() {
    out_.begin_map(3);
    put_type(follow);
    key("subject").put_text(somebody());
    put_created_at();
  }

  void write_post() {
    const auto image = random_.below(8) == 0;
    const auto reply = random_.below(2) == 0;
    out_.begin_map(size_t{4} + image + reply);
    key("text").put_text(text(2, 64));
    put_type(post);
    if (image)
      write_image();
    key("langs").begin_array(1).put_text("en");
    if (reply) {
      key("reply").begin_map(2);
      key("root");
      put_reference();
      key("parent");
      put_reference();
    }
    put_created_at();
  }

  void write_image() {
    key("embed").begin_map(2);
    put_type("app.bsky.embed.images");
    key("images").begin_array(1).begin_map(2);
    key("alt").put_text(text(0, 8));
    key("image");
    put_blob();
  }

  void write_profile() {
    out_.begin_map(5);
    put_type(profile);
    key("avatar");
    put_blob();
    put_created_at();
    key("description").put_text(text(0, 20));
    key("displayName").put_text(text(1, 3));
  }

  void write_play() {
    out_.begin_map(4);
    put_type(play);
    key("duration").put_int(static_cast<int64_t>(random_.below(900)));
    key("trackName").put_text(text(1, 5));
    key("playedTime").put_text(format_datetime(when_));
  }

  /// What the guide forbids but real hosts store: an empty key, no `$type`.
  void write_note(std::string_view collection) {
    out_.begin_map(3);
    key("").put_null();
    key("text").put_text(text(1, 12) + std::string(1, '\0') + "\t\x7f");
    key("where").put_text(collection);
  }

  /// Every kind of value, and deep nesting.
  void write_shape() {
    constexpr size_t depth = 20;
    bytes raw(random_.below(64));
    random_.fill(raw);
    out_.begin_map(6);
    key("hash").put_bytes(raw);
    key("link").put_link(random_cid(cid::codec_dag_cbor));
    put_type(shape);
    key("nested");
    for (size_t i = 0; i < depth; ++i)
      out_.begin_array(1);
    out_.put_bool(random_.below(2) == 0);
    key("greatest").put_int(limits::safe_integer_max);
    key("smallest").put_int(-limits::safe_integer_max);
  }

  void write_unsafe() {
    out_.begin_map(2);
    put_type(unsafe_number);
    if (key("value"); random_.below(2) == 0)
      out_.put_double(1.0 + random_.unit());
    else
      out_.put_int(INT64_MAX - static_cast<int64_t>(random_.below(1'000'000)));
  }

  random_source& random_;
  wall_time when_;
  std::span<const std::string> dids_;
  writer out_;
};

std::string_view pick_collection(random_source& random, bool unsafe) {
  const auto x = random.below(1000);
  if (x < 550)
    return like;
  if (x < 750)
    return follow;
  if (x < 850)
    return repost;
  if (x < 988)
    return post;
  if (x < 992)
    return play;
  if (x < 996)
    return note;
  return unsafe && x == 999 ? unsafe_number : shape;
}

/// Keys that are no TIDs. One in 64 has the largest allowed length.
std::string text_key(random_source& random) {
  auto out = "note-" + std::to_string(random.next() % 1'000'000'000) + ".v:1~";
  if (random.below(64) == 0)
    out.resize(limits::record_key_bytes_max, 'z');
  return out;
}

} // namespace

new_record record_maker::make(random_source& random, wall_time when) const {
  const auto collection = pick_collection(random, unsafe_);
  const auto clock_id = static_cast<uint16_t>(random.below(1024));
  const auto rkey = collection == note
                      ? text_key(random)
                      : atproto::tid::from_time(when, clock_id).str();
  return {std::string{collection} + "/" + rkey,
          pen{random, when, dids_}.write(collection)};
}

new_record record_maker::make_profile(random_source& random,
                                      wall_time when) const {
  return {std::string{profile} + "/self",
          pen{random, when, dids_}.write(profile)};
}

bytes record_maker::remake(random_source& random, wall_time when,
                           std::string_view path) const {
  return pen{random, when, dids_}.write(path.substr(0, path.find('/')));
}

} // namespace weir::simnet
