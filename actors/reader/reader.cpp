#include "actors/reader/reader.hpp"

#include "actors/support/observed.hpp"
#include "actors/support/store_readers.hpp"
#include "base/process.hpp"
#include "storage/disk/database.hpp"

#include <caf/actor_system.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace weir::actors {

namespace {

class reader final : public observed<reader_actor::base> {
public:
  reader(caf::actor_config& config, store_readers& store, bool own_thread)
    : observed(config, "reader"), store_(store), number_(store.readers++),
      own_thread_(own_thread) {}

  behavior_type make_behavior() override {
    if (own_thread_)
      name_thread("reader");
    return {
      [](tick) {},
      [this](stop_actor) { quit(); },
      [this](get_status) {
        return status({}, std::to_string(store_.db.identity().partition) + "."
                            + std::to_string(number_));
      },
      [this](const reader_job& x) { x.run(store_); },
    };
  }

private:
  store_readers& store_;
  uint32_t number_; ///< Its place among the READERs of its store, from 0.
  bool own_thread_;
};

} // namespace

reader_actor spawn_reader(caf::actor_system& system, store_readers& store,
                          bool detached) {
  if (detached)
    return system.spawn<reader, caf::detached>(std::ref(store), true);
  return system.spawn<reader>(std::ref(store), false);
}

} // namespace weir::actors
