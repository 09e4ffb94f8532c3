// SYNC-20, actors.md, CONS-01 and rules.md section 2: 3 of them; I10
TEST(FrameTest, Holds) { read("../../docs/rules.md"); }
