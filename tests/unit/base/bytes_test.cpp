#include "base/bytes.hpp"

#include <gtest/gtest.h>

#include <string>

using namespace std::literals;

namespace weir {

namespace {

bytes to_bytes(std::string_view x) {
  return {x.begin(), x.end()};
}

} // namespace

TEST(BytesTest, TextAndBytesAreTwoViewsOfTheSameMemory) {
  const auto text = "a\0\xff"sv;
  const auto view = as_bytes(text);
  EXPECT_EQ(static_cast<const void*>(view.data()), text.data());
  ASSERT_EQ(view.size(), 3u);
  EXPECT_EQ(view[2], 0xff);
  EXPECT_EQ(as_text(view), text);
}

TEST(SharedBytesTest, TakesTheVectorOverWithoutCopyingIt) {
  auto original = to_bytes("abcdef");
  const auto* memory = original.data();
  const shared_bytes shared{std::move(original)};
  EXPECT_EQ(shared.data(), memory);
  EXPECT_EQ(shared.size(), 6u);
}

TEST(SharedBytesTest, ASliceKeepsTheWholeBufferAlive) {
  shared_bytes slice;
  {
    const shared_bytes whole{to_bytes("abcdef")};
    slice = whole.slice(2, 3);
    EXPECT_EQ(slice.data(), whole.data() + 2);
  }
  EXPECT_EQ(as_text(slice.view()), "cde");
}

TEST(SharedBytesTest, ASliceMayBeNamedByAViewIntoTheBuffer) {
  const shared_bytes whole{to_bytes("abcdef")};
  const auto slice = whole.slice(whole.view().subspan(4));
  EXPECT_EQ(as_text(slice.view()), "ef");
  EXPECT_EQ(as_text(slice.slice(1, 1).view()), "f");
}

TEST(SharedBytesTest, ACopyDoesNotFollowItsSource) {
  auto source = to_bytes("abc");
  const auto copy = shared_bytes::copy_of(source);
  source[0] = 'x';
  EXPECT_EQ(as_text(copy.view()), "abc");
}

TEST(SharedBytesTest, KeepsAForeignOwnerAliveAsLongAsAnyCopy) {
  auto owner = std::make_shared<std::string>("abc");
  const std::weak_ptr<std::string> watch = owner;
  shared_bytes first{owner, as_bytes(*owner)};
  auto second = first;
  owner.reset();
  first = {};
  EXPECT_FALSE(watch.expired());
  EXPECT_EQ(as_text(second.view()), "abc");
  second = {};
  EXPECT_TRUE(watch.expired());
}

TEST(SharedBytesTest, TheDefaultIsEmpty) {
  const shared_bytes none;
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.size(), 0u);
}

} // namespace weir
