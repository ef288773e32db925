#include "pinned.h"

#include <cstdlib>
#include <map>
#include <mutex>
#include <new>

namespace nxm {
namespace {

constexpr size_t kAlignment = 64;

struct Registry {
  std::mutex mutex;
  // Bytes by first address.
  std::map<uintptr_t, size_t> ranges;
  at::HostStats stats;
};

Registry& registry() {
  static auto* registry = new Registry();
  return *registry;
}

void free_pinned(void* address) {
  Registry& all = registry();
  {
    const std::lock_guard lock(all.mutex);
    const auto found = all.ranges.find(reinterpret_cast<uintptr_t>(address));
    if (found != all.ranges.end()) {
      const auto bytes = static_cast<int64_t>(found->second);
      all.stats.active_requests.decrease(1);
      all.stats.active_bytes.decrease(static_cast<size_t>(bytes));
      all.stats.allocations.decrease(1);
      all.stats.allocated_bytes.decrease(static_cast<size_t>(bytes));
      all.stats.num_host_free += 1;
      all.ranges.erase(found);
    }
  }
  std::free(address);
}

struct Pinned final : public at::HostAllocator {
  c10::DataPtr allocate(size_t bytes) override {
    if (bytes == 0) {
      return {nullptr, nullptr, &free_pinned, c10::Device(c10::kCPU)};
    }
    void* address = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
    TORCH_CHECK_WITH(OutOfMemoryError, address != nullptr, "no ", bytes, " bytes of host memory to pin");
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    all.ranges[reinterpret_cast<uintptr_t>(address)] = bytes;
    all.stats.active_requests.increase(1);
    all.stats.active_bytes.increase(bytes);
    all.stats.allocations.increase(1);
    all.stats.allocated_bytes.increase(bytes);
    all.stats.num_host_alloc += 1;
    return {address, address, &free_pinned, c10::Device(c10::kCPU)};
  }

  c10::DeleterFnPtr raw_deleter() const override { return &free_pinned; }

  void copy_data(void* to, const void* from, size_t bytes) const override { default_copy_data(to, from, bytes); }

  bool record_event(void* address, void*, c10::Stream) override { return is_pinned(address); }

  // Nothing is kept that is not in use.
  void empty_cache() override {}

  at::HostStats get_stats() override {
    const std::lock_guard lock(registry().mutex);
    return registry().stats;
  }

  void reset_accumulated_stats() override {
    const std::lock_guard lock(registry().mutex);
    at::HostStats& stats = registry().stats;
    stats.active_requests.reset_accumulated();
    stats.active_bytes.reset_accumulated();
    stats.allocations.reset_accumulated();
    stats.allocated_bytes.reset_accumulated();
    stats.num_host_alloc = 0;
    stats.num_host_free = 0;
  }

  void reset_peak_stats() override {
    const std::lock_guard lock(registry().mutex);
    at::HostStats& stats = registry().stats;
    stats.active_requests.reset_peak();
    stats.active_bytes.reset_peak();
    stats.allocations.reset_peak();
    stats.allocated_bytes.reset_peak();
  }
};

}  // namespace

at::HostAllocator* pinned_allocator() {
  static auto* allocator = new Pinned();
  return allocator;
}

bool is_pinned(const void* address) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto at = reinterpret_cast<uintptr_t>(address);
  auto after = all.ranges.upper_bound(at);
  if (after == all.ranges.begin()) {
    return false;
  }
  --after;
  return at < after->first + after->second;
}

}  // namespace nxm
