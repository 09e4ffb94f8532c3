#include "wire/log_position.hpp"

#include <gtest/gtest.h>

// Places in a log as applications keep them: docs/api.md, `GET /v1/ops`;
// OPLOG-15.

namespace weir::wire {

TEST(LogPositionTest, ItComesBackAsItWent) {
  for (const log_position& x :
       {log_position{"0123456789abcdef.1", {0}},
        log_position{"0123456789abcdef.4294967302", {17, 0, 3}},
        log_position{"ffffffffffffffff.1", {UINT64_MAX, 1}}})
    EXPECT_EQ(parse_log_position(to_text(x)).value(), x) << to_text(x);
  EXPECT_EQ(to_text({"0123456789abcdef.1", {17, 42}}),
            "0123456789abcdef.1-17.42");
}

TEST(LogPositionTest, AnythingElseIsMalformed) {
  for (const auto* text :
       {"", "-", "-1", "17", "0123456789abcdef.1", "0123456789abcdef.1-",
        "0123456789abcdef.1-1.", "0123456789abcdef.1-.1",
        "0123456789abcdef.1-1..2", "0123456789abcdef.1-01",
        "0123456789abcdef.1-+1", "0123456789abcdef.1- 1",
        "0123456789abcdef.1-1,2", "0123456789abcdef.1-1-2",
        "0123456789abcdef.1-18446744073709551616", "0123456789abcdef.-1",
        "0123456789abcdef.01-1", "0123456789abcdef-1", "0123456789abcde.1-1",
        "0123456789abcdef0.1-1", "0123456789ABCDEF.1-1",
        "0123456789abcdeg.1-1"}) {
    const auto parsed = parse_log_position(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, ec::malformed) << text;
  }
}

} // namespace weir::wire
