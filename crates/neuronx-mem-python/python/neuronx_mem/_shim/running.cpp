#include "running.h"

#include <ctime>

#include <pthread.h>

namespace nxm {
namespace {

pthread_rwlock_t g_running = PTHREAD_RWLOCK_INITIALIZER;
bool g_is_forking = false;

// As long as an allocation may take that waits for nobody.
constexpr time_t kMostSeconds = 1;

void before_fork() {
  timespec until{};
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += kMostSeconds;
  g_is_forking = pthread_rwlock_timedwrlock(&g_running, &until) == 0;
}

void after_fork_in_parent() {
  if (g_is_forking) {
    g_is_forking = false;
    pthread_rwlock_unlock(&g_running);
  }
}

void after_fork_in_child() {
  g_is_forking = false;
  // Readers that were counted are threads that do not exist here.
  g_running = PTHREAD_RWLOCK_INITIALIZER;
}

}  // namespace

Running::Running() {
  pthread_rwlock_rdlock(&g_running);
}

Running::~Running() {
  pthread_rwlock_unlock(&g_running);
}

void watch_forks() {
  pthread_atfork(&before_fork, &after_fork_in_parent, &after_fork_in_child);
}

}  // namespace nxm
