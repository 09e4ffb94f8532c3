TEST(ClientTest, HasItsBounds) {
  EXPECT_TRUE(fits(limits::kept_and_tested_max));
  EXPECT_FALSE(fits(limits::only_tested_max));
  EXPECT_TRUE(fits_elsewhere(limits::one_folder_max));
  EXPECT_TRUE(fits_elsewhere(limits::of_another_max));
  EXPECT_EQ(client_options{}.most, limits::compared_max);
  const client_options unset;
  EXPECT_EQ(unset.most,
            limits::compared_with_unset_max);
  EXPECT_EQ(x.*member, range.standard) << name;
  options.member_timeout = 1ms; // As limits::commented_max.
}
