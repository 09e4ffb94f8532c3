#include "actors/supervisor/left_out_scans.hpp"

#include "actors/support/completeness.hpp"

#include <algorithm>
#include <utility>

namespace weir::actors {

bool left_out_scans::is_left_out(const scan& x, const atproto::did& repo,
                                 const storage::repo_row& row,
                                 const upstream_board& board, wall_time now) {
  return should_be_listed(row, x.since, now)
         && board.speaks_for(row.pds, x.upstream, &x.listing)
         && x.named->left_out(atproto::stable_hash(repo.str()));
}

position left_out_scans::to_prove(const storage::repo_row& row,
                                  const upstream_board& board) {
  if (!completeness::counts(row)
      || row.status != storage::repo_status::synced)
    return {};
  const auto needed = board.accounting_for(row.pds).since_reset();
  return needed.defined() && !row.fcsr.covers(needed) ? needed : position{};
}

void left_out_scans::add(scan x) {
  const auto replace = [&](const search& old) {
    if (old.at.upstream != x.upstream)
      return false;
    begins_[x.upstream] = old.missed.value_or(old.at.after);
    return true;
  };
  if (reading_)
    replace(*reading_);
  std::erase_if(waiting_, replace);
  search next;
  if (const auto i = begins_.find(x.upstream); i != begins_.end())
    next.begin = i->second;
  x.after = next.begin;
  next.at = std::move(x);
  waiting_.push_back(std::move(next));
}

std::optional<left_out_scans::scan> left_out_scans::next(
  const std::function<bool(const std::string& pds)>& has_room) {
  if (reading_)
    return std::nullopt;
  const auto i
    = std::find_if(waiting_.begin(), waiting_.end(), [&](const search& x) {
        return has_room(x.at.pds);
      });
  if (i == waiting_.end())
    return std::nullopt;
  reading_ = std::move(*i);
  waiting_.erase(i);
  return reading_->at;
}

void left_out_scans::on_shortage(const atproto::did& repo) {
  if (!reading_->missed)
    reading_->missed = repo;
}

void left_out_scans::on_page(const atproto::did& last, bool end) {
  auto x = std::move(*std::exchange(reading_, std::nullopt));
  const auto replaced
    = std::any_of(waiting_.begin(), waiting_.end(), [&](const search& y) {
        return y.at.upstream == x.at.upstream;
      });
  if (replaced)
    return;
  x.at.after = last;
  const auto whole = x.turned ? end || last >= x.begin
                              : end && x.begin.empty();
  if (whole) {
    begins_.erase(x.at.upstream);
    if (x.missed)
      begins_[x.at.upstream] = *x.missed;
    return;
  }
  if (end) {
    x.turned = true;
    x.at.after = {};
  }
  waiting_.push_back(std::move(x));
}

} // namespace weir::actors
