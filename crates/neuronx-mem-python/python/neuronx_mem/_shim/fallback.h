// What happens to every operator that the device has no kernel of its own for.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include "operator_info.h"

namespace nxm {

// Counts since the process started.
struct Counters {
  std::atomic<int64_t> operators{0};
  // Plan mode: shapes that were remembered, shapes that had to be found, and operators whose shapes only
  // the CPU could find.
  std::atomic<int64_t> plan_hits{0};
  std::atomic<int64_t> plan_misses{0};
  std::atomic<int64_t> plan_on_cpu{0};
};

Counters& counters();

// Runs an operator, by the mode in force.
void run(const c10::OperatorHandle& op, torch::jit::Stack* stack);

// Runs an operator on stand-ins of its arguments, and makes tensors of the device of its results. On
// "meta" there are no values; with `is_shape_only` results are not copied.
void run_on_stand_ins(
    const c10::OperatorHandle& op, const OperatorInfo& info, torch::jit::Stack* stack, bool is_meta,
    bool is_shape_only);

// Runs an operator by its shapes, remembered or found.
void run_planned(const c10::OperatorHandle& op, const OperatorInfo& info, torch::jit::Stack* stack);

// Forgets the shapes.
void clear_plans();

// How many are remembered.
size_t n_plans();

}  // namespace nxm
