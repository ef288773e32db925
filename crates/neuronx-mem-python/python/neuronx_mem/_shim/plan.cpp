// Plan mode: operators by their shapes. What "meta" tensors say once is remembered, since most of their
// kernels are Python.

#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "alias.h"
#include "fallback.h"
#include "plan_key.h"
#include "tensors_of.h"

namespace nxm {
namespace {

// One tensor among the results.
struct PlannedTensor {
  enum class Kind : uint8_t { Undefined, Argument, View, New };
  Kind kind;
  uint32_t argument;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  int64_t offset;
  caffe2::TypeMeta dtype;
};

// One result: a tensor, a list of tensors, or a value as it is.
struct PlannedResult {
  enum class Kind : uint8_t { Tensor, List, Value };
  Kind kind;
  std::vector<PlannedTensor> tensors;
  c10::IValue value;
};

using Plan = std::vector<PlannedResult>;

struct Hash {
  using is_transparent = void;
  size_t operator()(std::string_view bytes) const { return std::hash<std::string_view>()(bytes); }
};

struct Plans {
  std::mutex mutex;
  std::unordered_map<std::string, std::shared_ptr<const Plan>, Hash, std::equal_to<>> by_key;
  size_t key_bytes = 0;
};

// Beyond either, everything is forgotten: a program whose shapes never come back gains nothing from them.
constexpr size_t kMostPlans = 1 << 16;
constexpr size_t kMostKeyBytes = 64 << 20;

Plans& plans() {
  static auto* plans = new Plans();
  return *plans;
}

std::shared_ptr<const Plan> find(const std::string& key) {
  Plans& all = plans();
  const std::lock_guard lock(all.mutex);
  const auto found = all.by_key.find(std::string_view(key));
  return found == all.by_key.end() ? nullptr : found->second;
}

void remember(std::string key, Plan plan) {
  auto shared = std::make_shared<const Plan>(std::move(plan));
  Plans& all = plans();
  const std::lock_guard lock(all.mutex);
  if (all.by_key.size() >= kMostPlans || all.key_bytes + key.size() > kMostKeyBytes) {
    all.by_key.clear();
    all.key_bytes = 0;
  }
  all.key_bytes += key.size();
  all.by_key.insert_or_assign(std::move(key), std::move(shared));
}

Tensor make(const PlannedTensor& planned, const PlanKey& key, c10::DeviceIndex ordinal) {
  switch (planned.kind) {
    case PlannedTensor::Kind::Undefined:
      return Tensor();
    case PlannedTensor::Kind::Argument:
      return key.tensors[planned.argument];
    case PlannedTensor::Kind::View:
      return view_of(key.tensors[planned.argument], planned.sizes, planned.strides, planned.offset, planned.dtype);
    case PlannedTensor::Kind::New:
      break;
  }
  return at::detail::empty_strided_generic(
      planned.sizes, planned.strides, allocator(), kNeuronKeys, c10::typeMetaToScalarType(planned.dtype));
}

void follow(const Plan& plan, const PlanKey& key, const OperatorInfo& info, torch::jit::Stack* stack) {
  const c10::DeviceIndex ordinal = key.device.has_value() ? key.device->index() : t_device;
  const OnDevice guard(ordinal);
  c10::SmallVector<c10::IValue, 4> results;
  for (const PlannedResult& planned : plan) {
    if (planned.kind == PlannedResult::Kind::Value) {
      results.push_back(planned.value);
    } else if (planned.kind == PlannedResult::Kind::Tensor) {
      results.push_back(make(planned.tensors.front(), key, ordinal));
    } else {
      c10::List<Tensor> list;
      list.reserve(planned.tensors.size());
      for (const PlannedTensor& tensor : planned.tensors) {
        list.push_back(make(tensor, key, ordinal));
      }
      results.push_back(std::move(list));
    }
  }
  torch::jit::drop(*stack, info.n_arguments);
  for (c10::IValue& result : results) {
    stack->push_back(std::move(result));
  }
}

PlannedTensor describe(const Tensor& tensor, const PlanKey& key) {
  using Kind = PlannedTensor::Kind;
  if (!tensor.defined()) {
    return {Kind::Undefined, 0, {}, {}, 0, {}};
  }
  for (uint32_t i = 0; i < key.tensors.size(); i++) {
    if (key.tensors[i].is_same(tensor)) {
      return {Kind::Argument, i, {}, {}, 0, {}};
    }
  }
  PlannedTensor planned{
      Kind::New, 0, tensor.sizes().vec(), tensor.strides().vec(), tensor.storage_offset(), tensor.dtype()};
  const auto* storage = tensor.storage().unsafeGetStorageImpl();
  for (uint32_t i = 0; i < key.tensors.size(); i++) {
    if (key.tensors[i].storage().unsafeGetStorageImpl() == storage) {
      planned.kind = Kind::View;
      planned.argument = i;
    }
  }
  return planned;
}

// False for results that cannot be made again by their shapes.
bool describe(const c10::IValue& value, const PlanKey& key, Plan& plan) {
  PlannedResult result;
  if (value.isTensor()) {
    result.kind = PlannedResult::Kind::Tensor;
    result.tensors.push_back(describe(value.toTensor(), key));
  } else if (value.isTensorList()) {
    result.kind = PlannedResult::Kind::List;
    for (const Tensor& tensor : value.toTensorVector()) {
      result.tensors.push_back(describe(tensor, key));
    }
  } else if (value.isInt() || value.isDouble() || value.isBool() || value.isNone()) {
    result.kind = PlannedResult::Kind::Value;
    result.value = value;
  } else {
    return false;
  }
  plan.push_back(std::move(result));
  return true;
}

// Whether an output has got another size: then the plan would not say all that happened.
struct SizesBefore {
  explicit SizesBefore(const PlanKey& key) {
    for (const Tensor& tensor : key.tensors) {
      sizes.push_back(tensor.sizes().vec());
      strides.push_back(tensor.strides().vec());
    }
  }
  bool are_same(const PlanKey& key) const {
    for (size_t i = 0; i < key.tensors.size(); i++) {
      if (key.tensors[i].sizes() != at::IntArrayRef(sizes[i]) || key.tensors[i].strides() != at::IntArrayRef(strides[i])) {
        return false;
      }
    }
    return true;
  }
  std::vector<std::vector<int64_t>> sizes;
  std::vector<std::vector<int64_t>> strides;
};

// Finds the shapes on "meta" tensors, on the CPU where those cannot tell: by values, which are zeros.
// True if "meta" could.
bool run_for_shapes(const c10::OperatorHandle& op, const OperatorInfo& info, torch::jit::Stack* stack) {
  if (info.has_meta) {
    const torch::jit::Stack arguments(stack->end() - static_cast<std::ptrdiff_t>(info.n_arguments), stack->end());
    const size_t below = stack->size() - info.n_arguments;
    try {
      run_on_stand_ins(op, info, stack, true, true);
      return true;
    } catch (const c10::OutOfMemoryError&) {
      throw;
    } catch (const std::exception&) {
      // Shapes that depend on values, no kernel, or an error that the CPU's kernel words better.
    }
    stack->resize(below);
    stack->insert(stack->end(), arguments.begin(), arguments.end());
  }
  counters().plan_on_cpu.fetch_add(1, std::memory_order_relaxed);
  run_on_stand_ins(op, info, stack, false, true);
  return false;
}

}  // namespace

void run_planned(const c10::OperatorHandle& op, const OperatorInfo& info, torch::jit::Stack* stack) {
  thread_local std::string buffer;
  PlanKey key;
  key.bytes.swap(buffer);
  const bool has_key = write_key(op, info, *stack, key);
  if (has_key) {
    if (const auto plan = find(key.bytes)) {
      counters().plan_hits.fetch_add(1, std::memory_order_relaxed);
      follow(*plan, key, info, stack);
      buffer.swap(key.bytes);
      return;
    }
  }
  counters().plan_misses.fetch_add(1, std::memory_order_relaxed);
  const SizesBefore before(key);
  if (!run_for_shapes(op, info, stack) || !has_key || !before.are_same(key)) {
    return;
  }
  Plan plan;
  for (size_t i = stack->size() - info.n_returns; i < stack->size(); i++) {
    if (!describe((*stack)[i], key, plan)) {
      return;
    }
  }
  remember(std::move(key.bytes), std::move(plan));
}

void clear_plans() {
  Plans& all = plans();
  const std::lock_guard lock(all.mutex);
  all.by_key.clear();
  all.key_bytes = 0;
}

size_t n_plans() {
  const std::lock_guard lock(plans().mutex);
  return plans().by_key.size();
}

}  // namespace nxm
