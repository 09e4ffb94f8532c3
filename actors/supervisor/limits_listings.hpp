#pragma once

#include <chrono>
#include <cstddef>

/// Bounds that `actors/supervisor` keeps. A name says the thing and the unit.
/// The value itself is accepted; value + 1 is refused.
namespace weir::limits {

using namespace std::chrono_literals;

/// What a listing remembers of its last pages, to see that it goes in circles:
/// so many hashes of eight bytes, two of a page. 2 KiB of each listing.
constexpr size_t listing_seen_max = 256;

/// And so many DIDs that it named, of eight bytes each: a fair sample, from
/// which one tells within a few parts of a hundred how many there were. 8 KiB
/// of each listing.
constexpr size_t listing_names_max = 1'024;

/// Repos that a listing names again, beyond as many as it named once: the
/// longest page there may be, so that any one page may come twice.
constexpr size_t listing_again_max = 10'000;

/// Of a page whose accounts are asked about one by one: what is lost when it
/// fails.
constexpr size_t described_page_asked = 100;

/// An answer has the account's document and a name for each collection.
constexpr size_t describe_bytes_max = 131'072;

/// So many accounts in a row without an answer: the host is away or broken, and
/// all that is left would be called empty.
constexpr size_t describe_failures_max = 4;

/// So many accounts that a listing calls active are said not to be there, and
/// nobody is described: beside accounts that are tracked, fewer may be gone.
constexpr size_t describe_absent_min = 4;

/// Accounts of one PDS that are asked about because they are active again, and that
/// wait: as many as a page has, one request each. They have a budget of their own,
/// one in this time: somebody's return is rare, and who is new is found by a commit.
constexpr size_t returned_accounts_max = described_page_asked;
constexpr std::chrono::microseconds returned_pause = std::chrono::seconds{30};

/// So often one of them is asked about whose host fails. The next listing has it.
constexpr size_t returned_tries_max = 3;

} // namespace weir::limits
