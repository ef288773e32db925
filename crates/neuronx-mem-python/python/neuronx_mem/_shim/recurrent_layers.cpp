// Layers of LSTM, GRU and plain cells over a whole sequence, in the order of the CPU's own (not oneDNN's): the
// input's part of the gates for all steps at once, then step by step.
//
// Made of operators that PyTorch differentiates. Packed sequences take PyTorch's way for devices.

#include <algorithm>

#include <ATen/ops/_thnn_fused_gru_cell.h>
#include <ATen/ops/_thnn_fused_lstm_cell.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tanh.h>
#include <torch/library.h>

#include "alias.h"

namespace nxm {
namespace {

using at::TensorList;

// Weights of one direction of one layer.
struct Weights {
  Tensor from_input;
  Tensor from_hidden;
  std::optional<Tensor> input_bias;
  std::optional<Tensor> hidden_bias;
  // Of the projection of an LSTM's output.
  std::optional<Tensor> projection;
};

// What a step leaves; plain cells and GRU have no `cell`.
struct Hidden {
  Tensor hidden;
  Tensor cell;
};

struct LstmStep {
  Hidden operator()(const Tensor& input_gates, const Hidden& before, const Weights& weights) const {
    const Tensor hidden_gates = at::linear(before.hidden, weights.from_hidden, weights.hidden_bias);
    auto [hidden, cell, workspace] = at::_thnn_fused_lstm_cell(input_gates, hidden_gates, before.cell, {}, {});
    if (weights.projection.has_value()) {
      hidden = at::matmul(hidden, weights.projection->t());
    }
    return {hidden, cell};
  }
};

struct GruStep {
  Hidden operator()(const Tensor& input_gates, const Hidden& before, const Weights& weights) const {
    const Tensor hidden_gates = at::linear(before.hidden, weights.from_hidden, weights.hidden_bias);
    return {std::get<0>(at::_thnn_fused_gru_cell(input_gates, hidden_gates, before.hidden, {}, {})), Tensor()};
  }
};

template <Tensor (*activation)(const Tensor&)>
struct PlainStep {
  Hidden operator()(const Tensor& input_gates, const Hidden& before, const Weights& weights) const {
    Tensor sum = at::linear(before.hidden, weights.from_hidden, weights.hidden_bias).add_(input_gates);
    return {activation(sum), Tensor()};
  }
};

struct Shape {
  bool has_biases;
  int64_t n_layers;
  double dropout;
  bool is_training;
  bool is_bidirectional;
  bool is_batch_first;
};

std::vector<Weights> gather(TensorList parameters, const Shape& shape, bool has_projection) {
  const size_t n_each = (shape.has_biases ? 4 : 2) + (has_projection ? 1 : 0);
  const size_t n = static_cast<size_t>(shape.n_layers) * (shape.is_bidirectional ? 2 : 1);
  TORCH_CHECK(parameters.size() == n * n_each, "got an incorrect number of RNN parameters");
  std::vector<Weights> all;
  for (size_t i = 0; i < parameters.size(); i += n_each) {
    Weights weights{parameters[i], parameters[i + 1], {}, {}, {}};
    if (shape.has_biases) {
      weights.input_bias = parameters[i + 2];
      weights.hidden_bias = parameters[i + 3];
    }
    if (has_projection) {
      weights.projection = parameters[i + n_each - 1];
    }
    all.push_back(std::move(weights));
  }
  return all;
}

template <class Step>
Tensor run_direction(const Tensor& input, bool is_reverse, const Weights& weights, Hidden& hidden) {
  auto steps = at::linear(input, weights.from_input, weights.input_bias).unbind(0);
  if (is_reverse) {
    std::reverse(steps.begin(), steps.end());
  }
  std::vector<Tensor> results;
  results.reserve(steps.size());
  for (const Tensor& step : steps) {
    hidden = Step()(step, hidden, weights);
    results.push_back(hidden.hidden);
  }
  if (is_reverse) {
    std::reverse(results.begin(), results.end());
  }
  return at::stack(results, 0);
}

template <class Step>
Tensor run_layers(
    const Tensor& input, const std::vector<Weights>& weights, const Shape& shape, std::vector<Hidden>& hidden) {
  for (const Weights& one : weights) {
    TORCH_CHECK(
        one.from_input.device() == input.device(),
        "Input and parameter tensors are not at the same device, found input tensor at ", input.device(),
        " and parameter tensor at ", one.from_input.device());
  }
  for (const Hidden& one : hidden) {
    TORCH_CHECK(
        one.hidden.device() == input.device(),
        "Input and hidden tensors are not at the same device, found input tensor at ", input.device(),
        " and hidden tensor at ", one.hidden.device());
  }
  Tensor layer = shape.is_batch_first ? input.transpose(0, 1) : input;
  size_t next = 0;
  for (int64_t l = 0; l < shape.n_layers; l++) {
    Tensor result = run_direction<Step>(layer, false, weights[next], hidden[next]);
    next++;
    if (shape.is_bidirectional) {
      const Tensor reverse = run_direction<Step>(layer, true, weights[next], hidden[next]);
      next++;
      result = at::cat({result, reverse}, result.dim() - 1);
    }
    layer = result;
    if (shape.dropout != 0 && shape.is_training && l < shape.n_layers - 1) {
      layer = at::dropout(layer, shape.dropout, true);
    }
  }
  return shape.is_batch_first ? layer.transpose(0, 1) : layer;
}

std::vector<Hidden> take_apart(const Tensor& hidden, const Tensor& cell) {
  const auto hiddens = hidden.unbind(0);
  const auto cells = cell.defined() ? cell.unbind(0) : std::vector<Tensor>(hiddens.size());
  std::vector<Hidden> all;
  for (size_t i = 0; i < hiddens.size(); i++) {
    all.push_back({hiddens[i], cells[i]});
  }
  return all;
}

Tensor put_together(const std::vector<Hidden>& all, Tensor Hidden::* part) {
  std::vector<Tensor> parts;
  for (const Hidden& one : all) {
    parts.push_back(one.*part);
  }
  return at::stack(parts, 0);
}

std::tuple<Tensor, Tensor, Tensor> lstm(
    const Tensor& input, TensorList hx, TensorList parameters, bool has_biases, int64_t n_layers, double dropout,
    bool is_training, bool is_bidirectional, bool is_batch_first) {
  TORCH_CHECK(hx.size() == 2, "lstm expects two hidden states");
  const Shape shape{has_biases, n_layers, dropout, is_training, is_bidirectional, is_batch_first};
  const auto weights = gather(parameters, shape, hx[0].size(2) != hx[1].size(2));
  auto hidden = take_apart(hx[0], hx[1]);
  Tensor result = run_layers<LstmStep>(input, weights, shape, hidden);
  return {result, put_together(hidden, &Hidden::hidden), put_together(hidden, &Hidden::cell)};
}

template <class Step>
std::tuple<Tensor, Tensor> recurrent(
    const Tensor& input, const Tensor& hx, TensorList parameters, bool has_biases, int64_t n_layers, double dropout,
    bool is_training, bool is_bidirectional, bool is_batch_first) {
  const Shape shape{has_biases, n_layers, dropout, is_training, is_bidirectional, is_batch_first};
  auto hidden = take_apart(hx, Tensor());
  Tensor result = run_layers<Step>(input, gather(parameters, shape, false), shape, hidden);
  return {result, put_together(hidden, &Hidden::hidden)};
}

void register_layers(torch::Library& m) {
  m.impl("lstm.input", lstm);
  m.impl("gru.input", recurrent<GruStep>);
  m.impl("rnn_tanh.input", recurrent<PlainStep<at::tanh>>);
  m.impl("rnn_relu.input", recurrent<PlainStep<at::relu>>);
}

// Above autograd, which differentiates what they are made of; below it for inference mode.
TORCH_LIBRARY_IMPL(aten, AutogradPrivateUse1, m) {
  register_layers(m);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  register_layers(m);
}

}  // namespace
}  // namespace nxm
