// Keeps fork() away while this process holds locks that a child could not open.
//
// A child has one thread and copies of all locks. fork() waits until no thread is inside the allocator or
// one of the tables here, but not for ever: a thread in there may wait for the interpreter, which the thread
// that forks holds.
#pragma once

namespace nxm {

// Is inside for as long as it lives. Some ten nanoseconds; may be nested.
struct Running {
  Running();
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
};

// Lets fork() wait. Once a process.
void watch_forks();

}  // namespace nxm
