// Kernels that are called from more than one place.
#pragma once

#include <optional>

#include <ATen/core/Tensor.h>
#include <ATen/core/boxing/KernelFunction.h>

namespace nxm {

using at::Tensor;

Tensor copy_from(const Tensor& self, const Tensor& to, bool is_non_blocking);

const Tensor& resize(const Tensor& self, c10::SymIntArrayRef sizes, std::optional<at::MemoryFormat> format);

// Once a process: what plan mode gives out has no values.
void warn_of_zeros();

}  // namespace nxm
