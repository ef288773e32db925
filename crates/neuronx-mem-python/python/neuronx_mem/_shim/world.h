// What the backend works on: the table of the C ABI, the devices, and how operators run.
//
// Knows nothing of tensors. Set once by nxm_shim_start() and never taken back, so that memory may be
// freed at any time, also while the process ends.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include <c10/core/Device.h>
#include <c10/core/DispatchKey.h>
#include <c10/util/Exception.h>

#include "neuronx_mem.h"

namespace nxm {

constexpr auto kNeuron = c10::DeviceType::PrivateUse1;

// A device index has eight bits, one of them the sign.
constexpr uint32_t kMostDevices = 128;

// How operators run.
enum class Mode : int {
  // On the CPU, on the device's memory where it lies.
  Compute = 0,
  // Not at all: shapes only.
  Plan = 1,
};

// What scaled_dot_product_attention() keeps for its backward pass.
enum class Attention : int {
  // The N x N scores.
  Math = 0,
  // A row of sums.
  Flash = 1,
};

struct World {
  const nxm_vtable_v1* table = nullptr;
  nxm_allocator* allocator = nullptr;
  std::vector<const nxm_device*> devices;
  std::vector<nxm_address_range> ranges;
  std::atomic<Mode> mode{Mode::Compute};
  std::atomic<Attention> attention{Attention::Math};
};

inline World& world() {
  static World* world = new World();
  return *world;
}

inline bool is_planning() {
  return world().mode.load(std::memory_order_relaxed) == Mode::Plan;
}

inline c10::DeviceIndex device_count() noexcept {
  return static_cast<c10::DeviceIndex>(world().devices.size());
}

// The ordinal of a device; the current one for -1.
inline c10::DeviceIndex ordinal_of(c10::DeviceIndex index);

inline const nxm_device* device_at(c10::DeviceIndex index) {
  return world().devices[static_cast<size_t>(ordinal_of(index))];
}

// Makes an error of the table's one of PyTorch's.
inline void check(nxm_status status, const char* what);

}  // namespace nxm
