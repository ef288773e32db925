#include "host_budget.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <limits>
#include <string>

#include "world.h"

namespace nxm {
namespace {

// The most bytes of segments that were found to fit.
std::atomic<uint64_t> g_fitting_bytes{0};

constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();

// A figure of a file of lines like "MemAvailable:   123 kB"; 0 if it has none.
uint64_t kilobytes_of(const char* path, const std::string& key) {
  std::ifstream file(path);
  std::string word;
  uint64_t kilobytes = 0;
  while (file >> word) {
    if (word == key && file >> kilobytes) {
      return kilobytes << 10;
    }
  }
  return 0;
}

// A file with one number; without a limit ("max") or without a file there is none.
uint64_t number_in(const char* path) {
  std::ifstream file(path);
  uint64_t number = 0;
  return file >> number ? number : kUnlimited;
}

// Bytes that the host, and the container that this process is in, would still give it.
uint64_t available_bytes() {
  const uint64_t host = kilobytes_of("/proc/meminfo", "MemAvailable:");
  const uint64_t limit = number_in("/sys/fs/cgroup/memory.max");
  const uint64_t used = number_in("/sys/fs/cgroup/memory.current");
  const uint64_t container = limit == kUnlimited || used == kUnlimited ? kUnlimited : limit - std::min(limit, used);
  return std::min(host == 0 ? kUnlimited : host, container);
}

// What this process had before its devices had anything.
uint64_t own_bytes_at_start() {
  static const uint64_t bytes = kilobytes_of("/proc/self/status", "RssAnon:");
  return bytes;
}

std::string gib(uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f GiB", static_cast<double>(bytes) / (1ull << 30));
  return text;
}

}  // namespace

void check_host_budget() {
  const World& all = world();
  uint64_t held = 0;
  for (const nxm_device* device : all.devices) {
    held += all.table->memory_reserved(device);
  }
  const uint64_t at_start = own_bytes_at_start();
  if (held <= g_fitting_bytes.load(std::memory_order_relaxed)) {
    return;
  }
  // What was written to already is in use, and not available any more.
  const uint64_t own = kilobytes_of("/proc/self/status", "RssAnon:");
  const uint64_t written = own - std::min(own, at_start);
  const uint64_t available = available_bytes();
  const uint64_t fits = available > kUnlimited - written ? kUnlimited : available + written;
  TORCH_CHECK(
      held <= fits,
      "the simulated devices would hold ", gib(held), ", and this host has only ", gib(fits),
      " for them: compute mode keeps every tensor in host memory. Use plan mode, which keeps none "
      "(NEURONX_MEM_MODE=plan, or neuronx_mem.torch.set_mode(\"plan\")), or a smaller model");
  g_fitting_bytes.store(held, std::memory_order_relaxed);
}

void forget_host_budget() {
  g_fitting_bytes.store(0, std::memory_order_relaxed);
}

}  // namespace nxm
