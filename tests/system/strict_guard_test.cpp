#include "net/url.hpp"
#include "tests/support/net_dns_server.hpp"
#include "tests/support/net_tls_authority.hpp"
#include "tests/system/hostile_host.hpp"
#include "tests/system/hostile_node.hpp"
#include "tests/system/own_network.hpp"

#include <array>
#include <list>
#include <map>
#include <memory>
#include <mutex>

// hostile-inputs.md 2.1.23 and 2.1.24, against the program with its guard
// unchanged: names are looked up at a name server, and hosts speak TLS at port
// 443. At every address that a case leads to, a server sees the connection.

namespace weir::tests {

namespace {

using namespace std::chrono_literals;

constexpr auto outside = "20.0.0.1";
constexpr auto elsewhere = "20.0.0.2";
constexpr std::array inside{"10.0.0.1",        "100.64.0.1", "127.0.0.1",
                            "169.254.169.254", "172.16.0.1", "192.168.0.1",
                            "198.18.0.1",      "203.0.113.1"};

/// All addresses except those of loopback.
const std::vector<std::string_view> addresses{
  outside,           elsewhere,    "20.0.0.3",    "10.0.0.1",   "100.64.0.1",
  "169.254.169.254", "172.16.0.1", "192.168.0.1", "198.18.0.1", "203.0.113.1"};

/// The name server and the one program behind all addresses.
class small_world {
public:
  /// A host's complete answer for a target.
  using script = std::function<std::string(const std::string& target)>;

  small_world() { authority_.save(dir_.at("ca.pem")); }

  /// Sets the answers to the first, second ... look-up of a name; the last one
  /// repeats.
  void name(const std::string& host,
            std::vector<std::vector<std::string>> answers) {
    const std::lock_guard lock{guard_};
    names_[host] = std::move(answers);
    asked_[host] = 0;
  }

  void on(const std::string& host, script x) {
    const std::lock_guard lock{guard_};
    hosts_[host] = std::move(x);
  }

  /// Number of look-ups since the name got its answers.
  size_t asked(const std::string& host) {
    const std::lock_guard lock{guard_};
    return asked_[host];
  }

  /// Number of connections to an address, whatever their result.
  size_t connections(const std::string& address) {
    const std::lock_guard lock{guard_};
    return connections_[address];
  }

  void expect_nobody_inside() {
    for (const auto* x : inside)
      EXPECT_EQ(connections(x), 0u) << x;
  }

  std::vector<std::string> arguments() const {
    return {"--ca-file", dir_.at("ca.pem")};
  }

private:
  dns_answer answer(const std::string& host, uint16_t type) {
    const std::lock_guard lock{guard_};
    const auto found = names_.find(host);
    if (found == names_.end())
      return {{}, 3, false};
    dns_answer out;
    if (type != dns_server::type_a)
      return out;
    const auto& all = found->second;
    for (const auto& x : all[std::min(asked_[host]++, all.size() - 1)])
      out.records.push_back(dns_address(x));
    return out;
  }

  void serve(raw_peer& socket) {
    sockaddr_in at{};
    socklen_t size = sizeof(at);
    getsockname(socket.fd(), reinterpret_cast<sockaddr*>(&at), &size);
    std::array<char, INET_ADDRSTRLEN> text{};
    inet_ntop(AF_INET, &at.sin_addr, text.data(), text.size());
    {
      const std::lock_guard lock{guard_};
      ++connections_[text.data()];
    }
    tls_peer peer{socket, identity_};
    const auto head = peer.read_until("\r\n\r\n");
    const auto begin = head.find(' ') + 1;
    const auto target = head.substr(begin, head.find(' ', begin) - begin);
    script found;
    {
      const std::lock_guard lock{guard_};
      found = hosts_[peer.server_name()];
    }
    peer.send(found ? found(target) : http_answer(404, "{}"));
    peer.close_notify();
  }

  temp_dir dir_;
  tls_authority authority_;
  tls_identity identity_
    = authority_.issue({"DNS:*.example.com", -3'600, 3'600});
  std::mutex guard_;
  std::map<std::string, std::vector<std::vector<std::string>>> names_;
  std::map<std::string, size_t> asked_;
  std::map<std::string, size_t> connections_;
  std::map<std::string, script> hosts_;
  dns_server dns_{[this](const std::string& host, uint16_t type) {
                    return answer(host, type);
                  },
                  53};
  scripted_server web_{[this](raw_peer& x, size_t) {
                         serve(x);
                       },
                       443, INADDR_ANY};
};

/// Accounts of a directory that is also a host of this world.
class strict_trials {
public:
  explicit strict_trials(small_world& world) : world_(world) {
    world.name(directory, {{"20.0.0.3"}});
    world.on(directory, [all = documents_](const std::string& target) {
      const auto found = all->find(net::percent_decode(target).value());
      return found == all->end() ? http_answer(404, "{}")
                                 : http_answer(200, found->second);
    });
  }

  /// Call it before the node starts.
  /// @param more Further members of its document.
  const test_repo& add(const std::string& pds, const std::string& more = {}) {
    auto& x = repos_.emplace_back(repos_.size() + 1);
    x.put("app.test.note/a", make_record("one"));
    x.commit();
    auto& document = (*documents_)['/' + x.did().str()];
    document
      = make_document(x.did().str(), x.key().public_part().to_multikey(), pds);
    document.pop_back();
    document += more + '}';
    return x;
  }

  /// The script of a host that serves this repo.
  static small_world::script serve(const test_repo& x) {
    return [answer = http_answer(200, as_text(x.export_car()))](const auto&) {
      return answer;
    };
  }

  hostile_node start() {
    auto arguments = world_.arguments();
    arguments.insert(arguments.end(), {"--mode", "manual"});
    return {
      {}, std::string{"https://"} + directory, arguments, reach::public_only};
  }

private:
  static constexpr auto directory = "plc.example.com";

  small_world& world_;
  std::list<live_repo> repos_;
  /// The world may use them until it ends, after this object.
  std::shared_ptr<std::map<std::string, std::string>> documents_
    = std::make_shared<std::map<std::string, std::string>>();
};

bool await_error(hostile_node& node, const atproto::did& did,
                 const std::string& text) {
  return eventually(node_patience, [&] {
    return node.repo(did).error.find(text) != std::string::npos;
  });
}

/// Expects that one repo is synced, and each of the others fails for its
/// reason.
void expect_outcomes(hostile_node& node, const atproto::did& sound,
                     const std::map<atproto::did, std::string>& refused) {
  std::vector<atproto::did> dids{sound};
  for (const auto& [did, error] : refused)
    dids.push_back(did);
  node.add(dids);
  EXPECT_EQ(node.await(sound, "synced").records, 1u);
  for (const auto& [did, error] : refused)
    EXPECT_TRUE(await_error(node, did, error))
      << error << ": " << node.repo(did).error;
}

} // namespace

TEST(StrictGuardTest, NoNameLeadsIntoTheOwnNetwork) {
  if (!in_own_network(addresses))
    return;
  small_world world;
  strict_trials all{world};
  std::map<atproto::did, std::string> refused;
  for (size_t i = 0; i < inside.size(); ++i) {
    const auto host = "in" + std::to_string(i) + ".example.com";
    world.name(host, {{inside[i]}});
    const auto error = std::string{"not allowed: "} + inside[i];
    refused[all.add("https://" + host).did()] = error;
    refused[atproto::did::parse("did:web:" + host).value()] = error;
  }
  world.name("good.example.com", {{outside}});
  world.name("mixed.example.com", {{inside[0], outside, inside[2]}});
  refused[all.add("https://10.0.0.1").did()] = "not the name of a public host";
  refused[all.add("https://20.0.0.1").did()] = "not the name of a public host";
  refused[all.add("https://localhost").did()] = "not the name of a public host";
  refused[all.add("http://good.example.com").did()] = "only https";
  refused[all.add("https://good.example.com:444").did()] = "only port 443";
  const auto& mixed = all.add("https://mixed.example.com");
  world.on("mixed.example.com", strict_trials::serve(mixed));
  auto node = all.start();
  expect_outcomes(node, mixed.did(), refused);
  world.expect_nobody_inside();
  EXPECT_EQ(world.connections(outside), 1u);
}

// A name that had a public address may later have another one.
TEST(StrictGuardTest, ANameThatTurnsInwardsIsFollowedNoMore) {
  if (!in_own_network(addresses))
    return;
  small_world world;
  strict_trials all{world};
  const std::string host = "turns.example.com";
  const auto& repo = all.add("https://" + host);
  const auto web = atproto::did::parse("did:web:turns-too.example.com").value();
  for (const auto& x : {host, std::string{"turns-too.example.com"}}) {
    world.name(x, {{outside}, {inside[0]}});
    world.on(x, [](const auto&) {
      return http_answer(500, "{}");
    });
  }
  auto node = all.start();
  node.add({repo.did(), web});
  const auto error = std::string{"not allowed: "} + inside[0];
  EXPECT_TRUE(await_error(node, repo.did(), error));
  EXPECT_TRUE(await_error(node, web, error));
  EXPECT_EQ(world.connections(outside), 2u);
  world.on(host, strict_trials::serve(repo));
  world.name(host, {{elsewhere}});
  EXPECT_EQ(node.await(repo.did(), "synced").records, 1u);
  EXPECT_EQ(world.connections(elsewhere), 1u);
  world.expect_nobody_inside();
}

TEST(StrictGuardTest, RedirectsOverTlsPassTheGuardOnEveryHop) {
  if (!in_own_network(addresses))
    return;
  small_world world;
  strict_trials all{world};
  world.name("in.example.com", {{inside[1]}});
  world.name("good.example.com", {{elsewhere}});
  std::map<atproto::did, std::string> refused;
  size_t number = 0;
  const auto add = [&](const std::string& to) -> const test_repo& {
    const auto host = "from" + std::to_string(++number) + ".example.com";
    world.name(host, {{outside}});
    world.on(host, [to](const auto&) {
      return http_answer(302, {}, "Location: " + to + "\r\n");
    });
    return all.add("https://" + host);
  };
  refused[add("https://in.example.com/").did()] = "not allowed";
  refused[add("https://127.0.0.1/").did()] = "not the name of a public host";
  refused[add("https://[::1]/").did()] = "not the name of a public host";
  refused[add("https://good.example.com:444/").did()] = "only port 443";
  refused[add("http://good.example.com/").did()] = "redirect";
  const auto& sound = add("https://good.example.com/over-here");
  world.on("good.example.com", strict_trials::serve(sound));
  auto node = all.start();
  expect_outcomes(node, sound.did(), refused);
  EXPECT_EQ(world.connections(elsewhere), 1u);
  world.expect_nobody_inside();
}

// protocol-coverage.md 8.7: a handle's own host is asked when DNS has no record
// for it.
TEST(StrictGuardTest, AHandleLeadsNotIntoTheOwnNetwork) {
  if (!in_own_network(addresses))
    return;
  small_world world;
  strict_trials all{world};
  const auto add = [&](const std::string& name, const char* address) {
    world.name(name, {{address}});
    const auto& x = all.add("https://" + name,
                            R"(,"alsoKnownAs":["at://)" + name + R"("])");
    // A client that gets there finds its repo, and the handle is verified.
    world.on(name, [did = x.did().str(),
                    repo = strict_trials::serve(x)](const std::string& target) {
      return target.starts_with("/xrpc/") ? repo(target)
                                          : http_answer(200, did);
    });
    return x.did();
  };
  const auto bad = add("in.example.com", inside[3]);
  const auto sound = add("good.example.com", elsewhere);
  auto node = all.start();
  node.add({bad});
  EXPECT_TRUE(eventually(node_patience, [&] {
    // Once for its repo and once for its handle.
    return world.asked("in.example.com") >= 2;
  }));
  node.add({sound}); // This takes far longer than a connection does.
  EXPECT_TRUE(eventually(node_patience, [&] {
    return node.handle(sound) == "good.example.com";
  }));
  EXPECT_EQ(node.handle(bad), "handle.invalid");
  world.expect_nobody_inside();
}

} // namespace weir::tests
