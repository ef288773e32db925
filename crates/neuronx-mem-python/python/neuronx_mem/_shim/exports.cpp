// What the Python side calls: by name through ctypes, and as operators where tensors and generators go
// through.

#include <torch/library.h>

#include "alias.h"
#include "current.h"
#include "fallback.h"
#include "generator.h"
#include "hooks.h"
#include "host_budget.h"
#include "observer.h"
#include "running.h"

#define NXM_EXPORT extern "C" __attribute__((visibility("default")))

namespace nxm {
namespace {

std::optional<at::Generator> generator_of(int64_t index) {
  return default_generator(static_cast<c10::DeviceIndex>(index));
}

// The bytes of a device's tensor as a tensor of the CPU; they stay the device's.
Tensor alias_on_cpu(const Tensor& tensor) {
  TORCH_CHECK(tensor.is_privateuseone(), "the tensor is on ", tensor.device(), ", not on neuron");
  TORCH_CHECK(!is_planning(), "plan mode has no values to look at");
  const c10::Storage& storage = tensor.storage();
  auto* keep = new c10::Storage(storage);
  c10::Storage same(
      c10::Storage::use_byte_size_t(), storage.nbytes(),
      c10::DataPtr(
          const_cast<void*>(storage.data()), keep, [](void* kept) { delete static_cast<c10::Storage*>(kept); },
          c10::Device(c10::kCPU)),
      nullptr, /*resizable=*/false);
  Tensor result = at::detail::make_tensor<c10::TensorImpl>(
      std::move(same), c10::DispatchKeySet(c10::DispatchKey::CPU), tensor.dtype());
  result.unsafeGetTensorImpl()->set_storage_offset(tensor.storage_offset());
  result.unsafeGetTensorImpl()->set_sizes_and_strides(tensor.sizes(), tensor.strides());
  return result;
}

TORCH_LIBRARY(neuronx_mem, m) {
  m.def("default_generator(int device) -> Generator?", generator_of);
  m.def("alias_on_cpu(Tensor tensor) -> Tensor");
  m.impl("alias_on_cpu", c10::DispatchKey::PrivateUse1, alias_on_cpu);
}

}  // namespace
}  // namespace nxm

// The version of these functions: the Python side asks for the one that it was written with.
NXM_EXPORT int nxm_shim_version() {
  return 1;
}

// Starts the backend on devices that live as long as the process. 0; 1 if it was started before, 2 if there are
// more devices than PyTorch can number.
NXM_EXPORT int nxm_shim_start(
    const nxm_vtable_v1* table, nxm_allocator* allocator, const nxm_device* const* devices, uint32_t n_devices,
    int mode, int attention) {
  nxm::World& all = nxm::world();
  if (all.table != nullptr) {
    return 1;
  }
  if (n_devices > nxm::kMostDevices) {
    return 2;
  }
  for (uint32_t i = 0; i < n_devices; i++) {
    nxm_address_range range{};
    table->get_address_range(devices[i], &range);
    all.devices.push_back(devices[i]);
    all.ranges.push_back(range);
  }
  all.allocator = allocator;
  all.mode = static_cast<nxm::Mode>(mode);
  all.attention = static_cast<nxm::Attention>(attention);
  all.table = table;
  nxm::watch_forks();
  nxm::install_hooks();
  return 0;
}

// 0 for compute, 1 for plan.
NXM_EXPORT void nxm_shim_set_mode(int mode) {
  nxm::world().mode = static_cast<nxm::Mode>(mode);
  nxm::forget_host_budget();
}

NXM_EXPORT int nxm_shim_mode() {
  return static_cast<int>(nxm::world().mode.load());
}

// 0 for math, 1 for flash.
NXM_EXPORT void nxm_shim_set_attention(int attention) {
  nxm::world().attention = static_cast<nxm::Attention>(attention);
}

NXM_EXPORT int nxm_shim_attention() {
  return static_cast<int>(nxm::world().attention.load());
}

// Operators, plans used, plans made, operators that plan mode ran on the CPU, plans remembered.
NXM_EXPORT void nxm_shim_counters(int64_t* into) {
  const nxm::Counters& all = nxm::counters();
  into[0] = all.operators;
  into[1] = all.plan_hits;
  into[2] = all.plan_misses;
  into[3] = all.plan_on_cpu;
  into[4] = static_cast<int64_t>(nxm::n_plans());
}

NXM_EXPORT void nxm_shim_clear_plans() {
  nxm::clear_plans();
}

NXM_EXPORT void nxm_shim_observe_int64(int is_on) {
  nxm::set_observing(is_on != 0);
}

// Before the first operator runs.
NXM_EXPORT void nxm_shim_use_int64_hooks(const nxm::Int64Hooks* hooks) {
  nxm::g_int64_hooks = hooks;
}

// Calls back with the text of what was observed.
NXM_EXPORT void nxm_shim_observed(void (*take)(const char* text, void* data), void* data) {
  const std::string text = nxm::observed();
  take(text.c_str(), data);
}
