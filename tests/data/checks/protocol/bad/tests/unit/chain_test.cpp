// TEST(ChainTest, Gone) {}

// protocol-coverage.md 1.0, 1.1, 1.2, 2.1.0, 2.1.1, 2.1.2, 3.7
TEST(ChainTest, Holds) {}

// protocol-coverage.md 2.1
TEST(ChainTest, Silent) {}
