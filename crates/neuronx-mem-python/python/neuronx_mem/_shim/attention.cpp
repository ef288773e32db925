// scaled_dot_product_attention(): which way is modelled, and the one that keeps no scores.
//
// "math" is PyTorch's own: its operators run one by one, and the N x N scores stay for the backward pass.
// "flash" keeps the result and a row of sums instead. The CPU's kernel computes it where it can; else the
// scores are made on the host, where they count as no memory of the device.

#include <cmath>

#include <ATen/AccumulateType.h>
#include <ATen/SDPBackend.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>
#include <ATen/ops/_softmax.h>
#include <ATen/ops/_softmax_backward_data.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <torch/library.h>

#include "alias.h"
#include "generator.h"

namespace nxm {
namespace {

using std::optional;

int64_t fused_sdp_choice(
    const Tensor& query, const Tensor& key, const Tensor& value, const optional<Tensor>& mask, double, bool,
    optional<double>, bool) {
  const bool is_plain = query.dim() == 4 && key.dim() == 4 && value.dim() == 4 && query.size(3) == value.size(3) &&
      at::isFloatingType(query.scalar_type()) && query.numel() > 0 && key.numel() > 0;
  const bool is_mask_fixed = !is_given(mask) || !mask->requires_grad();
  const bool is_flash = world().attention.load(std::memory_order_relaxed) == Attention::Flash;
  return static_cast<int64_t>(
      is_flash && is_plain && is_mask_fixed ? at::SDPBackend::overrideable : at::SDPBackend::math);
}

// A result as flash kernels lay it out: (batch, sequence, heads, size), seen as (batch, heads, sequence, size).
Tensor empty_result(const Tensor& query, int64_t n_heads, int64_t sequence, int64_t size) {
  return at::empty({query.size(0), sequence, n_heads, size}, query.options()).transpose(1, 2);
}

// Heads of keys and values that several heads of queries share, each as often as it is used.
Tensor repeat_heads(const Tensor& tensor, int64_t n_heads) {
  return tensor.size(1) == n_heads ? tensor : tensor.repeat_interleave(n_heads / tensor.size(1), 1);
}

// Back again: the sum over the heads that shared one.
Tensor sum_heads(const Tensor& gradient, int64_t n_heads) {
  if (gradient.size(1) == n_heads) {
    return gradient;
  }
  return gradient.unflatten(1, {n_heads, gradient.size(1) / n_heads}).sum(2);
}

// What the backward pass makes again on the host.
struct Scores {
  Tensor weights;
  // Factors of dropout; undefined without.
  Tensor factors;
};

Scores make_scores(
    const Tensor& query, const Tensor& key, const optional<Tensor>& bias, double p, bool is_causal, double scale,
    const at::Generator& generator) {
  Tensor scores = at::matmul(query, key.transpose(-2, -1)).mul_(scale);
  if (is_causal) {
    const Tensor keep = at::ones({query.size(2), key.size(2)}, at::TensorOptions().dtype(at::kBool)).tril();
    scores.masked_fill_(keep.logical_not(), -std::numeric_limits<double>::infinity());
  }
  if (is_given(bias)) {
    scores = scores + *bias;
  }
  Scores made{at::_softmax(scores, -1, false), Tensor()};
  if (p > 0) {
    made.factors = at::empty_like(made.weights).bernoulli_(1 - p, generator);
    if (p < 1) {
      made.factors.div_(1 - p);
    }
  }
  return made;
}

double scale_of(const Tensor& query, optional<double> scale) {
  return scale.value_or(1.0 / std::sqrt(static_cast<double>(query.size(3))));
}

using Forward = std::tuple<Tensor, Tensor, Tensor, Tensor, c10::SymInt, c10::SymInt, Tensor, Tensor, Tensor>;

Forward attention(
    const Tensor& query, const Tensor& key, const Tensor& value, const optional<Tensor>& bias, double p, bool is_causal,
    bool, optional<double> scale) {
  const int64_t n_heads = query.size(1);
  Tensor result = empty_result(query, n_heads, query.size(2), value.size(3));
  const auto sum_type = at::toAccumulateType(query.scalar_type(), /*is_cuda=*/true);
  Tensor sums = at::empty({query.size(0), query.size(2), n_heads}, query.options().dtype(sum_type)).transpose(1, 2);
  // The state of the generator before, on the host, from which the backward pass draws the same numbers.
  Tensor random;
  if (!is_planning()) {
    const c10::impl::ExcludeDispatchKeyGuard below_autograd(c10::autograd_dispatch_keyset);
    const Tensor q = on_cpu(query);
    const Tensor k = repeat_heads(on_cpu(key), n_heads);
    const Tensor v = repeat_heads(on_cpu(value), n_heads);
    const auto b = is_given(bias) ? optional<Tensor>(on_cpu(*bias)) : std::nullopt;
    if (p == 0) {
      const auto computed = at::_scaled_dot_product_flash_attention_for_cpu(q, k, v, 0, is_causal, b, scale);
      on_cpu(result).copy_(std::get<0>(computed));
      on_cpu(sums).copy_(std::get<1>(computed));
    } else {
      const at::Generator generator = cpu_generator_of(default_generator(query.device().index()));
      random = Tensor(generator.unsafeGetGeneratorImpl()->get_state());
      const Scores scores = make_scores(q, k, b, p, is_causal, scale_of(query, scale), generator);
      on_cpu(result).copy_(at::matmul(scores.weights * scores.factors, v));
      on_cpu(sums).zero_();
    }
  }
  return {result, sums, Tensor(), Tensor(), query.sym_size(2), key.sym_size(2), random, Tensor(), Tensor()};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> attention_backward(
    const Tensor& gradient, const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& bias,
    std::array<bool, 4>, const Tensor& result, const Tensor& sums, const Tensor&, const Tensor&, c10::SymInt,
    c10::SymInt, double p, bool is_causal, const Tensor& random, const Tensor&, optional<double> scale) {
  Tensor grad_query = empty_result(query, query.size(1), query.size(2), query.size(3));
  Tensor grad_key = empty_result(key, key.size(1), key.size(2), key.size(3));
  Tensor grad_value = empty_result(value, value.size(1), value.size(2), value.size(3));
  if (is_planning()) {
    return {grad_query, grad_key, grad_value, Tensor()};
  }
  const c10::impl::ExcludeDispatchKeyGuard below_autograd(c10::autograd_dispatch_keyset);
  const Tensor q = on_cpu(query);
  const Tensor k = repeat_heads(on_cpu(key), query.size(1));
  const Tensor v = repeat_heads(on_cpu(value), query.size(1));
  const Tensor g = on_cpu(gradient);
  const auto b = bias.defined() ? optional<Tensor>(on_cpu(bias)) : std::nullopt;
  Tensor from_query, from_key, from_value;
  if (p == 0) {
    std::tie(from_query, from_key, from_value) = at::_scaled_dot_product_flash_attention_for_cpu_backward(
        g, q, k, v, on_cpu(result), on_cpu(sums), 0, is_causal, b, scale);
  } else {
    at::Generator generator = at::detail::createCPUGenerator();
    generator.unsafeGetGeneratorImpl()->set_state(*random.unsafeGetTensorImpl());
    const double factor = scale_of(query, scale);
    const Scores scores = make_scores(q, k, b, p, is_causal, factor, generator);
    from_value = at::matmul((scores.weights * scores.factors).transpose(-2, -1), g);
    const Tensor grad_weights = at::matmul(g, v.transpose(-2, -1)).mul_(scores.factors);
    const Tensor grad_scores =
        at::_softmax_backward_data(grad_weights, scores.weights, -1, query.scalar_type()).mul_(factor);
    from_query = at::matmul(grad_scores, k);
    from_key = at::matmul(grad_scores.transpose(-2, -1), q);
  }
  on_cpu(grad_query).copy_(from_query);
  on_cpu(grad_key).copy_(sum_heads(from_key, key.size(1)));
  on_cpu(grad_value).copy_(sum_heads(from_value, value.size(1)));
  return {grad_query, grad_key, grad_value, Tensor()};
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_fused_sdp_choice", fused_sdp_choice);
  m.impl("_scaled_dot_product_fused_attention_overrideable", attention);
  m.impl("_scaled_dot_product_fused_attention_overrideable_backward", attention_backward);
}

}  // namespace
}  // namespace nxm
