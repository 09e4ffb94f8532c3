TEST(LimitsTest, SaysANumberTwice) {
  EXPECT_EQ(limits::said_twice_max, 7u);
}
