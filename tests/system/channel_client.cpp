#include "tests/system/channel_client.hpp"

#include <condition_variable>
#include <mutex>

namespace weir::tests {

namespace {

using namespace std::chrono_literals;

constexpr auto close_patience = 60s;

} // namespace

struct channel_client::ending {
  std::mutex guard;
  std::condition_variable changed;
  bool reached = false;
};

channel_client::channel_client(const net::transport_ptr& network,
                               const std::string& data_url, taker take,
                               const std::vector<uint64_t>& first,
                               std::function<void()> ended)
  : ending_(std::make_shared<ending>()),
    client_(network, data_url,
            {std::move(take),
             {},
             [x = ending_, ended = std::move(ended)] {
               if (ended)
                 ended();
               const std::lock_guard lock{x->guard};
               x->reached = true;
               x->changed.notify_all();
             },
             std::nullopt}) {
  client_.start();
  for (const auto id : first)
    client_.ack(id);
}

channel_client::~channel_client() {
  hang_up();
}

bool channel_client::over() const {
  return wait_over(0s);
}

bool channel_client::wait_over(std::chrono::seconds patience) const {
  std::unique_lock lock{ending_->guard};
  return ending_->changed.wait_for(lock, patience, [this] {
    return ending_->reached;
  });
}

void channel_client::hang_up() {
  client_.stop();
  wait_over(close_patience);
}

} // namespace weir::tests
