#pragma once

#include "storage/log/log_reader.hpp"
#include "storage/log/log_trim.hpp"
#include "tests/unit/storage/journal_fixture.hpp"

#include <limits>
#include <map>

namespace weir::tests {

using namespace weir::storage;

/// A store whose log SWEEPER makes smaller, and two accounts.
class TrimmedLog : public testing::Test {
protected:
  static constexpr auto everything = std::numeric_limits<op_id>::max();
  static constexpr auto any_number = std::numeric_limits<size_t>::max();

  void apply(test_account& who, repo_update update) {
    who.accept(at->commit(std::move(update)));
  }

  void commit(test_account& who, const std::vector<change>& changes) {
    apply(who, who.commit(changes));
  }

  /// A consumer has acked everything up to an operation.
  void ack(op_id through) {
    consumer_change change;
    change.name = "channel";
    change.row
      = consumer_row{{through}, at->db->log_identity(), false, 0, 0};
    journal_batch group;
    group.consumers.push_back(change);
    at->commit(group);
  }

  /// One lap over the log, as SWEEPER makes it: first the walk.
  /// @param through Only this was acked; by default there is no consumer.
  trimmed_log trim(op_id through = everything, size_t ops_max = any_number) {
    const auto used = through != everything;
    if (used)
      ack(through);
    // Everything that is written is old.
    const auto until = first_written_since(*at->db, 0, INT64_MAX).value();
    erase_replaced(until, used);
    const auto needs = log_needs::load(*at->db, 0, used).value();
    trimmed_log out;
    for (op_id next = 1; next != 0;) {
      const auto found
        = find_spent(*at->db, *at->names, 0, needs, next, until, ops_max)
            .value();
      const auto done = at->writer->trim(found.firsts, used).value();
      out.blocks += done.blocks;
      out.operations += done.operations;
      next = found.next;
    }
    return out;
  }

  std::vector<log_entry_ptr> entries(op_id after = 0, size_t ops_max = 7) {
    std::vector<log_entry_ptr> out;
    const log_reader reader{*at->db, *at->names, 0};
    log_page page;
    page.ops_max = ops_max;
    for (;;) {
      auto some = reader.read(after, at->writer->last_id(), page).value();
      if (some.empty())
        return out;
      after = some.back()->last();
      out.insert(out.end(), some.begin(), some.end());
    }
  }

  std::vector<op_id> firsts() {
    std::vector<op_id> out;
    for (const auto& x : entries())
      out.push_back(x->first);
    return out;
  }

  /// What a reader who begins with the log has of an account at the end.
  std::map<std::string, std::string>
  copy_of(const test_account& who, const std::vector<log_entry_ptr>& all) {
    std::map<std::string, std::string> out;
    for (const auto& entry : all)
      for (const auto& op : entry->ops) {
        if (entry->repo != who.repo || op.scope.starts_with('$') || op.outdated
            || entry->erased || entry->last() <= who.chain->erased_through)
          continue;
        const auto path = op.scope + '/' + op.rkey;
        if (op.action == atproto::op_action::remove)
          out.erase(path);
        else
          out[path] = std::string{as_text(op.body.view())};
      }
    return out;
  }

  /// Erases the contents that operations before `until` replaced.
  /// @returns how many.
  uint64_t erase_replaced(op_id until, bool used = false,
                          size_t ops_max = any_number) {
    uint64_t out = 0;
    for (replaced_step done{0, true}; done.more; out += done.erased)
      done = at->writer->erase_replaced(until, used, ops_max).value();
    return out;
  }

  size_t rows_in(const key_range& range) {
    size_t out = 0;
    for (auto rows = at->db->scan(range); rows.valid(); rows.next())
      ++out;
    return out;
  }

  test_store store;
  test_store* at = &store; ///< The store that the functions work on.
  test_account ann{'a'};
  test_account bob{'b'};
};

} // namespace weir::tests
