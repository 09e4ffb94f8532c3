#include "atproto/base_encodings.hpp"
#include "atproto/car.hpp"
#include "json_vectors.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

// Proves protocol-coverage.md 2.2 against the CARs of the reference
// implementation.

namespace weir::tests {

using namespace atproto;

namespace json = boost::json;

namespace {

bytes from_base64(const json::value& x) {
  return decode_base64({x.as_string().data(), x.as_string().size()}).value();
}

} // namespace

TEST(CarVectorsTest, FilesOfTheReferenceImplementationAreReadAndMadeAlike) {
  WEIR_VECTORS(path, "vectors/atproto/packages/repo/tests/"
                     "car-file-fixtures.json");
  const auto cases = json::parse(read_file(path));
  for (const auto& x : cases.as_array()) {
    const auto car = from_base64(x.at("car"));
    const auto root = to_cid(x.at("root"));
    const auto slice = car_slice::parse(car).value();
    EXPECT_TRUE(slice.check_hashes());
    EXPECT_EQ(slice.roots(), std::vector<cid>{root});
    car_writer out{std::span{&root, 1}};
    size_t blocks = 0;
    for (const auto& block : x.at("blocks").as_array()) {
      const auto id = to_cid(block.at("cid"));
      const auto data = from_base64(block.at("bytes"));
      out.add(id, data);
      ++blocks;
      const auto* found = slice.find(id);
      ASSERT_NE(found, nullptr);
      EXPECT_TRUE(std::ranges::equal(found->data, data));
    }
    EXPECT_EQ(slice.blocks().size(), blocks);
    EXPECT_EQ(out.take(), car);
  }
  EXPECT_EQ(cases.as_array().size(), 1u);
}

} // namespace weir::tests
