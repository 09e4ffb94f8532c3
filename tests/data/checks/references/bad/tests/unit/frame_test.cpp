// reliability.md P9: in time
TEST(FrameTest, Holds) {}
