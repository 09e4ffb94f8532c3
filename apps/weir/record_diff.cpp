#include "apps/weir/record_diff.hpp"

namespace weir::apps {

namespace {

constexpr size_t walk_step = 1'024;

} // namespace

result<uint64_t> record_diff::run(head_reader here, repo_fetch& there) const {
  uint64_t records = 0;
  const auto visit = [&](const atproto::walked_record& x) -> result<void> {
    ++records;
    for (;;) {
      const auto head = here.peek();
      if (!head)
        return head.error();
      const auto mine = *head == nullptr ? std::string{} : (*head)->path();
      if (*head == nullptr || mine > x.path) {
        if (kept(x.path))
          differs(x.path, "is missing here");
        return {};
      }
      if (mine == x.path && (*head)->head.id != x.id)
        differs(x.path, "has another cid than at the host");
      if (mine < x.path)
        differs(mine, "is not at the host");
      here.pop();
      if (mine == x.path)
        return {};
    }
  };
  if (auto ok = there.visit(walk_step, visit); !ok)
    return ok.error();
  for (;;) {
    const auto head = here.peek();
    if (!head)
      return head.error();
    if (*head == nullptr)
      return records;
    differs((*head)->path(), "is not at the host");
    here.pop();
  }
}

} // namespace weir::apps
