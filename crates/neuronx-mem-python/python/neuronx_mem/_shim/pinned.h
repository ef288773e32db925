// Host memory that counts as pinned. It is ordinary memory that is remembered: there is no driver to pin it.
#pragma once

#include <ATen/core/CachingHostAllocator.h>

namespace nxm {

at::HostAllocator* pinned_allocator();

bool is_pinned(const void* address);

}  // namespace nxm
