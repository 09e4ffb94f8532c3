// Proves protocol-coverage.md 2.
// protocol-coverage.md 1.0, 1.1, 1.2, 1.t1, 1.t2, 2.t1, 2.1.0, 2.1.1, 2.1.2, 2.2.1
// protocol-coverage.md 2.2.2; protocol-coverage.md 11.1, 11.2: and why
TEST(ChainTest, Holds) {}

// protocol-coverage.md 1.1, 2.1: of a whole section
TEST_F(ChainTest,
       AlsoHolds) {}
