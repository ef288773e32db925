// Copies between host and device and on it, and single values. In plan mode no bytes move: what comes back
// to the host is zero.

#include <ATen/ExpandUtils.h>
#include <ATen/NativeFunctions.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include "alias.h"
#include "operators.h"

namespace nxm {
namespace {

Tensor copy_from_and_resize(const Tensor& self, const Tensor& to) {
  if (self.sizes() != to.sizes()) {
    to.resize_(self.sizes());
  }
  return copy_from(self, to, false);
}

at::Scalar local_scalar_dense(const Tensor& self) {
  if (is_planning()) {
    warn_of_zeros();
    return at::native::_local_scalar_dense_cpu(at::zeros({}, at::TensorOptions().dtype(self.scalar_type())));
  }
  return at::native::_local_scalar_dense_cpu(on_cpu(self));
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_copy_from", copy_from);
  m.impl("_copy_from_and_resize", copy_from_and_resize);
  m.impl("_local_scalar_dense", local_scalar_dense);
}

// A source that is conjugated or negated lazily must get here as it is: to resolve it is to clone it, and
// to clone it is to copy it, which would never end.
TORCH_LIBRARY_IMPL(aten, Conjugate, m) {
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
  m.impl("_copy_from_and_resize", torch::CppFunction::makeFallthrough());
}

TORCH_LIBRARY_IMPL(aten, Negative, m) {
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
  m.impl("_copy_from_and_resize", torch::CppFunction::makeFallthrough());
}

}  // namespace

Tensor copy_from(const Tensor& self, const Tensor& to, bool) {
  TORCH_CHECK(
      at::is_expandable_to(self.sizes(), to.sizes()), "The size of the source, ", self.sizes(),
      ", cannot be expanded to the size of the destination, ", to.sizes());
  const c10::impl::ExcludeDispatchKeyGuard below_autograd(c10::autograd_dispatch_keyset);
  if (is_planning()) {
    if (!to.is_privateuseone()) {
      warn_of_zeros();
      to.zero_();
    }
    return to;
  }
  on_cpu_with_bits(to).copy_(on_cpu_with_bits(self));
  return to;
}

void warn_of_zeros() {
  TORCH_WARN_ONCE(
      "neuronx_mem runs in plan mode: nothing is computed, and every value that is read from the device, "
      "by .item(), .cpu() or print(), is zero. Memory is counted as in compute mode.");
}

}  // namespace nxm
