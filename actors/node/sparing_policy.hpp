#pragma once

#include <caf/logger.hpp>

// CAF's worker casts each actor that it runs, to name it in the log of CAF,
// which Debian's build does not have. This must precede CAF's headers below.
#undef CAF_PUSH_AID_FROM_PTR
#define CAF_PUSH_AID_FROM_PTR(actor) CAF_VOID_STMT

#include <caf/policy/unprofiled.hpp>
#include <caf/resumable.hpp>
#include <caf/scheduler/coordinator.hpp>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

namespace weir::actors {

/// Which thread runs which actor: one queue in the order of arrival, with the
/// JOURNALs before all others, and threads that wake each other one after the
/// other (docs/adr/0006-turns.md, docs/adr/0028-the-journal-in-the-pool.md).
///
/// A live commit passes from actor to actor. If each that gets work woke a
/// thread, as with CAF's `work_sharing`, that would cost more than the work. So
/// an actor that was given work by another one waits for the thread of that
/// one (none may wait for what another one does). Four waiting actors wake a
/// thread, and so does work from outside the scheduler: one at a time, which
/// wakes the next. The one that fell asleep last is woken: it is in the caches.
///
/// Thousands of REPOs may wait, and a JOURNAL in the order of arrival would
/// come after all of them, twice for each commit. Before it waits for the disk
/// it says so, and a thread is woken for whatever waits then. It stays on the
/// thread that ran it first, because LevelDB's buffers are in the heap of the
/// thread that fills them (docs/adr/0034-a-journal-stays-on-its-thread.md).
/// That thread is woken whenever the JOURNAL gets work, and before others.
///
/// # Ownership and threads
/// As CAF demands of a policy: `coordinator_data` is shared by all threads.
class sparing_policy : public caf::policy::unprofiled {
public:
  struct waiting {
    caf::resumable* job;
    bool outside; ///< Its work came from no actor.
  };

  /// One thread. CAF copies it before the thread runs.
  struct worker_data {
    explicit worker_data(caf::scheduler::abstract_coordinator*) {}
    worker_data(const worker_data&) {}

    std::condition_variable cv;
    bool woken = false;
    bool has_first = false; ///< It is the thread of an actor that overtakes.
  };

  /// An actor that overtakes. It stays known after its end.
  struct first_actor {
    const caf::resumable* job;
    worker_data* thread = nullptr; ///< None before it has run.
    caf::resumable* waits = nullptr; ///< The same actor while it has work.
  };

  struct coordinator_data {
    explicit coordinator_data(caf::scheduler::abstract_coordinator*) {}

    std::mutex lock;
    std::deque<waiting> queue;
    size_t outside = 0; ///< Those in `queue` that came from outside.
    std::vector<first_actor> first;
    std::vector<worker_data*> sleeping; ///< The last one fell asleep last.
    bool waking = false; ///< A woken thread has not begun to run yet.
  };

  template <class Coordinator>
  void central_enqueue(Coordinator* self, caf::resumable* job) {
    enqueue(d(self), {job, true});
  }

  template <class Worker>
  void external_enqueue(Worker* self, caf::resumable* job) {
    enqueue(d(self->parent()), {job, true});
  }

  template <class Worker>
  void internal_enqueue(Worker* self, caf::resumable* job) {
    enqueue(d(self->parent()), {job, false});
  }

  template <class Worker>
  void resume_job_later(Worker* self, caf::resumable* job) {
    internal_enqueue(self, job);
  }

  /// From now on `job` overtakes all others that wait. There must be more
  /// threads than such actors: each gets a thread of its own.
  static void put_first(coordinator_data& x, const caf::resumable* job) {
    const std::lock_guard guard{x.lock};
    x.first.push_back({job});
  }

  /// An actor calls it before it waits for the disk: wakes another thread if
  /// anything is in the queue.
  static void about_to_wait(coordinator_data& x) {
    std::unique_lock guard{x.lock};
    wake(x, !x.queue.empty(), guard);
  }

  template <class Worker>
  caf::resumable* dequeue(Worker* self) {
    auto& x = d(self->parent());
    std::unique_lock guard{x.lock};
    for (;; sleep(x, d(self), guard))
      if (auto* job = take(x, d(self))) {
        wake(x, false, guard);
        return job;
      }
  }

  template <class Worker, class F>
  void foreach_resumable(Worker*, F) {}

  template <class Coordinator, class F>
  void foreach_central_resumable(Coordinator* self, F f) {
    auto& x = d(self);
    const std::lock_guard guard{x.lock};
    for (const auto& next : std::exchange(x.queue, {}))
      f(next.job);
    for (auto& each : x.first)
      if (auto* job = std::exchange(each.waits, nullptr))
        f(job);
  }

private:
  /// When this many actors wait, another thread is woken: one more than a
  /// JOURNAL sends to (REPO, UPSTREAM, CONSUMER) after a batch of one commit.
  static constexpr size_t wake_at = 4;

  static void sleep(coordinator_data& x, worker_data& me,
                    std::unique_lock<std::mutex>& guard) {
    me.woken = false;
    x.sleeping.push_back(&me);
    me.cv.wait(guard, [&me] { return me.woken; });
    x.waking = false;
  }

  static bool may_run(const worker_data& x, const first_actor& job) {
    return job.thread == &x || (job.thread == nullptr && !x.has_first);
  }

  /// The next job of this thread; null when there is none.
  static caf::resumable* take(coordinator_data& x, worker_data& me) {
    for (auto& each : x.first)
      if (each.waits != nullptr && may_run(me, each)) {
        each.thread = &me;
        me.has_first = true;
        return std::exchange(each.waits, nullptr);
      }
    if (x.queue.empty())
      return nullptr;
    const auto next = x.queue.front();
    x.queue.pop_front();
    x.outside -= next.outside ? 1 : 0;
    return next.job;
  }

  static void enqueue(coordinator_data& x, waiting next) {
    std::unique_lock guard{x.lock};
    const auto first = std::ranges::find(x.first, next.job, &first_actor::job);
    if (first == x.first.end()) {
      x.queue.push_back(next);
      x.outside += next.outside ? 1 : 0;
      return wake(x, false, guard);
    }
    first->waits = next.job;
    const auto asleep = std::ranges::find_if(x.sleeping, [&](const auto* each) {
      return may_run(*each, *first);
    });
    if (asleep != x.sleeping.end())
      wake(x, asleep, guard);
  }

  /// Wakes a thread if one sleeps and enough actors wait, or one from outside.
  /// @param at_once Wake a thread even for a single waiting actor.
  static void wake(coordinator_data& x, bool at_once,
                   std::unique_lock<std::mutex>& guard) {
    if (!at_once && x.outside == 0 && x.queue.size() < wake_at)
      return;
    if (x.sleeping.empty() || x.waking)
      return;
    const auto first
      = std::ranges::find(x.sleeping, true, &worker_data::has_first);
    wake(x, first == x.sleeping.end() ? first - 1 : first, guard);
  }

  static void wake(coordinator_data& x,
                   std::vector<worker_data*>::iterator which,
                   std::unique_lock<std::mutex>& guard) {
    x.waking = true;
    auto* thread = *which;
    x.sleeping.erase(which);
    thread->woken = true;
    guard.unlock();
    thread->cv.notify_one();
  }
};

} // namespace weir::actors
