// Counts calls of operators with 64-bit integers among their arguments or results, for
// neuronx_mem.int64.audit(): that is where a device without them would do otherwise.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include <ATen/core/stack.h>

#include "operator_info.h"

namespace nxm {

inline std::atomic<bool> g_is_observing{true};

// One call: made before it runs, since arguments are gone afterwards.
class Observation {
 public:
  Observation(const c10::OperatorHandle& op, const OperatorInfo& info, const torch::jit::Stack& stack) {
    if (g_is_observing.load(std::memory_order_relaxed)) {
      look_at(op, info, stack);
    }
  }

  // Counts the call if there is a 64-bit integer on either side of it.
  void finish(const c10::OperatorHandle& op, const OperatorInfo& info, const torch::jit::Stack& stack) {
    if (is_on_) {
      count(op, info, stack);
    }
  }

 private:
  struct Shape {
    at::ScalarType dtype;
    c10::SmallVector<int64_t, 5> sizes;
  };
  using Shapes = c10::SmallVector<Shape, 4>;

  void look_at(const c10::OperatorHandle& op, const OperatorInfo& info, const torch::jit::Stack& stack);
  void count(const c10::OperatorHandle& op, const OperatorInfo& info, const torch::jit::Stack& stack);
  static void add(Shapes& shapes, const c10::IValue& value, bool& has_int64);
  static void write(std::string& line, const char* key, const Shapes& shapes);

  bool is_on_ = false;
  bool has_int64_ = false;
  Shapes arguments_;
};

// Switches counting; starts from nothing.
void set_observing(bool is_on);

// One JSON object a line, sorted: op, calls, inputs and outputs with dtype and shape.
std::string observed();

}  // namespace nxm
