// Counts which operators get 64-bit integers, for neuronx_mem.int64: that is where a device without them
// would do otherwise. Off unless asked for; then one look at each argument.
#pragma once

#include <string>

#include <ATen/core/stack.h>

#include "operator_info.h"

namespace nxm {

// Called for each operator of the fallback with 64-bit integers among its arguments, before it runs, on the
// thread that runs it and without the interpreter's lock. Must not throw.
using OnInt64 = void (*)(const char* op, int64_t n_tensors, int64_t bytes, void* data);

inline std::atomic<bool> g_is_observing{false};

void observe_now(const c10::OperatorHandle& op, const OperatorInfo& info, const torch::jit::Stack& stack);

inline void observe(const c10::OperatorHandle& op, const OperatorInfo& info, const torch::jit::Stack& stack) {
  if (g_is_observing.load(std::memory_order_relaxed)) {
    observe_now(op, info, stack);
  }
}

// Switches counting; starts from nothing.
void set_observing(bool is_on);

// Also calls this; null for nothing.
void set_on_int64(OnInt64 call, void* data);

// One line an operator, sorted: name, runs, tensors, bytes, with tabs between them.
std::string observed();

}  // namespace nxm
