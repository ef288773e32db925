// Owning wrappers in C++17 over the function table, as a framework's backend would write them: blocks
// that free themselves, errors as exceptions, caches that let go when memory runs out.

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "neuronx_mem.h"

namespace {

const nxm_vtable_v1 &api()
{
    static const auto *table = nxm_vtable(1);
    return *table;
}

void check(nxm_status status)
{
    if (status != NXM_OK) {
        throw std::runtime_error(std::string(api().status_name(status)) + ": " + api().last_error_message());
    }
}

class Allocator {
public:
    Allocator(const char *libnrt, std::uint64_t memory_bytes)
    {
        nxm_options *options = nullptr;
        check(api().options_new(&options));
        std::unique_ptr<nxm_options, void (*)(nxm_options *)> owner(options, api().options_free);
        if (libnrt != nullptr) {
            check(api().options_use_libnrt(options, libnrt));
        } else {
            check(api().options_use_simulator(options, "trn2", 0, 1, memory_bytes));
        }
        nxm_allocator *allocator = nullptr;
        check(api().allocator_new(options, &allocator));
        allocator_.reset(allocator);
    }

    const nxm_device *device() const
    {
        const nxm_device *device = nullptr;
        check(api().allocator_device(allocator_.get(), 0, &device));
        return device;
    }

private:
    struct Free {
        void operator()(nxm_allocator *allocator) const { api().allocator_free(allocator); }
    };
    std::unique_ptr<nxm_allocator, Free> allocator_;
};

class Tensor {
public:
    Tensor(const nxm_device *device, std::uint64_t bytes) : device_(device)
    {
        check(api().allocate(device, bytes, 0, &block_));
    }
    Tensor(Tensor &&other) noexcept : device_(std::exchange(other.device_, nullptr)), block_(other.block_) {}
    Tensor(const Tensor &) = delete;
    Tensor &operator=(const Tensor &) = delete;
    Tensor &operator=(Tensor &&) = delete;
    ~Tensor()
    {
        if (device_ != nullptr) {
            api().free(device_, &block_);
        }
    }
    std::uint64_t bytes() const { return block_.block_bytes; }

private:
    const nxm_device *device_;
    nxm_block block_{};
};

// Keeps buffers until somebody else needs their memory.
class Cache {
public:
    explicit Cache(const nxm_device *device) : device_(device)
    {
        check(api().register_release_callback(device, &Cache::release, this, &id_));
    }
    Cache(const Cache &) = delete;
    Cache &operator=(const Cache &) = delete;
    ~Cache() { api().unregister_release_callback(device_, id_); }
    void keep(Tensor tensor) { kept_.push_back(std::move(tensor)); }
    std::size_t size() const { return kept_.size(); }

private:
    static void release(void *self) { static_cast<Cache *>(self)->kept_.clear(); }
    const nxm_device *device_;
    std::uint64_t id_ = 0;
    std::vector<Tensor> kept_;
};

}  // namespace

int main(int argc, char **argv)
{
    constexpr std::uint64_t MiB = 1 << 20;
    try {
        Allocator allocator(argc > 1 ? argv[1] : nullptr, 256 * MiB);
        const nxm_device *device = allocator.device();
        Cache cache(device);
        cache.keep(Tensor(device, 150 * MiB));
        std::printf("kept: %zu, allocated %llu\n", cache.size(),
                    static_cast<unsigned long long>(api().memory_allocated(device)));
        Tensor large(device, 200 * MiB);
        std::printf("kept: %zu, got %llu\n", cache.size(), static_cast<unsigned long long>(large.bytes()));
        try {
            Tensor another(device, 200 * MiB);
        } catch (const std::runtime_error &error) {
            std::printf("%s\n", error.what());
        }
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    api().clear_last_error();
    return 0;
}
