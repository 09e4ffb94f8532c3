#include "actors/consumer/client_channels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::actors {
namespace {

class narrow_socket final : public event_channel {
public:
  explicit narrow_socket(size_t room) : room_(room) {}

  bool send(std::string_view text) override {
    if (texts.size() == room_)
      return false;
    texts.emplace_back(text);
    return true;
  }

  void cut() override {}

  std::vector<std::string> texts;

private:
  size_t room_;
};

delivery_effects::send event_to(session_id to, op_id id) {
  delivery_effects::send out;
  out.to = to;
  out.id = id;
  return out;
}

} // namespace

// The rest of its share is sent again in order, so nothing may pass it.
TEST(client_channels, a_full_socket_gets_nothing_more_and_holds_up_no_other) {
  const auto full = std::make_shared<narrow_socket>(1);
  const auto free = std::make_shared<narrow_socket>(9);
  const wire::event_numbers numbers;
  client_channels all{"channel", numbers};
  all.open({1, full, nullptr});
  all.open({2, free, nullptr});
  size_t encoded = 0;
  const auto reports
    = all.send({event_to(1, 1), event_to(1, 2), event_to(2, 3), event_to(1, 4),
                event_to(2, 5), event_to(3, 6)},
               [&](const auto& x) {
                 ++encoded;
                 return std::to_string(x.id);
               });
  EXPECT_THAT(full->texts, testing::ElementsAre("1"));
  EXPECT_THAT(free->texts, testing::ElementsAre("3", "5"));
  EXPECT_EQ(encoded, 4u) << "what nobody takes is not encoded";
  ASSERT_EQ(reports.size(), 3u);
  EXPECT_EQ(reports[0].to, 1u);
  EXPECT_EQ(reports[0].taken, 1u);
  EXPECT_EQ(reports[1].to, 2u);
  EXPECT_EQ(reports[1].taken, 2u);
  EXPECT_EQ(reports[2].taken, 0u) << "it has no socket any more";
}

} // namespace weir::actors
