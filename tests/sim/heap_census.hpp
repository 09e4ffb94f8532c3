#pragma once

#include "tests/support/heap_tag.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

/// Who holds how much memory, exactly: each block of the heap remembers who was
/// running when it was asked for, an actor by its kind, the node's loops, or
/// the world. Bytes are those that were asked for, so equal runs have equal counts.
/// Only a program with tests/sim/counting_new.cpp in it counts.
namespace weir::sim::heap {

using tests::heap_scope;
using tests::heap_tag;

constexpr size_t tags_max = 64;

/// The number of a name; the same for equal names. Names beyond `tags_max`
/// share the last number.
heap_tag tag_of(std::string_view name);

/// Whether this program counts.
bool is_counted() noexcept;

/// Live bytes by name, of everybody but the world.
using census = std::map<std::string, int64_t>;

census live();

/// The most that each had at once since `forget_peaks`.
census peaks();

void forget_peaks() noexcept;

/// What `later` has more than `earlier`.
census difference(const census& later, const census& earlier);

int64_t sum(const census& x) noexcept;

/// For people.
std::string describe(const census& x);

// -- for the allocator --------------------------------------------------------

/// The calling thread is the one that simulates, the only one of the process:
/// what it asks for is counted without locking the memory.
void count_as_simulator() noexcept;
bool is_simulator() noexcept;

heap_tag gain(size_t bytes) noexcept;
void lose(heap_tag of, size_t bytes) noexcept;

} // namespace weir::sim::heap
