// Device memory for PyTorch: every byte comes from the caching allocator behind the table.
#pragma once

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/StorageImpl.h>

#include "world.h"

namespace nxm {

// What a DataPtr of ours carries. Freed by number, not by address: a second free is an error of the
// allocator's, never the free of another block.
struct Owned {
  const nxm_device* device;
  nxm_block block;
};

c10::DeviceAllocator* allocator();

// The block of a DataPtr; null where it is of no bytes or of another allocator.
Owned* owned_by(const c10::DataPtr& data);

// Gives a storage another size; keeps its bytes, in compute mode also what they hold.
void resize_storage(c10::StorageImpl* storage, size_t bytes);

}  // namespace nxm
