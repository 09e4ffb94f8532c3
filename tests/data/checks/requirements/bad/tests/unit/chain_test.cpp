// TEST(ChainTest, Gone) {}
TEST(ChainTest, Holds) {}
