// The device and the streams that the calling thread works on.
#pragma once

#include <array>

#include <c10/core/Stream.h>

#include "world.h"

namespace nxm {

inline thread_local c10::DeviceIndex t_device = 0;
inline thread_local std::array<uint32_t, kMostDevices> t_streams{};

inline c10::DeviceIndex ordinal_of(c10::DeviceIndex index) {
  const c10::DeviceIndex ordinal = index < 0 ? t_device : index;
  TORCH_CHECK(
      ordinal < device_count(),
      "neuron:", static_cast<int>(ordinal), " does not exist: the simulated host has ",
      static_cast<int>(device_count()), " device(s); NEURONX_MEM_DEVICES sets how many");
  return ordinal;
}

inline uint32_t stream_of(c10::DeviceIndex ordinal) {
  return t_streams[static_cast<size_t>(ordinal)];
}

inline c10::Stream to_torch(c10::DeviceIndex ordinal, uint32_t stream) {
  return c10::Stream(c10::Stream::UNSAFE, c10::Device(kNeuron, ordinal), static_cast<c10::StreamId>(stream));
}

inline uint32_t to_number(c10::Stream stream) {
  return static_cast<uint32_t>(stream.id());
}

inline void check(nxm_status status, const char* what) {
  TORCH_CHECK(status == NXM_OK, what, ": ", world().table->last_error_message());
}

// Works on another device for as long as it lives.
struct OnDevice {
  explicit OnDevice(c10::DeviceIndex index) : before(t_device) { t_device = ordinal_of(index); }
  ~OnDevice() { t_device = before; }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  c10::DeviceIndex before;
};

}  // namespace nxm
