#include "actors/identity/limits.hpp"
#include "actors/support/limits.hpp"
#include "atproto/limits.hpp"
#include "tests/unit/actors/export_world.hpp"

// docs/adr/0015-the-export-of-the-directory.md: when the export is read, and
// how fast.

namespace weir::tests::exports {

// protocol-coverage.md 8.3
TEST(export_machine, it_is_read_to_its_end_and_counts_then) {
  export_reader x{3'500};
  x.start();
  x.run();
  EXPECT_TRUE(x.whole);
  EXPECT_EQ(x.rows.size(), 3'500u);
  EXPECT_TRUE(x.counts());
  // One request for its length, four pages, and one that brings nothing new.
  EXPECT_EQ(x.asked.size(), 6u);
  EXPECT_EQ(x.place.place, 3'500u);
  EXPECT_EQ(x.place.whole_at, x.wall.seconds());
  // It is not read again soon, however many documents are needed.
  x.run();
  EXPECT_EQ(x.asked.size(), 6u);
}

// Before an account counts as inactive the directory is asked for its document,
// because an export that is made at intervals names former hosts.
TEST(export_machine, what_it_says_never_names_the_current_host) {
  export_reader x{3'500};
  x.start();
  x.run();
  const auto too_old = limits::identity_current + 1s;
  const auto end = x.wall.seconds();
  EXPECT_EQ(x.machine.as_of(x.wall), end - too_old.count());
  x.pass(too_old - 1s);
  EXPECT_EQ(x.machine.as_of(x.wall), end - 1);
  x.pass(2s);
  EXPECT_EQ(x.machine.as_of(x.wall), end) << "it is old enough";
}

TEST(export_machine, nothing_counts_before_its_end) {
  export_reader x{3'500};
  x.start();
  x.look();
  x.answers = false;
  while (x.machine.operations() < 2'000) {
    x.look();
    x.answer(*x.last.ask);
    EXPECT_FALSE(x.counts());
  }
  EXPECT_EQ(x.rows.size(), x.machine.operations());
}

TEST(export_machine, the_last_operation_of_a_did_is_what_is_kept) {
  export_reader x{10};
  x.log.push_back(operation_of(11, 3, "zNew"));
  auto gone = operation_of(12, 4);
  gone.doc.reset();
  x.log.push_back(gone);
  x.start();
  x.run();
  EXPECT_EQ(x.rows.at(exported_repo(3).str()).signing_key, "zNew");
  EXPECT_FALSE(x.rows.contains(exported_repo(4).str()));
  EXPECT_TRUE(x.rows.contains(exported_repo(5).str()));
}

// limits::export_wanted_min
TEST(export_machine, so_many_documents_must_be_wanted_and_not_one_fewer) {
  export_reader x{10};
  x.start();
  x.run(limits::export_wanted_min - 1);
  EXPECT_TRUE(x.asked.empty());
  x.run(limits::export_wanted_min);
  EXPECT_TRUE(x.whole);
}

// limits::export_wanted_per_page, limits::export_page_lines
TEST(export_machine, an_export_is_read_up_to_the_length_that_is_worth_it) {
  const auto pages = 7;
  const auto wanted = pages * limits::export_wanted_per_page;
  export_reader x{pages * limits::export_page_lines};
  x.start();
  x.run(wanted);
  EXPECT_TRUE(x.whole);
  export_reader longer{pages * limits::export_page_lines + 1};
  longer.start();
  longer.run(wanted);
  EXPECT_EQ(longer.asked.size(), 1u);
  EXPECT_TRUE(longer.rows.empty());
  ASSERT_EQ(longer.refusals.size(), 1u);
  EXPECT_EQ(longer.refusals[0], "reading all of it would take longer than the "
                                "look-ups wanted so far");
}

TEST(export_machine,
     one_that_is_too_long_is_looked_at_when_a_quarter_more_is_wanted) {
  export_reader x{100'000};
  x.start();
  x.run(2'000);
  x.run(2'499);
  EXPECT_EQ(x.asked.size(), 1u);
  x.run(2'500);
  EXPECT_EQ(x.asked.size(), 2u);
  EXPECT_EQ(x.refusals.size(), 1u) << "it is said once";
  x.run(100'000);
  EXPECT_TRUE(x.whole);
}

// limits::export_pause_min, limits::export_pause_max
TEST(export_machine, after_a_failure_it_rests_longer_each_time) {
  export_reader x{10};
  x.start();
  std::chrono::microseconds pause = limits::export_pause_min;
  for (int i = 0; i < 12; ++i) {
    x.fails = fail(ec::unreachable, "HTTP 404");
    x.run();
    ASSERT_EQ(x.asked.size(), 1u + static_cast<size_t>(i));
    x.pass(pause - 1us);
    x.run();
    ASSERT_EQ(x.asked.size(), 1u + static_cast<size_t>(i));
    x.pass(1us);
    pause = std::min<std::chrono::microseconds>(2 * pause,
                                                limits::export_pause_max);
  }
  EXPECT_EQ(pause, limits::export_pause_max);
  EXPECT_EQ(x.refusals, std::vector<std::string>{"unreachable: HTTP 404"});
  x.run();
  EXPECT_TRUE(x.whole);
}

// limits::export_page_lines_min
TEST(export_machine, pages_that_are_too_large_are_asked_for_in_pieces) {
  export_reader x{100};
  x.start();
  x.answers = false;
  x.look();
  x.answer(*x.last.ask);
  const auto lines = [&x] {
    x.look();
    const auto out = x.last.ask.value_or(export_machine::request{}).lines;
    x.take(x.machine.on_failed(fail(ec::limit_reached, "too large"), x.now));
    return out;
  };
  EXPECT_EQ(lines(), limits::export_page_lines);
  EXPECT_EQ(lines(), limits::export_page_lines / 4);
  EXPECT_EQ(lines(), limits::export_page_lines / 16);
  EXPECT_EQ(lines(), limits::export_page_lines_min);
  EXPECT_EQ(x.refusals.size(), 1u);
}

// limits::export_pages_per_second, limits::export_pages_at_once
TEST(export_machine, pages_come_at_a_steady_rate_after_the_first_ones) {
  export_reader x{200 * limits::export_page_lines};
  x.start();
  const auto begin = x.now;
  x.run(300 * limits::export_wanted_per_page);
  EXPECT_TRUE(x.whole);
  EXPECT_EQ(x.asked.size(), 203u); // Each page repeats one operation.
  const std::chrono::duration<double> took = x.now - begin;
  EXPECT_NEAR(
    took.count(),
    (203 - limits::export_pages_at_once) / limits::export_pages_per_second, 2);
}

// limits::export_requests_per_page, limits::export_requests_min
TEST(export_machine, pages_may_be_smaller_than_requested_but_not_all) {
  const auto pages = 7;
  export_reader x{100};
  x.page_lines_max = 2; // One is the last of the page before.
  x.start();
  x.run(pages * limits::export_wanted_per_page);
  EXPECT_FALSE(x.whole);
  // The first one asks how long it is.
  EXPECT_EQ(x.asked.size(), 1 + pages * limits::export_requests_per_page
                              + limits::export_requests_min);
  EXPECT_EQ(x.refusals,
            std::vector<std::string>{"it goes on for longer than it said"});
}

TEST(export_machine, without_room_nothing_is_asked_for) {
  export_reader x{3'500};
  x.start();
  x.look(many, false, false);
  EXPECT_TRUE(x.asked.empty());
  x.look();
  EXPECT_EQ(x.asked.size(), 1u);
}

TEST(export_machine, newcomers_count_until_it_was_read) {
  constexpr auto few = limits::export_wanted_min - 1;
  export_reader x{10};
  x.start();
  for (size_t i = 0; i < few; ++i)
    x.machine.on_newcomer();
  x.look(few);
  EXPECT_TRUE(x.asked.empty()) << "those that wait may be the same";
  x.machine.on_newcomer();
  x.run(0);
  EXPECT_TRUE(x.whole);
  const auto asked = x.asked.size();
  x.pass(limits::export_fresh);
  x.run(0);
  EXPECT_EQ(x.asked.size(), asked);
}

TEST(export_machine, a_directory_that_limits_us_is_asked_for_nothing) {
  export_reader x{3'500};
  x.start();
  x.look(many, true);
  EXPECT_TRUE(x.asked.empty());
  x.look();
  EXPECT_EQ(x.asked.size(), 1u);
  x.look(many, true);
  EXPECT_EQ(x.asked.size(), 1u);
  ASSERT_TRUE(x.last.timer);
  EXPECT_EQ(*x.last.timer, x.now + limits::plc_rest_min);
  x.run();
  EXPECT_TRUE(x.whole);
}

// limits::export_fresh
// limits::export_again

} // namespace weir::tests::exports
