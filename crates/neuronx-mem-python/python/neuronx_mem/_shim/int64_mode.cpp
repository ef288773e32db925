#include "int64_mode.h"

#include <string_view>
#include <unordered_set>

#include <ATen/core/dispatch/Dispatcher.h>

#include "operator_info.h"
#include "tensors_of.h"

namespace nxm {
namespace {

using at::Tensor;

bool is_int64(const Tensor& tensor) {
  return tensor.scalar_type() == at::kLong && tensor.numel() > 0;
}

bool is_index_argument(std::string_view name) {
  static const std::unordered_set<std::string_view> names{
      "index", "indices", "offsets", "target", "dim0_indices", "lengths"};
  return names.count(name) > 0;
}

// A number in the program, such as the 2 of `x * 2`, has the type of what it meets.
bool has_floats(const OperatorInfo& info, const torch::jit::Stack& stack) {
  bool found = false;
  for (size_t i = stack.size() - info.n_arguments; i < stack.size(); i++) {
    visit_tensors(stack[i], [&](const Tensor& tensor) {
      found |= tensor.defined() && !at::isIntegralType(tensor.scalar_type(), /*includeBool=*/true);
    });
  }
  return found;
}

void refuse_overflow(const OperatorInfo& info, int32_t operand, const Tensor& dense) {
  const char* reason = g_int64_hooks->find_overflow(
      info.name.c_str(), operand, dense.const_data_ptr<int64_t>(), static_cast<size_t>(dense.numel()));
  TORCH_CHECK(reason == nullptr, reason);
}

// Low words of the values, in a tensor of their own; undefined if all values are inside already.
Tensor low_words(const Tensor& tensor) {
  const Tensor dense = tensor.contiguous();
  const auto len = static_cast<size_t>(dense.numel());
  if (g_int64_hooks->is_inside(dense.const_data_ptr<int64_t>(), len)) {
    return Tensor();
  }
  Tensor low = dense.clone();
  g_int64_hooks->truncate(low.mutable_data_ptr<int64_t>(), len);
  return low;
}

}  // namespace

Int64Rule int64_rule_of(const c10::OperatorHandle& op) {
  if (g_int64_hooks == nullptr) {
    return Int64Rule();
  }
  const c10::OperatorName& name = op.operator_name();
  const std::string whole = name.overload_name.empty() ? name.name : name.name + "." + name.overload_name;
  return g_int64_hooks->rule(whole.c_str());
}

void narrow_arguments(const c10::OperatorHandle& op, const OperatorInfo& info, torch::jit::Stack& stack) {
  if (!info.int64.takes_low_words) {
    return;
  }
  const auto& arguments = op.schema().arguments();
  const size_t first = stack.size() - info.n_arguments;
  const bool skips_numbers = has_floats(info, stack);
  int32_t operand = -1;
  for (size_t i = 0; i < info.n_arguments; i++) {
    const bool is_written = arguments[i].alias_info() != nullptr && arguments[i].alias_info()->isWrite();
    // What lies in an output before is nobody's value.
    const bool is_computed_with =
        !arguments[i].is_out() && (!info.int64.is_index || is_index_argument(arguments[i].name()));
    change_tensors(stack[first + i], [&](Tensor& tensor) {
      operand += 1;
      const bool is_number = tensor.unsafeGetTensorImpl()->is_wrapped_number();
      if (!is_computed_with || !is_int64(tensor) || (is_number && skips_numbers)) {
        return false;
      }
      if (info.int64.is_checked) {
        refuse_overflow(info, operand, tensor.contiguous());
        return false;
      }
      Tensor low = low_words(tensor);
      if (!low.defined()) {
        return false;
      }
      if (is_written) {
        tensor.copy_(low);
        return false;
      }
      if (is_number) {
        low.unsafeGetTensorImpl()->set_wrapped_number(true);
      }
      tensor = std::move(low);
      return true;
    });
  }
}

void narrow_results(const OperatorInfo& info, torch::jit::Stack& stack) {
  if (!info.int64.gives_low_words) {
    return;
  }
  for (size_t i = stack.size() - info.n_returns; i < stack.size(); i++) {
    change_tensors(stack[i], [&](Tensor& tensor) {
      if (!is_int64(tensor)) {
        return false;
      }
      if (info.int64.is_checked) {
        refuse_overflow(info, -1, tensor.contiguous());
      } else if (const Tensor low = low_words(tensor); low.defined()) {
        tensor.copy_(low);
      }
      return false;
    });
  }
}

}  // namespace nxm
