#pragma once

#include "actors/api/log_request.hpp"
#include "actors/api/operation_answers.hpp"
#include "actors/api/record_answers.hpp"
#include "storage/log/tail_cache.hpp"
#include "tests/unit/actors/shell_fixture.hpp"
#include "tests/unit/storage/journal_fixture.hpp"

#include <boost/json.hpp>

#include <string>
#include <vector>

namespace weir::tests {

/// Records are maps with one text.
inline std::string record(const std::string& text) {
  return "\xa1\x61t" + std::string(1, static_cast<char>(0x60 + text.size()))
         + text;
}

inline std::string large_record(size_t bytes) {
  std::string out = "\xa1\x61t\x7a";
  for (int shift = 24; shift >= 0; shift -= 8)
    out += static_cast<char>((bytes - 8) >> shift);
  return out + std::string(bytes - 8, 'x');
}

/// An account that lives in another one of two partitions than this one.
inline test_account account_apart_from(const test_account& who) {
  const actors::placement places{2, 1};
  auto letter = 'b';
  while (places.partition_of(test_account{letter}.repo)
         == places.partition_of(who.repo))
    ++letter;
  return test_account{letter};
}

/// The answers of a node with two stores, without its actors. alice and bob are
/// in different ones.
class AnswersFixture : public ShellFixture {
protected:
  AnswersFixture() {
    shared->divide({2, 1});
    shared->log_epoch = "0123456789abcdef.1";
    for (uint16_t i = 0; i < 2; ++i)
      shared->partitions()[i]->numbers = wire::event_numbers{{}, i, 2};
    home = shared->partitions().front();
    publish();
  }

  test_store& store_of(const test_account& who) {
    return stores[shared->places().partition_of(who.repo)];
  }

  void apply(test_account& who, repo_update update) {
    who.accept(store_of(who).commit(std::move(update)));
    publish();
  }

  /// What is written becomes readable.
  void publish() {
    rows.clear();
    for (auto& x : stores)
      rows.push_back({*x.db, *x.names, tail});
    shared->stores = {shared->places(), {&rows[0], &rows[1]}};
    for (size_t i = 0; i < 2; ++i)
      shared->partitions()[i]->stats.durable = stores[i].writer->last_id();
  }

  void write_a_little() {
    apply(alice, alice.appear());
    apply(bob, bob.appear());
    apply(alice, alice.commit({{"app.a.x/1", record("one")},
                               {"app.b.y/1", record("two")}}));
    apply(bob, bob.commit({{"app.a.x/1", record("bob's")}}));
    apply(alice, alice.commit({{"app.a.x/1", record("three")},
                               {"app.a.x/2", "no record", true},
                               {"app.b.y/1", ""}}));
  }

  static std::string text_of(const net::http_reply& x) {
    return std::string{as_text(x.body.view())};
  }

  static boost::json::object parse(const net::http_reply& x) {
    EXPECT_EQ(x.status, 200) << text_of(x);
    auto out = boost::json::parse(text_of(x));
    return out.is_object() ? out.as_object() : boost::json::object{};
  }

  /// "409 ForeignCursor"
  static std::string error_of(const net::http_reply& x) {
    const auto body = boost::json::parse(text_of(x));
    return std::to_string(x.status) + ' '
           + std::string{body.at("error").as_string()};
  }

  net::http_reply ops(const actors::log_request& x) {
    return actors::operations_reply(*shared, x, {});
  }

  net::http_reply records(const test_account& who,
                          const actors::records_request& x) {
    return actors::records_reply(*shared, who.repo, x);
  }

  /// The account goes away, or comes back.
  void set_account(test_account& who, storage::account_status status) {
    who.row.account = who.row.words.host = status;
    auto update = who.appear();
    auto& tx = update.transactions.emplace_back();
    tx.ops.push_back(who.fact(storage::account_scope));
    apply(who, std::move(update));
  }

  std::vector<test_store> stores{2};
  storage::tail_cache tail{1};
  std::vector<store_readers> rows;
  test_account alice{'a'};
  test_account bob = account_apart_from(alice);
};

} // namespace weir::tests
