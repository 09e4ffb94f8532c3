#include "storage/verify/verify.hpp"

#include "storage/tables/chain_table.hpp"
#include "storage/verify/verify_context.hpp"

#include <algorithm>

namespace weir::storage {

namespace {

constexpr size_t cached_blocks_max = 512;

} // namespace

void verify_context::find(std::string invariant, std::string where,
                          std::string sentence) {
  if (++report.findings_total <= options.findings_max)
    report.findings.push_back(
      {std::move(invariant), std::move(where), std::move(sentence)});
}

std::shared_ptr<const chain_row>
verify_context::chain_of(const atproto::did& repo) {
  if (repo == chain_owner_)
    return chain_;
  chain_owner_ = repo;
  chain_ = nullptr;
  auto chain = load_chain(db, names, repo);
  if (chain)
    chain_ = std::move(*chain);
  else
    damaged(repo.str(), chain.error());
  return chain_;
}

std::shared_ptr<const log_block> verify_context::block_at(op_id first) {
  if (const auto i = blocks_.find(first); i != blocks_.end())
    return i->second;
  std::shared_ptr<const log_block> out;
  const auto value
    = db.get(encode_key(log_block_key{options.partition, first}));
  if (value && *value)
    if (auto block = decode_log_block(**value))
      out = std::make_shared<const log_block>(std::move(*block));
  if (blocks_.size() >= cached_blocks_max)
    blocks_.clear();
  blocks_.emplace(first, out);
  return out;
}

placed_block verify_context::block_holding(op_id id) {
  const auto row
    = db.last_in({encode_key(log_block_key{options.partition, 0}),
                  encode_key(log_block_key{options.partition, id + 1})});
  const auto key = row && *row ? decode_key<log_block_key>((*row)->first)
                               : bad_key(log_block_key::in);
  if (!key)
    return {};
  auto block = block_at(key->first);
  if (!block || id - key->first >= block->ops.size())
    return {};
  return {key->first, std::move(block)};
}

std::string verify_context::stream_name(const stream_block_key& x) const {
  return x.repo.str() + " "
         + scope_name(names, x.scope).value_or(std::to_string(x.scope));
}

std::optional<size_t> stream_in(const log_block& x,
                                const stream_block_key& key) {
  if (x.repo == key.repo)
    for (size_t i = 0; i < x.streams.size(); ++i)
      if (x.streams[i].scope == key.scope && x.streams[i].branch == key.branch
          && x.streams[i].first_index == key.first_index)
        return i;
  return std::nullopt;
}

namespace {

/// Adds the reads that failed, unless another finding already mentions them.
/// They come first and are always kept, however many findings there are:
/// without them a report about a store that was read only in part would look
/// like one about damage.
void tell_failed_reads(verify_context& x) {
  auto& all = x.report.findings;
  size_t added = 0;
  for (const auto& why : x.db.failed_reads()) {
    if (std::any_of(all.begin(), all.end(), [&](const verify_finding& y) {
          return y.sentence.find(why) != std::string::npos;
        }))
      continue;
    all.insert(all.begin() + static_cast<std::ptrdiff_t>(added++),
               {"tables", "reads", why});
    ++x.report.findings_total;
  }
}

} // namespace

result<verify_report> verify_store(const database& db,
                                   const verify_options& options) {
  if (const auto rows = db.scan({}); !rows.valid()) {
    if (auto ok = rows.status(); !ok)
      return ok.error();
    return verify_report{}; // The first batch never became durable.
  }
  const auto names = collection_table::load(db);
  if (!names) {
    // Without names no scope, chain or head can be understood.
    verify_report out;
    out.findings.push_back({"tables", "collections", names.error().context});
    out.findings_total = 1;
    return out;
  }
  verify_context x{db, **names, options};
  verify_node(x);
  verify_log(x);
  verify_streams(x);
  verify_repos(x);
  verify_names(x);
  verify_consumers(x);
  tell_failed_reads(x);
  return std::move(x.report);
}

result<verify_report>
verify_stores(const std::vector<std::unique_ptr<database>>& all) {
  verify_report out;
  for (const auto& each : all) {
    verify_options how;
    if (each != all.front())
      how.root = all.front().get();
    auto report = verify_store(*each, how);
    if (!report)
      return report.error();
    out.findings_total += report->findings_total;
    for (const auto& [what, count] : report->counts)
      out.counts[what] += count;
    for (auto& x : report->findings) {
      if (all.size() > 1)
        x.where = "partition " + std::to_string(each->identity().partition)
                  + ": " + x.where;
      if (out.findings.size() < how.findings_max)
        out.findings.push_back(std::move(x));
    }
  }
  return out;
}

} // namespace weir::storage
