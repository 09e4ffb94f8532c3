TEST(FrameTest, HasItsBound) {
  EXPECT_TRUE(is_frame(limits::frame_bytes_max));
}
