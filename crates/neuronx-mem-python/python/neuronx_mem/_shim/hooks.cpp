// What PyTorch asks of a device type: how many there are, whose memory an address is, generators.

#include <ATen/detail/PrivateUse1HooksInterface.h>

#include "allocator.h"
#include "current.h"
#include "generator.h"
#include "hooks.h"
#include "pinned.h"

namespace nxm {
namespace {

struct Hooks final : public at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return device_count() > 0; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return device_count(); }
  void setCurrentDevice(c10::DeviceIndex index) const override { t_device = ordinal_of(index); }
  c10::DeviceIndex getCurrentDevice() const override { return t_device; }

  c10::DeviceIndex exchangeDevice(c10::DeviceIndex index) const override {
    const c10::DeviceIndex before = t_device;
    t_device = ordinal_of(index);
    return before;
  }

  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex index) const override { return exchangeDevice(index); }

  at::Device getDeviceFromPtr(void* data) const override {
    const auto address = reinterpret_cast<uint64_t>(data);
    const auto& ranges = world().ranges;
    for (size_t ordinal = 0; ordinal < ranges.size(); ordinal++) {
      if (address >= ranges[ordinal].first && address < ranges[ordinal].end) {
        return {kNeuron, static_cast<c10::DeviceIndex>(ordinal)};
      }
    }
    TORCH_CHECK(false, "the address ", data, " is not in the memory of a neuron device");
  }

  const at::Generator& getDefaultGenerator(c10::DeviceIndex index) const override { return default_generator(index); }
  at::Generator getNewGenerator(c10::DeviceIndex index) const override { return new_generator(index); }

  bool isPinnedPtr(const void* data) const override { return is_pinned(data); }
  at::Allocator* getPinnedMemoryAllocator() const override { return pinned_allocator(); }

  // For UntypedStorage.resize_(), which FSDP uses.
  void resizePrivateUse1Bytes(const c10::Storage& storage, size_t bytes) const override {
    resize_storage(storage.unsafeGetStorageImpl(), bytes);
  }
};

}  // namespace

void install_hooks() {
  c10::SetAllocator(kNeuron, allocator());
  at::setHostAllocator(kNeuron, pinned_allocator());
  at::RegisterPrivateUse1HooksInterface(new Hooks());
}

}  // namespace nxm
