#include "net/connection_places.hpp"
#include "net/limits.hpp"

#include <gtest/gtest.h>

#include <vector>

// Strangers make room for later connections, known clients do not.
namespace weir::net {

namespace {

ip_address at(const std::string& text) {
  return *ip_address::parse(text);
}

/// Address `i` of network `n`.
ip_address at(size_t n, size_t i) {
  return at("10." + std::to_string(n / 256) + '.' + std::to_string(n % 256)
            + '.' + std::to_string(i));
}

class ConnectionPlacesTest : public testing::Test {
protected:
  uint64_t enter(const ip_address& peer) {
    const auto x = places.admit(peer);
    EXPECT_TRUE(x.place);
    EXPECT_FALSE(x.victim);
    return x.place.value_or(0);
  }

  uint64_t enter_known(const ip_address& peer) {
    const auto out = enter(peer);
    places.set_known(out);
    return out;
  }

  connection_places places{{}};
};

} // namespace

TEST(NetworkOfTest, AddressesOfOneCustomerAreOneNetwork) {
  for (const auto& [x, y] : std::vector<std::pair<const char*, const char*>>{
         {"10.1.2.3", "10.1.2.255"},
         {"2001:db8:1:2::", "2001:db8:1:2:ffff:ffff:ffff:ffff"},
         {"::ffff:10.1.2.3", "10.1.2.4"}})
    EXPECT_EQ(network_of(at(x)), network_of(at(y))) << x;
  for (const auto& [x, y] : std::vector<std::pair<const char*, const char*>>{
         {"10.1.2.3", "10.1.3.3"},
         {"2001:db8:1:2::1", "2001:db8:1:3::1"},
         {"::ffff:10.1.2.3", "10.1.3.3"},
         {"::", "0.0.0.0"}})
    EXPECT_NE(network_of(at(x)), network_of(at(y))) << x;
}

// limits::http_server_per_address_max
TEST_F(ConnectionPlacesTest, AnAddressHasSoManyAndNotOneMore) {
  std::vector<uint64_t> own;
  for (size_t i = 0; i < limits::http_server_per_address_max; ++i)
    own.push_back(enter(at(1, 1)));
  const auto next = places.admit(at(1, 1));
  EXPECT_TRUE(next.place);
  EXPECT_EQ(next.victim, own[0]) << "the oldest stranger goes";
  for (const auto x : own)
    places.set_known(x);
  EXPECT_EQ(places.admit(at(1, 1)).victim, next.place);
  places.set_known(*next.place + 1);
  const auto refused = places.admit(at(1, 1));
  EXPECT_FALSE(refused.place || refused.victim) << "all of them are known";
  enter(at(1, 2));
  places.give_back(own[1]);
  enter(at(1, 1));
}

// limits::http_server_per_network_max
TEST_F(ConnectionPlacesTest, ANetworkHasSoManyStrangersAndNotOneMore) {
  const auto known = enter_known(at("2001:db8::1"));
  std::vector<uint64_t> own;
  for (size_t i = 0; i < limits::http_server_per_network_max; ++i)
    own.push_back(enter(at("2001:db8::" + std::to_string(2 + i))));
  enter(at("2001:db8:0:1::1"));
  EXPECT_EQ(places.admit(at("2001:db8::1")).victim, own[0]);
  EXPECT_EQ(places.admit(at("2001:db8::1")).victim, own[1]);
  places.give_back(known);
  places.set_known(own[2]);
  enter(at("2001:db8::fffe"));
}

// limits::http_server_strangers_max
TEST_F(ConnectionPlacesTest, AllStrangersHaveAShareAndTheMostCrowdedGoFirst) {
  const auto first = enter(at(0, 1));
  const auto crowded = enter(at(1, 1));
  enter(at(1, 2));
  for (size_t i = 3; i < limits::http_server_strangers_max; ++i)
    enter(at(i, 1));
  EXPECT_EQ(places.admit(at(9'999, 1)).victim, crowded);
  EXPECT_EQ(places.admit(at(9'998, 1)).victim, first)
    << "of equal networks the first";
}

// limits::http_server_connections_max
TEST_F(ConnectionPlacesTest, ThereAreSoManyAndNotOneMore) {
  std::vector<uint64_t> all;
  for (size_t i = 0; i + 1 < limits::http_server_connections_max; ++i)
    all.push_back(enter_known(at(i / 64, 1)));
  const auto stranger = enter(at(5'000, 1));
  const auto next = places.admit(at(5'001, 1));
  EXPECT_EQ(next.victim, stranger);
  places.set_known(*next.place);
  const auto refused = places.admit(at(5'002, 1));
  EXPECT_FALSE(refused.place || refused.victim);
  EXPECT_EQ(places.taken(), limits::http_server_connections_max);
  places.give_back(all[0]);
  enter(at(5'002, 1));
}

TEST_F(ConnectionPlacesTest, AVictimHasNothingToGiveBack) {
  places = connection_places{{1, 1, 1, 1}};
  const auto first = enter(at(1, 1));
  const auto next = places.admit(at(2, 1));
  EXPECT_EQ(next.victim, first);
  places.set_known(first);
  places.give_back(first);
  EXPECT_EQ(places.taken(), 1u);
  places.set_known(*next.place);
  EXPECT_FALSE(places.admit(at(3, 1)).place);
}

} // namespace weir::net
