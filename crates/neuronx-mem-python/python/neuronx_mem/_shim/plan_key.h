// Everything that the shapes of an operator's results can depend on, as bytes.
#pragma once

#include <string>

#include <ATen/core/Tensor.h>
#include <ATen/core/stack.h>
#include <c10/util/SmallVector.h>

#include "operator_info.h"

namespace nxm {

// An operator with its arguments.
struct PlanKey {
  std::string bytes;
  // The tensors of the device among the arguments, in their order.
  c10::SmallVector<at::Tensor, 8> tensors;
  std::optional<c10::Device> device;
};

// Writes the key; false for arguments that no key can tell apart, which are run anew each time.
bool write_key(const c10::OperatorHandle& op, const OperatorInfo& info, const torch::jit::Stack& stack, PlanKey& key);

}  // namespace nxm
