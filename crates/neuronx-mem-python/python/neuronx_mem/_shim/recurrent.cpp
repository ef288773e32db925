// Cells of LSTM and GRU, one operator a step, as on other devices. They are made of operators of the device, so
// that what they need in between is counted.

#include <ATen/ops/cat.h>
#include <ATen/ops/sigmoid_backward.h>
#include <ATen/ops/tanh_backward.h>
#include <ATen/ops/zeros_like.h>
#include <ATen/TensorOperators.h>
#include <torch/library.h>

#include "alias.h"

namespace nxm {
namespace {

Tensor with_bias(const Tensor& gates, const std::optional<Tensor>& bias) {
  return is_given(bias) ? gates + *bias : gates;
}

// Gates in PyTorch's order: input, forget, cell, output.
std::tuple<Tensor, Tensor, Tensor> lstm_cell(
    const Tensor& input_gates, const Tensor& hidden_gates, const Tensor& cx, const std::optional<Tensor>& input_bias,
    const std::optional<Tensor>& hidden_bias) {
  Tensor workspace = with_bias(hidden_gates, hidden_bias) + with_bias(input_gates, input_bias);
  auto gates = workspace.chunk(4, 1);
  gates[0].sigmoid_();
  gates[1].sigmoid_();
  gates[2].tanh_();
  gates[3].sigmoid_();
  Tensor cy = (gates[1] * cx).add_(gates[0] * gates[2]);
  Tensor hy = gates[3] * cy.tanh();
  return {hy, cy, workspace};
}

std::tuple<Tensor, Tensor, Tensor> lstm_cell_backward(
    const std::optional<Tensor>& grad_hy, const std::optional<Tensor>& grad_cy, const Tensor& cx, const Tensor& cy,
    const Tensor& workspace, bool has_bias) {
  if (!is_given(grad_hy) && !is_given(grad_cy)) {
    return {};
  }
  const auto gates = workspace.chunk(4, 1);
  Tensor grad_cell = is_given(grad_cy) ? *grad_cy : at::zeros_like(cy);
  Tensor grad_output;
  if (is_given(grad_hy)) {
    const Tensor tanh_cy = cy.tanh();
    grad_cell = grad_cell + at::tanh_backward(*grad_hy * gates[3], tanh_cy);
    grad_output = at::sigmoid_backward(*grad_hy * tanh_cy, gates[3]);
  } else {
    grad_output = at::zeros_like(gates[3]);
  }
  Tensor grad_gates = at::cat(
      {at::sigmoid_backward(grad_cell * gates[2], gates[0]), at::sigmoid_backward(grad_cell * cx, gates[1]),
       at::tanh_backward(grad_cell * gates[0], gates[2]), grad_output},
      1);
  Tensor grad_cx = grad_cell * gates[1];
  return {grad_gates, grad_cx, has_bias ? grad_gates.sum(0) : Tensor()};
}

// Gates in PyTorch's order: reset, update, new. The workspace is: reset, update, new, hx, the hidden part of new.
std::tuple<Tensor, Tensor> gru_cell(
    const Tensor& input_gates, const Tensor& hidden_gates, const Tensor& hx, const std::optional<Tensor>& input_bias,
    const std::optional<Tensor>& hidden_bias) {
  const auto from_input = with_bias(input_gates, input_bias).chunk(3, 1);
  const auto from_hidden = with_bias(hidden_gates, hidden_bias).chunk(3, 1);
  const Tensor reset = (from_hidden[0] + from_input[0]).sigmoid_();
  const Tensor update = (from_hidden[1] + from_input[1]).sigmoid_();
  const Tensor fresh = (from_input[2] + from_hidden[2] * reset).tanh_();
  Tensor hy = (hx - fresh).mul_(update).add_(fresh);
  return {hy, at::cat({reset, update, fresh, hx, from_hidden[2]}, 1)};
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> gru_cell_backward(
    const Tensor& grad_hy, const Tensor& workspace, bool has_bias) {
  const auto saved = workspace.chunk(5, 1);
  const Tensor &reset = saved[0], &update = saved[1], &fresh = saved[2], &hx = saved[3], &hidden_new = saved[4];
  const Tensor grad_update = at::sigmoid_backward(grad_hy * (hx - fresh), update);
  const Tensor grad_hx = grad_hy * update;
  const Tensor grad_new = at::tanh_backward(grad_hy - grad_hx, fresh);
  const Tensor grad_reset = at::sigmoid_backward(grad_new * hidden_new, reset);
  Tensor grad_input = at::cat({grad_reset, grad_update, grad_new}, 1);
  Tensor grad_hidden = at::cat({grad_reset, grad_update, grad_new * reset}, 1);
  Tensor input_bias = has_bias ? grad_input.sum(0) : Tensor();
  Tensor hidden_bias = has_bias ? grad_hidden.sum(0) : Tensor();
  return {grad_input, grad_hidden, grad_hx, input_bias, hidden_bias};
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_thnn_fused_lstm_cell", lstm_cell);
  m.impl("_thnn_fused_lstm_cell_backward_impl", lstm_cell_backward);
  m.impl("_thnn_fused_gru_cell", gru_cell);
  m.impl("_thnn_fused_gru_cell_backward", gru_cell_backward);
}

}  // namespace
}  // namespace nxm
