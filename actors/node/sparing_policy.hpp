#pragma once

#include <caf/policy/unprofiled.hpp>
#include <caf/resumable.hpp>
#include <caf/scheduler/coordinator.hpp>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

namespace weir::actors {

/// Which thread runs which actor: one queue in the order of arrival, and
/// threads that wake each other one after the other (docs/adr/0006-turns.md).
///
/// CAF's `work_sharing` wakes a thread for each actor that gets work. A live
/// commit passes from actor to actor, so that two threads woke each other at
/// each step, which cost more than the steps. Here one actor that was given
/// work by another one waits for the thread of that one; two waiting actors
/// wake a further thread, and so does work from outside the scheduler. One
/// thread at a time is woken, and it wakes the next one. So an actor must not
/// wait for what another one does.
///
/// # Ownership and threads
/// As CAF demands of a policy: `coordinator_data` is shared by all threads.
class sparing_policy : public caf::policy::unprofiled {
public:
  struct coordinator_data {
    explicit coordinator_data(caf::scheduler::abstract_coordinator*) {}

    std::mutex lock;
    std::condition_variable cv;
    std::deque<caf::resumable*> queue;
    size_t sleeping = 0;
    bool waking = false; ///< One of the sleeping threads is on its way.
  };

  struct worker_data {
    explicit worker_data(caf::scheduler::abstract_coordinator*) {}
  };

  template <class Coordinator>
  void central_enqueue(Coordinator* self, caf::resumable* job) {
    enqueue(d(self), job, 1);
  }

  template <class Worker>
  void external_enqueue(Worker* self, caf::resumable* job) {
    enqueue(d(self->parent()), job, 1);
  }

  template <class Worker>
  void internal_enqueue(Worker* self, caf::resumable* job) {
    enqueue(d(self->parent()), job, crowd);
  }

  template <class Worker>
  void resume_job_later(Worker* self, caf::resumable* job) {
    internal_enqueue(self, job);
  }

  template <class Worker>
  caf::resumable* dequeue(Worker* self) {
    auto& x = d(self->parent());
    std::unique_lock guard{x.lock};
    while (x.queue.empty()) {
      ++x.sleeping;
      x.cv.wait(guard);
      --x.sleeping;
      x.waking = false;
    }
    auto* job = x.queue.front();
    x.queue.pop_front();
    wake(x, 1, guard); // What is left would wait for this job.
    return job;
  }

  template <class Worker, class F>
  void foreach_resumable(Worker*, F) {}

  template <class Coordinator, class F>
  void foreach_central_resumable(Coordinator* self, F f) {
    auto& x = d(self);
    const std::lock_guard guard{x.lock};
    for (auto* job : std::exchange(x.queue, {}))
      f(job);
  }

private:
  /// As many waiting actors are worth another thread.
  static constexpr size_t crowd = 2;

  static void enqueue(coordinator_data& x, caf::resumable* job, size_t enough) {
    std::unique_lock guard{x.lock};
    x.queue.push_back(job);
    wake(x, enough, guard);
  }

  /// Wakes a thread if at least `enough` actors wait.
  static void wake(coordinator_data& x, size_t enough,
                   std::unique_lock<std::mutex>& guard) {
    if (x.queue.size() < enough || x.sleeping == 0 || x.waking)
      return;
    x.waking = true;
    guard.unlock();
    x.cv.notify_one();
  }
};

} // namespace weir::actors
