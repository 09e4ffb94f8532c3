#pragma once

#include "atproto/dag_cbor.hpp"
#include "base/random.hpp"

#include <initializer_list>
#include <string>

namespace weir::differential {

/// Grows CBOR of all shapes that atproto knows; where told to, one item in some
/// breaks a rule of DAG-CBOR (protocol-coverage.md 6) and stays well-formed
/// CBOR or not.
class cbor_grower {
public:
  /// @param faults_in_100 How many items of a hundred break a rule.
  explicit cbor_grower(random_source& random, unsigned faults_in_100 = 0)
    : random_(random), faults_(faults_in_100) {
    // nop
  }

  /// A map with a `$type`, as a record is.
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

/// Appends the head of an item in `width` bytes of number (0, 1, 2, 4, 8).
void put_head(bytes& out, uint8_t major, uint64_t n, unsigned width);

/// Same, in the shortest form.
void put_head(bytes& out, uint8_t major, uint64_t n);

void put(bytes& out, std::initializer_list<uint8_t> x);
void put(bytes& out, std::string_view x);
void put(bytes& out, bytes_view x);

/// One to three changes: bits, bytes, lengths, pieces gone, doubled, swapped.
void mutate(bytes& x, random_source& random);

} // namespace weir::differential
