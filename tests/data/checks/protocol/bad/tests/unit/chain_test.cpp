// TEST(ChainTest, Gone) {}

// protocol.md 1.1, 3.7
TEST(ChainTest, Holds) {}

// protocol.md 2.1
TEST(ChainTest, Silent) {}
