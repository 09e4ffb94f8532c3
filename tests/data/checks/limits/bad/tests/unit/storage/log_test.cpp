TEST(Log, HasItsBounds) {
  EXPECT_TRUE(fits_log(limits::one_room_max));
  EXPECT_TRUE(fits_app(limits::one_app_max));
}
