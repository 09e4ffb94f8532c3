#pragma once

#include "atproto/dag_cbor.hpp"
#include "base/random.hpp"

#include <initializer_list>
#include <string>

namespace weir::differential {

/// Makes CBOR of all kinds that atproto uses. On request, one item in some
/// breaks a rule of DAG-CBOR (protocol-coverage.md 6); the result may or may
/// not be well-formed CBOR.
class cbor_grower {
public:
  /// @param faults_in_100 The number of items of a hundred that break a rule.
  explicit cbor_grower(random_source& random, unsigned faults_in_100 = 0)
    : random_(random), faults_(faults_in_100) {
    // nop
  }

  /// A map with a `$type`, like a record.
  bytes record();

private:
  bool chance(unsigned in_100) { return random_.below(100) < in_100; }

  void item(size_t depth);
  void broken_item(size_t depth);
  void integer();
  void floating();
  void text();
  void link();
  void array(size_t depth);
  void map(size_t depth);
  std::string letters(size_t size_max);

  random_source& random_;
  unsigned faults_;
  bytes out_;
};

/// Appends the head of an item with a number of `width` bytes (0, 1, 2, 4, 8).
void put_head(bytes& out, uint8_t major, uint64_t n, unsigned width);

/// The same in the shortest form.
void put_head(bytes& out, uint8_t major, uint64_t n);

void put(bytes& out, std::initializer_list<uint8_t> x);
void put(bytes& out, std::string_view x);
void put(bytes& out, bytes_view x);

/// One to three changes: bits, bytes, lengths, and pieces that are removed,
/// repeated or swapped.
void mutate(bytes& x, random_source& random);

} // namespace weir::differential
