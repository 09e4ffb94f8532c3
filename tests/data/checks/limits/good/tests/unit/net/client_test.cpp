TEST(ClientTest, HasItsBounds) {
  using namespace limits;
  expect_range(pause_range);
  EXPECT_TRUE(fits(name_bytes_max));
  EXPECT_EQ(wait, limits::answer_timeout);
}

TEST(ClientTest, KeepsASmallerOne) {
  EXPECT_FALSE(fits(2));
}
