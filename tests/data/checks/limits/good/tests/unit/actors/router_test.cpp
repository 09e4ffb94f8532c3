TEST(Router, HasItsBounds) {
  EXPECT_TRUE(fits_router(limits::two_actors_max));
  EXPECT_TRUE(fits_router(limits::router_max));
  EXPECT_TRUE(fits_router(limits::events_standard));
  EXPECT_TRUE(fits_node(limits::events_range.max));
}
