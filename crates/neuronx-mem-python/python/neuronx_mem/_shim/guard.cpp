// Devices, streams and events. Work is done when its call returns, so that nothing is ever waited for;
// the allocator is told all the same, since frees on recorded streams are its business.

#include <chrono>
#include <mutex>

#include <c10/core/impl/DeviceGuardImplInterface.h>

#include "allocator.h"
#include "current.h"

namespace nxm {
namespace {

using Clock = std::chrono::steady_clock;

struct Event {
  c10::DeviceIndex device;
  uint32_t stream;
  Clock::time_point time;
};

// Streams of a device are made once and handed out in turn, as on other devices.
constexpr size_t kStreamsPerDevice = 32;

struct StreamPool {
  std::mutex mutex;
  std::vector<uint32_t> streams;
  size_t next = 0;
};

uint32_t stream_from_pool(c10::DeviceIndex ordinal) {
  static auto* pools = new std::array<StreamPool, kMostDevices>();
  StreamPool& pool = (*pools)[static_cast<size_t>(ordinal)];
  const std::lock_guard lock(pool.mutex);
  if (pool.streams.size() < kStreamsPerDevice) {
    uint32_t stream = 0;
    check(world().table->stream_new(device_at(ordinal), &stream), "neuron: no stream");
    pool.streams.push_back(stream);
    return stream;
  }
  return pool.streams[pool.next++ % kStreamsPerDevice];
}

struct Guard final : public c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return kNeuron; }

  c10::Device exchangeDevice(c10::Device device) const override {
    const c10::Device before = getDevice();
    setDevice(device);
    return before;
  }

  c10::Device getDevice() const override { return c10::Device(kNeuron, t_device); }

  void setDevice(c10::Device device) const override { t_device = ordinal_of(device.index()); }

  void uncheckedSetDevice(c10::Device device) const noexcept override {
    if (device.index() >= 0 && device.index() < device_count()) {
      t_device = device.index();
    }
  }

  c10::Stream getStream(c10::Device device) const override {
    const c10::DeviceIndex ordinal = ordinal_of(device.index());
    return to_torch(ordinal, stream_of(ordinal));
  }

  c10::Stream getDefaultStream(c10::Device device) const override {
    return to_torch(ordinal_of(device.index()), 0);
  }

  c10::Stream getNewStream(c10::Device device, int) const override {
    const c10::DeviceIndex ordinal = ordinal_of(device.index());
    return to_torch(ordinal, stream_from_pool(ordinal));
  }

  c10::Stream getStreamFromGlobalPool(c10::Device device, bool) const override { return getNewStream(device, 0); }

  c10::Stream exchangeStream(c10::Stream stream) const override {
    const c10::DeviceIndex ordinal = ordinal_of(stream.device_index());
    const c10::Stream before = to_torch(ordinal, stream_of(ordinal));
    t_streams[static_cast<size_t>(ordinal)] = to_number(stream);
    return before;
  }

  c10::DeviceIndex deviceCount() const noexcept override { return device_count(); }

  bool queryStream(const c10::Stream& stream) const override {
    bool is_idle = true;
    check(
        world().table->stream_is_idle(device_at(stream.device_index()), to_number(stream), &is_idle),
        "neuron: the stream could not be queried");
    return is_idle;
  }

  void synchronizeStream(const c10::Stream& stream) const override {
    check(
        world().table->stream_synchronize(device_at(stream.device_index()), to_number(stream)),
        "neuron: the stream could not be waited for");
  }

  void synchronizeDevice(c10::DeviceIndex index) const override {
    check(world().table->synchronize(device_at(index)), "neuron: the device could not be waited for");
  }

  void record(void** event, const c10::Stream& stream, c10::DeviceIndex, c10::EventFlag) const override {
    if (*event == nullptr) {
      *event = new Event();
    }
    *static_cast<Event*>(*event) = {stream.device_index(), to_number(stream), Clock::now()};
  }

  void block(void*, const c10::Stream&) const override {}

  bool queryEvent(void*) const override { return true; }

  void synchronizeEvent(void*) const override {}

  // Host time: the device itself takes none.
  double elapsedTime(void* first, void* second, c10::DeviceIndex) const override {
    TORCH_CHECK(first != nullptr && second != nullptr, "Both events must be recorded before calculating elapsed time.");
    const auto time = static_cast<Event*>(second)->time - static_cast<Event*>(first)->time;
    return std::chrono::duration<double, std::milli>(time).count();
  }

  void destroyEvent(void* event, c10::DeviceIndex) const noexcept override { delete static_cast<Event*>(event); }

  void recordDataPtrOnStream(const c10::DataPtr& data, const c10::Stream& stream) const override {
    allocator()->recordStream(data, stream);
  }
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);

}  // namespace
}  // namespace nxm
