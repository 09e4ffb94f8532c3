#include "bench/micro_stages.hpp"

#include "atproto/car.hpp"
#include "atproto/limits.hpp"
#include "atproto/record_json.hpp"
#include "atproto/repo_walk.hpp"
#include "atproto/sha256.hpp"
#include "atproto/verify.hpp"
#include "simnet/mapped_file.hpp"

#include <algorithm>
#include <cstdlib>

namespace weir::bench {

namespace {

/// Aborts when a stage fails, since its time would mean nothing.
void require(bool ok) {
  if (!ok)
    std::abort();
}

template <class T>
void keep(const T& x) {
  asm volatile("" : : "g"(&x) : "memory");
}

/// Visits one element in each call, and begins again after the last.
template <class T>
class ring {
public:
  explicit ring(const std::vector<T>& all) : all_(&all) {}

  const T& next() {
    const auto& out = (*all_)[at_];
    at_ = (at_ + 1) % all_->size();
    return out;
  }

private:
  const std::vector<T>* all_;
  size_t at_ = 0;
};

constexpr size_t operations_at_once = 16;

/// A stage that works on the commits of `input`, which it keeps.
template <class Function>
stage over_commits(std::string name, std::string what, double nanos,
                   const micro_input_ptr& input, Function run) {
  return {std::move(name), std::move(what), nanos,
          [input, run, all = ring{input->commits}]() mutable {
            for (size_t i = 0; i < operations_at_once; ++i)
              run(all.next());
            return operations_at_once;
          }};
}

stage signature_stage(atproto::curve which, std::string name, double nanos) {
  const auto random = seeded_random(1);
  const auto key = atproto::private_key::generate(which, *random);
  const bytes message(200, 7);
  const auto hash = atproto::sha256(message);
  return {std::move(name), "one signature, key parsed", nanos,
          [key = key.public_part(), hash, sig = key.sign(message)] {
            for (size_t i = 0; i < operations_at_once; ++i)
              require(key.verify_digest(hash, sig));
            return operations_at_once;
          }};
}

void hash_blocks(const micro_input::commit& x) {
  const auto slice = atproto::car_slice::parse(x.event.blocks);
  require(slice && slice->check_hashes());
}

void parse_slice(const micro_input::commit& x) {
  const auto slice = atproto::car_slice::parse(x.event.blocks);
  require(slice.has_value());
  keep(*slice);
}

void verify_frame(const micro_input::commit& x) {
  const auto event = atproto::decode_frame(x.frame.view());
  require(event.has_value());
  const auto done
    = atproto::verify_commit(x.frame, std::get<atproto::commit_event>(*event),
                             x.key, system_clock().wall_now());
  require(done.has_value());
  keep(*done);
}

stage json_stage(const micro_input_ptr& input) {
  return {"record_json", "one record to JSON", 438,
          [input, all = ring{input->records}, out = std::string{}]() mutable {
            for (size_t i = 0; i < operations_at_once; ++i) {
              out.clear();
              require(atproto::append_record_json(all.next(), out).has_value());
              keep(out);
            }
            return operations_at_once;
          }};
}

/// Walks and proves a whole export in memory. Nothing is stored.
size_t walk_repo(const micro_input& input) {
  constexpr size_t chunk = 65'536;
  const auto store = atproto::make_memory_spool(limits::repo_car_bytes_max);
  const auto index = atproto::make_memory_spool(limits::repo_car_bytes_max);
  atproto::repo_walk walk{input.repo, *store, *index};
  const auto car = input.repo_car.view();
  for (size_t at = 0; at < car.size(); at += chunk)
    require(
      walk.feed(car.subspan(at, std::min(chunk, car.size() - at))).has_value());
  require(walk.finish(input.repo_key, system_clock().wall_now()).has_value());
  size_t records = 0;
  for (bool whole = false; !whole;) {
    const auto step = walk.step(1'000, [&](const atproto::walked_record& x) {
      keep(x);
      ++records;
    });
    require(step.has_value());
    whole = *step;
  }
  return records;
}

void add_commit(const shared_bytes& frame, atproto::public_key key,
                micro_input& out) {
  const auto decoded = atproto::decode_frame(frame.view());
  require(decoded.has_value());
  micro_input::commit made{frame, std::get<atproto::commit_event>(*decoded),
                           std::move(key)};
  const auto slice = atproto::car_slice::parse(made.event.blocks);
  require(slice.has_value());
  for (const auto& op : made.event.ops)
    if (const auto* block = slice->find(op.id))
      out.records.push_back(block->data);
  out.commits.push_back(std::move(made));
}

} // namespace

result<micro_input_ptr> micro_input::load(const corpus_facts& corpus,
                                          size_t commits_max) {
  const auto file = simnet::map_file(corpus.path.string());
  if (!file)
    return file.error();
  const auto index = simnet::read_corpus_index(file->view());
  if (!index)
    return index.error();
  auto out = std::make_shared<micro_input>();
  std::vector<atproto::public_key> keys;
  for (const auto& x : index->accounts)
    keys.push_back(atproto::public_key::from_multikey(x.signing_key).value());
  for (const auto& x : index->frames)
    if (x.commit && out->commits.size() < commits_max)
      add_commit(file->slice(x.offset, x.size), keys[x.account], *out);
  const auto largest = std::ranges::max_element(
    index->accounts, {}, &simnet::corpus_account::records);
  out->repo = largest->id;
  out->repo_key = keys[static_cast<size_t>(largest - index->accounts.begin())];
  out->repo_car = file->slice(largest->car_offset, largest->car_size);
  if (out->commits.empty() || out->records.empty() || largest->records == 0)
    return fail(ec::malformed, "the corpus is too small to measure with");
  return micro_input_ptr{std::move(out)};
}

std::vector<stage> make_protocol_stages(const micro_input_ptr& input) {
  using atproto::curve;
  std::vector<stage> out;
  out.push_back(signature_stage(curve::k256, "signature_k256", 44'500));
  out.push_back(signature_stage(curve::p256, "signature_p256", 76'000));
  out.push_back(over_commits("car_parse", "slice of one commit, indexed", 250,
                             input, parse_slice));
  out.push_back(over_commits("sha256_blocks", "parsed slice, blocks hashed",
                             12'250, input, hash_blocks));
  out.push_back(over_commits("commit_verify", "one frame, all proofs", 73'000,
                             input, verify_frame));
  out.push_back(json_stage(input));
  // Scalar hashing, in cache or not, gives 0.79 to 0.87 M records/s.
  out.push_back({"repo_walk", "one record of a proved export", 1'200, [input] {
                   return walk_repo(*input);
                 }});
  return out;
}

} // namespace weir::bench
