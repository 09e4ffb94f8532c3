#include "atproto/commit.hpp"
#include "storage/format/account_fact.hpp"
#include "storage/verify/verify_context.hpp"

/// Compares the last commit and the last fact of a repo with its chain and its
/// row. They are written in the batch of the operation.
namespace weir::storage {

namespace {

class latest_check {
public:
  latest_check(verify_context& x, const atproto::did& repo,
               const chain_row& chain, const last_operations& last)
    : x_(x), repo_(repo), chain_(chain), last_(last) {}

  void run() {
    if (chain_.rev.defined() != (last_.commit.number != 0))
      find("the chain and the commits in the log differ in whether there is "
           "one");
    else if (chain_.rev.defined())
      check_commit();
    if (last_.row)
      check_row(*last_.row);
    else if (last_.fact.number != 0)
      find("it has facts, but no row");
  }

private:
  void find(std::string sentence) { x_.wrong(repo_, std::move(sentence)); }

  /// Empty when it is missing or damaged, which the pass over the log reports.
  shared_bytes content_of(const last_operation& op) {
    auto body = x_.contents.read_one(op.number);
    return body ? std::move(*body) : shared_bytes{};
  }

  void check_commit() {
    if (chain_.passed == 0)
      check_last_commit();
    else
      check_passed();
  }

  void check_last_commit() {
    if (chain_.commit != last_.commit.id || chain_.rev != last_.commit_rev)
      find("the chain is not at operation "
           + std::to_string(last_.commit.number)
           + ", the last commit in the log");
    const auto body = content_of(last_.commit);
    if (!body.empty())
      check_block(body.view());
  }

  /// The log has no entry of the commit; its block is in the chain.
  void check_passed() {
    const auto block = chain_.passed_block.view();
    if (atproto::cid::of_dag_cbor(block) != chain_.commit)
      find("the block of its last commit does not hash to the CID of the chain");
    if (chain_.rev <= last_.commit_rev)
      find("its last commit is not behind operation "
           + std::to_string(last_.commit.number)
           + ", the last commit in the log");
    check_block(block);
  }

  void check_block(bytes_view block) {
    const auto commit = atproto::decode_commit(block);
    if (!commit)
      find("its last commit is not a valid commit: " + commit.error().context);
    else if (commit->repo != repo_ || commit->rev != chain_.rev
             || commit->data != chain_.data)
      find("the chain says another repo, revision or tree than the commit it "
           "is at");
  }

  /// Before the first fact, the row must be like a new one.
  void check_row(const repo_row& row) {
    const bool passed
      = chain_.passed != 0 && row.last_indexed_rev > last_.commit_rev;
    if (row.last_indexed_rev.defined() && !last_.has_indexed && !passed)
      find("it was indexed at a revision of which the log has no commit");
    const auto expected = fact_json(row);
    if (last_.fact.number == 0) {
      if (expected != fact_json({}))
        find("its row says " + expected + ", no fact in the log does");
      return;
    }
    const auto body = content_of(last_.fact);
    if (!body.empty() && as_text(body.view()) != expected)
      find("its row says " + expected + ", the last fact in the log "
           + std::string{as_text(body.view())});
  }

  verify_context& x_;
  const atproto::did& repo_;
  const chain_row& chain_;
  const last_operations& last_;
};

} // namespace

void verify_latest(verify_context& x, const atproto::did& repo,
                   const chain_row& chain, const last_operations& last) {
  latest_check{x, repo, chain, last}.run();
}

} // namespace weir::storage
