// What is worth knowing of an operator each time that it runs, looked up once a thread.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include "int64_mode.h"

namespace nxm {

struct OperatorInfo {
  size_t n_arguments = 0;
  size_t n_returns = 0;
  // Arguments that take a generator; -1 for none.
  int generator = -1;
  // Whether sizes of results do not depend on the values of numbers.
  bool is_pointwise = false;
  // Whether "meta" tensors can go through it.
  bool has_meta = false;
  // Whether tensors of the CPU with dimensions may be among the arguments, as on other devices: indices.
  bool takes_cpu_tensors = false;
  // Result that belongs to the CPU wherever the arguments are; -1 for none.
  int cpu_result = -1;
  // What the int64 mode makes of its values.
  Int64Rule int64;
  // For messages.
  std::string name;
};

const OperatorInfo& info_of(const c10::OperatorHandle& op);

}  // namespace nxm
