TEST(Router, HasItsBounds) {
  EXPECT_TRUE(fits_router(limits::one_actor_max));
  EXPECT_TRUE(fits_node(limits::of_node_max));
}
