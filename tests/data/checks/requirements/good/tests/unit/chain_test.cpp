TEST(ChainTest, Holds) {}
TEST_F(ChainTest,
       AlsoHolds) {}
