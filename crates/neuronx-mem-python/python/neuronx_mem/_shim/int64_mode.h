// What the int64 mode in force makes of values: operators that the device would run on 32-bit words see
// and give low words here too, and refuse values that do not fit where the check is on.
//
// Knows arguments and results; which operator runs how is asked of the Rust side, once an operator.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ATen/core/stack.h>

namespace nxm {

struct OperatorInfo;

// How one operator runs; as in the Rust side's int64_hooks.rs.
struct Int64Rule {
  uint8_t takes_low_words = 0;
  uint8_t is_index = 0;
  uint8_t gives_low_words = 0;
  uint8_t is_checked = 0;

  bool changes_anything() const { return takes_low_words != 0 || gives_low_words != 0; }
};

// The functions of the Rust side; as there.
struct Int64Hooks {
  size_t struct_size;
  Int64Rule (*rule)(const char* op);
  const char* (*find_overflow)(const char* op, int32_t operand, const int64_t* values, size_t len);
  bool (*is_inside)(const int64_t* values, size_t len);
  void (*truncate)(int64_t* values, size_t len);
};

// Set once, before the first operator runs; null where every operator has 64 bits.
inline const Int64Hooks* g_int64_hooks = nullptr;

Int64Rule int64_rule_of(const c10::OperatorHandle& op);

// Puts what 32-bit words hold in the place of the arguments, which are tensors of the CPU by now. What
// the operator writes to is changed where it lies.
void narrow_arguments(const c10::OperatorHandle& op, const OperatorInfo& info, torch::jit::Stack& stack);

// The same for the results.
void narrow_results(const OperatorInfo& info, torch::jit::Stack& stack);

}  // namespace nxm
