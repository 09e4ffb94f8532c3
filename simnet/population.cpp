#include "simnet/population.hpp"

#include "atproto/base_encodings.hpp"
#include "atproto/sha256.hpp"

#include <array>
#include <cmath>
#include <cstring>

namespace weir::simnet {

namespace {

constexpr std::array syllables{"ba",  "ki",  "lo",  "mu", "ne", "ra",
                               "so",  "ta",  "vi",  "wo", "xe", "yu",
                               "zan", "del", "fir", "gor"};

atproto::did make_did(uint64_t seed) {
  constexpr size_t characters = 24;
  const auto text = "account " + std::to_string(seed);
  const auto hash = atproto::sha256(as_bytes(text));
  std::string out = "did:plc:";
  atproto::append_base32(hash, out);
  out.resize(std::strlen("did:plc:") + characters);
  return atproto::did::trusted(std::move(out));
}

/// Number of records for each account. The shares go by rank, in random order.
std::vector<uint64_t> deal_out(const population_options& options,
                               random_source& random) {
  std::vector<uint64_t> out(options.accounts);
  const zipf ranks{options.accounts, options.size_exponent};
  double due = 0;
  uint64_t given = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    due += ranks.share(i) * static_cast<double>(options.records);
    out[i] = static_cast<uint64_t>(std::llround(due)) - given;
    given += out[i];
  }
  shuffle(out, random);
  return out;
}

} // namespace

zipf::zipf(size_t n, double exponent) : sums_(n) {
  double sum = 0;
  for (size_t i = 0; i < n; ++i) {
    sum += std::pow(static_cast<double>(i + 1), -exponent);
    sums_[i] = sum;
  }
}

std::string make_handle(random_source& random, size_t index) {
  std::string out;
  for (int i = 0; i < 3; ++i)
    out += syllables[random.below(syllables.size())];
  return out + std::to_string(index % 1'000'000'000) + ".test";
}

newcomer make_newcomer(const population_options& options, size_t index) {
  const auto text = "seed " + std::to_string(options.seed) + " account "
                    + std::to_string(index);
  const auto hash = atproto::sha256(as_bytes(text));
  newcomer out;
  std::memcpy(&out.seed, hash.data(), sizeof(out.seed));
  const auto random = seeded_random(out.seed);
  out.id = make_did(out.seed);
  out.handle = make_handle(*random, index);
  const auto p256 = random->below(1000) < options.p256_per_thousand;
  out.key = atproto::private_key::generate(
    p256 ? atproto::curve::p256 : atproto::curve::k256, *random);
  const auto shared = options.hosts - options.lone_hosts;
  out.host
    = index < options.lone_hosts ? shared + index : random->below(shared);
  out.seed = random->next();
  return out;
}

std::vector<newcomer> make_population(const population_options& options) {
  const auto random = seeded_random(options.seed);
  const auto sizes = deal_out(options, *random);
  std::vector<newcomer> out;
  out.reserve(options.accounts);
  for (size_t i = 0; i < options.accounts; ++i) {
    out.push_back(make_newcomer(options, i));
    out.back().records = sizes[i];
  }
  return out;
}

} // namespace weir::simnet
