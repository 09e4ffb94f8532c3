#include "atproto/frame.hpp"

#include "atproto/dag_cbor.hpp"
#include "base/limits.hpp"

#include <gtest/gtest.h>

#include <functional>

// Proves protocol.md 1.4 to 1.7, 2 (fields), 2.1.1, 3, 4, 12, 15.

namespace weir::tests {

using namespace atproto;

namespace {

constexpr std::string_view who = "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa";
constexpr std::string_view some_time = "2026-01-01T00:00:00.000Z";
constexpr std::string_view some_rev = "3m2bypluud2a2";

const cid some_cid = cid::of_dag_cbor(bytes{0xa0});
const cid other_cid = cid::of_dag_cbor(bytes{0x80});

/// A map under construction: encoded values by key, in any order.
using fields = std::vector<std::pair<std::string, bytes>>;

bytes encode(const std::function<void(cbor::writer&)>& put) {
  cbor::writer out;
  put(out);
  return out.take();
}

bytes text(std::string_view x) {
  return encode([&](auto& out) { out.put_text(x); });
}

bytes number(int64_t x) {
  return encode([&](auto& out) { out.put_int(x); });
}

bytes link(const cid& x) {
  return encode([&](auto& out) { out.put_link(x); });
}

bytes null() {
  return encode([](auto& out) { out.put_null(); });
}

bytes boolean(bool x) {
  return encode([&](auto& out) { out.put_bool(x); });
}

bytes map(const fields& x) {
  cbor::writer out;
  out.begin_map(x.size());
  for (const auto& [key, value] : x)
    out.put_text(key).put_raw(value);
  return out.take();
}

bytes array(const std::vector<bytes>& x) {
  cbor::writer out;
  out.begin_array(x.size());
  for (const auto& item : x)
    out.put_raw(item);
  return out.take();
}

/// `x` with the value of a key replaced, added, or dropped when empty.
fields with(fields x, std::string_view key, bytes value) {
  std::erase_if(x, [&](const auto& entry) { return entry.first == key; });
  if (!value.empty())
    x.emplace_back(key, std::move(value));
  return x;
}

bytes join(bytes x, const bytes& y) {
  x.insert(x.end(), y.begin(), y.end());
  return x;
}

bytes frame(std::string_view t, const fields& payload) {
  return join(map({{"t", text(t)}, {"op", number(1)}}), map(payload));
}

bytes op(std::string_view action, const bytes& id, const bytes& prev = {}) {
  fields out{{"cid", id}, {"path", text("a.b.c/1")}, {"action", text(action)}};
  return map(prev.empty() ? out : with(out, "prev", prev));
}

fields commit_fields() {
  return {
    {"ops", array({op("create", link(some_cid))})},
    {"rev", text(some_rev)},
    {"seq", number(7)},
    {"repo", text(who)},
    {"time", text(some_time)},
    {"blobs", array({})},
    {"since", null()},
    {"blocks", encode([](auto& out) { out.put_bytes(bytes{1, 2}); })},
    {"commit", link(some_cid)},
    {"rebase", boolean(false)},
    {"tooBig", boolean(false)},
    {"prevData", link(other_cid)},
  };
}

fields sync_fields() {
  return {{"did", text(who)},
          {"rev", text(some_rev)},
          {"seq", number(7)},
          {"time", text(some_time)},
          {"blocks", encode([](auto& out) { out.put_bytes(bytes{1}); })}};
}

fields account_fields() {
  return {{"did", text(who)},
          {"seq", number(7)},
          {"time", text(some_time)},
          {"active", boolean(false)},
          {"status", text("deactivated")}};
}

fields identity_fields() {
  return {{"did", text(who)},
          {"seq", number(7)},
          {"time", text(some_time)},
          {"handle", text("a.test")}};
}

ec decode_error(bytes_view x) {
  const auto out = decode_frame(x);
  return out ? ec::none : out.error().code;
}

ec commit_error(std::string_view key, const bytes& value) {
  return decode_error(frame("#commit", with(commit_fields(), key, value)));
}

ec peek_error(bytes_view x) {
  const auto out = peek_frame(x);
  return out ? ec::none : out.error().code;
}

template <class Event>
Event decode(bytes_view x) {
  return std::get<Event>(decode_frame(x).value());
}

} // namespace

// -- peeking ------------------------------------------------------------------

TEST(FramePeekTest, ReadsKindSeqAndDid) {
  const auto look = [](std::string_view t, const fields& payload) {
    return peek_frame(frame(t, payload)).value();
  };
  auto x = look("#commit", commit_fields());
  EXPECT_EQ(x.kind, frame_kind::commit);
  EXPECT_EQ(x.seq, 7);
  const auto owner = frame("#commit", commit_fields());
  EXPECT_EQ(peek_frame(owner).value().did, who);
  EXPECT_EQ(look("#sync", sync_fields()).kind, frame_kind::sync);
  EXPECT_EQ(look("#identity", identity_fields()).kind, frame_kind::identity);
  EXPECT_EQ(look("#account", account_fields()).kind, frame_kind::account);
  EXPECT_EQ(look("#info", {{"name", text("OutdatedCursor")}}).kind,
            frame_kind::info);
  const auto sync = frame("#sync", sync_fields());
  EXPECT_EQ(peek_frame(sync).value().did, who);
}

TEST(FramePeekTest, CountsTheSeqOfAnUnknownKind) {
  const auto newer = frame("#future", {{"seq", number(9)}, {"x", null()}});
  const auto x = peek_frame(newer).value();
  EXPECT_EQ(x.kind, frame_kind::unknown);
  EXPECT_EQ(x.seq, 9);
  const auto other_op = join(map({{"op", number(2)}}),
                             map({{"seq", number(10)}}));
  EXPECT_EQ(peek_frame(other_op).value().kind, frame_kind::unknown);
  EXPECT_EQ(peek_frame(other_op).value().seq, 10);
}

TEST(FramePeekTest, KnowsAnErrorFrameAsServersSendIt) {
  const auto x = join(bytes{0xa1, 0x62, 0x6f, 0x70, 0x20},
                      map({{"error", text("FutureCursor")},
                           {"message", text("Cursor in the future.")}}));
  EXPECT_EQ(peek_frame(x).value().kind, frame_kind::error);
  EXPECT_EQ(decode<error_event>(x).name, "FutureCursor");
  EXPECT_EQ(decode<error_event>(x).message, "Cursor in the future.");
}

TEST(FramePeekTest, LeavesOutASeqThatIsNone) {
  for (const auto& value :
       {number(0), number(-1), number(limits::safe_integer_max + 1),
        text("7"), null()})
    EXPECT_EQ(
      peek_frame(frame("#commit", with(commit_fields(), "seq", value)))
        .value()
        .seq,
      0);
  EXPECT_EQ(peek_frame(frame("#commit", with(commit_fields(), "seq",
                                             number(limits::safe_integer_max))))
              .value()
              .seq,
            limits::safe_integer_max);
}

TEST(FramePeekTest, LooksAtTheTopOfThePayloadOnly) {
  const auto nested = map({{"seq", number(1)}, {"repo", text("x")}});
  const auto x = frame("#commit", with(commit_fields(), "aaa", nested));
  EXPECT_EQ(peek_frame(x).value().seq, 7);
  EXPECT_EQ(peek_frame(x).value().did, who);
}

TEST(FramePeekTest, RefusesAnythingButTwoMaps) {
  const auto good = frame("#commit", commit_fields());
  EXPECT_EQ(peek_error(good), ec::none);
  EXPECT_EQ(peek_error({}), ec::malformed);
  EXPECT_EQ(peek_error(map({{"t", text("#commit")}, {"op", number(1)}})),
            ec::malformed)
    << "no payload";
  EXPECT_EQ(peek_error(join(good, bytes{0xa0})), ec::malformed)
    << "bytes behind it";
  EXPECT_EQ(peek_error(join(map({{"t", text("#x")}, {"op", number(1)}}),
                            array({}))),
            ec::malformed)
    << "payload is no map";
  EXPECT_EQ(peek_error(join(array({}), map({}))), ec::malformed);
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_EQ(peek_error(bytes_view{good}.first(size)), ec::malformed) << size;
}

TEST(FramePeekTest, RefusesHeadersWithoutOpOrT) {
  const auto with_header = [](const fields& x) {
    return peek_error(join(map(x), map({})));
  };
  EXPECT_EQ(with_header({{"t", text("#commit")}}), ec::malformed);
  EXPECT_EQ(with_header({{"op", number(1)}}), ec::malformed);
  EXPECT_EQ(with_header({{"op", text("1")}, {"t", text("#commit")}}),
            ec::malformed);
  EXPECT_EQ(with_header({{"op", number(1)}, {"t", number(1)}}), ec::malformed);
  EXPECT_EQ(with_header({{"op", number(5)}}), ec::none) << "unknown op";
}

TEST(FramePeekTest, IsStrictInAllButTheOrderOfKeys) {
  auto reversed = commit_fields();
  std::ranges::reverse(reversed);
  EXPECT_EQ(peek_error(frame("#commit", reversed)), ec::none);
  EXPECT_EQ(decode_error(frame("#commit", reversed)), ec::none);
  const auto with_value = [](const bytes& value) {
    return peek_error(frame("#commit", with(commit_fields(), "x", value)));
  };
  EXPECT_EQ(with_value({0x18, 0x01}), ec::malformed) << "long integer";
  EXPECT_EQ(with_value({0x9f, 0xff}), ec::malformed) << "indefinite length";
  EXPECT_EQ(with_value({0xf7}), ec::malformed) << "undefined";
  EXPECT_EQ(with_value({0x61, 0xff}), ec::malformed) << "UTF-8";
  EXPECT_EQ(with_value({0xc1, 0x01}), ec::malformed) << "foreign tag";
  EXPECT_EQ(with_value({0xfb, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0}), ec::malformed)
    << "float";
  EXPECT_EQ(with_value({0xa1, 0x01, 0x01}), ec::malformed) << "key no text";
  auto twice = commit_fields();
  twice.push_back(twice[2]);
  EXPECT_EQ(peek_error(frame("#commit", twice)), ec::malformed);
  EXPECT_EQ(decode_error(frame("#commit", twice)), ec::malformed);
}

TEST(FramePeekTest, KeepsItsLimits) {
  const auto nest = [](size_t depth) {
    auto out = null();
    for (size_t i = 0; i < depth; ++i)
      out = array({out});
    return frame("#commit", with(commit_fields(), "x", out));
  };
  EXPECT_EQ(peek_error(nest(limits::frame_depth_max - 1)), ec::none);
  EXPECT_EQ(peek_error(nest(limits::frame_depth_max)), ec::limit_reached);
  EXPECT_EQ(decode_error(nest(limits::frame_depth_max - 1)), ec::none);
  EXPECT_EQ(decode_error(nest(limits::frame_depth_max)), ec::limit_reached);

  const auto of_size = [](size_t size) {
    const auto padded = [](size_t padding) {
      return frame("#future", {{"x", encode([&](auto& out) {
                                  out.put_bytes(bytes(padding));
                                })}});
    };
    const auto bare = padded(limits::frame_bytes_max).size();
    return padded(2 * limits::frame_bytes_max - bare
                  - (limits::frame_bytes_max - size));
  };
  const auto largest = of_size(limits::frame_bytes_max);
  ASSERT_EQ(largest.size(), limits::frame_bytes_max);
  EXPECT_EQ(peek_error(largest), ec::none);
  EXPECT_EQ(peek_error(of_size(limits::frame_bytes_max + 1)),
            ec::limit_reached);
}

// -- decoding -----------------------------------------------------------------

TEST(FrameTest, DecodesEveryFieldOfACommit) {
  auto payload = commit_fields();
  payload = with(payload, "since", text(some_rev));
  payload = with(payload, "tooBig", boolean(true));
  payload = with(
    payload, "ops",
    array({op("create", link(some_cid)),
           op("update", link(some_cid), link(other_cid)),
           op("delete", null(), link(other_cid)), op("delete", null())}));
  const auto whole = frame("#commit", payload);
  const auto x = decode<commit_event>(whole);
  EXPECT_EQ(x.seq, 7);
  EXPECT_EQ(x.repo.str(), who);
  EXPECT_EQ(x.time, some_time);
  EXPECT_EQ(x.rev.str(), some_rev);
  EXPECT_EQ(x.since, tid::parse(some_rev));
  EXPECT_EQ(x.commit, some_cid);
  EXPECT_EQ(x.prev_data, other_cid);
  EXPECT_EQ(bytes(x.blocks.begin(), x.blocks.end()), (bytes{1, 2}));
  EXPECT_TRUE(x.too_big);
  ASSERT_EQ(x.ops.size(), 4u);
  EXPECT_EQ(x.ops[0].action, op_action::create);
  EXPECT_EQ(x.ops[0].path, "a.b.c/1");
  EXPECT_EQ(x.ops[0].id, some_cid);
  EXPECT_FALSE(x.ops[0].prev.defined());
  EXPECT_EQ(x.ops[1].action, op_action::update);
  EXPECT_EQ(x.ops[1].prev, other_cid);
  EXPECT_EQ(x.ops[2].action, op_action::remove);
  EXPECT_FALSE(x.ops[2].id.defined());
  EXPECT_EQ(x.ops[2].prev, other_cid);
  EXPECT_FALSE(x.ops[3].prev.defined()) << "sender from before sync 1.1";
}

TEST(FrameTest, TakesNullForAnAbsentOptionalField) {
  auto payload = commit_fields();
  payload = with(payload, "prevData", null());
  payload = with(payload, "tooBig", null());
  payload = with(payload, "blobs", null());
  payload = with(payload, "ops",
                 array({op("create", link(some_cid), null())}));
  const auto whole = frame("#commit", payload);
  const auto x = decode<commit_event>(whole);
  EXPECT_FALSE(x.prev_data.defined());
  EXPECT_FALSE(x.ops[0].prev.defined());
  const auto account
    = frame("#account", with(account_fields(), "status", null()));
  EXPECT_EQ(decode<account_event>(account).status, "");
}

TEST(FrameTest, RefusesACommitWithAFieldMissingOrWrong) {
  for (const auto* key :
       {"seq", "repo", "time", "rev", "since", "commit", "blocks", "ops"}) {
    EXPECT_EQ(commit_error(key, {}), ec::malformed) << key << " missing";
    EXPECT_EQ(commit_error(key, boolean(true)), ec::malformed) << key;
  }
  for (const auto* key : {"prevData", "tooBig"}) {
    EXPECT_EQ(commit_error(key, {}), ec::none) << key;
    EXPECT_EQ(commit_error(key, number(1)), ec::malformed) << key;
  }
  for (const auto* key : {"blobs", "rebase", "anything"})
    EXPECT_EQ(commit_error(key, number(1)), ec::none) << key << " is ignored";
  EXPECT_EQ(commit_error("repo", text("did:plc")), ec::malformed);
  EXPECT_EQ(commit_error("rev", text("3m2bypluud2a0")), ec::malformed);
  EXPECT_EQ(commit_error("since", text("")), ec::malformed);
  EXPECT_EQ(commit_error("seq", number(0)), ec::malformed);
  EXPECT_EQ(commit_error("seq", number(limits::safe_integer_max)), ec::none);
  EXPECT_EQ(commit_error("seq", number(limits::safe_integer_max + 1)),
            ec::malformed);
  EXPECT_EQ(commit_error("time", text("yesterday")), ec::none)
    << "time is informal";
}

TEST(FrameTest, RefusesOpsWithAWrongCombinationOfFields) {
  const auto with_op = [](const bytes& x) {
    return commit_error("ops", array({x}));
  };
  const auto a = link(some_cid);
  const auto b = link(other_cid);
  EXPECT_EQ(with_op(op("create", null())), ec::malformed);
  EXPECT_EQ(with_op(op("create", a, b)), ec::malformed);
  EXPECT_EQ(with_op(op("update", null(), b)), ec::malformed);
  EXPECT_EQ(with_op(op("update", a, a)), ec::malformed) << "nothing changes";
  EXPECT_EQ(with_op(op("delete", a, b)), ec::malformed);
  EXPECT_EQ(with_op(op("rename", a)), ec::malformed);
  EXPECT_EQ(with_op(map({{"path", text("x")}, {"action", text("delete")}})),
            ec::malformed)
    << "cid is required, if null";
  EXPECT_EQ(with_op(map({{"cid", a}, {"action", text("create")}})),
            ec::malformed);
  EXPECT_EQ(with_op(map({{"cid", a}, {"path", text("x")}})), ec::malformed);
  EXPECT_EQ(with_op(null()), ec::malformed);
}

TEST(FrameTest, KeepsTheLimitsOfACommit) {
  std::vector<bytes> ops(limits::commit_ops_max, op("create", link(some_cid)));
  EXPECT_EQ(commit_error("ops", array(ops)), ec::none);
  ops.push_back(ops.back());
  EXPECT_EQ(commit_error("ops", array(ops)), ec::limit_reached);
  const auto blocks = [](size_t size) {
    return encode([&](auto& out) { out.put_bytes(bytes(size)); });
  };
  EXPECT_EQ(commit_error("blocks", blocks(limits::commit_blocks_bytes_max)),
            ec::none);
  EXPECT_EQ(
    commit_error("blocks", blocks(limits::commit_blocks_bytes_max + 1)),
    ec::limit_reached);
  const auto sync = [&](size_t size) {
    return decode_error(
      frame("#sync", with(sync_fields(), "blocks", blocks(size))));
  };
  EXPECT_EQ(sync(limits::sync_blocks_bytes_max), ec::none);
  EXPECT_EQ(sync(limits::sync_blocks_bytes_max + 1), ec::limit_reached);
}

TEST(FrameTest, RefusesOtherMessagesWithAFieldMissingOrWrong) {
  const auto check = [](std::string_view t, const fields& payload,
                        std::initializer_list<const char*> required,
                        std::initializer_list<const char*> optional) {
    EXPECT_EQ(decode_error(frame(t, payload)), ec::none) << t;
    for (const auto* key : required) {
      EXPECT_EQ(decode_error(frame(t, with(payload, key, {}))), ec::malformed)
        << t << ' ' << key;
      EXPECT_EQ(decode_error(frame(t, with(payload, key, array({})))),
                ec::malformed)
        << t << ' ' << key;
    }
    for (const auto* key : optional) {
      EXPECT_EQ(decode_error(frame(t, with(payload, key, {}))), ec::none)
        << t << ' ' << key;
      EXPECT_EQ(decode_error(frame(t, with(payload, key, array({})))),
                ec::malformed)
        << t << ' ' << key;
    }
  };
  check("#sync", sync_fields(), {"did", "rev", "seq", "time", "blocks"}, {});
  check("#account", account_fields(), {"did", "seq", "time", "active"},
        {"status"});
  check("#identity", identity_fields(), {"did", "seq", "time"}, {"handle"});
  check("#info", {{"name", text("x")}, {"message", text("y")}}, {"name"},
        {"message"});
}

TEST(FrameTest, DoesNotDecodeAnUnknownKind) {
  EXPECT_EQ(decode_error(frame("#future", {})), ec::invalid_argument);
}

// -- encoding -----------------------------------------------------------------

TEST(FrameTest, IsWrittenAsRealServersWriteIt) {
  const auto whole = frame("#commit", commit_fields());
  // The fields above are in canonical order: encoding gives the same bytes.
  EXPECT_EQ(encode_frame(decode<commit_event>(whole)), whole);
  const auto sync = frame("#sync", sync_fields());
  EXPECT_EQ(encode_frame(decode<sync_event>(sync)), sync);
  const auto account = frame("#account", account_fields());
  EXPECT_EQ(encode_frame(decode<account_event>(account)), account);
  const auto identity = frame("#identity", identity_fields());
  EXPECT_EQ(encode_frame(decode<identity_event>(identity)), identity);
  const auto info = frame("#info", {{"name", text("OutdatedCursor")},
                                    {"message", text("m")}});
  EXPECT_EQ(encode_frame(decode<info_event>(info)), info);
  const auto failed = join(map({{"op", number(-1)}}),
                           map({{"error", text("ConsumerTooSlow")}}));
  EXPECT_EQ(encode_frame(decode<error_event>(failed)), failed);
  const auto kinds = bytes{0xa2, 0x61, 0x74, 0x67, '#', 'c', 'o', 'm', 'm',
                           'i',  't',  0x62, 'o',  'p', 0x01};
  EXPECT_TRUE(std::ranges::equal(bytes_view{whole}.first(kinds.size()),
                                 kinds));
}

TEST(FrameTest, IsWrittenCanonically) {
  commit_event x;
  x.seq = 1;
  x.repo = did::trusted(std::string{who});
  x.time = some_time;
  x.rev = *tid::parse(some_rev);
  x.since = x.rev;
  x.commit = some_cid;
  x.ops = {{op_action::create, "a.b.c/1", some_cid, {}},
           {op_action::remove, "a.b.c/2", {}, other_cid},
           {op_action::update, "a.b.c/3", some_cid, other_cid}};
  const auto first = encode_frame(x);
  x.prev_data = other_cid;
  for (const auto& whole : {first, encode_frame(x)}) {
    const auto header = cbor::validate_prefix(whole);
    ASSERT_TRUE(header);
    EXPECT_TRUE(cbor::validate(bytes_view{whole}.subspan(*header)));
    EXPECT_EQ(encode_frame(decode<commit_event>(whole)), whole);
  }
}

} // namespace weir::tests
