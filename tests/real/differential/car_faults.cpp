#include "atproto/dag_cbor.hpp"
#include "tests/real/differential/random_cbor.hpp"
#include "tests/real/differential/repo_maker.hpp"

#include <algorithm>

namespace weir::differential {

using namespace atproto;
using namespace tests;

namespace {

/// The end of the header: here a CAR begins with one byte of length.
size_t header_end(const repo_maker& x) {
  return 1 + size_t{x.car.front()};
}

void insert(repo_maker& x, size_t at, const bytes& piece) {
  x.car.insert(x.car.begin() + static_cast<long>(at), piece.begin(),
               piece.end());
}

bytes section(bytes_view id, bytes_view block) {
  bytes out{static_cast<uint8_t>(id.size() + block.size())};
  put(out, id);
  put(out, block);
  return out;
}

/// Changes the root's bytes and points the commit at them.
void change_root(repo_maker& x) {
  auto& [id, block] = x.blocks[x.nodes - 1];
  mutate(block, x.random);
  id = x.data = cid::of_dag_cbor(block);
}

void replace_header(repo_maker& x, bytes header) {
  x.car.erase(x.car.begin(), x.car.begin() + static_cast<long>(header_end(x)));
  header.insert(header.begin(), static_cast<uint8_t>(header.size()));
  insert(x, 0, header);
}

bytes header_of(const repo_maker& x, uint8_t version) {
  cbor::writer out;
  out.begin_map(2).put_text("roots").begin_array(1).put_link(x.roots.front());
  out.put_text("version").put_int(version);
  return out.take();
}

constexpr repo_fault of_cars[] = {
  {"root changed", stage::blocks, change_root},
  {"node absent", stage::blocks,
   [](repo_maker& x) {
     x.blocks.erase(x.blocks.begin()
                    + static_cast<long>(x.random.below(x.nodes)));
   }},
  {"record absent", stage::blocks,
   [](repo_maker& x) {
     if (x.blocks.size() > x.nodes) {
       const auto gone
         = x.blocks[x.nodes + x.random.below(x.blocks.size() - x.nodes)].first;
       std::erase_if(x.blocks, [&gone](const auto& b) {
         return b.first == gone;
       });
     }
   }},
  {"unlinked block", stage::blocks,
   [](repo_maker& x) {
     const auto block = make_record("nobody wants me");
     x.blocks.emplace_back(cid::of_dag_cbor(block), block);
   }},
  {"unlinked raw block", stage::blocks,
   [](repo_maker& x) {
     const auto block = make_record("nobody wants me");
     x.blocks.emplace_back(cid::of_raw(block), block);
   }},
  {"block twice", stage::blocks,
   [](repo_maker& x) {
     x.blocks.push_back(
       tests::named_block{x.blocks[x.random.below(x.blocks.size())]});
   }},
  {"wrong hash of a linked block", stage::blocks,
   [](repo_maker& x) {
     x.blocks[x.random.below(x.blocks.size())].second.push_back(0);
   }},
  {"wrong hash of an unlinked block", stage::blocks,
   [](repo_maker& x) {
     x.blocks.emplace_back(cid::of_dag_cbor({}), make_record("x"));
   }},
  {"two roots", stage::signature,
   [](repo_maker& x) {
     x.roots = {cid::of_dag_cbor(x.commit), cid::of_dag_cbor({})};
   }},
  {"root is another block", stage::signature,
   [](repo_maker& x) {
     x.roots = {x.data};
   }},
  {"no roots", stage::car,
   [](repo_maker& x) {
     cbor::writer out;
     out.begin_map(2).put_text("roots").begin_array(0);
     replace_header(x, out.put_text("version").put_int(1).take());
   }},
  {"CAR version 2", stage::car,
   [](repo_maker& x) {
     replace_header(x, header_of(x, 2));
   }},
  {"header with another key", stage::car,
   [](repo_maker& x) {
     cbor::writer out;
     out.begin_map(3).put_text("more").put_null();
     out.put_text("roots").begin_array(1).put_link(x.roots.front());
     replace_header(x, out.put_text("version").put_int(1).take());
   }},
  {"header keys unsorted", stage::car,
   [](repo_maker& x) {
     cbor::writer out;
     out.begin_map(2).put_text("version").put_int(1);
     out.put_text("roots").begin_array(1).put_link(x.roots.front());
     replace_header(x, out.take());
   }},
  {"cut", stage::car,
   [](repo_maker& x) {
     x.car.resize(x.random.below(x.car.size()));
   }},
  {"bytes changed", stage::car,
   [](repo_maker& x) {
     mutate(x.car, x.random);
   }},
  {"empty section", stage::car,
   [](repo_maker& x) {
     insert(x, header_end(x), {0});
   }},
  {"empty section at the end", stage::car,
   [](repo_maker& x) {
     x.car.push_back(0);
   }},
  {"length in two bytes", stage::car,
   [](repo_maker& x) {
     // The header's length in a form that is longer than necessary.
     const auto length = x.car.front();
     x.car.front() = static_cast<uint8_t>(length | 0x80);
     insert(x, 1, {0});
   }},
  {"length without end", stage::car,
   [](repo_maker& x) {
     insert(x, header_end(x), bytes(12, 0xff));
   }},
  {"section shorter than its CID", stage::car,
   [](repo_maker& x) {
     insert(x, header_end(x), {4, 1, 0x71, 0x12, 0x20});
   }},
  {"block of no bytes", stage::car,
   [](repo_maker& x) {
     insert(x, header_end(x), section(cid::of_dag_cbor({}).view(), {}));
   }},
  {"unlinked block under a long CID", stage::car,
   [](repo_maker& x) {
     bytes id{1, 0x71, 0x13, 64};
     id.insert(id.end(), 64, 7);
     insert(x, header_end(x), section(id, make_record("x")));
   }},
  {"unlinked block under a CID of version 0", stage::car,
   [](repo_maker& x) {
     bytes id{0x12, 32};
     id.insert(id.end(), 32, 7);
     insert(x, header_end(x), section(id, make_record("x")));
   }},
};

} // namespace

std::span<const repo_fault> car_faults() {
  return of_cars;
}

} // namespace weir::differential
