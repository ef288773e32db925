// Tensors of the CPU (or of no device at all) that stand for a tensor of the device, and views of it.
#pragma once

#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>

#include "allocator.h"
#include "current.h"

namespace nxm {

using at::Tensor;

constexpr c10::DispatchKeySet kNeuronKeys(c10::DispatchKey::PrivateUse1);

// The same sizes, strides and offset: on the CPU over the same bytes, which stay the device's, or on
// "meta" over none. The tensor must outlive what is done with the result.
inline Tensor stand_in(const Tensor& tensor, bool is_meta) {
  const c10::Storage& storage = tensor.storage();
  const c10::Device device(is_meta ? c10::kMeta : c10::kCPU);
  void* data = is_meta ? nullptr : const_cast<void*>(storage.data());
  c10::Storage same(
      c10::Storage::use_byte_size_t(), storage.nbytes(), c10::DataPtr(data, device), c10::GetAllocator(device.type()),
      /*resizable=*/true);
  const c10::DispatchKeySet keys(is_meta ? c10::DispatchKey::Meta : c10::DispatchKey::CPU);
  Tensor result = at::detail::make_tensor<c10::TensorImpl>(std::move(same), keys, tensor.dtype());
  c10::TensorImpl* impl = result.unsafeGetTensorImpl();
  impl->set_storage_offset(tensor.storage_offset());
  impl->set_sizes_and_strides(tensor.sizes(), tensor.strides());
  if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) {
    impl->set_wrapped_number(true);
  }
  return result;
}

inline Tensor on_cpu(const Tensor& tensor) {
  return stand_in(tensor, false);
}

// The same for a tensor that may be of the CPU already, with the bits of lazy conjugation and negation.
inline Tensor on_cpu_with_bits(const Tensor& tensor) {
  if (!tensor.is_privateuseone()) {
    return tensor;
  }
  Tensor result = on_cpu(tensor);
  if (tensor.is_conj()) {
    result._set_conj(true);
  }
  if (tensor.is_neg()) {
    result._set_neg(true);
  }
  return result;
}

inline bool is_given(const std::optional<Tensor>& tensor) {
  return tensor.has_value() && tensor->defined();
}

inline Tensor empty_on(
    c10::DeviceIndex index, at::IntArrayRef sizes, at::IntArrayRef strides, at::ScalarType dtype) {
  const OnDevice guard(index);
  return at::detail::empty_strided_generic(sizes, strides, allocator(), kNeuronKeys, dtype);
}

// A view of `base`'s storage with these sizes and this type.
inline Tensor view_of(
    const Tensor& base, at::IntArrayRef sizes, at::IntArrayRef strides, int64_t offset, caffe2::TypeMeta dtype) {
  Tensor result = at::detail::make_tensor<c10::TensorImpl>(
      c10::TensorImpl::VIEW, c10::Storage(base.storage()), base.key_set(), dtype);
  result.unsafeGetTensorImpl()->set_storage_offset(offset);
  result.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
  return result;
}

}  // namespace nxm
