#include "storage/verify/verify_context.hpp"

#include <map>

/// Checks the durable state of consumers.
namespace weir::storage {

namespace {

class consumer_pass {
public:
  explicit consumer_pass(verify_context& x) : x_(x) {}

  void run() {
    x_.each_row<consumer_row, consumer_key>(
      range_of<consumer_key>(),
      [this](const consumer_key& key, const consumer_row& row) {
        check_consumer(key, row);
      });
    x_.each<acked_key>(range_of<acked_key>(),
                       [this](const acked_key& key, auto) {
                         check_owner(key, "acked ranges");
                       });
    x_.each_row<dead_letter_row, dead_letter_key>(
      range_of<dead_letter_key>(),
      [this](const dead_letter_key& key, const dead_letter_row&) {
        check_owner(key, "dead letters");
        ++letters_[{key.dataset, key.name}];
        if (key.id > x_.last_id)
          x_.wrong("consumer " + key.name,
                   "a dead letter lies after the end of the log");
        else if (!is_acked(key))
          x_.wrong("consumer " + key.name, "its dead letter "
                                             + std::to_string(key.id)
                                             + " is not acked");
      });
    for (const auto& [owner, said] : said_)
      if (letters_[owner] != said)
        x_.wrong("consumer " + owner.second,
                 "it counts " + std::to_string(said) + " dead letters and has "
                   + std::to_string(letters_[owner]));
  }

private:
  void check_consumer(const consumer_key& key, const consumer_row& row) {
    x_.count("consumers");
    const auto where = "consumer " + key.name;
    if (key.dataset != default_dataset)
      x_.wrong(where, "it is of a dataset that does not exist");
    if (row.log_identity != x_.db.log_identity())
      x_.wrong(where, "its position belongs to another log");
    if (row.positions.size() != 1)
      x_.wrong(where, "it has " + std::to_string(row.positions.size())
                        + " positions in a log of one partition");
    if (row.settled > x_.log_events)
      x_.wrong(where, "it counts more events than the log has");
    if (row.current_before == 0 || row.current_before > x_.whole_from)
      x_.wrong(where, "it began to read where the log was never trimmed");
    said_[{key.dataset, key.name}] = row.dead_letters;
    op_id end = row.position(x_.options.partition);
    if (end > x_.last_id)
      x_.wrong(where, "its position lies after the end of the log");
    x_.each_row<counter, acked_key>(
      range_of<acked_key>(key.dataset, key.name, x_.options.partition),
      [&](const acked_key& range, const counter& last) {
        if (range.first <= end + 1 || last.value < range.first)
          x_.wrong(where,
                   "its acked range from " + std::to_string(range.first)
                     + " touches or overlaps what is acked before it, or is "
                       "empty");
        if (last.value > x_.last_id)
          x_.wrong(where, "its acked range from " + std::to_string(range.first)
                            + " ends after the end of the log");
        end = last.value;
      });
  }

  template <table_key Key>
  void check_owner(const Key& key, const char* what) {
    const auto where = "consumer " + key.name;
    if (key.partition != x_.options.partition)
      x_.wrong(where, std::string{"it has "} + what + " in another partition");
    const consumer_key owner{key.dataset, key.name};
    if (owner_ && *owner_ == owner)
      return;
    owner_ = owner;
    row_ = x_.row_at<consumer_row>(owner, where);
    if (!row_)
      x_.wrong(where, std::string{"it has "} + what + " but no row");
  }

  /// A dead letter is acked in the batch that writes it. @pre `check_owner`
  bool is_acked(const dead_letter_key& key) {
    if (!row_ || key.id <= row_->position(key.partition))
      return true;
    const auto from = [&](op_id first) {
      return encode_key(acked_key{key.dataset, key.name, key.partition, first});
    };
    const auto last = x_.db.last_in({from(0), from(key.id + 1)});
    const auto range = last && *last
                         ? decode_value<counter>((*last)->second, acked_key::in)
                         : result<counter>{counter{}};
    return !range || range->value >= key.id;
  }

  verify_context& x_;
  std::optional<consumer_key> owner_;
  std::optional<consumer_row> row_; ///< The row of `owner_`.
  /// Number of dead letters by dataset and name: as counted, and as the row
  /// says.
  std::map<std::pair<uint16_t, std::string>, uint64_t> letters_;
  std::map<std::pair<uint16_t, std::string>, uint64_t> said_;
};

} // namespace

void verify_consumers(verify_context& x) {
  consumer_pass{x}.run();
}

} // namespace weir::storage
