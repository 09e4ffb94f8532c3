#include "simnet/hostile_hosts.hpp"

#include "atproto/base_encodings.hpp"
#include "atproto/sha256.hpp"
#include "simnet/datetime.hpp"
#include "simnet/slow_bodies.hpp"
#include "simnet/sync_reads.hpp"

#include <boost/json.hpp>

#include <array>
#include <charconv>
#include <string>

namespace weir::simnet {

namespace {

namespace json = boost::json;

constexpr std::array<const char*, hostilities> ways{
  "slow", "inventive", "wide", "endless", "fictive", "fickle", "circular"};

/// Frames that an endless stream makes at a time.
constexpr size_t frames_of_a_turn = 64;

/// The additional bytes that a slow host promises in a download.
constexpr uint64_t slow_download_bytes = 900'000'000;

std::string invented_did(size_t host, size_t number) {
  constexpr size_t characters = 32; // "did:plc:" and 24 more.
  const auto text
    = "nobody " + std::to_string(host) + " " + std::to_string(number);
  std::string out = "did:plc:";
  atproto::append_base32(atproto::sha256(as_bytes(text)), out);
  out.resize(characters);
  return out;
}

size_t cursor_of(const net::incoming_request& request) {
  size_t out = 0;
  if (const auto* text = request.parameter("cursor"))
    std::from_chars(text->data(), text->data() + text->size(), out);
  return out;
}

} // namespace

const char* to_string(hostility x) noexcept {
  return ways[static_cast<size_t>(x)];
}

hostile_hosts::hostile_hosts(world& where)
  : world_(where), first_(where.options().population.hosts) {
  for (size_t i = 0; i < where.options().hostile.size(); ++i) {
    counts_.push_back(std::make_unique<counts>());
    const auto host = first_ + i;
    const auto what = kind(host);
    if (what == hostility::endless || what == hostility::fictive
        || what == hostility::fickle)
      where.host_log(host).set_spring([this, host] {
        flood(host);
      });
  }
}

std::optional<net::http_reply>
hostile_hosts::list(size_t host, const net::incoming_request& request) {
  const auto from = cursor_of(request);
  if (kind(host) == hostility::circular)
    return turn_in_circles(host, from);
  if (kind(host) != hostility::inventive || from < world_.accounts())
    return std::nullopt;
  return invent(host, from);
}

net::http_reply hostile_hosts::invent(size_t host, size_t from) {
  const auto rev = atproto::tid::from_time(world_.now(), 0).str();
  const auto head = atproto::cid::of_dag_cbor(as_bytes("nothing")).to_text();
  const auto lines = world_.options().hostile[host - first_].page_lines;
  json::array repos;
  for (size_t i = 0; i < lines; ++i)
    repos.push_back(json::object{{"did", invented_did(host, from + i)},
                                 {"head", head},
                                 {"rev", rev},
                                 {"active", true}});
  counts_[host - first_]->claims += lines;
  return ok_reply(
    {{"cursor", std::to_string(from + lines)}, {"repos", std::move(repos)}});
}

/// Each page begins with another account and has another length, so no two
/// pages are equal.
net::http_reply hostile_hosts::turn_in_circles(size_t host, size_t page) {
  constexpr size_t lengths = 97;
  const auto first = first_account(host);
  const auto& how = world_.options().hostile[host - first_];
  const auto accounts = how.accounts;
  const auto size = how.page_lines - page % std::min(lengths, how.page_lines);
  std::vector<json::object> lines;
  for (size_t i = 0; i < accounts; ++i) {
    const auto x = world_.view(first + i);
    lines.push_back({{"did", x.id.str()},
                     {"head", x.head.to_text()},
                     {"rev", x.listed_rev.str()},
                     {"active", true}});
  }
  json::array repos;
  for (size_t i = 0; i < size; ++i)
    repos.push_back(lines[(i + page * page) % accounts]);
  ++counts_[host - first_]->pages;
  return ok_reply(
    {{"cursor", std::to_string(page + 1)}, {"repos", std::move(repos)}});
}

size_t hostile_hosts::first_account(size_t host) const {
  auto out = world_.options().population.accounts;
  for (size_t i = 0; i < host - first_; ++i)
    out += world_.options().hostile[i].accounts;
  return out;
}

void hostile_hosts::spoil(size_t host, net::http_reply& reply) {
  const auto what = kind(host);
  auto& count = *counts_[host - first_];
  ++count.downloads;
  if (what != hostility::slow && what != hostility::endless)
    return;
  if (what == hostility::endless) {
    reply.rest = unlinked_blocks(0, std::nullopt, &count.bytes);
    return;
  }
  const auto rate = world_.options().hostile[host - first_].bytes_per_second;
  reply.rest = unlinked_blocks(rate, slow_download_bytes, &count.bytes);
}

/// Makes #identity events of many accounts; each causes a look-up.
void hostile_hosts::flood(size_t host) {
  const auto& all = world_.options();
  const auto index = first_account(host);
  const auto is_fictive = kind(host) == hostility::fictive;
  const auto time = format_datetime(world_.now());
  auto& log = world_.host_log(host);
  auto& count = *counts_[host - first_];
  for (size_t i = 0; i < frames_of_a_turn; ++i) {
    const auto number = count.frames++;
    const auto account = index + number % all.hostile[host - first_].accounts;
    const auto did = is_fictive
                       ? atproto::did::trusted(invented_did(host, number))
                       : world_.view(account).id;
    count.claims += is_fictive ? 1 : 0;
    log.append(account, [&](int64_t seq) {
      atproto::identity_event event;
      event.repo = did;
      event.time = time;
      event.seq = seq;
      return encode_frame(event);
    });
  }
}

} // namespace weir::simnet
