TEST(Log, HasItsBounds) {
  EXPECT_TRUE(fits_key(limits::two_rooms_max));
  EXPECT_TRUE(fits_log(limits::of_log_max));
  EXPECT_TRUE(fits_app(limits::of_app_max));
}
