#include "tests/unit/actors/relay_scenario.hpp"

#include "atproto/car.hpp"
#include "tests/unit/atproto/json_to_cbor.hpp"
#include "tests/unit/atproto/json_vectors.hpp"

#include <utility>

namespace weir::tests {

namespace {

namespace json = boost::json;

const json::value& identity_in(const json::value& file) {
  return file.at("accounts").at(0).at("identity");
}

storage::identity_row document_in(const json::value& file) {
  const auto& identity = identity_in(file);
  storage::identity_row out;
  out.signing_key
    = text_of(identity.at("keys").at("atproto"), "publicKeyMultibase");
  out.pds = text_of(identity.at("services").at("atproto_pds"), "url");
  out.handle = text_of(identity, "handle");
  out.fetched_at = after_all_vectors.seconds();
  return out;
}

storage::upstream_row row_of(const json::value& file, bool relay) {
  auto out = row_at(1, 1);
  out.relay = relay;
  out.id = relay ? relay_id : pds_id;
  out.url = relay ? "https://relay.test" : document_in(file).pds;
  return out;
}

std::string kind_of(const json::value& message) {
  return text_of(message.at("frame").at("header"), "t");
}

/// Whether REPO accepted the event's content.
bool is_taken(repo_counter x) {
  return x == repo_counter::commit_applied || x == repo_counter::sync_applied
         || x == repo_counter::sync_noop;
}

bool is_of_account(repo_counter x) {
  return x == repo_counter::account_changed;
}

} // namespace

relay_scenario::relay_scenario(const json::value& file, bool relay)
  : did_(atproto::did::parse(text_of(identity_in(file), "did")).value()),
    world_(did_, document_in(file), after_all_vectors),
    stream_(row_of(file, relay)) {
  const auto& row = stream_.machine.row();
  world_.board.put(quiet_upstream(row.id, row.url, row.epoch, 1));
  for (const auto& x : file.at("messages").as_array())
    if (kind_of(x) == "#commit") {
      begin_synced(x.at("frame").at("body"));
      break;
    }
  if (!world_.row)
    begin_new(file);
  world_.clear();
}

/// The repo before its first commit of the scenario. Old senders do not name
/// the tree on which it was made, so any tree is used.
void relay_scenario::begin_synced(const json::value& body) {
  auto chain = std::make_shared<storage::chain_row>();
  chain->rev = atproto::tid::parse(text_of(body, "since")).value();
  const auto* data = body.as_object().if_contains("prevData");
  chain->data = data != nullptr ? to_cid(data->at("$link"))
                                : atproto::cid::of_dag_cbor(make_record(""));
  chain->streams.push_back({std::string{storage::commit_scope}, 1, {}, 0});
  world_.chain = chain;
  world_.row.emplace();
  world_.row->status = repo_status::synced;
  world_.row->last_indexed_rev = chain->rev;
  world_.row->filter_generation = world_.settings->filter_generation;
  world_.row->pds = world_.identity().pds;
  world_.row->handle = world_.identity().handle;
  world_.member.emplace();
  world_.restart();
  world_.learn(world_.identity());
  world_.settle();
}

/// Its first frame found the account, and its host serves the state of the
/// #sync.
void relay_scenario::begin_new(const json::value& file) {
  world_.add_known();
  for (const auto& x : file.at("messages").as_array())
    if (kind_of(x) == "#sync") {
      const auto& frame = x.at("frame");
      remember_state(atproto::json_frame(frame.at("header"), frame.at("body")));
    }
  fetch_if_wanted();
}

relay_scenario::treatment relay_scenario::take(const json::value& message) {
  const auto& frame = message.at("frame");
  const auto before = world_.row->account;
  world_.clear();
  why_.clear();
  auto sent
    = stream_.take({atproto::json_frame(frame.at("header"), frame.at("body"))});
  if (sent.write) // Frames after a missing one wait for it.
    for (auto& x : stream_.machine.on_row_durable(steady_time{}).forward)
      sent.forward.push_back(std::move(x));
  for (const auto& x : sent.forward)
    remember_state(x.bytes);
  treatment out;
  out.how = outcome_of(sent);
  out.why = why_;
  out.updated = world_.row->account != before;
  stream_.done(world_.done);
  return out;
}

/// Stores what the host would serve from now on.
void relay_scenario::remember_state(const shared_bytes& frame) {
  const auto event = atproto::decode_frame(frame.view());
  if (!event)
    return; // An unreadable frame says nothing about the host.
  bytes_view blocks;
  if (const auto* commit = std::get_if<atproto::commit_event>(&*event))
    blocks = commit->blocks;
  else if (const auto* sync = std::get_if<atproto::sync_event>(&*event))
    blocks = sync->blocks;
  else
    return;
  const auto car = atproto::car_slice::parse(blocks).value();
  const auto id = car.roots().front();
  const auto root = atproto::verify_root(
    car.find(id)->data, id, did_,
    atproto::public_key::from_multikey(world_.identity().signing_key).value(),
    after_all_vectors);
  ASSERT_TRUE(root) << root.error().reason;
  // A host does not have a commit whose rev differs from its frame's.
  const auto peeked = atproto::peek_frame(frame.view());
  if (peeked->rev == root->rev.str())
    newest_ = *root;
}

void relay_scenario::fetch_if_wanted() {
  if (world_.row->status == repo_status::synced || !newest_
      || world_.row->account != account_status::active)
    return;
  world_.start_fetch(++jobs_);
  world_.fetched(jobs_, *newest_);
  world_.settle();
  EXPECT_EQ(world_.row->status, repo_status::synced);
  EXPECT_EQ(world_.chain->rev, newest_->rev);
  EXPECT_EQ(world_.chain->data, newest_->data);
}

relay_scenario::outcome
relay_scenario::outcome_of(const upstream_machine::effects& x) {
  if (x.forward.empty()) {
    why_ = "upstream";
    return outcome::dropped;
  }
  world_.perform_frames(x.forward);
  world_.settle();
  EXPECT_FALSE(world_.done.empty()) << "it holds its stream";
  const auto counted = std::exchange(world_.counted, {});
  switch (x.forward.front().kind) {
    case atproto::frame_kind::identity: {
      const auto looks_anew = world_.refreshes == 1;
      world_.learn(world_.identity());
      world_.settle();
      return looks_anew ? outcome::passed : outcome::dropped;
    }
    case atproto::frame_kind::account:
      fetch_if_wanted();
      return std::all_of(counted.begin(), counted.end(), is_of_account)
               ? outcome::passed
               : outcome::dropped;
    default:
      break;
  }
  if (std::any_of(counted.begin(), counted.end(), is_taken))
    return outcome::passed;
  for (const auto rule : counted)
    why_ += repo_counter_names[static_cast<size_t>(rule)];
  const auto before = world_.chain->rev;
  fetch_if_wanted();
  return world_.chain->rev != before ? outcome::fetched : outcome::dropped;
}

} // namespace weir::tests
