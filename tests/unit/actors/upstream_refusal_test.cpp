#include "atproto/dag_cbor.hpp"
#include "tests/unit/actors/upstream_stream.hpp"

#include <gmock/gmock.h>

// What a stream says that is no event: protocol.md 1.6.

namespace weir::tests {
namespace {

using testing::IsEmpty;

/// A header alone, in front of a body without a field.
shared_bytes bare_frame(int64_t op, std::string_view kind) {
  atproto::cbor::writer out;
  if (kind.empty())
    out.begin_map(1).put_text("op").put_int(op);
  else
    out.begin_map(2).put_text("t").put_text(kind).put_text("op").put_int(op);
  out.begin_map(0);
  return shared_bytes{out.take()};
}

void expect_malformed(const shared_bytes& frame) {
  stream x;
  const auto out = x.take({frame});
  EXPECT_TRUE(out.disconnect);
  EXPECT_THAT(out.forward, IsEmpty());
  EXPECT_EQ(x.machine.counters().malformed, 1u);
  EXPECT_EQ(x.machine.row().cursor, 10u);
}

TEST(upstream_refusals, an_event_without_a_usable_seq_is_malformed) {
  expect_malformed(account_frame(0));
  expect_malformed(account_frame(-1));
}

TEST(upstream_refusals, an_info_and_an_error_that_say_nothing_are_malformed) {
  expect_malformed(bare_frame(1, "#info"));
  expect_malformed(bare_frame(-1, {}));
}

} // namespace
} // namespace weir::tests
