#include "tests/system/hostile_crowd.hpp"

#include "tests/system/hostile_downloads.hpp"

#include <algorithm>
#include <array>

namespace weir::tests {

namespace {

using outcome = raw_peer::outcome;
using script = hostile_host::script;

constexpr const char* subscribe = "/xrpc/com.atproto.sync.subscribeRepos";
constexpr int slow_ms = 500;

std::string binary(const bytes& frame) {
  return std::string{as_text(net::ws_frame(net::ws_opcode::binary, frame))};
}

/// Sends the text a byte at a time, until the node closes the connection.
void drip(raw_peer& peer, std::string_view text) {
  std::string ignored;
  for (size_t at = 0;; at = (at + 1) % text.size()) {
    const auto how = peer.read_some(ignored, slow_ms);
    if (how != outcome::data && how != outcome::timeout)
      return;
    peer.send(text.substr(at, 1));
  }
}

/// The head of a download's answer.
std::string download_head() {
  return "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";
}

/// A complete CAR, followed by blocks to which nothing links.
script endless_download(const test_repo& repo) {
  auto blocks = repo.blocks();
  const auto first = whole_car(blocks);
  const auto block = make_record(std::string(60'000, 'x'));
  blocks.emplace_back(atproto::cid::of_dag_cbor(block), block);
  const std::string section{as_text(whole_car(blocks)).substr(first.size())};
  const auto start = download_head() + std::string{as_text(repo.export_car())};
  return [=](raw_peer& peer, const std::string&) {
    for (auto taken = peer.send(start); taken; taken = peer.send(section))
      continue;
  };
}

} // namespace

hostile_crowd::hostile_crowd(size_t hosts,
                             const std::function<misdeed(size_t)>& deed,
                             int64_t forgeries, hostile_host& directory)
  : forgeries_(forgeries) {
  for (size_t i = 0; i < hosts; ++i) {
    auto& x = members_.emplace_back(i);
    directory.publish(x.repo, x.host.url());
    misbehave(x, deed(i));
  }
}

live_repo hostile_crowd::account(size_t i) {
  // Different from the seeds of a test's own repos.
  constexpr uint64_t first_seed = 1'000;
  live_repo out{first_seed + i};
  out.put("app.test.note/a", make_record("one"));
  out.commit();
  return out;
}

void hostile_crowd::misbehave(member& x, misdeed how) {
  const auto exported = x.repo.export_car();
  const auto car = as_text(exported);
  const auto on_stream = [&](std::function<void(raw_peer&)> run) {
    x.host.on(subscribe,
              [run = std::move(run)](raw_peer& peer, const std::string& head) {
                ws_peer::accept(peer, head);
                run(peer);
              });
  };
  switch (how) {
    case misdeed::slow:
      on_stream([](raw_peer& peer) {
        drip(peer, binary(unknown_frame(1)));
      });
      x.host.on_repo(x.repo.did(), [](raw_peer& peer, const std::string&) {
        peer.send(download_head());
        drip(peer, "x");
      });
      break;
    case misdeed::endless:
      on_stream([](raw_peer& peer) {
        for (int64_t seq = 1; peer.send(binary(unknown_frame(seq))); ++seq)
          continue;
      });
      x.host.on_repo(x.repo.did(), endless_download(x.repo));
      break;
    case misdeed::resetting:
      on_stream([](raw_peer& peer) {
        peer.send(binary(unknown_frame(1)));
        peer.reset();
      });
      x.host.on_repo(x.repo.did(),
                     [half = std::string{car.substr(0, car.size() / 2)}](
                       raw_peer& peer, const std::string&) {
                       peer.send(download_head() + half);
                       peer.reset();
                     });
      break;
    case misdeed::forging:
      x.host.serve(x.repo);
      on_stream([this, repo = x.repo](raw_peer& peer) {
        send_forgeries(peer, repo);
      });
  }
}

void hostile_crowd::send_forgeries(raw_peer& peer, live_repo repo) {
  repo.put("app.test.note/forged", make_record("forged"));
  auto x = repo.draft();
  const auto commit = x.sign(live_repo{1}.key());
  for (x.seq = 1; x.seq <= forgeries_ && peer.send(binary(x.encode(commit)));
       ++x.seq)
    ++forged_;
  std::string ignored;
  while (peer.read_some(ignored, -1) == outcome::data)
    continue;
}

std::vector<std::string> hostile_crowd::upstreams() const {
  std::vector<std::string> out;
  for (const auto& x : members_)
    out.push_back("pds:" + x.host.url());
  return out;
}

std::vector<atproto::did> hostile_crowd::accounts() const {
  std::vector<atproto::did> out;
  for (const auto& x : members_)
    out.push_back(x.repo.did());
  return out;
}

size_t hostile_crowd::connections() const {
  size_t out = 0;
  for (const auto& x : members_)
    out += x.host.connections();
  return out;
}

size_t hostile_crowd::met() const {
  return static_cast<size_t>(
    std::count_if(members_.begin(), members_.end(), [](const member& x) {
      return x.host.connections() > 0;
    }));
}

} // namespace weir::tests
