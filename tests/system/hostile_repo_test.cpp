#include "atproto/limits.hpp"
#include "net/limits.hpp"
#include "simnet/gzip.hpp"
#include "tests/support/net_tls_authority.hpp"
#include "tests/system/hostile_downloads.hpp"

namespace weir::tests {

namespace {

using script = hostile_host::script;

std::string head(const std::string& fields) {
  return "HTTP/1.1 200 OK\r\nConnection: close\r\n" + fields + "\r\n";
}

std::string length(uint64_t x) {
  return "Content-Length: " + std::to_string(x) + "\r\n";
}

std::string redirect(const std::string& to) {
  return http_answer(302, {}, "Location: " + to + "\r\n");
}

/// Sends `piece` until the node closes the connection.
script endless(std::string start, std::string piece) {
  return [=](raw_peer& peer, const std::string&) {
    std::string batch;
    while (batch.size() < 65'536)
      batch += piece;
    peer.send(start);
    while (peer.send(batch))
      continue;
  };
}

/// Redirects to itself `hops` times, then serves the repo.
script chain(const test_repo& repo, unsigned hops) {
  return [=, left = std::make_shared<std::atomic<unsigned>>(hops)](
           raw_peer& peer, const std::string& request) {
    const auto target = request.substr(4, request.find(' ', 4) - 4);
    peer.send((*left)-- > 0 ? redirect(target + "&again=1")
                            : car_answer(repo.export_car()));
  };
}

/// Sends a byte a second until the node closes the connection.
script drip(std::string start) {
  return [=](raw_peer& peer, const std::string&) {
    peer.send(start);
    std::string ignored;
    while (peer.read_some(ignored, 1'000) == raw_peer::outcome::timeout)
      peer.send("0");
  };
}

/// Sends nothing after `start` until the node closes the connection.
script stop_after(std::string start) {
  return [=](raw_peer& peer, const std::string&) {
    peer.send(start);
    std::string ignored;
    peer.read_some(ignored, -1);
  };
}

class HostileRepoTest : public ::testing::Test {
protected:
  void add(const std::string& what, const std::string& answer,
           const std::string& error) {
    all.add(what, all.make_repo(), say(answer), error);
  }

  /// `make` gets the repo's CAR.
  void add_car(const std::string& what,
               const std::function<std::string(const std::string&)>& make,
               const std::string& error) {
    const auto repo = all.make_repo();
    all.add(what, repo, say(make(std::string{as_text(repo.export_car())})),
            error);
  }

  hostile_downloads all;
};

} // namespace

// hostile-inputs.md 2.1.17, 2.1.27, 2.1.28: bodies cut short, TLS tricks, zip
// of death, big CARs.
TEST_F(HostileRepoTest, NoBodyCutShortOrPackedOrTooLongIsTaken) {
  add_car(
    "cut, by length",
    [](const auto& car) {
      return head(length(car.size())) + car.substr(0, car.size() - 1);
    },
    "the connection ended inside the body");
  add_car(
    "cut, in chunks",
    [](const auto& car) {
      return head("Transfer-Encoding: chunked\r\n") + "ffff\r\n" + car;
    },
    "the connection ended inside the body");
  add_car(
    "cut, to the end of the connection",
    [](const auto& car) {
      return head("") + car.substr(0, car.size() - 1);
    },
    "CAR cut off");
  add_car(
    "brotli",
    [](const auto& car) {
      return http_answer(200, car, "Content-Encoding: br\r\n");
    },
    "invalid_argument");
  add_car(
    "gzip twice",
    [](const auto& car) {
      return http_answer(200, car, "Content-Encoding: gzip, gzip\r\n");
    },
    "invalid_argument");
  add_car(
    "gzip that is none",
    [](const auto& car) {
      return http_answer(200, car, "Content-Encoding: gzip\r\n");
    },
    "malformed");
  add_car(
    "both lengths",
    [](const auto& car) {
      return head("Transfer-Encoding: chunked\r\n" + length(car.size())) + car;
    },
    "malformed");
  add_car(
    "two lengths",
    [](const auto& car) {
      return head(length(car.size()) + length(9)) + car;
    },
    "malformed");
  add("a byte too long, by its word",
      head(length(limits::repo_car_bytes_max + 1)),
      "limit_reached: the answer's body is too large");
  add("as long as may be, by its word",
      head(length(limits::repo_car_bytes_max)),
      "the connection ended inside the body");
  add("no answer", "", "unreachable");
  add("nonsense", "\x16\x03\x01 nonsense\r\n\r\n", "malformed");
  add("an error of the host", http_answer(500, "{}"), "HTTP 500");
  add("a page",
      http_answer(200, "<html>not a CAR</html>", "Content-Type: text/html\r\n"),
      "not a CAR, sent as text/html");
  add("nothing", http_answer(200, ""), "CAR cut off");
  all.run(64 * megabyte);
}

// hostile-inputs.md 2.1.23: redirects; limits::http_redirects_max
TEST_F(HostileRepoTest, RedirectsAreFollowedThriceAndNowhereElse) {
  constexpr auto most = limits::http_redirects_max;
  const auto near = all.make_repo();
  all.add("chain of three", near, chain(near, most), "");
  const auto far = all.make_repo();
  all.add("chain of four", far, chain(far, most + 1), "redirect");
  const auto round = all.make_repo();
  all.add("loop", round, chain(round, 1'000'000), "redirect");
  add("a file", redirect("file:///etc/passwd"), "redirect");
  add("another protocol", redirect("gopher://127.0.0.1:1/"), "redirect");
  add("nowhere", redirect("http://"), "redirect");
  add("a password", redirect("http://a:b@127.0.0.1:1/"), "redirect");
  add("no place", http_answer(302, {}), "HTTP 302");
  all.run(32 * megabyte);
}

// limits::http_response_head_bytes_max, http_interims_max,
// http_chunk_line_bytes_max, http_trailer_bytes_max
TEST_F(HostileRepoTest, HeadsAndLinesThatNeverEndAreCutOff) {
  const auto add_endless = [this](const std::string& what, std::string start,
                                  std::string piece, const std::string& error) {
    all.add(what, all.make_repo(), endless(std::move(start), std::move(piece)),
            error);
  };
  add_endless("field", "HTTP/1.1 200 OK\r\nX: ", "x", "limit_reached");
  add_endless("fields", "HTTP/1.1 200 OK\r\n", "X: x\r\n", "limit_reached");
  add_endless("status line", "HTTP/1.1 200 ", "x", "limit_reached");
  add_endless("interim answers", "", "HTTP/1.1 103 X\r\n\r\n", "informational");
  const auto chunked = head("Transfer-Encoding: chunked\r\n");
  add_endless("chunk line", chunked, "0", "chunk");
  add_endless("chunk extension", chunked + "1;", "x", "chunk");
  add_endless("trailer", chunked + "0\r\n", "X: x\r\n", "trailer");
  add_endless("CAR of zeros", head(""), std::string(1, '\0'), "malformed");
  all.run(32 * megabyte);
}

// hostile-inputs.md 2.1.27; the option repo_bytes_max counts unpacked bytes.
TEST_F(HostileRepoTest, ARepoHasSoManyBytesPackedOrNot) {
  constexpr size_t most = megabyte;
  const auto add_sized = [this](const std::string& what, size_t size,
                                const std::string& framing,
                                const std::string& error) {
    auto repo = all.make_repo();
    const auto fill = [&repo](size_t text) {
      repo.put("app.test.note/c", make_record(std::string(text, 'x')));
      repo.commit();
      return repo.export_car();
    };
    constexpr size_t first = 1'000'000;
    const auto car = fill(first + size - fill(first).size());
    ASSERT_EQ(car.size(), size);
    const auto body = framing.empty() ? car : simnet::gzip(car);
    all.add(what, repo, say(head(framing) + std::string{as_text(body)}), error);
  };
  const std::string too_large = "limit_reached: the answer's body is too large";
  add_sized("plain, at the limit", most, "", "");
  add_sized("plain, above it", most + 1, "", too_large);
  add_sized("gzip, at the limit", most, "Content-Encoding: gzip\r\n", "");
  add_sized("gzip, above it", most + 1, "Content-Encoding: gzip\r\n",
            too_large);
  all.run(32 * megabyte, {"--repo-bytes-max", std::to_string(most)});
}

// hostile-inputs.md 2.1.21: limits::first_byte_timeout, tls_timeout,
// http_rate_window; all in one run, because each takes half a minute.
TEST_F(HostileRepoTest, SlowHostsAreGivenUpAndHoldUpNobody) {
  all.add("no answer", all.make_repo(), stop_after(""), "unreachable");
  all.add("no end of the head", all.make_repo(),
          stop_after("HTTP/1.1 200 OK\r\n"), "unreachable");
  all.add("a byte of the head a second", all.make_repo(),
          drip("HTTP/1.1 200 OK\r\nX: "), "unreachable");
  // What comes may be the header of a CAR.
  all.add("a byte of the body a second", all.make_repo(),
          drip(head(length(megabyte)) + "\x7f\xa2"), "too slow");
  all.add("no end of the body", all.make_repo(),
          stop_after(head(length(megabyte))), "too slow");
  const auto quiet = stop_after("");
  scripted_server no_tls{[&](raw_peer& peer, size_t) {
    quiet(peer, {});
  }};
  all.add_at("no handshake", all.make_repo(),
             "https://localhost:" + std::to_string(no_tls.port()),
             "unreachable");
  all.run(16 * megabyte);
}

// hostile-inputs.md 2.1.28
TEST_F(HostileRepoTest, CertificatesAndTheEndOfTlsAreChecked) {
  const tls_authority trusted;
  const tls_authority stranger;
  const temp_dir dir;
  trusted.save(dir.at("ca.pem"));
  std::list<tls_identity> identities;
  std::list<scripted_server> servers;
  const auto add_tls = [&](const std::string& what, tls_identity identity,
                           bool whole, int version, const std::string& error) {
    const auto repo = all.make_repo();
    const auto& own = identities.emplace_back(std::move(identity));
    const auto answer = head("") + std::string{as_text(repo.export_car())};
    servers.emplace_back([=, &own](raw_peer& peer, size_t) {
      tls_peer tls{peer, own, version};
      if (!tls.open())
        return;
      tls.read_until("\r\n\r\n");
      tls.send(answer);
      if (whole)
        tls.close_notify();
    });
    all.add_at(what, repo,
               "https://localhost:" + std::to_string(servers.back().port()),
               error);
  };
  add_tls("sound", trusted.issue(), true, 0, "");
  add_tls("without close_notify", trusted.issue(), false, 0, "unreachable");
  add_tls("TLS 1.1", trusted.issue(), true, TLS1_1_VERSION, "unreachable");
  add_tls("of a stranger", stranger.issue(), true, 0, "unreachable");
  add_tls("of another name", trusted.issue({"DNS:example.com"}), true, 0,
          "unreachable");
  add_tls("expired", trusted.issue({"DNS:localhost", -7'200, -3'600}), true, 0,
          "unreachable");
  all.run(32 * megabyte, {"--ca-file", dir.at("ca.pem")});
}

} // namespace weir::tests
