#include "apps/demo/evidence.hpp"

#include <gtest/gtest.h>

namespace weir::apps {

namespace {

constexpr std::string_view page
  = "# HELP weir_repo_events_total Events of streams, by what became of "
    "them\n# TYPE weir_repo_events_total "
    "counter\nweir_repo_events_total{result=\"applied\"} "
    "5980\nweir_repo_events_total{result=\"bad_signature\"} "
    "3\nweir_repo_events_total{result=\"chain_broken\"} "
    "1\nweir_repo_events_total{result=\"bad_proof\"} "
    "1\nweir_upstream_dials_total{upstream=\"a\"} "
    "2\nweir_upstream_dials_total{upstream=\"b\"} 1\nweir_records "
    "60000\nweir_records_total 7\n";

} // namespace

TEST(DemoEvidenceTest, ATotalIsTheSumOverLabels) {
  EXPECT_EQ(metric_total(page, "weir_upstream_dials_total"), 3u);
  EXPECT_EQ(
    metric_total(page, "weir_repo_events_total", "result=\"bad_signature\""),
    3u);
  EXPECT_EQ(metric_total(page, "weir_records"), 60'000u);
  EXPECT_EQ(metric_total(page, "weir_absent"), 0u);
  EXPECT_EQ(metric_total("weir_x", "weir_x"), 0u);
}

TEST(DemoEvidenceTest, WhatWasNoticedInFullIsNotNamed) {
  EXPECT_TRUE(unnoticed_faults({{"bad_signature", 3},
                                {"broken_chain", 1},
                                {"wrong_prev_data", 1},
                                {"drop_connection", 2}},
                               page)
                .empty());
}

TEST(DemoEvidenceTest, OneFaultThatWasNotNoticedIsNamed) {
  EXPECT_EQ(unnoticed_faults({{"bad_signature", 4}}, page).size(), 1u);
  EXPECT_EQ(unnoticed_faults({{"broken_chain", 3}}, page).size(), 1u);
  EXPECT_EQ(unnoticed_faults({{"drop_connection", 3}}, page).size(), 1u);
  EXPECT_EQ(unnoticed_faults({{"directory_refuse", 1}}, page).size(), 1u);
  EXPECT_EQ(unnoticed_faults({{"take_down", 1}}, page),
            std::vector<std::string>{"the node counted 0 of 1 for take_down"});
}

} // namespace weir::apps
