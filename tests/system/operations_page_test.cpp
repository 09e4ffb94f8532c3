#include "apps/weir/web_client.hpp"
#include "tests/support/vectors.hpp"
#include "tests/system/complete_network.hpp"

#include <gtest/gtest.h>

#include <regex>
#include <set>

// Compares the metrics in docs/operations.md with those of a node that follows
// something. cmake/check_operations.cmake compares the rest of the page with
// the code.

namespace weir::tests {

namespace {

/// The names, with `{label}` or `{label="value"}` where the page has them.
std::set<std::string> metrics_of_page() {
  const auto page = read_file(data_path("../../docs/operations.md"));
  const std::regex name{"weir_[a-z][a-z0-9_]*(\\{[a-z]+(=\"[a-z]+\")?\\})?"};
  std::set<std::string> out;
  for (std::sregex_iterator i{page.begin(), page.end(), name}, end; i != end;
       ++i)
    out.insert(i->str());
  return out;
}

using name_set = std::set<std::string>;

/// All matches of group 1.
std::vector<std::string> all_of(const std::string& text,
                                const std::string& pattern) {
  const std::regex wanted{pattern};
  std::vector<std::string> out;
  for (std::sregex_iterator i{text.begin(), text.end(), wanted}, end; i != end;
       ++i)
    out.push_back(i->str(1));
  return out;
}

/// The label names of a metric's first sample.
name_set labels_of(const std::string& text, const std::string& metric) {
  const auto at = text.find('\n' + metric + '{');
  if (at == std::string::npos)
    return {};
  const auto line = text.substr(at + 1, text.find('\n', at + 1) - at - 1);
  const auto names = all_of(line, "[{,]([a-z_]+)=\"");
  return {names.begin(), names.end()};
}

/// A comparison in an expression matches samples with equal labels, except for
/// those that `ignoring` names. Samples without a partner are dropped, so the
/// alert would never fire. A metric with labels and one without have no
/// partners either.
bool compares_alike(const std::string& expression, const std::string& text) {
  name_set ignored;
  for (const auto& list : all_of(expression, "ignoring\\(([a-z_, ]*)\\)"))
    for (const auto& name : all_of(list, "([a-z_]+)"))
      ignored.insert(name);
  std::set<name_set> found;
  for (const auto& metric : all_of(expression, "\\b(weir_[a-z0-9_]+)")) {
    auto labels = labels_of(text, metric);
    std::erase_if(labels, [&](const auto& x) { return ignored.contains(x); });
    found.insert(std::move(labels));
  }
  return found.size() <= 1;
}

/// The expressions of the table of alerts: the text in backticks that has a
/// comparison.
std::vector<std::string> alerts_of_page() {
  const auto page = read_file(data_path("../../docs/operations.md"));
  const auto from = page.find("| alert | when |");
  const auto table = page.substr(from, page.find("\n\n", from) - from);
  return all_of(table, "`([^`]*(?:>|<|==) [^`]*)`");
}

/// Whether one of the lines is a sample of the metric.
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

/// The metrics of a node that follows something.
std::string metrics_of_node() {
  complete_network net{20};
  EXPECT_TRUE(net.await_whole());
  const auto answer
    = apps::web_client::make()->get(net.node().operations_url() + "/metrics");
  EXPECT_TRUE(answer);
  return answer ? std::string{as_text(answer->body)} : std::string{};
}

} // namespace

TEST(OperationsPageTest, EveryMetricThatItNamesIsPrinted) {
  const auto text = metrics_of_node();
  const auto names = metrics_of_page();
  EXPECT_GE(names.size(), 15u);
  EXPECT_TRUE(names.contains("weir_store_bytes{family}"));
  for (const auto& x : names)
    EXPECT_TRUE(has_sample(text, x)) << x;
}

TEST(OperationsPageTest, AlertsCompareMetricsOfTheSameLabels) {
  const auto text = metrics_of_node();
  const auto alerts = alerts_of_page();
  EXPECT_GE(alerts.size(), 8u);
  for (const auto& x : alerts)
    EXPECT_TRUE(compares_alike(x, text)) << x;
  // Shows that the check can fail.
  EXPECT_FALSE(
    compares_alike("weir_repos{state=\"error\"} > weir_repos_tracked", text));
  EXPECT_FALSE(compares_alike(
    "weir_repos{state=\"error\"} > ignoring(url) weir_repos_tracked", text));
}

} // namespace weir::tests
