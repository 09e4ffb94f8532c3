#include "storage/disk/partition_stores.hpp"

#include "storage/disk/opened_store.hpp"
#include "storage/format/values.hpp"

namespace weir::storage {

namespace {

/// @param were_made All stores of the directory were made once.
error missing(const std::string& directory, bool were_made) {
  if (!were_made)
    return fail(ec::not_found,
                "there is no store in " + directory
                  + " yet: the node that was to make it ended before that, and "
                    "goes on with it when it is started again");
  return fail(ec::invalid_argument,
              "the store of a partition is missing, and with it its repos: move "
                + directory
                + " back to its place, or restore a backup of the whole data_dir");
}

/// On a slow disk a store takes seconds to open, and there may be many.
result<void> go_on_unless(const std::function<bool()>& end_wanted) {
  if (end_wanted && end_wanted())
    return fail(ec::cancelled,
                "it was asked to end while it opened the stores");
  return {};
}

std::string openings_row(uint16_t partition) {
  return openings_row_begin + std::to_string(partition);
}

/// How often the store of a partition was opened, as a row of `x` says.
result<uint64_t> noted_openings(const database& x, const std::string& row) {
  const auto value = x.get(encode_key(meta_key{row}));
  if (!value)
    return value.error();
  if (!*value)
    return 0;
  const auto known = decode_value<counter>(**value, table::meta);
  if (!known)
    return known.error();
  return known->value;
}

/// All are open. The first one says so before the others do: starts that end
/// earlier, however many, then make no store look older than another.
result<void> note_opened(const std::vector<std::unique_ptr<database>>& all,
                         const std::function<bool()>& end_wanted) {
  write_batch first;
  const auto put = [](auto& to, const std::string& row, uint64_t value) {
    to.put(encode_key(meta_key{row}), encode_value(counter{value}));
  };
  put(first, partitions_row_name, all.size());
  for (size_t i = 1; i < all.size(); ++i)
    put(first, openings_row(all[i]->identity().partition), all[i]->openings());
  auto ok = go_on_unless(end_wanted);
  if (ok)
    ok = all.front()->write(first, sync_mode::durable);
  for (size_t i = 1; ok && i < all.size(); ++i) {
    write_batch other;
    put(other, openings_noted_row_name, all[i]->openings());
    ok = go_on_unless(end_wanted);
    if (ok)
      ok = all[i]->write(other, sync_mode::durable);
  }
  return ok;
}

/// Opens the stores of all partitions except the first one.
result<void> open_others(database_options each,
                         const std::function<bool()>& end_wanted,
                         std::vector<std::unique_ptr<database>>& out) {
  const auto all_made
    = out.front()->get(encode_key(meta_key{partitions_row_name}));
  if (!all_made)
    return all_made.error();
  each.may_make = !*all_made;
  const auto root = each.directory;
  for (uint16_t i = 1; i < each.expected->partitions; ++i) {
    if (auto ok = go_on_unless(end_wanted); !ok)
      return ok;
    each.directory = partition_directory(root, i);
    each.expected->partition = i;
    const auto openings = noted_openings(*out.front(), openings_row(i));
    if (!openings)
      return openings.error();
    each.openings_min = *openings;
    auto next = database::open(each);
    if (!next)
      return next.error().code == ec::not_found
               ? missing(each.directory, all_made->has_value())
               : next.error();
    const auto noted = noted_openings(**next, openings_noted_row_name);
    if (!noted)
      return noted.error();
    if (*noted > *openings)
      return older_copy(root);
    out.push_back(std::move(*next));
  }
  return {};
}

} // namespace

std::string partition_directory(const std::string& data_dir,
                                uint16_t partition) {
  return partition == 0 ? data_dir
                        : data_dir + "/partition-" + std::to_string(partition);
}

result<std::vector<std::unique_ptr<database>>>
open_partition_stores(const database_options& options, uint16_t partitions,
                      const std::function<bool()>& end_wanted) {
  auto each = options;
  if (partitions != 0)
    each.expected = store_identity{.partitions = partitions};
  auto first = database::open(each);
  if (!first)
    return first.error();
  std::vector<std::unique_ptr<database>> out;
  out.push_back(std::move(*first));
  const auto whole = out.front()->identity();
  if (whole.partition != 0)
    return fail(ec::invalid_argument,
                options.directory + " is the store of partition "
                  + std::to_string(whole.partition)
                  + " alone: name the data directory that it lies in");
  if (whole.partitions == 1)
    return out;
  each.expected = whole;
  if (auto ok = open_others(std::move(each), end_wanted, out); !ok)
    return ok.error();
  if (options.access != access_mode::read_only)
    if (auto ok = note_opened(out, end_wanted); !ok)
      return ok.error();
  return out;
}

} // namespace weir::storage
