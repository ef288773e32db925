#include "fallback.h"

#include <algorithm>
#include <cstring>

#include <ATen/core/op_registration/adaption.h>
#include <torch/library.h>

#include "alias.h"
#include "generator.h"
#include "int64_mode.h"
#include "observer.h"
#include "operators.h"
#include "tensors_of.h"

namespace nxm {
namespace {

// A tensor of the device, and what stands for it.
struct Pair {
  Tensor device;
  Tensor stand_in;
  const void* data;
};

// What was found while the arguments were replaced.
struct Arguments {
  c10::SmallVector<Pair, 8> pairs;
  std::optional<c10::Device> device;
  // A tensor of the CPU that has dimensions.
  bool has_cpu_tensor = false;
};

void note_device(Arguments& arguments, c10::Device device, const OperatorInfo& info) {
  if (!arguments.device.has_value()) {
    arguments.device = device;
  }
  TORCH_CHECK(
      *arguments.device == device,
      "Expected all tensors to be on the same device, but found at least two devices, ", *arguments.device, " and ",
      device, "! (when checking arguments of ", info.name, ")");
}

void replace_arguments(
    const OperatorInfo& info, torch::jit::Stack* stack, bool is_meta, Arguments& arguments) {
  const size_t begin = stack->size() - info.n_arguments;
  for (size_t i = begin; i < stack->size(); i++) {
    c10::IValue& value = (*stack)[i];
    if (value.isDevice()) {
      if (value.toDevice().type() == kNeuron) {
        arguments.device = c10::Device(kNeuron, ordinal_of(value.toDevice().index()));
        value = c10::Device(is_meta ? c10::kMeta : c10::kCPU);
      }
      continue;
    }
    change_tensors(value, [&](Tensor& tensor) {
      if (tensor.is_privateuseone()) {
        note_device(arguments, tensor.device(), info);
        TORCH_CHECK_NOT_IMPLEMENTED(
            tensor.layout() == at::kStrided, info.name, " on a ", tensor.layout(), " tensor of the neuron device");
        Tensor stands = stand_in_with_bits(tensor, is_meta);
        arguments.pairs.push_back({tensor, stands, is_meta ? nullptr : stands.storage().data()});
        tensor = std::move(stands);
        return true;
      }
      if (!tensor.is_cpu() || tensor.dim() == 0) {
        return false;
      }
      arguments.has_cpu_tensor = true;
      if (is_meta) {
        tensor = stand_in(tensor, true);
      }
      return is_meta;
    });
  }
  TORCH_CHECK(
      !arguments.has_cpu_tensor || arguments.pairs.empty() || info.takes_cpu_tensors,
      "Expected all tensors to be on the same device, but found at least two devices, ",
      arguments.device.value_or(c10::Device(kNeuron, 0)), " and cpu! (when checking arguments of ", info.name, ")");
}

// Kernels draw from the device's generator, not from the CPU's.
void replace_generator(const OperatorInfo& info, torch::jit::Stack* stack, c10::DeviceIndex ordinal) {
  if (info.generator < 0) {
    return;
  }
  c10::IValue& value = (*stack)[stack->size() - info.n_arguments + static_cast<size_t>(info.generator)];
  if (value.isNone()) {
    value = cpu_generator_of(default_generator(ordinal));
  } else if (value.isGenerator()) {
    value = cpu_generator_of(value.toGenerator());
  }
}

// Gives a tensor of the device the sizes that its stand-in has got as an output.
void follow_resizes(Arguments& arguments, bool is_meta, bool is_shape_only) {
  for (Pair& pair : arguments.pairs) {
    const bool is_moved = !is_meta && pair.stand_in.storage().data() != pair.data;
    if (pair.stand_in.sizes() == pair.device.sizes() && !is_moved) {
      if (pair.stand_in.strides() != pair.device.strides()) {
        pair.device.unsafeGetTensorImpl()->set_sizes_and_strides(pair.stand_in.sizes(), pair.stand_in.strides());
      }
      continue;
    }
    resize(pair.device, c10::fromIntArrayRefSlow(pair.stand_in.sizes()), std::nullopt);
    if (is_moved && !is_shape_only) {
      on_cpu(pair.device).copy_(pair.stand_in);
    }
  }
}

Tensor to_device(const Tensor& result, Arguments& arguments, c10::DeviceIndex ordinal, bool is_meta, bool is_shape_only,
                 const OperatorInfo& info) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      result.layout() == at::kStrided, info.name, " gives a ", result.layout(),
      " tensor, which the simulated neuron device does not have: move its argument to the CPU first");
  for (const Pair& pair : arguments.pairs) {
    if (pair.stand_in.is_same(result)) {
      return pair.device;
    }
  }
  for (const Pair& pair : arguments.pairs) {
    if (result.storage().unsafeGetStorageImpl() == pair.stand_in.storage().unsafeGetStorageImpl()) {
      Tensor view = view_of(pair.device, result.sizes(), result.strides(), result.storage_offset(), result.dtype());
      set_bits(view, result.is_conj(), result.is_neg());
      return view;
    }
  }
  // Memory is taken for what there is, not for what its strides repeat.
  const bool is_dense = result.is_non_overlapping_and_dense();
  Tensor made = is_dense ? empty_on(ordinal, result.sizes(), result.strides(), result.scalar_type())
                         : at::detail::empty_generic(result.sizes(), allocator(), kNeuronKeys, result.scalar_type(), {});
  if (!is_meta && !is_shape_only && result.numel() > 0) {
    if (is_dense && !result.is_conj() && !result.is_neg()) {
      std::memcpy(made.mutable_data_ptr(), result.const_data_ptr(), result.nbytes());
    } else {
      on_cpu(made).copy_(result);
    }
  }
  return made;
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&run>());
}

// PyTorch would take these apart on a device that it does not know. As one operator each they give the CPU's
// numbers, and take the memory that they take on other devices.
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  for (const char* name : {"native_layer_norm", "native_group_norm", "silu_backward", "mish_backward",
                           "native_channel_shuffle", "addr", "addr.out", "linalg__powsum"}) {
    m.impl(name, torch::CppFunction::makeFromBoxedFunction<&run>());
  }
}

}  // namespace

void run(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  counters().operators.fetch_add(1, std::memory_order_relaxed);
  const OperatorInfo& info = info_of(op);
  Observation observation(op, info, *stack);
  const c10::impl::ExcludeDispatchKeyGuard below_autograd(c10::autograd_dispatch_keyset);
  if (is_planning()) {
    run_planned(op, info, stack);
  } else {
    run_on_stand_ins(op, info, stack, false, false);
  }
  observation.finish(op, info, *stack);
}

Counters& counters() {
  static auto* counters = new Counters();
  return *counters;
}

void run_on_stand_ins(
    const c10::OperatorHandle& op, const OperatorInfo& info, torch::jit::Stack* stack, bool is_meta,
    bool is_shape_only) {
  Arguments arguments;
  replace_arguments(info, stack, is_meta, arguments);
  const c10::DeviceIndex ordinal = arguments.device.has_value() ? arguments.device->index() : t_device;
  if (!is_meta) {
    replace_generator(info, stack, ordinal);
  }
  const bool narrows = !is_meta && !is_shape_only && info.int64.changes_anything();
  if (narrows) {
    narrow_arguments(op, info, *stack);
  }
  op.redispatchBoxed(c10::DispatchKeySet(is_meta ? c10::DispatchKey::Meta : c10::DispatchKey::CPU), stack);
  if (narrows) {
    narrow_results(info, *stack);
  }
  const OnDevice guard(ordinal);
  follow_resizes(arguments, is_meta, is_shape_only);
  const size_t first = stack->size() - info.n_returns;
  for (size_t i = 0; i < info.n_returns; i++) {
    if (static_cast<int>(i) == info.cpu_result) {
      continue;
    }
    change_tensors((*stack)[first + i], [&](Tensor& tensor) {
      tensor = to_device(tensor, arguments, ordinal, is_meta, is_shape_only, info);
      return true;
    });
  }
}

}  // namespace nxm
