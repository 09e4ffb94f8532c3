#include "bench/calibration.hpp"

#include "bench/machine.hpp"
#include "bench/statistics.hpp"

#include <secp256k1.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace weir::bench {

namespace {

constexpr size_t slots = 10;
constexpr size_t checks_at_once = 16;

/// Checks one signature as for a stream: with a parsed key and a compact
/// signature.
class signature_check {
public:
  signature_check()
    : context_(secp256k1_context_create(SECP256K1_CONTEXT_SIGN
                                        | SECP256K1_CONTEXT_VERIFY),
               secp256k1_context_destroy) {
    secret_.fill(7);
    hash_.fill(11);
    secp256k1_ecdsa_signature made;
    if (!secp256k1_ec_pubkey_create(context_.get(), &key_, secret_.data())
        || !secp256k1_ecdsa_sign(context_.get(), &made, hash_.data(),
                                 secret_.data(), nullptr, nullptr))
      std::abort();
    secp256k1_ecdsa_signature_serialize_compact(context_.get(), compact_.data(),
                                                &made);
  }

  void operator()() const {
    secp256k1_ecdsa_signature parsed;
    if (!secp256k1_ecdsa_signature_parse_compact(context_.get(), &parsed,
                                                 compact_.data())
        || !secp256k1_ecdsa_verify(context_.get(), &parsed, hash_.data(),
                                   &key_))
      std::abort();
  }

private:
  std::unique_ptr<secp256k1_context, void (*)(secp256k1_context*)> context_;
  secp256k1_pubkey key_{};
  std::array<uint8_t, 32> secret_{};
  std::array<uint8_t, 32> hash_{};
  std::array<uint8_t, 64> compact_{};
};

} // namespace

double calibrate(std::chrono::milliseconds duration) {
  const signature_check check;
  const auto slot = std::chrono::duration<double>{duration}.count() / slots;
  std::vector<double> rates;
  while (rates.size() < slots) {
    const auto start = thread_cpu_seconds();
    double count = 0;
    double used = 0;
    while (used < slot) {
      for (size_t i = 0; i < checks_at_once; ++i)
        check();
      count += checks_at_once;
      used = thread_cpu_seconds() - start;
    }
    rates.push_back(count / used);
  }
  return spread_of(std::move(rates)).median;
}

} // namespace weir::bench
