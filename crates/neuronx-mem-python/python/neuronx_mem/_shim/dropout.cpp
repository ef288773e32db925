// Dropout, which a device keeps as one mask of booleans. The numbers are those that the CPU gets, which keeps
// a tensor of factors instead.

#include <ATen/ops/empty_like.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ne.h>
#include <torch/library.h>

#include "alias.h"
#include "generator.h"

namespace nxm {
namespace {

std::tuple<Tensor, Tensor> native_dropout(const Tensor& input, double p, std::optional<bool> is_training) {
  TORCH_CHECK(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
  Tensor result = at::empty_like(input);
  Tensor mask = at::empty_like(input, input.options().dtype(at::kBool));
  if (is_planning() || input.numel() == 0) {
    return {result, mask};
  }
  const c10::impl::ExcludeDispatchKeyGuard below_autograd(c10::autograd_dispatch_keyset);
  const Tensor from = on_cpu(input);
  Tensor into = on_cpu(result);
  Tensor kept = on_cpu(mask);
  if (!is_training.value_or(true) || p == 0) {
    into.copy_(from);
    kept.fill_(true);
    return {result, mask};
  }
  Tensor factors = at::empty_like(from);
  factors.bernoulli_(1 - p, cpu_generator_of(default_generator(input.device().index())));
  at::ne_out(kept, factors, 0);
  if (p < 1) {
    factors.div_(1 - p);
  }
  at::mul_out(into, from, factors);
  return {result, mask};
}

Tensor native_dropout_backward(const Tensor& gradient, const Tensor& mask, double scale) {
  Tensor result = at::empty_like(gradient);
  if (is_planning() || gradient.numel() == 0) {
    return result;
  }
  const c10::impl::ExcludeDispatchKeyGuard below_autograd(c10::autograd_dispatch_keyset);
  Tensor factors = on_cpu(mask).to(gradient.scalar_type());
  if (scale > 0) {
    factors.div_(1 / scale);
  }
  Tensor into = on_cpu(result);
  at::mul_out(into, on_cpu(gradient), factors);
  return result;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("native_dropout", native_dropout);
  m.impl("native_dropout_backward", native_dropout_backward);
}

}  // namespace
}  // namespace nxm
