#include "actors/node/limits.hpp"
#include "actors/node/network.hpp"
#include "net/limits.hpp"
#include "net/url.hpp"
#include "tests/support/manual_clock.hpp"
#include "tests/support/net_memory.hpp"

#include <gtest/gtest.h>

namespace weir::tests {

namespace {

/// Sends `times` requests to one server at once.
/// @returns the number of its new connections
size_t dials_of(const net::http_client_ptr& client, memory_transport& at,
                size_t times) {
  const auto before = at.dialled.size();
  for (size_t i = 0; i < times; ++i) {
    net::http_request x;
    x.target = *net::parse_url("http://10.0.0.1/did:plc:" + std::to_string(i));
    client->get(std::move(x), [](const auto&) {
      // nop
    });
  }
  at.loop.run();
  return at.dialled.size() - before;
}

} // namespace

// limits::directory_connections_max: a configured server may have more
// connections than one that a stranger names.
TEST(NetworkTest, TheDirectoryHasSoManyConnectionsAndNotOneMore) {
  manual_clock time;
  const auto at = std::make_shared<memory_transport>();
  actors::node_config config;
  config.allow_private_addresses = true;
  auto out = actors::make_network(config, time, at, nullptr);
  ASSERT_TRUE(out);
  constexpr auto most = limits::directory_connections_max;
  EXPECT_EQ(dials_of(out->configured, *at, most), most);
  EXPECT_EQ(dials_of(out->configured, *at, 1), 0u);
  EXPECT_EQ(dials_of(out->guarded, *at, most),
            limits::http_connections_per_origin_max);
  out->configured.reset();
  out->guarded.reset();
  at->loop.run();
}

} // namespace weir::tests
