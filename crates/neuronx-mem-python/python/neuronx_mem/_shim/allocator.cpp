#include "allocator.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "current.h"
#include "host_budget.h"

namespace nxm {
namespace {

using c10::CachingAllocator::Stat;
using c10::CachingAllocator::StatArray;

// May run on any thread, with or without the interpreter's lock, until the process is gone: it takes
// no lock of Python's, throws nothing, and uses nothing that is ever destroyed.
void free_owned(void* context) {
  std::unique_ptr<Owned> owned(static_cast<Owned*>(context));
  const nxm_vtable_v1& table = *world().table;
  table.free(owned->device, &owned->block);
  if (c10::memoryProfilingEnabled()) {
    c10::reportMemoryUsageToProfiler(
        reinterpret_cast<void*>(owned->block.address), -static_cast<int64_t>(owned->block.block_bytes),
        table.memory_allocated(owned->device), table.memory_reserved(owned->device),
        c10::Device(kNeuron, static_cast<c10::DeviceIndex>(owned->block.device)));
  }
}

[[noreturn]] void throw_out_of_memory(c10::DeviceIndex ordinal, size_t bytes) {
  const nxm_vtable_v1& table = *world().table;
  nxm_out_of_memory numbers{};
  numbers.struct_size = sizeof numbers;
  const std::string message = table.last_error_message();
  const std::string report = table.last_error_report();
  if (table.last_out_of_memory(&numbers) == NXM_OK) {
    c10::reportOutOfMemoryToProfiler(
        static_cast<int64_t>(bytes), numbers.allocated_bytes, numbers.reserved_bytes, c10::Device(kNeuron, ordinal));
  }
  TORCH_CHECK_WITH(OutOfMemoryError, false, message, "\n", report);
}

void fill(Stat& to, const nxm_stat& from) {
  to.current = static_cast<int64_t>(from.current);
  to.peak = static_cast<int64_t>(from.peak);
  to.allocated = static_cast<int64_t>(from.allocated);
  to.freed = static_cast<int64_t>(from.freed);
}

// Both sides have: both pools, the small one, the large one.
void fill(StatArray& to, const nxm_stat (&from)[3]) {
  for (size_t pool = 0; pool < 3; pool++) {
    fill(to[pool], from[pool]);
  }
}

struct Allocator final : public c10::DeviceAllocator {
  c10::DataPtr allocate(size_t bytes) override {
    const c10::DeviceIndex ordinal = ordinal_of(-1);
    const c10::Device device(kNeuron, ordinal);
    if (bytes == 0) {
      return {nullptr, nullptr, &free_nothing, device};
    }
    const nxm_vtable_v1& table = *world().table;
    auto owned = std::make_unique<Owned>();
    owned->device = world().devices[static_cast<size_t>(ordinal)];
    const nxm_status status = table.allocate(owned->device, bytes, stream_of(ordinal), &owned->block);
    if (status == NXM_OUT_OF_MEMORY) {
      throw_out_of_memory(ordinal, bytes);
    }
    check(status, "neuron: memory could not be allocated");
    if (!is_planning()) {
      try {
        check_host_budget();
      } catch (...) {
        table.free(owned->device, &owned->block);
        throw;
      }
    }
    if (c10::memoryProfilingEnabled()) {
      c10::reportMemoryUsageToProfiler(
          reinterpret_cast<void*>(owned->block.address), static_cast<int64_t>(owned->block.block_bytes),
          table.memory_allocated(owned->device), table.memory_reserved(owned->device), device);
    }
    void* data = reinterpret_cast<void*>(owned->block.address);
    return {data, owned.release(), &free_owned, device};
  }

  // No raw interface: a block is freed by what its DataPtr carries, not by its address.
  c10::DeleterFnPtr raw_deleter() const override { return nullptr; }

  void copy_data(void* to, const void* from, size_t bytes) const override {
    if (!is_planning()) {
      default_copy_data(to, from, bytes);
    }
  }

  bool initialized() override { return world().table != nullptr; }

  void emptyCache(c10::MempoolId_t) override {
    check(world().table->empty_cache(world().allocator, nullptr), "neuron: the cache could not be emptied");
  }

  void recordStream(const c10::DataPtr& data, c10::Stream stream) override {
    if (const Owned* owned = owned_by(data)) {
      check(
          world().table->record_stream(owned->device, &owned->block, to_number(stream)),
          "neuron: the stream could not be recorded");
    }
  }

  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex index) override {
    const nxm_device* device = device_at(index);
    nxm_memory_stats totals{};
    totals.struct_size = sizeof totals;
    check(world().table->get_memory_stats(device, &totals), "neuron: statistics");
    nxm_pool_stats pools{};
    pools.struct_size = sizeof pools;
    check(world().table->get_pool_stats(device, &pools), "neuron: statistics");
    c10::CachingDeviceAllocator::DeviceStats stats;
    fill(stats.allocation, pools.allocations);
    fill(stats.active, pools.allocations);
    fill(stats.segment, pools.segments);
    fill(stats.inactive_split, pools.inactive_split);
    fill(stats.allocated_bytes, pools.allocated_bytes);
    fill(stats.reserved_bytes, pools.reserved_bytes);
    // "Active" as torch_neuronx has it: what tensors asked for, which PyTorch calls requested.
    fill(stats.active_bytes, pools.active_bytes);
    fill(stats.requested_bytes, pools.active_bytes);
    fill(stats.inactive_split_bytes, pools.inactive_split_bytes);
    fill(stats.oversize_allocations, pools.oversize_allocations);
    fill(stats.oversize_segments, pools.oversize_segments);
    stats.num_alloc_retries = static_cast<int64_t>(totals.alloc_retries);
    stats.num_ooms = static_cast<int64_t>(totals.ooms);
    stats.num_sync_all_streams = static_cast<int64_t>(totals.device_synchronizations);
    stats.num_device_alloc = static_cast<int64_t>(totals.device_allocations);
    stats.num_device_free = static_cast<int64_t>(totals.device_frees);
    uint64_t most = 0;
    check(world().table->config_get(world().allocator, "kMaxSplitSizeBytes", &most), "neuron: configuration");
    stats.max_split_size = static_cast<int64_t>(most);
    return stats;
  }

  void resetAccumulatedStats(c10::DeviceIndex index) override {
    check(world().table->reset_accumulated_memory_stats(device_at(index)), "neuron: statistics");
  }

  void resetPeakStats(c10::DeviceIndex index) override {
    check(world().table->reset_peak_memory_stats(device_at(index)), "neuron: statistics");
  }

  std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex index) override {
    nxm_memory_info info{};
    check(world().table->get_memory_info(device_at(index), &info), "neuron: memory of the device");
    return {info.total_bytes - std::min(info.used_bytes, info.total_bytes), info.total_bytes};
  }

  static void free_nothing(void*) {}
};

}  // namespace

c10::DeviceAllocator* allocator() {
  static auto* allocator = new Allocator();
  return allocator;
}

Owned* owned_by(const c10::DataPtr& data) {
  return data.get_deleter() == &free_owned ? static_cast<Owned*>(data.get_context()) : nullptr;
}

void resize_storage(c10::StorageImpl* storage, size_t bytes) {
  TORCH_CHECK(storage->resizable(), "Trying to resize storage that is not resizable");
  const OnDevice guard(storage->device().index());
  c10::DataPtr data = allocator()->allocate(bytes);
  const size_t kept = std::min(bytes, storage->nbytes());
  if (kept > 0 && !is_planning()) {
    std::memcpy(data.get(), storage->data(), kept);
  }
  storage->set_data_ptr_noswap(std::move(data));
  storage->set_nbytes(bytes);
}

}  // namespace nxm
