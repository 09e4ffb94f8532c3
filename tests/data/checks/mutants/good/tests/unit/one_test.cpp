TEST(one, is_one) {
  EXPECT_EQ(one(), 1);
}
