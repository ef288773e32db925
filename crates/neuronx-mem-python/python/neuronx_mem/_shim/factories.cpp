// Tensors out of nothing, other sizes, other storages: all that asks for memory by itself.

#include <ATen/EmptyTensor.h>
#include <ATen/native/Resize.h>
#include <torch/library.h>

#include "alias.h"
#include "operators.h"

namespace nxm {
namespace {

using at::IntArrayRef;
using at::ScalarType;

void check_layout(std::optional<at::Layout> layout) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      !layout.has_value() || *layout == at::kStrided, "the simulated neuron device has strided tensors only, not ",
      layout.value_or(at::kStrided));
}

Tensor empty_memory_format(
    IntArrayRef sizes, std::optional<ScalarType> dtype, std::optional<at::Layout> layout,
    std::optional<c10::Device> device, std::optional<bool>, std::optional<at::MemoryFormat> format) {
  check_layout(layout);
  const OnDevice guard(c10::device_or_default(device).index());
  return at::detail::empty_generic(sizes, allocator(), kNeuronKeys, c10::dtype_or_default(dtype), format);
}

Tensor empty_strided(
    IntArrayRef sizes, IntArrayRef strides, std::optional<ScalarType> dtype, std::optional<at::Layout> layout,
    std::optional<c10::Device> device, std::optional<bool>) {
  check_layout(layout);
  return empty_on(c10::device_or_default(device).index(), sizes, strides, c10::dtype_or_default(dtype));
}

Tensor& set_source_storage(Tensor& self, c10::Storage source) {
  const auto bytes = static_cast<int64_t>(source.nbytes());
  TORCH_CHECK(source.device().type() == kNeuron, "set_: the storage is on ", source.device(), ", not on neuron");
  c10::TensorImpl* impl = self.unsafeGetTensorImpl();
  impl->set_storage_keep_dtype(std::move(source));
  impl->set_storage_offset(0);
  impl->set_sizes_contiguous({bytes / static_cast<int64_t>(impl->itemsize())});
  return self;
}

Tensor& set_source_storage_offset(
    Tensor& self, c10::Storage source, int64_t offset, IntArrayRef sizes, IntArrayRef strides) {
  TORCH_CHECK(source.device().type() == kNeuron, "set_: the storage is on ", source.device(), ", not on neuron");
  at::native::checkSetStorage(self, source, offset, sizes, strides);
  c10::TensorImpl* impl = self.unsafeGetTensorImpl();
  impl->set_storage_offset(offset);
  if (strides.empty() && !sizes.empty()) {
    impl->set_sizes_contiguous(sizes);
  } else {
    impl->set_sizes_and_strides(sizes, strides);
  }
  const auto needed = strides.empty() && !sizes.empty()
      ? at::detail::computeStorageNbytesContiguous(sizes, impl->itemsize(), static_cast<size_t>(offset))
      : at::detail::computeStorageNbytes(sizes, strides, impl->itemsize(), static_cast<size_t>(offset));
  c10::StorageImpl* storage = impl->storage().unsafeGetStorageImpl();
  if (self.numel() > 0 && needed > storage->nbytes()) {
    resize_storage(storage, needed);
  }
  return self;
}

Tensor& set_source_tensor(Tensor& self, const Tensor& source) {
  if (self.unsafeGetTensorImpl() == source.unsafeGetTensorImpl()) {
    return self;
  }
  return set_source_storage_offset(
      self, source.storage(), source.storage_offset(), source.sizes(), source.strides());
}

Tensor& set_nothing(Tensor& self) {
  const OnDevice guard(self.device().index());
  c10::Storage storage(c10::Storage::use_byte_size_t(), 0, allocator()->allocate(0), allocator(), true);
  c10::TensorImpl* impl = self.unsafeGetTensorImpl();
  impl->set_storage_offset(0);
  impl->set_sizes_contiguous({0});
  impl->set_storage_keep_dtype(std::move(storage));
  return self;
}

void record_stream(Tensor& self, c10::Stream stream) {
  allocator()->recordStream(self.storage().data_ptr(), stream);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", empty_memory_format);
  m.impl("empty_strided", empty_strided);
  m.impl("resize_", resize);
  m.impl("set_.source_Storage", set_source_storage);
  m.impl("set_.source_Storage_storage_offset", set_source_storage_offset);
  m.impl("set_.source_Tensor", set_source_tensor);
  m.impl("set_", set_nothing);
  m.impl("record_stream", record_stream);
}

}  // namespace

const Tensor& resize(const Tensor& self, c10::SymIntArrayRef symbolic, std::optional<at::MemoryFormat> format) {
  const IntArrayRef sizes = C10_AS_INTARRAYREF_SLOW(symbolic);
  c10::TensorImpl* impl = self.unsafeGetTensorImpl();
  if (impl->sizes() != sizes) {
    impl->set_sizes_contiguous(sizes);
    const size_t needed = at::detail::computeStorageNbytesContiguous(
        sizes, impl->itemsize(), static_cast<size_t>(impl->storage_offset()));
    c10::StorageImpl* storage = impl->storage().unsafeGetStorageImpl();
    if (impl->numel() > 0 && needed > storage->nbytes()) {
      resize_storage(storage, needed);
    }
  }
  if (format.has_value()) {
    TORCH_CHECK(*format != at::MemoryFormat::Preserve, "Unsupported memory format ", *format);
    impl->empty_tensor_restride(*format);
  }
  return self;
}

}  // namespace nxm
