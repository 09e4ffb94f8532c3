#include "net/address_guard.hpp"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

namespace weir::net {

namespace {

ip_address address(std::string_view text) {
  auto x = ip_address::parse(text);
  EXPECT_TRUE(x) << text;
  return x ? *x : ip_address{};
}

url target(std::string_view text) {
  auto x = parse_url(text);
  EXPECT_TRUE(x) << text;
  return x ? *x : url{};
}

// The table of hostile-inputs.md 2.1.24 and the special-purpose registries of
// IANA: first and last address of every block and the neighbours outside, by
// the rules of that table. They are stricter than IANA: 192.0.0/24 and
// 2001::/23 contain single addresses for public use.
constexpr std::string_view refused = R"(
  # this network; private; carrier-grade NAT
  0.0.0.0 0.0.0.1 0.255.255.255
  10.0.0.0 10.0.0.1 10.255.255.255
  100.64.0.0 100.100.100.200 100.127.255.255
  # loopback; link local, with the metadata of clouds
  127.0.0.0 127.0.0.1 127.0.1.1 127.255.255.255
  169.254.0.0 169.254.169.254 169.254.255.255
  172.16.0.0 172.17.0.1 172.31.255.255
  # protocol assignments, all of them: DS-Lite, dummy, PCP, TURN, NAT64
  192.0.0.0 192.0.0.7 192.0.0.8 192.0.0.9 192.0.0.10 192.0.0.170 192.0.0.171
  192.0.0.255
  # documentation; 6to4 relays; private; benchmarking; documentation
  192.0.2.0 192.0.2.1 192.0.2.255
  192.88.99.0 192.88.99.1 192.88.99.2 192.88.99.255
  192.168.0.0 192.168.0.1 192.168.255.255
  198.18.0.0 198.18.255.255 198.19.0.0 198.19.255.255
  198.51.100.0 198.51.100.255
  203.0.113.0 203.0.113.255
  # multicast; reserved; broadcast
  224.0.0.0 224.0.0.251 232.1.1.1 239.255.255.255
  240.0.0.0 250.1.2.3 255.255.255.254 255.255.255.255
  # IPv6 below 2000::/3: unspecified, loopback, IPv4-compatible, translated
  :: ::1 ::2 ::127.0.0.1 ::8.8.8.8 ::ffff:0:127.0.0.1 ::ffff:0:8.8.8.8
  ::fffe:ffff:ffff ::1:0:0:0 1::1
  # beside the NAT64 prefix, and the local one
  64:ff9a:ffff:ffff:ffff:ffff:ffff:ffff 64:ff9b::1:0:0 64:ff9b:0:1::8.8.8.8
  64:ff9b:1:: 64:ff9b:1::1 64:ff9b:1:ffff:ffff:ffff:ffff:ffff 64:ff9b:2::
  # discard only; dummy; the last one below
  100:: 100::1 100::ffff:ffff:ffff:ffff 100:0:0:1:: 100:0:0:1::1
  1fff:: 1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
  # above it: segment routing, unique local, link and site local, multicast
  4000:: 4000::1 5eff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
  5f00:: 5f00::1 5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff 6000:: 8000::1
  fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
  fc00:: fc00::1 fd00::1 fd00:ec2::254 fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
  fe00:: fe80:: fe80::1 febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff
  fec0:: fec0::1 feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
  ff00:: ff02::1 ff05::2 ff0e::1 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
  # protocol assignments inside 2000::/3, all of them: Teredo with a public and
  # a private server and client, PCP, TURN, SD, benchmarking, AMT, AS112,
  # ORCHID, ORCHIDv2, DRIP
  2001:: 2001::1 2001:0:ffff:ffff:ffff:ffff:ffff:ffff
  2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:0:808:808:0:0:f7f7:f7f7
  2001:0:7f00:1:0:0:80ff:fffe
  2001:1::1 2001:1::2 2001:1::3 2001:2:: 2001:2::1 2001:2:0:ffff::
  2001:3:: 2001:3:ffff:: 2001:4:112:: 2001:4:112:ffff:ffff:ffff:ffff:ffff
  2001:10:: 2001:1f:ffff:: 2001:20:: 2001:2f:ffff:: 2001:30:: 2001:3f:ffff::
  2001:1ff:: 2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff
  # documentation; 6to4 of private and of public addresses; documentation
  2001:db8:: 2001:db8::1 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff
  2002:: 2002:7f00:1::1 2002:a00:1::1 2002:a9fe:a9fe::1 2002:c0a8:1::1
  2002:808:808::1 2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff
  3fff:: 3fff::1 3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff
  # IPv4 mapped into IPv6: the edges again
  ::ffff:0.0.0.0 ::ffff:0.255.255.255 ::ffff:10.0.0.0 ::ffff:10.255.255.255
  ::ffff:100.64.0.0 ::ffff:100.127.255.255 ::ffff:127.0.0.2 ::ffff:7f00:1
  ::ffff:127.255.255.255 ::ffff:169.254.169.254 ::ffff:172.16.0.1
  ::ffff:172.31.255.255 ::ffff:192.0.0.8 ::ffff:192.0.2.1 ::ffff:192.88.99.1
  ::ffff:192.168.1.1 ::ffff:198.18.0.1 ::ffff:198.51.100.1 ::ffff:203.0.113.1
  ::ffff:224.0.0.1 ::ffff:240.0.0.1 ::ffff:255.255.255.255
  # and behind NAT64
  64:ff9b:: 64:ff9b::0.255.255.255 64:ff9b::10.1.2.3 64:ff9b::100.64.0.1
  64:ff9b::127.0.0.1 64:ff9b::a9fe:a9fe 64:ff9b::172.16.0.1 64:ff9b::192.0.0.1
  64:ff9b::192.0.2.1 64:ff9b::192.88.99.1 64:ff9b::192.168.0.1
  64:ff9b::198.18.0.1 64:ff9b::198.51.100.1 64:ff9b::203.0.113.1
  64:ff9b::224.0.0.1 64:ff9b::255.255.255.255
)";

constexpr std::string_view allowed = R"(
  # beside the blocks of IPv4, and public ones
  1.0.0.0 1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0
  126.255.255.255 128.0.0.0 169.253.255.255 169.255.0.0 172.15.255.255
  172.32.0.0 191.255.255.255 192.0.1.0 192.0.1.255 192.0.3.0 192.88.98.255
  192.88.100.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0
  198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0 223.255.255.255
  # special, and yet for everybody: AS112 twice, AMT
  192.31.196.0 192.31.196.255 192.52.193.0 192.52.193.255
  192.175.48.0 192.175.48.255 2620:4f:8000:: 2620:4f:8000:ffff::1
  # beside the blocks of IPv6, and public ones
  2000:: 2000::1 2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff 2001:200:: 2001:200::1
  2001:4860:4860::8888 2001:db7:ffff:ffff:ffff:ffff:ffff:ffff 2001:db9::
  2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff 2003:: 2606:4700:4700::1111 2a00::1
  3ffe:: 3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff 3fff:1000::
  3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
  # IPv4 inside IPv6
  ::ffff:1.0.0.0 ::ffff:8.8.8.8 ::ffff:808:404 ::ffff:11.0.0.0
  ::ffff:172.32.0.0 ::ffff:223.255.255.255
  64:ff9b::8.8.8.8 64:ff9b::808:404 64:ff9b::11.0.0.0 64:ff9b::223.255.255.255
)";

/// The words of a table; lines that begin with # are left out.
std::set<ip_address> addresses(std::string_view table) {
  std::set<ip_address> out;
  std::istringstream lines{std::string{table}};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words{line};
    for (std::string word; words >> word && word != "#";)
      EXPECT_TRUE(out.insert(address(word)).second)
        << word << " is there twice";
  }
  return out;
}

} // namespace

TEST(AddressGuardTest, PrivateAndReservedAddressesAreRefused) {
  const address_guard guard;
  const auto all = addresses(refused);
  for (const auto& x : all) {
    EXPECT_FALSE(is_public(x)) << to_string(x);
    EXPECT_FALSE(guard.check_address(x)) << to_string(x);
  }
  EXPECT_GE(all.size() + addresses(allowed).size(), 200u);
}

TEST(AddressGuardTest, PublicAddressesPass) {
  const address_guard guard;
  for (const auto& x : addresses(allowed)) {
    EXPECT_TRUE(is_public(x)) << to_string(x);
    EXPECT_TRUE(guard.check_address(x)) << to_string(x);
  }
}

TEST(AddressGuardTest, TextThatIsNotExactlyAnAddressIsNoAddress) {
  for (auto text :
       {"", "1", "127.1", "0x7f.0.0.1", "0177.0.0.1", "127.0.0.1.", "1.2.3.256",
        "1.2.3.4.5", "[::1]", "::1%lo", "fe80::1%eth0", "1.2.3.4/8", " 1.2.3.4",
        "1.2.3.4 ", "2130706433", ":::", "1::2::3", "localhost"})
    EXPECT_FALSE(ip_address::parse(text)) << text;
  EXPECT_FALSE(ip_address::parse({"127.0.0.1\0.example.com", 22}));
}

TEST(AddressGuardTest, HostNamesFollowTheRulesOfPublicHosts) {
  for (auto name : {"example.com", "a.bc", "pds-1.eu.example.org", "xn--a.de",
                    "A.Example.COM", "1.2.3.com", "9gag.com"})
    EXPECT_TRUE(is_public_host_name(name)) << name;
  for (auto name : {"",
                    ".",
                    "com",
                    "localhost",
                    "a.localhost",
                    "foo.local",
                    "x.internal",
                    "x.invalid",
                    "x.example",
                    "x.test",
                    "x.onion",
                    "x.alt",
                    "1.in-addr.arpa",
                    "x.LOCAL",
                    "127.0.0.1",
                    "0x7f.1",
                    "1.2.3",
                    "a.0x1",
                    "a..b",
                    ".a.b",
                    "a.b.",
                    "-a.com",
                    "a-.com",
                    "a_b.com",
                    "a b.com",
                    "a.com/",
                    "::1",
                    "[::1]",
                    "a.c\xc3\xb6m"})
    EXPECT_FALSE(is_public_host_name(name)) << name;
  auto label = std::string(63, 'a');
  EXPECT_TRUE(is_public_host_name(label + ".com"));
  EXPECT_FALSE(is_public_host_name(label + "a.com"));
  auto longest
    = label + '.' + label + '.' + label + '.' + std::string(57, 'b') + ".com";
  ASSERT_EQ(longest.size(), 253u);
  EXPECT_TRUE(is_public_host_name(longest));
  EXPECT_FALSE(is_public_host_name('c' + longest));
}

// protocol-coverage.md 8.5
TEST(AddressGuardTest, OnlyTlsOnItsOwnPortToAPublicNamePasses) {
  address_guard guard;
  EXPECT_TRUE(guard.check_url(target("https://pds.example.com/xrpc/x")));
  EXPECT_TRUE(guard.check_url(target("wss://relay.example.com")));
  EXPECT_TRUE(guard.check_url(target("https://pds.example.com:443/")));
  for (auto text :
       {"http://pds.example.com/", "ws://pds.example.com/",
        "https://pds.example.com:8443/", "https://pds.example.com:80/",
        "https://localhost/", "https://127.0.0.1/", "https://8.8.8.8/",
        "https://[2606:4700:4700::1111]/", "https://[::1]/", "https://pds/",
        "https://127.1/", "https://0x7f.0.0.1/", "https://pds.internal/"}) {
    auto checked = guard.check_url(target(text));
    ASSERT_FALSE(checked) << text;
    EXPECT_EQ(checked.error().code, ec::invalid_argument);
  }
}

// --allow-private-addresses is for simulated networks; multicast and other
// addresses that are not one machine are still refused.
TEST(AddressGuardTest, PrivateAddressesPassOnRequestButOnlyUnicastOnes) {
  address_guard guard{true};
  for (auto text : {"http://localhost:2583/", "ws://127.0.0.1:1/",
                    "https://pds:8443/", "http://[::1]:99/"})
    EXPECT_TRUE(guard.check_url(target(text))) << text;
  for (auto text : {"127.0.0.1", "10.1.2.3", "::1", "fd00::1", "fe80::1",
                    "::ffff:127.0.0.1", "8.8.8.8"})
    EXPECT_TRUE(guard.check_address(address(text))) << text;
  for (auto text : {"0.0.0.0", "::", "224.0.0.1", "255.255.255.255", "ff02::1",
                    "::ffff:0.0.0.0"})
    EXPECT_FALSE(guard.check_address(address(text))) << text;
}

// Input that a user may have meant, including what is not allowed.
TEST(AddressGuardTest, AHostIsANameOrAnAddress) {
  const std::string label(63, 'a');
  for (const auto& text :
       {std::string{"localhost"}, std::string{"pds.test"},
        std::string{"bsky.network"}, std::string{"10.0.0.1"},
        std::string{"::1"}, label, label + ".com"})
    EXPECT_TRUE(is_host(text)) << text;
  for (const auto& text :
       {std::string{}, std::string{"a..b"}, std::string{"-a.b"},
        std::string{"a_b.c"}, std::string{"1.2.3"}, std::string{"a.b."},
        label + "a.com"})
    EXPECT_FALSE(is_host(text)) << text;
}

TEST(AddressGuardTest, EndpointsAreWrittenAsTheyAreRead) {
  for (auto text : {"127.0.0.1:2480", "[::1]:0", "8.8.8.8:65535"}) {
    auto x = endpoint::parse(text);
    ASSERT_TRUE(x) << text;
    EXPECT_EQ(to_string(*x), text);
  }
  for (auto text : {"", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "::1:80",
                    "[127.0.0.1]:80", "localhost:80", "1.2.3.4:-1", "[::1]",
                    "1.2.3.4:80x", ":80", "[]:80"})
    EXPECT_FALSE(endpoint::parse(text)) << text;
}

TEST(AddressGuardTest, LoopbackIsRecognised) {
  for (auto text : {"127.0.0.1", "127.9.9.9", "::1"})
    EXPECT_TRUE(address(text).is_loopback()) << text;
  for (auto text : {"126.0.0.1", "128.0.0.1", "::", "::2", "1::1"})
    EXPECT_FALSE(address(text).is_loopback()) << text;
}

} // namespace weir::net
