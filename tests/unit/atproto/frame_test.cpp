#include "atproto/frame.hpp"
#include "atproto/limits.hpp"
#include "frame_parts.hpp"

#include <gtest/gtest.h>

#include <algorithm>

// Proves protocol-coverage.md 2 (fields), 2.1.1, 3, 4 and 12.

namespace weir::tests {

using namespace frames;

namespace {

ec commit_error(std::string_view key, const bytes& value) {
  return decode_error(frame("#commit", with(commit_fields(), key, value)));
}

template <class Event>
Event decode(bytes_view x) {
  return std::get<Event>(decode_frame(x).value());
}

} // namespace

// -- decoding -----------------------------------------------------------------

// protocol-coverage.md 2.t5
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

// protocol-coverage.md 2.t11
// protocol-coverage.md 2.0
TEST(FrameTest, TakesNullForAnAbsentOptionalField) {
  auto payload = commit_fields();
  payload = with(payload, "prevData", null());
  payload = with(payload, "tooBig", null());
  payload = with(payload, "blobs", null());
  payload = with(payload, "ops", array({op("create", link(some_cid), null())}));
  const auto whole = frame("#commit", payload);
  const auto x = decode<commit_event>(whole);
  EXPECT_FALSE(x.prev_data.defined());
  EXPECT_FALSE(x.ops[0].prev.defined());
  const auto account
    = frame("#account", with(account_fields(), "status", null()));
  EXPECT_EQ(decode<account_event>(account).status, "");
}

// protocol-coverage.md 0.7, 2.t1, 2.t2, 2.t3, 2.t4, 2.t5, 2.t6, 2.t7, 2.t8,
// 2.t9, 2.t10, 2.t11, 2.1.1, 11.6
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

// protocol-coverage.md 2.t12, 2.t13, 2.t14
// protocol-coverage.md 2.0
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

// protocol-coverage.md 2.t7, 2.t8, 2.1.1, 3.0, 10.2, 10.3, 10.6
TEST(FrameTest, KeepsTheLimitsOfACommit) {
  std::vector<bytes> ops(limits::commit_ops_max, op("create", link(some_cid)));
  EXPECT_EQ(commit_error("ops", array(ops)), ec::none);
  ops.push_back(ops.back());
  EXPECT_EQ(commit_error("ops", array(ops)), ec::limit_reached);
  const auto blocks = [](size_t size) {
    return encode([&](auto& out) {
      out.put_bytes(bytes(size));
    });
  };
  EXPECT_EQ(commit_error("blocks", blocks(limits::commit_blocks_bytes_max)),
            ec::none);
  EXPECT_EQ(commit_error("blocks", blocks(limits::commit_blocks_bytes_max + 1)),
            ec::limit_reached);
  const auto sync = [&](size_t size) {
    return decode_error(
      frame("#sync", with(sync_fields(), "blocks", blocks(size))));
  };
  EXPECT_EQ(sync(limits::sync_blocks_bytes_max), ec::none);
  EXPECT_EQ(sync(limits::sync_blocks_bytes_max + 1), ec::limit_reached);
}

// limits::notice_frame_bytes_max: any field may make them too long
TEST(FrameTest, KeepsTheLimitOfAnAccountAndAnIdentity) {
  const auto sized = [](std::string_view t, const fields& x,
                        const std::string& key, size_t size) {
    const auto one = frame(t, with(x, key, text(std::string(60'000, 'x'))));
    return frame(t, with(x, key,
                         text(std::string(60'000 + size - one.size(), 'x'))));
  };
  constexpr auto most = limits::notice_frame_bytes_max;
  for (const auto* key : {"status", "more"}) {
    const auto x = account_fields();
    EXPECT_EQ(sized("#account", x, key, most).size(), most);
    EXPECT_EQ(decode_error(sized("#account", x, key, most)), ec::none);
    EXPECT_EQ(decode_error(sized("#account", x, key, most + 1)),
              ec::limit_reached);
  }
  const auto x = identity_fields();
  EXPECT_EQ(decode_error(sized("#identity", x, "more", most)), ec::none);
  EXPECT_EQ(decode_error(sized("#identity", x, "more", most + 1)),
            ec::limit_reached);
}

// protocol-coverage.md 3.0
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

// protocol-coverage.md 1.6
TEST(FrameTest, DoesNotDecodeAnUnknownKind) {
  EXPECT_EQ(decode_error(frame("#future", {})), ec::invalid_argument);
}

// -- encoding -----------------------------------------------------------------

// protocol-coverage.md 1.7
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
  const auto info = frame(
    "#info", {{"name", text("OutdatedCursor")}, {"message", text("m")}});
  EXPECT_EQ(encode_frame(decode<info_event>(info)), info);
  const auto failed = join(map({{"op", number(-1)}}),
                           map({{"error", text("ConsumerTooSlow")}}));
  EXPECT_EQ(encode_frame(decode<error_event>(failed)), failed);
  const auto kinds = bytes{0xa2, 0x61, 0x74, 0x67, '#', 'c', 'o', 'm',
                           'm',  'i',  't',  0x62, 'o', 'p', 0x01};
  EXPECT_TRUE(std::ranges::equal(bytes_view{whole}.first(kinds.size()), kinds));
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
