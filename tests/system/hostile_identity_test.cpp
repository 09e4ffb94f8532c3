#include "actors/identity/limits.hpp"
#include "atproto/limits.hpp"
#include "tests/system/api_node.hpp"
#include "tests/system/hostile_downloads.hpp"
#include "tests/system/live_repo.hpp"

#include <array>
#include <thread>

namespace weir::tests {

namespace {

class HostileIdentityTest : public ::testing::Test {
protected:
  HostileIdentityTest() {
    hub.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
  }

  /// Adds a repo that is served, with this answer for its document, and the
  /// expected error.
  live_repo& add(const std::string& what, hostile_host::script document,
                 const std::string& error) {
    auto& x = repos.emplace_back(repos.size() + 1);
    x.put("app.test.note/a", make_record("one"));
    x.commit();
    hub.serve(x);
    if (document)
      hub.on_document(x.did(), std::move(document));
    trials.push_back({what, error});
    return x;
  }

  /// Its valid document with `more` as further members.
  std::string document(const test_repo& x, const std::string& more) {
    auto out = make_document(x.did().str(), x.key().public_part().to_multikey(),
                             hub.url());
    out.pop_back();
    return out + more + '}';
  }

  /// The same for an answer that contains the DID.
  void add_more(const std::string& what,
                const std::function<std::string(const std::string&)>& make,
                const std::string& error) {
    auto& x = add(what, nullptr, error);
    hub.on_document(x.did(), say(http_answer(200, make(document(x, "")))));
  }

  /// Fetches all of them, each to its result; memory must not grow.
  void run() {
    hostile_node node{{"relay:" + hub.url()}, hub.url()};
    const auto before = node.resident_bytes();
    std::vector<atproto::did> dids;
    for (const auto& x : repos)
      dids.push_back(x.did());
    node.add(dids);
    for (size_t i = 0; i < dids.size(); ++i) {
      const auto& [what, error] = trials[i];
      const auto told = error.empty() ? node.await(dids[i], "synced")
                                      : node.await_failure(dids[i]);
      EXPECT_NE(told.error.find(error), std::string::npos)
        << what << ": " << told.error;
      EXPECT_EQ(told.records, error.empty() ? 1u : 0u) << what;
    }
    EXPECT_TRUE(node.is_healthy());
    EXPECT_LT(node.peak_bytes(), before + 32 * megabyte + memory_slack);
  }

  hostile_stream stream;
  hostile_host hub;
  std::list<live_repo> repos;
  std::vector<std::pair<std::string, std::string>> trials;
};

/// A relay that sends only events of new accounts, which do not exist.
struct flooder {
  flooder() {
    host.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
  }

  void start(int first, int count) {
    sender = std::jthread{[=, this] {
      atproto::identity_event x;
      const auto made = frame_time_of_now();
      x.time = made;
      for (x.seq = 1; x.seq <= count; ++x.seq) {
        x.repo = atproto::did::parse("did:web:n" + std::to_string(first + x.seq)
                                     + ".flood.test")
                   .value();
        if (!stream.send(atproto::encode_frame(x)))
          return;
      }
    }};
  }

  hostile_stream stream;
  hostile_host host;
  std::jthread sender;
};

/// Adds a member to a document.
std::string with(std::string document, const std::string& member) {
  document.pop_back();
  return document + ',' + member + '}';
}

std::string many_services(const std::string& document, size_t count) {
  std::string out = document;
  const auto at = out.find(R"("service":[)") + 11;
  std::string more;
  for (size_t i = 1; i < count; ++i)
    more += R"({"id":"#)" + std::to_string(i)
            + R"(","type":"X","serviceEndpoint":"https://a.test"},)";
  return out.insert(at, more);
}

} // namespace

// hostile-inputs.md 2.1.26: limits::did_document_bytes_max,
// did_document_depth_max, did_document_entries_max
TEST_F(HostileIdentityTest, DocumentsAreTakenUpToTheirLimitsAndNotAbove) {
  const auto sized = [](size_t size) {
    return [size](std::string x) {
      x.resize(size, ' ');
      return x;
    };
  };
  const auto nested = [](size_t depth) { // The object around it counts.
    return [depth](const std::string& x) {
      return with(x, R"("x":)" + std::string(depth - 1, '[')
                       + std::string(depth - 1, ']'));
    };
  };
  const auto services = [](size_t count) {
    return [count](const std::string& x) {
      return many_services(x, count);
    };
  };
  constexpr auto bytes_most = limits::did_document_bytes_max;
  constexpr auto depth_most = limits::did_document_depth_max;
  constexpr auto entries_most = limits::did_document_entries_max;
  add_more("as large as may be", sized(bytes_most), "");
  add_more("a byte too large", sized(bytes_most + 1), "too large");
  add_more("as deep as may be", nested(depth_most), "");
  add_more("a level too deep", nested(depth_most + 1), "nested too deep");
  add_more("very deep", nested(50'000), "nested too deep");
  add_more("as many services as may be", services(entries_most), "");
  add_more("a service too many", services(entries_most + 1), "limit_reached");
  run();
}

// hostile-inputs.md 2.1.23, 2.1.26: the id equals the DID; directories that
// fail or redirect, even to an allowed address
TEST_F(HostileIdentityTest, WhatIsNoDocumentOfThisDidIsRefused) {
  hostile_host elsewhere;
  const auto& other = add("sound", nullptr, "");
  hub.publish(other, hub.url());
  add("of another DID", say(http_answer(200, document(other, ""))),
      "unreachable: DID document of another DID");
  add("no JSON", say(http_answer(200, "<html>")),
      "unreachable: DID document is not JSON");
  add("nothing", say(""), "unreachable");
  add("an error", say(http_answer(500, "{}")), "HTTP 500");
  add("not registered", nullptr, "the directory answers HTTP 404");
  add("packed", say(http_answer(200, "x", "Content-Encoding: gzip\r\n")),
      "unreachable: content encoding");
  add(
    "endless",
    [](raw_peer& peer, const std::string&) {
      peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
      const auto chunk = "10000\r\n" + std::string(65'536, ' ') + "\r\n";
      while (peer.send(chunk))
        continue;
    },
    "limit_reached");
  for (const auto& to :
       {elsewhere.url() + "/", std::string{"http://169.254.169.254/"},
        std::string{"http://[::1]/"}, std::string{"file:///etc/passwd"}})
    add("to " + to, say(http_answer(302, {}, "Location: " + to + "\r\n")),
        "redirect");
  const auto no_host = [&](const std::string& pds, const std::string& error) {
    auto& x = add("PDS at " + pds, nullptr, error);
    hub.publish(x, pds);
  };
  no_host("file:///etc/passwd", "not_found");
  no_host("", "not_found");
  run();
  EXPECT_EQ(elsewhere.connections(), 0u);
}

// hostile-inputs.md 2.1.25, protocol-coverage.md 8.3: a directory that limits
// us gets no request about any account until the time that it named. Then work
// continues by itself.
TEST_F(HostileIdentityTest, ADirectoryThatLimitsUsIsLeftInPeaceAsLongAsItSays) {
  using clock = std::chrono::steady_clock;
  constexpr std::chrono::seconds rest{4};
  inbox<clock::time_point> limited;
  inbox<clock::time_point> asked;
  const auto noting = [&](inbox<clock::time_point>& when, std::string answer) {
    return [&when, answer = std::move(answer)](raw_peer& peer,
                                               const std::string&) {
      when.push(clock::now());
      peer.send(answer);
    };
  };
  auto& first = add("limited", nullptr, "");
  hub.on_document(first.did(),
                  noting(limited, http_answer(429, "{}", "Retry-After: 4\r\n")));
  hostile_node node{{"relay:" + hub.url()}, hub.url()};
  node.add({first.did()});
  const auto named = limited.pop();
  ASSERT_TRUE(named);
  ASSERT_TRUE(node.await_metric("weir_identity_failures_total", 1));
  std::vector<atproto::did> others;
  for (int i = 0; i < 8; ++i) {
    const auto& x = add("other", nullptr, "");
    hub.on_document(x.did(), noting(asked, http_answer(200, document(x, ""))));
    others.push_back(x.did());
  }
  hub.on_document(first.did(),
                  noting(asked, http_answer(200, document(first, ""))));
  node.add(others);
  const auto waiting = node.repo(first.did());
  EXPECT_EQ(waiting.tries, 0u) << "to be limited is no failure";
  EXPECT_NE(waiting.status, "error") << waiting.error;
  for (const auto& x : others)
    EXPECT_EQ(node.await(x, "synced").records, 1u);
  EXPECT_EQ(node.await(first.did(), "synced").records, 1u);
  for (size_t i = 0; i <= others.size(); ++i) {
    const auto at = asked.pop();
    ASSERT_TRUE(at);
    EXPECT_GE(*at - *named, rest) << "question " << i;
  }
}

// hostile-inputs.md 2.1.25, 2.1.33: unknown DIDs from many hosts cost as many
// look-ups as the budget allows and delay no other account. The memory of their
// repos is bounded, too.
TEST_F(HostileIdentityTest, AFloodOfNewNamesIsAsManyLookUpsAsTheBudgetGives) {
  constexpr size_t hosts = 32;
  const auto names = static_cast<int>(wished("NAMES", 100'000) / hosts);
  constexpr double budget = 20;
  std::array<flooder, hosts> floods;
  std::vector<std::string> urls{"relay:" + hub.url()};
  for (const auto& x : floods)
    urls.push_back("relay:" + x.host.url());
  auto& honest = add("honest", nullptr, "");
  hub.publish(honest, hub.url());
  const auto began = std::chrono::steady_clock::now();
  hostile_node node{urls, hub.url(), {"--plc-per-second", "20"}};
  node.add({honest.did()});
  node.await(honest.did(), "synced");
  for (size_t i = 0; i < hosts; ++i)
    floods[i].start(static_cast<int>(i) * names, names);
  const auto taken = [&node] { // Includes the few of the honest host.
    return node.metric("weir_upstream_cursor");
  };
  size_t beside = 0; // Commits that came during the flood.
  for (size_t i = 0; i < 40; ++i) {
    honest.put("app.test.note/later" + std::to_string(i), make_record("later"));
    ASSERT_TRUE(stream.send(honest.commit()));
    ASSERT_TRUE(eventually(node_patience, [&] {
      return node.repo(honest.did()).rev == honest.rev().str();
    }));
    beside += taken() < hosts * static_cast<size_t>(names);
  }
  EXPECT_GE(beside, 10u);
  EXPECT_LT(node.metric("weir_identity_lookups_total"), taken() / 10)
    << "names wait for their look-ups all the time";
  EXPECT_EQ(
    hub.asked("/xrpc/com.atproto.sync.getRepo?did=" + honest.did().str()), 1u)
    << "none of them waited so long that it was fetched";
  for (auto& x : floods) {
    x.sender.join();
    EXPECT_TRUE(node.await_metric(
      "weir_upstream_cursor{upstream=\"" + x.host.url() + "\"}", names));
  }
  const auto lookups = node.metric("weir_identity_lookups_total");
  const std::chrono::duration<double> elapsed
    = std::chrono::steady_clock::now() - began;
  EXPECT_GT(lookups, 1u);
  EXPECT_LE(static_cast<double>(lookups), budget * (1 + elapsed.count()));
  EXPECT_TRUE(node.is_healthy());
  EXPECT_LT(node.peak_bytes(),
            // The default `memory_limit` is 1 GiB.
            768 * megabyte + memory_slack);
}

// hostile-inputs.md 2.1.25: limits::web_part. Each did:web is on a host of its
// own, which accepts connections and never answers.
TEST_F(HostileIdentityTest, HostsThatHangHoldUpNoLookUpAtTheDirectory) {
  std::list<hostile_host> crowd(limits::identity_in_flight_max + 8);
  const auto asked = [&crowd] {
    size_t out = 0;
    for (const auto& x : crowd)
      out += x.connections();
    return out;
  };
  auto& honest = add("honest", nullptr, "");
  hub.publish(honest, hub.url());
  hostile_node node{{"relay:" + hub.url()}, hub.url()};
  atproto::identity_event event;
  const auto made = frame_time_of_now();
  event.time = made;
  for (auto& host : crowd) {
    host.on("/", [](raw_peer& peer, const std::string&) {
      peer.wait_for_end();
    });
    const auto port = host.url().substr(host.url().rfind(':') + 1);
    event.repo = atproto::did::parse("did:web:localhost%3A" + port).value();
    ++event.seq;
    ASSERT_TRUE(stream.send(atproto::encode_frame(event)));
  }
  constexpr auto places = limits::identity_in_flight_max / limits::web_part;
  ASSERT_TRUE(eventually(node_patience, [&] { return asked() >= places; }));
  node.add({honest.did()});
  EXPECT_EQ(node.await(honest.did(), "synced").records, 1u);
  const auto hanging = asked();
  EXPECT_LE(hanging, places + node.metric("weir_identity_failures_total"))
    << "one more for each that ended";
}

// hostile-inputs.md 2.1.24: without --allow-private-addresses no name in a DID
// leads into our own network. StrictGuardTest covers what needs public
// addresses, a name server and TLS.
TEST_F(HostileIdentityTest, ADidWebDoesNotLeadIntoTheOwnNetwork) {
  const api_node node{false};
  const auto port = hub.url().substr(hub.url().rfind(':') + 1);
  const auto did = "did:web:localhost%3A" + port;
  plain_request add;
  add.method = "POST";
  add.path = "/repos/add";
  add.headers["Content-Type"] = "application/json";
  add.body = R"({"dids":[")" + did + R"("]})";
  ASSERT_EQ(node.ask(node.data, add).status, 200);
  plain_request look;
  look.path = "/info/did:web:localhost%253A" + port;
  std::string told;
  EXPECT_TRUE(eventually(node_patience,
                         [&] {
                           told = node.ask(node.data, look).body;
                           return told.find(R"("error":)") != std::string::npos;
                         }))
    << told;
  EXPECT_NE(told.find("invalid_argument"), std::string::npos) << told;
  EXPECT_EQ(hub.connections(), 0u);
}

} // namespace weir::tests
