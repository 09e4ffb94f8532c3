#include "tests/system/followed_node.hpp"

#include <gtest/gtest.h>

#include <chrono>

// docs/operations.md, Watch it: the backlog counts only events that the
// application could have taken.

namespace weir::tests {

namespace {

using namespace std::chrono_literals;

class BacklogAgeTest : public followed_node, public testing::Test {
protected:
  BacklogAgeTest() : followed_node(37, 6, 60) {
    // nop
  }

  /// The metric's value.
  double age() {
    const auto page = web->get(at.operations + "/metrics").value();
    const std::string text{as_text(page.body)};
    const std::string name = "\nweir_consumer_backlog_seconds ";
    const auto place = text.find(name);
    return place == std::string::npos ? -1
                                      : std::stod(text.substr(place
                                                              + name.size()));
  }

  uint64_t outbox() { return status_of(*web, at).outbox; }

  /// Starts the node without an application.
  void start_alone() {
    node = std::make_unique<program>(how);
    at = parse_ready(node->read_line(node_patience).value_or(""));
    ASSERT_NE(at.data, "");
  }

  bool await_outbox(uint64_t wanted) {
    return eventually(node_patience, [&] {
      return outbox() == wanted;
    });
  }

  const std::vector<std::string> how
    = arguments(false, {"--mode", "full-network"});
};

} // namespace

TEST_F(BacklogAgeTest, WhatWaitsForAnAccountHasNoneAfterARestartEither) {
  run(how);
  ASSERT_TRUE(await_equal());
  ASSERT_TRUE(await_outbox(0));
  copy.end();
  post(3, 3);
  inject(simnet::fault_kind::deactivate, 3);
  ASSERT_TRUE(await_outbox(4)) << outbox();
  ASSERT_TRUE(eventually(node_patience, [this] { return age() > 0; }))
    << "nobody is there";
  copy.follow(*web, at.data);
  ASSERT_TRUE(await_outbox(3)) << outbox();
  ASSERT_TRUE(eventually(node_patience, [this] { return age() == 0; }));
  stop();
  const auto restarted = std::chrono::steady_clock::now();
  start_alone();
  ASSERT_TRUE(await_outbox(3)) << outbox();
  post(4, 1); // No application takes it.
  ASSERT_TRUE(await_outbox(4)) << outbox();
  ASSERT_TRUE(eventually(node_patience, [this] { return age() > 0; }));
  const auto oldest = std::chrono::duration<double>{age()};
  EXPECT_LT(oldest, std::chrono::steady_clock::now() - restarted);
}

} // namespace weir::tests
