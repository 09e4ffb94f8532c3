enum class health_cause : uint8_t {
  directory, ///< A comment.
  fetch,
};
enum class shortage : uint8_t { disk };
void node() {
  gauge("weir_records", "help");
  log::info("started");
  log::warn("unhealthy", {{"grade", 1}});
  log::error(
    "node_failed", {});
  waiting.emplace_back("starting");
  route{port::data, "GET", "/repos/errors", 0};
}
