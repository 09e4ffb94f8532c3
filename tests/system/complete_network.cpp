#include "tests/system/complete_network.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace weir::tests {

namespace {

namespace whole_json = boost::json;

std::string whole_word(const whole_json::object& x, std::string_view key) {
  const auto* value = x.if_contains(key);
  return value != nullptr && value->is_string()
           ? std::string{value->as_string()}
           : std::string{};
}

} // namespace

simnet::network_options complete_network::options(uint64_t seed, bool relay) {
  simnet::network_options out;
  out.population.seed = seed;
  out.population.accounts = 12;
  out.population.records = 120;
  out.population.hosts = 2;
  out.relay = relay;
  return out;
}

complete_network::complete_network(uint64_t seed,
                                   std::vector<std::string> more, by streams,
                                   bool relay)
  : life_(options(seed, relay)), urls_(life_.start(2).value()) {
  if (streams == by::relay)
    upstreams_ = {"relay:" + urls_.relay};
  else
    for (const auto& host : urls_.hosts)
      upstreams_.push_back("pds:" + host);
  node_ = std::make_unique<hostile_node>(upstreams_, urls_.plc,
                                         std::move(more));
}

void complete_network::inject(simnet::fault_kind kind, simnet::fault what) {
  what.kind = kind;
  const auto done = life_.faults().inject(what);
  ASSERT_TRUE(done) << to_string(kind) << ": " << to_string(done.error());
}

whole_json::object complete_network::get(const std::string& path) {
  const auto answer = web_->get(node_->data_url() + path);
  if (!answer)
    return {};
  auto out = whole_json::parse(as_text(answer->body));
  return out.is_object() ? out.as_object() : whole_json::object{};
}

whole_json::object complete_network::told(const atproto::did& repo) {
  return get("/v1/repos/" + repo.str() + "/completeness");
}

whole_json::object complete_network::summary(const std::string& query) {
  return get("/v1/completeness" + query);
}

whole_json::object complete_network::row(const atproto::did& repo) {
  return get("/repos/" + repo.str());
}

std::string complete_network::difference() {
  std::string out;
  for (size_t i = 0; i < life_.truth().accounts(); ++i) {
    const auto truth = life_.truth().view(i);
    if (truth.status != simnet::standing::active || truth.relay_takedown)
      continue;
    const auto x = row(truth.id);
    const auto* complete = x.if_contains("complete");
    const auto* records = x.if_contains("record_count");
    const auto is_whole
      = complete != nullptr && complete->is_bool() && complete->as_bool();
    const auto is_equal
      = whole_word(x, "rev") == truth.rev.str() && records != nullptr
        && records->to_number<uint64_t>() == truth.records;
    if (!is_whole)
      out += truth.id.str() + " is not complete: "
             + whole_json::serialize(told(truth.id)) + "\n";
    else if (!is_equal)
      out += truth.id.str() + " is called complete and differs: "
             + whole_json::serialize(x) + "\n";
  }
  return out;
}

bool complete_network::await_whole() {
  const auto whole = eventually(node_patience, [this] {
    return difference().empty();
  });
  EXPECT_TRUE(whole) << difference() << tail_of(node_->log());
  return whole;
}

bool complete_network::await_lively() {
  if (!await_whole())
    return false;
  for (size_t i = 0; i < life_.truth().accounts(); ++i)
    life_.traffic().post(i);
  return await_whole();
}

std::vector<atproto::tid> complete_network::revs() {
  std::vector<atproto::tid> out;
  for (size_t i = 0; i < life_.truth().accounts(); ++i)
    out.push_back(life_.truth().view(i).rev);
  return out;
}

size_t
complete_network::changed_since(const std::vector<atproto::tid>& before) {
  const auto now = revs();
  size_t out = 0;
  for (size_t i = 0; i < now.size(); ++i)
    out += now[i] == before.at(i) ? 0u : 1u;
  return out;
}

bool complete_network::await_counted(uint64_t active) {
  const auto counted = eventually(node_patience, [&] {
    const auto x = summary();
    return x.contains("active") && x.at("active").to_number<uint64_t>() == active
           && x.at("complete").to_number<uint64_t>() == active;
  });
  EXPECT_TRUE(counted) << whole_json::serialize(summary());
  return counted;
}

} // namespace weir::tests
