#include "storage/log/operation_reader.hpp"

#include "storage/log/log_blocks.hpp"
#include "storage/log/operation_maker.hpp"
#include "storage/log/page_filler.hpp"

#include <algorithm>

namespace weir::storage {

namespace {

template <class T>
bool fits(const std::vector<T>& wanted, const T& x) {
  return wanted.empty() || std::ranges::find(wanted, x) != wanted.end();
}

/// A filter whose scopes have the ids of the store.
class stored_filter {
public:
  stored_filter(const operation_filter& wanted, const collection_names& names)
    : wanted_(wanted) {
    for (const auto& name : wanted.scopes)
      if (const auto id = scope_id(names, name))
        scopes_.push_back(*id);
  }

  /// No operation can fit, because nobody has any of the scopes.
  bool fits_nothing() const noexcept {
    return scopes_.empty() && !wanted_.scopes.empty();
  }

  bool fits_repo(const log_block& block) const {
    return !wanted_.repo || *wanted_.repo == block.repo;
  }

  bool fits_operation(const log_block& block, const block_operation& op) const {
    return fits(scopes_, block.streams[op.stream].scope)
           && fits(wanted_.actions, op.action);
  }

  bool with_erased() const noexcept { return wanted_.with_erased; }

private:
  const operation_filter& wanted_;
  std::vector<uint32_t> scopes_;
};

/// One call of `get_since_id`.
class log_pass {
public:
  log_pass(operation_maker& maker, const stored_filter& filter, op_id after,
           page_filler& page) noexcept
    : maker_(maker), filter_(filter), after_(after), page_(page) {}

  /// Returns whether the next block may be looked at.
  result<bool> take(op_id first, const log_block& block) {
    if (auto ok = page_.ask(); !ok)
      return ok.error();
    const bool of_repo = filter_.fits_repo(block);
    if (of_repo)
      maker_.enter(first, block);
    for (size_t i = 0; i < block.ops.size(); ++i) {
      const auto id = first + i;
      if (id <= after_)
        continue;
      if (!page_.may_look())
        return false;
      const auto wanted = of_repo ? wants(block, i, id) : result<bool>{false};
      if (!wanted)
        return wanted.error();
      if (!*wanted) {
        page_.pass(id);
        continue;
      }
      auto made = maker_.make(i);
      if (!made)
        return made.error();
      // It may have been erased a moment ago.
      if (made->content == content_state::erased && !filter_.with_erased())
        page_.pass(id);
      else if (!page_.put(id, std::move(*made)))
        return false;
    }
    return true;
  }

private:
  result<bool> wants(const log_block& block, size_t place, op_id id) {
    if (!filter_.fits_operation(block, block.ops[place]))
      return false;
    if (filter_.with_erased())
      return true;
    const auto erased = maker_.is_erased(block.repo, id);
    if (!erased)
      return erased.error();
    return !*erased;
  }

  operation_maker& maker_;
  const stored_filter& filter_;
  op_id after_;
  page_filler& page_;
};

} // namespace

result<operation_page>
operation_reader::get_since_id(op_id after, op_id durable,
                               const operation_filter& filter,
                               const read_bounds& bounds) const {
  page_filler page{bounds, after};
  if (auto ok = page.ask(); !ok)
    return ok.error();
  const stored_filter wanted{filter, names_};
  if (wanted.fits_nothing()) {
    page.pass(std::max(after, durable));
    return page.take();
  }
  operation_maker maker{db_, names_, partition_, bounds.with_content};
  log_pass pass{maker, wanted, after, page};
  auto ok = each_block(db_, partition_, after, durable,
                       [&](op_id first, const log_block& block) {
                         return pass.take(first, block);
                       });
  if (!ok)
    return ok.error();
  return page.take();
}

} // namespace weir::storage
