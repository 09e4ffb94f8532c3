#pragma once

#include <chrono>
#include <cstddef>

/// Bounds that `actors/supervisor` keeps. A name says the thing and the unit.
/// The value itself is accepted; value + 1 is refused.
namespace weir::limits {

using namespace std::chrono_literals;

/// What a listing remembers of its last pages, to notice that it goes in
/// circles: this many hashes of eight bytes, two for each page, so 2 KiB for
/// each listing.
constexpr size_t listing_seen_max = 256;

/// DIDs that a listing remembers of those that it named, as hashes of eight
/// bytes, so 8 KiB for each listing. They are a fair sample, from which the
/// number of distinct DIDs follows within a few percent.
constexpr size_t listing_names_max = 1'024;
// A listing may name repos again as often as it named repos for the first time,
// and this many times more. It is the length of the longest page, so that any
// one page may come twice.
/// longest page there may be, so that any one page may come twice.
constexpr size_t listing_again_max = 10'000;

/// The lines that we request per page when the accounts of the page are asked
/// about one by one. That work is lost when the page fails, so the page is
/// small.
constexpr size_t described_page_asked = 100;

/// The most bytes of a describeRepo answer, which has the document of the
/// account and the name of each collection.
constexpr size_t describe_bytes_max = 131'072;

/// After this many accounts in a row without an answer the host counts as away
/// or broken. Otherwise all remaining accounts would be taken to have no
/// records.
constexpr size_t describe_failures_max = 4;

/// When a host has described no account and tracked accounts were on its pages,
/// this many accounts that it lists as active have to be denied before the host
/// is disbelieved. Fewer may really be gone.
constexpr size_t describe_absent_min = 4;

/// Accounts of one PDS that wait to be asked about because they are active
/// again: as many as a page has, with one request each. They have a budget of
/// their own, one request in `returned_pause`: accounts return rarely, and a
/// new account is found by its commit.
constexpr size_t returned_accounts_max = described_page_asked;
constexpr std::chrono::microseconds returned_pause = std::chrono::seconds{30};

/// The tries in all for such an account whose host fails. After them the next
/// listing has to find it.
constexpr size_t returned_tries_max = 3;

} // namespace weir::limits
