#pragma once

#include "tests/support/heap_tag.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

/// Counts exactly how much memory each owner has. Each block of the heap stores
/// who was running when it was allocated: an actor (by its kind), the node's
/// loops, or the world. The requested sizes are counted, so equal runs have
/// equal counts. Only a program with tests/sim/counting_new.cpp counts.
namespace weir::sim::heap {

using tests::heap_scope;
using tests::heap_tag;

constexpr size_t tags_max = 64;

/// The number of a name; equal names have the same. Names beyond `tags_max`
/// share the last number.
heap_tag tag_of(std::string_view name);

/// Whether this program counts.
bool is_counted() noexcept;

/// Live bytes by name, of every owner except the world.
using census = std::map<std::string, int64_t>;

census live();

/// The largest number of live bytes of each since `forget_peaks`.
census peaks();

void forget_peaks() noexcept;

/// What `later` has in addition to `earlier`.
census difference(const census& later, const census& earlier);

int64_t sum(const census& x) noexcept;

/// A description for people.
std::string describe(const census& x);

// -- for the allocator --------------------------------------------------------

/// The calling thread is the one that simulates, the only one of the process.
/// Its allocations are counted without a lock.
void count_as_simulator() noexcept;
bool is_simulator() noexcept;

heap_tag gain(size_t bytes) noexcept;
void lose(heap_tag of, size_t bytes) noexcept;

} // namespace weir::sim::heap
