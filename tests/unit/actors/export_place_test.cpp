#include "actors/identity/limits.hpp"
#include "atproto/limits.hpp"
#include "tests/unit/actors/export_world.hpp"

// docs/adr/0015-the-export-of-the-directory.md: what is kept of the export, and
// where it continues.

namespace weir::tests::exports {

TEST(export_machine, it_goes_on_where_a_life_before_was) {
  export_reader x{3'500};
  x.start();
  x.look();
  x.look();
  x.look();
  const auto read = x.place.place;
  ASSERT_EQ(read, 1'999u); // The second page begins with the last operation.
  x.machine = export_machine{{plc_origin}};
  x.start();
  x.asked.clear();
  x.run();
  EXPECT_TRUE(x.whole);
  EXPECT_EQ(x.rows.size(), 3'500u);
  EXPECT_EQ(x.asked.at(1).after, read - 1);
}

TEST(export_machine, an_export_that_is_numbered_anew_is_read_anew) {
  export_reader x{3'500};
  x.start();
  x.run();
  for (auto& y : x.log)
    y.id += " anew";
  x.log.erase(x.log.begin(), x.log.begin() + 100);
  for (auto& y : x.log)
    y.number -= 100;
  x.pass(limits::export_again);
  EXPECT_TRUE(x.counts());
  x.run();
  EXPECT_FALSE(x.counts());
  EXPECT_TRUE(x.rows.empty());
  EXPECT_EQ(x.refusals.back(), "it does not go on where it was left");
  x.whole = false;
  x.pass(limits::export_pause_max);
  x.run();
  EXPECT_TRUE(x.whole);
  EXPECT_EQ(x.rows.size(), 3'400u);
}

TEST(export_machine, that_of_another_directory_is_forgotten) {
  export_reader x{3'500};
  x.start();
  x.run();
  x.machine = export_machine{{"https://other.test"}};
  x.start();
  EXPECT_TRUE(x.rows.empty());
  EXPECT_EQ(x.place, storage::export_row{});
  x.whole = false;
  x.run();
  EXPECT_TRUE(x.whole);
  EXPECT_EQ(x.place.directory, "https://other.test");
  // In another mode it is not read, and nothing of it is kept.
  x.machine = export_machine{{}};
  x.start();
  EXPECT_TRUE(x.rows.empty());
  x.run();
  EXPECT_FALSE(x.counts());
}

TEST(export_machine, it_counts_for_a_while_and_is_forgotten_then) {
  export_reader x{3'500};
  x.start();
  x.run();
  x.pass(limits::export_fresh - 1s);
  EXPECT_TRUE(x.counts());
  x.run(0);
  EXPECT_EQ(x.rows.size(), 3'500u);
  x.pass(1s);
  EXPECT_FALSE(x.counts());
  x.look(many, true);
  EXPECT_EQ(x.rows.size(), 3'500u) << "those who want it will go on with it";
  x.run(0);
  EXPECT_TRUE(x.rows.empty());
  EXPECT_EQ(x.place, storage::export_row{});
}

TEST(export_machine, it_is_read_on_while_many_are_wanted) {
  export_reader x{3'500};
  x.start();
  x.run();
  x.log.push_back(operation_of(3'501, 1, "zNew"));
  x.asked.clear();
  x.pass(limits::export_again - 1s);
  x.run();
  EXPECT_TRUE(x.asked.empty());
  x.pass(1s);
  x.run();
  EXPECT_EQ(x.asked.size(), 3u);
  EXPECT_EQ(x.rows.at(exported_repo(1).str()).signing_key, "zNew");
  EXPECT_EQ(x.place.whole_at, x.wall.seconds());
}

TEST(export_machine, a_directory_that_goes_on_for_longer_than_it_said_is_left) {
  export_reader x{10};
  x.start();
  x.look();
  for (uint64_t i = 11; i < 100'000; ++i)
    x.log.push_back(operation_of(i, i));
  x.run();
  EXPECT_FALSE(x.whole);
  EXPECT_EQ(x.refusals.back(), "it goes on for longer than it said");
  EXPECT_LE(x.rows.size(), (many / limits::export_wanted_per_page + 2)
                             * limits::export_page_lines);
  // Pages of one operation do not avoid that.
  export_reader y{0};
  y.start();
  y.look();
  y.answers = false;
  for (uint64_t n = 0; y.refusals.empty() && n < 100'000; ++n) {
    y.look();
    while (y.last.timer && !y.last.ask) {
      y.now = std::max(y.now, *y.last.timer);
      y.look();
    }
    std::vector<atproto::exported_operation> page;
    if (n > 0)
      page.push_back(operation_of(n, n));
    page.push_back(operation_of(n + 1, n + 1));
    y.take(y.machine.on_page(page, y.now));
  }
  EXPECT_LE(y.rows.size(), 4 * (many / limits::export_wanted_per_page) + 16);
  EXPECT_EQ(y.refusals.size(), 1u);
}

TEST(export_machine, what_a_scan_left_behind_is_forgotten_when_nobody_goes_on) {
  export_reader x{3'500};
  x.start();
  x.look();
  x.look();
  x.fails = fail(ec::unreachable);
  x.look();
  x.run(0);
  EXPECT_FALSE(x.rows.empty());
  x.pass(limits::export_fresh);
  x.run(0);
  EXPECT_TRUE(x.rows.empty());
}

} // namespace weir::tests::exports
