#include "apps/weir/web_client.hpp"
#include "tests/support/vectors.hpp"
#include "tests/system/complete_network.hpp"

#include <gtest/gtest.h>

#include <regex>
#include <set>

// The metrics of docs/operations.md, against what a node that follows something
// prints. cmake/check_operations.cmake holds the rest of the page to the code.

namespace weir::tests {

namespace {

/// With `{label}` or `{label="value"}`, where the page says it so.
std::set<std::string> metrics_of_page() {
  const auto page = read_file(data_path("../../docs/operations.md"));
  const std::regex name{"weir_[a-z][a-z0-9_]*(\\{[a-z]+(=\"[a-z]+\")?\\})?"};
  std::set<std::string> out;
  for (std::sregex_iterator i{page.begin(), page.end(), name}, end; i != end;
       ++i)
    out.insert(i->str());
  return out;
}

/// Whether one of the lines is a sample of it.
bool has_sample(const std::string& text, const std::string& metric) {
  const auto brace = metric.find('{');
  if (brace == std::string::npos)
    return text.find('\n' + metric + ' ') != std::string::npos
           || text.find('\n' + metric + '{') != std::string::npos;
  auto start = '\n' + metric;
  if (metric.find('=') == std::string::npos)
    start.back() = '=';
  return text.find(start) != std::string::npos;
}

} // namespace

TEST(OperationsPageTest, EveryMetricThatItNamesIsPrinted) {
  complete_network net{20};
  ASSERT_TRUE(net.await_whole());
  const auto answer
    = apps::web_client::make()->get(net.node().operations_url() + "/metrics");
  ASSERT_TRUE(answer);
  const std::string text{as_text(answer->body)};
  const auto names = metrics_of_page();
  EXPECT_GE(names.size(), 15u);
  EXPECT_TRUE(names.contains("weir_store_bytes{family}"));
  for (const auto& x : names)
    EXPECT_TRUE(has_sample(text, x)) << x;
}

} // namespace weir::tests
