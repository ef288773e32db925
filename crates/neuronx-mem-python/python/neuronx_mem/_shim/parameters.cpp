// Lets module.to("neuron") keep its parameters, as module.to("cuda") does: weights that are tied stay tied, and
// an optimizer that was made before knows them after.

#include <ATen/core/Tensor.h>
#include <torch/library.h>

namespace nxm {
namespace {

// Whether one tensor may take the place of another in the same Python object: PyTorch knows that of the devices
// in its own list.
bool has_compatible_shallow_copy_type(const at::Tensor& self, const at::Tensor& from) {
  const auto is_dense = [](const at::Tensor& tensor) {
    return tensor.layout() == at::kStrided && (tensor.is_cpu() || tensor.is_privateuseone()) &&
        tensor.key_set().has_any(c10::DispatchKeySet(c10::DispatchKey::Dense));
  };
  return (is_dense(self) && is_dense(from)) ||
      self.unsafeGetTensorImpl()->has_compatible_shallow_copy_type(from.key_set());
}

TORCH_LIBRARY_IMPL(aten, AutogradPrivateUse1, m) {
  m.impl("_has_compatible_shallow_copy_type", has_compatible_shallow_copy_type);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_has_compatible_shallow_copy_type", has_compatible_shallow_copy_type);
}

}  // namespace
}  // namespace nxm
