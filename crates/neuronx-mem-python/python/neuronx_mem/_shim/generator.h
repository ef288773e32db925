// Random numbers of a device: its own generator of the CPU's kind, so that a seed gives the numbers on the
// device that it gives on the CPU.
#pragma once

#include <ATen/core/Generator.h>

#include "world.h"

namespace nxm {

// The generator of a device that operators use when they are given none.
const at::Generator& default_generator(c10::DeviceIndex index);

// Another one.
at::Generator new_generator(c10::DeviceIndex index);

// What kernels of the CPU draw from, for a generator of a device; any other stays as it is.
at::Generator cpu_generator_of(const at::Generator& generator);

}  // namespace nxm
