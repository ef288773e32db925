// Convolutions. PyTorch asks a device for two kernels that have no counterpart on the CPU; these go to what
// the CPU does for the same arguments.

#include <ATen/ops/convolution.h>
#include <ATen/ops/convolution_backward.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <torch/library.h>

#include "alias.h"

namespace nxm {
namespace {

using at::IntArrayRef;

int64_t at_dimension(IntArrayRef list, size_t dimension) {
  return list.size() == 1 ? list[0] : list[dimension];
}

std::vector<int64_t> result_sizes(
    const Tensor& input, const Tensor& weight, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
    bool is_transposed, IntArrayRef output_padding, int64_t groups) {
  std::vector<int64_t> sizes{input.size(0), is_transposed ? weight.size(1) * groups : weight.size(0)};
  for (int64_t d = 2; d < input.dim(); d++) {
    const auto i = static_cast<size_t>(d - 2);
    const int64_t kernel = at_dimension(dilation, i) * (weight.size(d) - 1) + 1;
    const int64_t step = at_dimension(stride, i);
    const int64_t pad = 2 * at_dimension(padding, i);
    TORCH_CHECK(step > 0, "non-positive stride is not supported");
    sizes.push_back(
        is_transposed ? (input.size(d) - 1) * step - pad + kernel + at_dimension(output_padding, i)
                      : (input.size(d) + pad - kernel) / step + 1);
  }
  return sizes;
}

// The format of the result: channels last if either argument has it, as on the CPU.
at::MemoryFormat result_format(const Tensor& input, const Tensor& weight) {
  const auto last = input.dim() == 4 ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::ChannelsLast3d;
  const bool can_be = input.dim() == 4 || input.dim() == 5;
  const bool is_last = can_be && (input.suggest_memory_format() == last || weight.suggest_memory_format() == last);
  return is_last ? last : at::MemoryFormat::Contiguous;
}

// A stand-in that needs gradients where the tensor does: the CPU chooses its kernel by that.
Tensor on_cpu_with_gradient(const Tensor& tensor) {
  Tensor result = on_cpu(tensor);
  if (tensor.requires_grad()) {
    result.unsafeGetTensorImpl()->set_requires_grad(true);
  }
  return result;
}

Tensor convolution_overrideable(
    const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntArrayRef stride,
    IntArrayRef padding, IntArrayRef dilation, bool is_transposed, IntArrayRef output_padding, int64_t groups) {
  TORCH_CHECK(
      input.device() == weight.device() && input.is_privateuseone(),
      "Expected all tensors to be on the same device, but found at least two devices, ", input.device(), " and ",
      weight.device(), "!");
  const auto sizes =
      result_sizes(input, weight, stride, padding, dilation, is_transposed, output_padding, groups);
  Tensor result = at::empty(sizes, input.options().memory_format(result_format(input, weight)));
  if (is_planning()) {
    return result;
  }
  const c10::impl::ExcludeDispatchKeyGuard below_autograd(c10::autograd_dispatch_keyset);
  const bool has_bias = bias.has_value() && bias->defined();
  const auto bias_on_cpu = has_bias ? std::make_optional(on_cpu_with_gradient(*bias)) : std::nullopt;
  const Tensor computed = at::convolution(
      on_cpu_with_gradient(input), on_cpu_with_gradient(weight), bias_on_cpu, stride, padding, dilation, is_transposed,
      output_padding, groups);
  on_cpu(result).copy_(computed);
  return result;
}

std::tuple<Tensor, Tensor, Tensor> convolution_backward_overrideable(
    const Tensor& gradient, const Tensor& input, const Tensor& weight, IntArrayRef stride, IntArrayRef padding,
    IntArrayRef dilation, bool is_transposed, IntArrayRef output_padding, int64_t groups, std::array<bool, 3> mask) {
  const int64_t n_channels = is_transposed ? weight.size(1) * groups : weight.size(0);
  const auto format = result_format(input, weight);
  std::array<Tensor, 3> results;
  if (mask[0]) {
    results[0] = at::empty(input.sizes(), input.options().memory_format(format));
  }
  if (mask[1]) {
    results[1] = at::empty(weight.sizes(), weight.options().memory_format(format));
  }
  if (mask[2]) {
    results[2] = at::empty({n_channels}, weight.options());
  }
  if (!is_planning()) {
    const c10::impl::ExcludeDispatchKeyGuard below_autograd(c10::autograd_dispatch_keyset);
    const auto computed = at::convolution_backward(
        on_cpu(gradient), on_cpu(input), on_cpu(weight), IntArrayRef({n_channels}), stride, padding, dilation,
        is_transposed, output_padding, groups, mask);
    const std::array<Tensor, 3> from{std::get<0>(computed), std::get<1>(computed), std::get<2>(computed)};
    for (size_t i = 0; i < 3; i++) {
      if (mask[i]) {
        on_cpu(results[i]).copy_(from[i]);
      }
    }
  }
  return {results[0], results[1], results[2]};
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("convolution_overrideable", convolution_overrideable);
  m.impl("convolution_backward_overrideable", convolution_backward_overrideable);
}

}  // namespace
}  // namespace nxm
