#include "generator.h"

#include <array>

#include <ATen/CPUGeneratorImpl.h>

#include "current.h"

namespace nxm {
namespace {

struct DeviceGenerator final : public c10::GeneratorImpl {
  DeviceGenerator(c10::DeviceIndex index, at::Generator cpu)
      : c10::GeneratorImpl(c10::Device(kNeuron, index), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)),
        cpu_generator(std::move(cpu)) {}

  static c10::DeviceType device_type() { return kNeuron; }

  void set_current_seed(uint64_t seed) override { cpu_generator.set_current_seed(seed); }
  void set_offset(uint64_t offset) override { cpu_generator.set_offset(offset); }
  uint64_t get_offset() const override { return cpu_generator.get_offset(); }
  uint64_t current_seed() const override { return cpu_generator.current_seed(); }
  uint64_t seed() override { return cpu_generator.unsafeGetGeneratorImpl()->seed(); }

  void set_state(const c10::TensorImpl& state) override { cpu_generator.unsafeGetGeneratorImpl()->set_state(state); }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override {
    return cpu_generator.unsafeGetGeneratorImpl()->get_state();
  }

  DeviceGenerator* clone_impl() const override {
    return new DeviceGenerator(device().index(), cpu_generator.clone());
  }

  at::Generator cpu_generator;
};

}  // namespace

const at::Generator& default_generator(c10::DeviceIndex index) {
  static auto* generators = [] {
    auto* made = new std::array<at::Generator, kMostDevices>();
    for (size_t ordinal = 0; ordinal < kMostDevices; ordinal++) {
      (*made)[ordinal] = new_generator(static_cast<c10::DeviceIndex>(ordinal));
    }
    return made;
  }();
  return (*generators)[static_cast<size_t>(ordinal_of(index))];
}

at::Generator new_generator(c10::DeviceIndex index) {
  return at::make_generator<DeviceGenerator>(index < 0 ? t_device : index, at::detail::createCPUGenerator());
}

at::Generator cpu_generator_of(const at::Generator& generator) {
  if (generator.device().type() != kNeuron) {
    return generator;
  }
  return static_cast<DeviceGenerator*>(generator.unsafeGetGeneratorImpl())->cpu_generator;
}

}  // namespace nxm
