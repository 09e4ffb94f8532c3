#include "tests/system/log_reading.hpp"

#include <gtest/gtest.h>

namespace weir::tests {

std::string told_json::text(std::string_view name) const {
  return text_in(body, name);
}

told_json ask_data(const hostile_node& node, const std::string& path) {
  static const auto web = apps::web_client::make();
  const auto answer = web->get(node.data_url() + path);
  if (!answer)
    return {};
  auto body = boost::json::parse(as_text(answer->body));
  return {answer->status,
          body.is_object() ? body.as_object() : boost::json::object{}};
}

std::string text_in(const boost::json::value& x, std::string_view name) {
  const auto* value = x.as_object().if_contains(name);
  return value != nullptr && value->is_string()
           ? std::string{value->as_string()}
           : "";
}

uint64_t number_in(const boost::json::value& x, std::string_view name) {
  return x.at(name).to_number<uint64_t>();
}

std::vector<boost::json::object> read_log(const hostile_node& node,
                                          size_t limit,
                                          const std::string& query,
                                          std::string* cursor) {
  std::vector<boost::json::object> out;
  std::string since;
  for (bool more = true; more;) {
    const auto page
      = ask_data(node, "/v1/ops?limit=" + std::to_string(limit) + query
                         + (since.empty() ? "" : "&since=") + since);
    EXPECT_EQ(page.status, 200) << boost::json::serialize(page.body);
    if (page.status != 200)
      break;
    for (const auto& x : page.list("operations"))
      out.push_back(x.as_object());
    since = page.text("cursor");
    more = page.body.at("more").as_bool();
    EXPECT_LE(page.list("operations").size(), limit);
    EXPECT_TRUE(!more || page.list("operations").size() == limit)
      << "pages are full";
  }
  if (cursor != nullptr)
    *cursor = since;
  return out;
}

} // namespace weir::tests
