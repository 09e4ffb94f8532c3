#include "storage/disk/partition_stores.hpp"

#include "storage/format/values.hpp"

namespace weir::storage {

namespace {

/// @param were_made All of them.
error missing(const std::string& directory, bool were_made) {
  if (!were_made)
    return fail(ec::not_found,
                "there is no store in " + directory
                  + " yet: the node that was to make it ended before that, and "
                    "goes on with it when it is started again");
  return fail(ec::invalid_argument,
              "the store of a partition is missing, and with it its repos: put "
                + directory
                + " back, or restore a backup of the whole data_dir");
}

} // namespace

std::string partition_directory(const std::string& data_dir,
                                uint16_t partition) {
  return partition == 0 ? data_dir
                        : data_dir + "/partition-" + std::to_string(partition);
}

result<std::vector<std::unique_ptr<database>>>
open_partition_stores(const database_options& options, uint16_t partitions) {
  auto each = options;
  if (partitions != 0)
    each.expected = store_identity{.partitions = partitions};
  auto first = database::open(each);
  if (!first)
    return first.error();
  std::vector<std::unique_ptr<database>> out;
  out.push_back(std::move(*first));
  const auto whole = out.front()->identity();
  if (whole.partitions == 1)
    return out;
  const auto made_key = encode_key(meta_key{partitions_row_name});
  const auto all_made = out.front()->get(made_key);
  if (!all_made)
    return all_made.error();
  each.may_make = !*all_made;
  for (uint16_t i = 1; i < whole.partitions; ++i) {
    each.directory = partition_directory(options.directory, i);
    each.expected = whole;
    each.expected->partition = i;
    auto next = database::open(each);
    if (!next)
      return next.error().code == ec::not_found
               ? missing(each.directory, all_made->has_value())
               : next.error();
    out.push_back(std::move(*next));
  }
  if (*all_made || options.access == access_mode::read_only)
    return out;
  write_batch done;
  done.put(made_key, encode_value(counter{whole.partitions}));
  if (auto ok = out.front()->write(done, sync_mode::durable); !ok)
    return ok.error();
  return out;
}

} // namespace weir::storage
