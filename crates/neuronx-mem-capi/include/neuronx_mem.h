// The Neuron caching allocator for C99 and C++17. Written by cbindgen from the Rust sources: change
// those, then run `cargo xtask test capi --accept`.
//
// Functions return an nxm_status, NXM_OK on success. What went wrong is told by
// nxm_last_error_message() on the same thread. A function that fails has changed nothing and written
// nothing to its results. All functions may be called from any thread; pointers must be valid, and
// handles must not be freed while another thread uses them. No function throws or unwinds.

#ifndef NEURONX_MEM_H
#define NEURONX_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The version of the ABI in this header. It grows when a function or struct changes its meaning; new
// functions, and new fields at the end of sized structs, leave it.
#define NXM_ABI_VERSION 1

// What a function came to.
enum nxm_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // It did what was asked.
    NXM_OK = 0,
    // A pointer is null, a text is not UTF-8, a struct is too small, a value cannot be.
    NXM_INVALID_ARGUMENT = 1,
    // The device has no memory for the request, also after recovery.
    NXM_OUT_OF_MEMORY = 2,
    // The device runtime failed for another reason; nxm_last_error_runtime_status() has its status.
    NXM_RUNTIME = 3,
    // The request is too large for any device.
    NXM_SIZE_OVERFLOW = 4,
    // There is no such device.
    NXM_UNKNOWN_DEVICE = 5,
    // There is no such stream, or work was completed that was never submitted.
    NXM_UNKNOWN_STREAM = 6,
    // The block was freed before, or was never handed out.
    NXM_INVALID_BLOCK = 7,
    // This build or this runtime cannot do it.
    NXM_UNSUPPORTED = 8,
    // The library of the device runtime cannot be opened or started.
    NXM_LIBRARY = 9,
    // Work on a stream has failed, or the device's worker refused it.
    NXM_WORK_FAILED = 10,
    // A file could not be written.
    NXM_IO = 11,
    // A fault of this library; the process goes on.
    NXM_INTERNAL = 12,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum nxm_status nxm_status;
#else
typedef int32_t nxm_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// A caching allocator over one runtime.
typedef struct nxm_allocator nxm_allocator;

// A device of an allocator; lives as long as its allocator.
typedef struct nxm_device nxm_device;

// Settings of an allocator: the documented defaults, and libnrt as the runtime, unless set.
typedef struct nxm_options nxm_options;

// A block's tensor, held.
typedef struct nxm_tensor nxm_tensor;

// Device memory for one tensor. To be copied and kept, not to be changed; freeing it twice is an error,
// never the free of another block.
typedef struct nxm_block {
    // Names the block to its device; 0 for a block of no bytes.
    uint64_t id;
    // First device address, a multiple of 64; 0 for a block of no bytes.
    uint64_t address;
    // Bytes asked for.
    uint64_t requested_bytes;
    // Bytes that count as allocated.
    uint64_t block_bytes;
    // Bytes that it occupies.
    uint64_t extent_bytes;
    // Ordinal of its device.
    uint32_t device;
    // 0.
    uint32_t reserved;
} nxm_block;

// Work of a stream, run on the device's worker with the data that it was queued with.
typedef void (*nxm_work)(void *data);

// Frees blocks of a program's own caches, with the data that it was registered with.
typedef void (*nxm_release_callback)(void *data);

// Device memory as the runtime sees it, all users included.
typedef struct nxm_memory_info {
    // Bytes in use by everybody.
    uint64_t used_bytes;
    // Bytes of the device; at LNC 1 on trn2 and trn3 the whole HBM stack.
    uint64_t total_bytes;
} nxm_memory_info;

// What was given back to the runtime.
typedef struct nxm_released {
    // Segments.
    uint64_t segments;
    // Their bytes.
    uint64_t bytes;
} nxm_released;

// The four values of one figure.
typedef struct nxm_stat {
    // Now.
    uint64_t current;
    // Most at once since the last reset of peaks.
    uint64_t peak;
    // Sum of all increases.
    uint64_t allocated;
    // Sum of all decreases.
    uint64_t freed;
} nxm_stat;

// Statistics of a device at one moment, both pools together. Set struct_size to the size of the struct
// before the call; it holds the bytes that were written after it.
typedef struct nxm_memory_stats {
    // Size of this struct, bytes.
    size_t struct_size;
    // Bytes of the blocks of live tensors.
    struct nxm_stat allocated_bytes;
    // Bytes of the segments held from the runtime.
    struct nxm_stat reserved_bytes;
    // Bytes that live tensors asked for.
    struct nxm_stat active_bytes;
    // Live blocks.
    struct nxm_stat allocations;
    // Segments held.
    struct nxm_stat segments;
    // Free blocks that are split off a segment.
    struct nxm_stat inactive_split;
    // Their bytes.
    struct nxm_stat inactive_split_bytes;
    // Allocations asked for, failed and empty ones included.
    uint64_t allocation_requests;
    // Frees that have run.
    uint64_t tensor_frees;
    // Retries during recovery.
    uint64_t alloc_retries;
    // Out-of-memory errors.
    uint64_t ooms;
    // Segments taken from the runtime.
    uint64_t device_allocations;
    // Segments given back.
    uint64_t device_frees;
    // Waits for all streams.
    uint64_t device_synchronizations;
    // 1 when no free was queued that had not run; otherwise the figures show what has completed.
    uint64_t is_settled;
} nxm_memory_stats;

// Takes one key of the statistics, valid for the call, and its value.
typedef void (*nxm_stat_visitor)(const char *key, int64_t value, void *data);

// How fragmented a device's memory is, in bytes unless said. Set struct_size to the size of the struct
// before the call; it holds the bytes that were written after it.
typedef struct nxm_analysis {
    // Size of this struct, bytes.
    size_t struct_size;
    // Device memory, capped.
    uint64_t total_bytes;
    // Held from the runtime.
    uint64_t reserved_bytes;
    // Blocks of live tensors.
    uint64_t allocated_bytes;
    // What live tensors asked for.
    uint64_t active_bytes;
    // Part of allocated_bytes whose free is queued.
    uint64_t pending_bytes;
    // Free inside held segments.
    uint64_t cached_free_bytes;
    // total - allocated.
    uint64_t free_bytes;
    // The largest free block, or gap outside all segments.
    uint64_t largest_free_bytes;
    // allocated - active.
    uint64_t internal_fragmentation_bytes;
    // Free bytes in neither a cached block nor the largest free region.
    uint64_t external_fragmentation_bytes;
    // What nxm_empty_cache() would give back now.
    uint64_t free_segment_bytes;
    // Largest request that each pool serves as things are: the small one.
    uint64_t small_pool_servable_bytes;
    // And the large one.
    uint64_t large_pool_servable_bytes;
    // (internal + external) / free, 0 to 1.
    double fragmentation_index;
    // reserved / span of the segments, 0 to 1.
    double memory_density;
    // 1 when the device's address range is unknown: bytes outside the span count as one region.
    uint64_t assumed_contiguous;
} nxm_analysis;

// Why a request found no memory, as things stood after the last try. Set struct_size to the size of the
// struct before the call; it holds the bytes that were written after it.
typedef struct nxm_out_of_memory {
    // Size of this struct, bytes.
    size_t struct_size;
    // Ordinal of the device.
    uint64_t device;
    // Bytes asked for.
    uint64_t requested_bytes;
    // Bytes of the segment that the runtime was asked for.
    uint64_t segment_bytes;
    // Device memory; the cap, where one is set below it.
    uint64_t total_bytes;
    // Held from the runtime.
    uint64_t reserved_bytes;
    // Blocks of live tensors.
    uint64_t allocated_bytes;
    // What live tensors asked for.
    uint64_t active_bytes;
    // Free inside held segments.
    uint64_t cached_free_bytes;
    // Largest free block of the request's pool.
    uint64_t largest_free_bytes;
    // In use by others than this allocator.
    uint64_t used_by_others_bytes;
} nxm_out_of_memory;

// Statistics of a device at one moment, each for both pools, the small and the large one. Set struct_size
// to the size of the struct before the call; it holds the bytes that were written after it.
typedef struct nxm_pool_stats {
    // Size of this struct, bytes.
    size_t struct_size;
    // Live blocks.
    struct nxm_stat allocations[3];
    // Segments held.
    struct nxm_stat segments[3];
    // Free blocks that are split off a segment.
    struct nxm_stat inactive_split[3];
    // Bytes of the blocks of live tensors.
    struct nxm_stat allocated_bytes[3];
    // Bytes of the segments held from the runtime.
    struct nxm_stat reserved_bytes[3];
    // Bytes that live tensors asked for.
    struct nxm_stat active_bytes[3];
    // Bytes of the free blocks that are split off a segment.
    struct nxm_stat inactive_split_bytes[3];
    // Live blocks above kMaxSplitSizeBytes.
    struct nxm_stat oversize_allocations;
    // Segments above kMaxSplitSizeBytes.
    struct nxm_stat oversize_segments;
} nxm_pool_stats;

// Addresses, from the first to before the end.
typedef struct nxm_address_range {
    // The first address.
    uint64_t first;
    // The address after the last.
    uint64_t end;
} nxm_address_range;

// Every function of version 1 of the ABI, under its name without the prefix. Fields are only added at
// the end: compare struct_size with the offset of a newer one before using it.
typedef struct nxm_vtable_v1 {
    // Size of this table, bytes.
    size_t struct_size;
    // 1.
    uint32_t table_version;
    // 0.
    uint32_t reserved;
    // See nxm_abi_version().
    uint32_t (*abi_version)(void);
    // See nxm_version().
    const char *(*version)(void);
    // See nxm_status_name().
    const char *(*status_name)(int32_t status);
    // See nxm_last_error_message().
    const char *(*last_error_message)(void);
    // See nxm_last_error_report().
    const char *(*last_error_report)(void);
    // See nxm_last_error_runtime_status().
    int32_t (*last_error_runtime_status)(void);
    // See nxm_clear_last_error().
    void (*clear_last_error)(void);
    // See nxm_string_free().
    void (*string_free)(char *text);
    // See nxm_bytes_free().
    void (*bytes_free)(uint8_t *bytes, size_t len);
    // See nxm_options_new().
    nxm_status (*options_new)(struct nxm_options **out);
    // See nxm_options_free().
    void (*options_free)(struct nxm_options *options);
    // See nxm_options_set_config().
    nxm_status (*options_set_config)(struct nxm_options *options, const char *keys);
    // See nxm_options_use_environment().
    nxm_status (*options_use_environment)(struct nxm_options *options);
    // See nxm_options_set_oom_recovery().
    nxm_status (*options_set_oom_recovery)(struct nxm_options *options, bool isenabled);
    // See nxm_options_set_streams().
    nxm_status (*options_set_streams)(struct nxm_options *options, bool areenabled);
    // See nxm_options_set_launch_blocking().
    nxm_status (*options_set_launch_blocking)(struct nxm_options *options, bool isblocking);
    // See nxm_options_use_worker().
    nxm_status (*options_use_worker)(struct nxm_options *options);
    // See nxm_options_use_libnrt().
    nxm_status (*options_use_libnrt)(struct nxm_options *options, const char *path);
    // See nxm_options_use_simulator().
    nxm_status (*options_use_simulator)(struct nxm_options *options,
                                        const char *chip,
                                        uint32_t lnc,
                                        uint32_t devices,
                                        uint64_t memorybytes);
    // See nxm_allocator_new().
    nxm_status (*allocator_new)(const struct nxm_options *options, struct nxm_allocator **out);
    // See nxm_allocator_free().
    void (*allocator_free)(struct nxm_allocator *allocator);
    // See nxm_device_count().
    uint32_t (*device_count)(const struct nxm_allocator *allocator);
    // See nxm_allocator_device().
    nxm_status (*allocator_device)(const struct nxm_allocator *allocator,
                                   uint32_t ordinal,
                                   const struct nxm_device **out);
    // See nxm_device_ordinal().
    uint32_t (*device_ordinal)(const struct nxm_device *device);
    // See nxm_allocate().
    nxm_status (*allocate)(const struct nxm_device *device,
                           uint64_t bytes,
                           uint32_t stream,
                           struct nxm_block *out);
    // See nxm_free().
    nxm_status (*free)(const struct nxm_device *device, const struct nxm_block *block);
    // See nxm_record_stream().
    nxm_status (*record_stream)(const struct nxm_device *device,
                                const struct nxm_block *block,
                                uint32_t stream);
    // See nxm_find_block().
    nxm_status (*find_block)(const struct nxm_device *device,
                             uint64_t address,
                             struct nxm_block *out);
    // See nxm_stream_new().
    nxm_status (*stream_new)(const struct nxm_device *device, uint32_t *out);
    // See nxm_stream_submit().
    nxm_status (*stream_submit)(const struct nxm_device *device, uint32_t stream, uint64_t *out);
    // See nxm_stream_complete().
    nxm_status (*stream_complete)(const struct nxm_device *device, uint32_t stream, uint64_t ticket);
    // See nxm_stream_synchronize().
    nxm_status (*stream_synchronize)(const struct nxm_device *device, uint32_t stream);
    // See nxm_stream_is_idle().
    nxm_status (*stream_is_idle)(const struct nxm_device *device, uint32_t stream, bool *out);
    // See nxm_stream_pending_bytes().
    nxm_status (*stream_pending_bytes)(const struct nxm_device *device,
                                       uint32_t stream,
                                       uint64_t *out);
    // See nxm_stream_run().
    nxm_status (*stream_run)(const struct nxm_device *device,
                             uint32_t stream,
                             nxm_work work,
                             void *data);
    // See nxm_stream_wait_stream().
    nxm_status (*stream_wait_stream)(const struct nxm_device *device,
                                     uint32_t stream,
                                     uint32_t other);
    // See nxm_register_release_callback().
    nxm_status (*register_release_callback)(const struct nxm_device *device,
                                            nxm_release_callback callback,
                                            void *data,
                                            uint64_t *out);
    // See nxm_unregister_release_callback().
    nxm_status (*unregister_release_callback)(const struct nxm_device *device, uint64_t id);
    // See nxm_get_memory_info().
    nxm_status (*get_memory_info)(const struct nxm_device *device, struct nxm_memory_info *out);
    // See nxm_synchronize().
    nxm_status (*synchronize)(const struct nxm_device *device);
    // See nxm_empty_cache().
    nxm_status (*empty_cache)(const struct nxm_allocator *allocator, struct nxm_released *out);
    // See nxm_set_memory_fraction().
    nxm_status (*set_memory_fraction)(const struct nxm_device *device, double fraction);
    // See nxm_set_memory_cap().
    nxm_status (*set_memory_cap)(const struct nxm_device *device, uint64_t bytes);
    // See nxm_reset_peak_memory_stats().
    nxm_status (*reset_peak_memory_stats)(const struct nxm_device *device);
    // See nxm_reset_accumulated_memory_stats().
    nxm_status (*reset_accumulated_memory_stats)(const struct nxm_device *device);
    // See nxm_get_memory_stats().
    nxm_status (*get_memory_stats)(const struct nxm_device *device, struct nxm_memory_stats *out);
    // See nxm_for_each_memory_stat().
    nxm_status (*for_each_memory_stat)(const struct nxm_device *device,
                                       nxm_stat_visitor visit,
                                       void *data);
    // See nxm_memory_allocated().
    uint64_t (*memory_allocated)(const struct nxm_device *device);
    // See nxm_memory_reserved().
    uint64_t (*memory_reserved)(const struct nxm_device *device);
    // See nxm_memory_summary().
    nxm_status (*memory_summary)(const struct nxm_device *device, char **out);
    // See nxm_segment_pool_analysis().
    nxm_status (*segment_pool_analysis)(const struct nxm_device *device, struct nxm_analysis *out);
    // See nxm_segment_pool_analysis_summary().
    nxm_status (*segment_pool_analysis_summary)(const struct nxm_device *device, char **out);
    // See nxm_record_memory_history().
    nxm_status (*record_memory_history)(const struct nxm_device *device,
                                        const char *enabled,
                                        const char *context,
                                        size_t maxentries,
                                        bool clearhistory);
    // See nxm_set_memory_metadata().
    nxm_status (*set_memory_metadata)(const struct nxm_device *device, const char *metadata);
    // See nxm_dump_snapshot().
    nxm_status (*dump_snapshot)(const struct nxm_allocator *allocator, const char *path);
    // See nxm_snapshot().
    nxm_status (*snapshot)(const struct nxm_allocator *allocator,
                           bool asjson,
                           uint8_t **out,
                           size_t *len);
    // See nxm_config_get().
    nxm_status (*config_get)(const struct nxm_allocator *allocator, const char *key, uint64_t *out);
    // See nxm_config_string().
    nxm_status (*config_string)(const struct nxm_allocator *allocator, char **out);
    // See nxm_config_hash().
    nxm_status (*config_hash)(const struct nxm_allocator *allocator, uint64_t *out);
    // See nxm_config_check().
    nxm_status (*config_check)(const char *keys, char **out);
    // See nxm_tensor_acquire().
    nxm_status (*tensor_acquire)(const struct nxm_device *device,
                                 uint64_t address,
                                 uint64_t bytes,
                                 struct nxm_tensor **out);
    // See nxm_tensor_nrt().
    void *(*tensor_nrt)(const struct nxm_tensor *tensor);
    // See nxm_tensor_release().
    void (*tensor_release)(struct nxm_tensor *tensor);
    // See nxm_read().
    nxm_status (*read)(const struct nxm_device *device, uint64_t address, void *into, uint64_t bytes);
    // See nxm_write().
    nxm_status (*write)(const struct nxm_device *device,
                        uint64_t address,
                        const void *from,
                        uint64_t bytes);
    // See nxm_fill().
    nxm_status (*fill)(const struct nxm_device *device,
                       uint64_t address,
                       uint8_t value,
                       uint64_t bytes);
    // See nxm_copy().
    nxm_status (*copy)(const struct nxm_device *device,
                       uint64_t from,
                       uint32_t todevice,
                       uint64_t to,
                       uint64_t bytes);
    // See nxm_last_out_of_memory().
    nxm_status (*last_out_of_memory)(struct nxm_out_of_memory *out);
    // See nxm_get_pool_stats().
    nxm_status (*get_pool_stats)(const struct nxm_device *device, struct nxm_pool_stats *out);
    // See nxm_get_address_range().
    nxm_status (*get_address_range)(const struct nxm_device *device, struct nxm_address_range *out);
} nxm_vtable_v1;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the ABI of the library that is loaded.
uint32_t nxm_abi_version(void);

// The version of the library, such as "0.1.0". Never freed.
const char *nxm_version(void);

// The name of a status, such as "NXM_OK"; "unknown" for a number that is none. Never freed.
const char *nxm_status_name(int32_t status);

// Frees a text that a function of this library has handed out; nothing for null.
void nxm_string_free(char *text);

// Frees bytes that a function of this library has handed out; nothing for null.
void nxm_bytes_free(uint8_t *bytes, size_t len);

// What went wrong in the last function that failed on this thread, one line; empty if none has. Valid
// until the next failure on this thread or nxm_clear_last_error().
const char *nxm_last_error_message(void);

// The report of the last failure if that was NXM_OUT_OF_MEMORY: every number, what was tried and what
// would help, several lines. Empty otherwise. Valid as nxm_last_error_message().
const char *nxm_last_error_report(void);

// The NRT_STATUS of the last failure on this thread, -1 where there was none; NRT_RESOURCE (4) for
// NXM_OUT_OF_MEMORY.
int32_t nxm_last_error_runtime_status(void);

// Forgets the last error of this thread, and gives its memory back.
void nxm_clear_last_error(void);

// Makes options, to be freed by nxm_options_free().
nxm_status nxm_options_new(struct nxm_options **out);

// Frees options; nothing for null.
void nxm_options_free(struct nxm_options *options);

// Sets allocator keys, in the form of TORCH_NEURONX_SEGMENT_ALLOCATOR_CONFIG. A bad item keeps its
// default; nxm_config_check() tells what is wrong with a text.
nxm_status nxm_options_set_config(struct nxm_options *options, const char *keys);

// Takes every setting that has an environment variable from the environment of the process, as it was
// when first asked for.
nxm_status nxm_options_use_environment(struct nxm_options *options);

// Switches the second step of out-of-memory recovery (NEURON_OOM_RECOVERY_ENABLED); on unless set.
nxm_status nxm_options_set_oom_recovery(struct nxm_options *options, bool is_enabled);

// Switches streams (TORCH_NEURONX_ENABLE_STREAMS); off, every stream is the default one.
nxm_status nxm_options_set_streams(struct nxm_options *options, bool are_enabled);

// Makes every submission complete before it returns (NEURON_LAUNCH_BLOCKING); off unless set.
nxm_status nxm_options_set_launch_blocking(struct nxm_options *options, bool is_blocking);

// Gives each device a thread that runs the work of nxm_stream_run() in stream order.
// NXM_UNSUPPORTED where the library was built without.
nxm_status nxm_options_use_worker(struct nxm_options *options);

// Takes memory from libnrt, opened at run time: `path`, or null for the one that NEURONX_MEM_LIBNRT
// names, else libnrt.so.1 as the system finds it. This is what happens unless another runtime is set.
nxm_status nxm_options_use_libnrt(struct nxm_options *options,
                                  const char *path);

// Takes memory from a simulated device: `chip` is "trn1", "inf2", "trn2" or "trn3" (null: trn2), `lnc`
// 1 or 2 (0: the chip's default), `memory_bytes` the memory of each device (0: the chip's).
nxm_status nxm_options_use_simulator(struct nxm_options *options,
                                     const char *chip,
                                     uint32_t lnc,
                                     uint32_t devices,
                                     uint64_t memory_bytes);

// Makes an allocator by options, which stay the caller's. Starts the runtime; takes no device memory.
nxm_status nxm_allocator_new(const struct nxm_options *options,
                             struct nxm_allocator **out);

// Frees an allocator with its devices and all their memory, blocks that are still held included;
// nothing for null.
void nxm_allocator_free(struct nxm_allocator *allocator);

// How many devices there are; 0 for null.
uint32_t nxm_device_count(const struct nxm_allocator *allocator);

// Finds a device by its ordinal, from 0. It belongs to the allocator and is not freed.
nxm_status nxm_allocator_device(const struct nxm_allocator *allocator,
                                uint32_t ordinal,
                                const struct nxm_device **out);

// The ordinal of a device; 0 for null.
uint32_t nxm_device_ordinal(const struct nxm_device *device);

// Allocates `bytes` in the order of a stream (0 is the default one). No bytes give an empty block,
// without asking the runtime; it may be freed like any other.
nxm_status nxm_allocate(const struct nxm_device *device,
                        uint64_t bytes,
                        uint32_t stream,
                        struct nxm_block *out);

// Frees a block in stream order: its memory is used again when the work that was queued before has
// completed, on its own stream and on each recorded one. NXM_INVALID_BLOCK for a second free.
nxm_status nxm_free(const struct nxm_device *device, const struct nxm_block *block);

// Says that a stream uses a block too. Its own stream, the same twice, and an empty block do nothing.
nxm_status nxm_record_stream(const struct nxm_device *device,
                             const struct nxm_block *block,
                             uint32_t stream);

// Finds the live block that holds an address, for callers that have nothing else. Takes the device's
// lock and walks one segment: keep the block instead where you can. NXM_INVALID_BLOCK for an address
// in no live block.
nxm_status nxm_find_block(const struct nxm_device *device,
                          uint64_t address,
                          struct nxm_block *out);

// Makes a stream; the default one when streams are switched off.
nxm_status nxm_stream_new(const struct nxm_device *device, uint32_t *out);

// Notes that one more piece of work was queued on a stream, and hands out its ticket. Where work
// blocks, it is complete when this returns.
nxm_status nxm_stream_submit(const struct nxm_device *device, uint32_t stream, uint64_t *out);

// Notes that the work of a stream has completed up to a ticket; frees behind it run now.
// NXM_UNSUPPORTED where the device's worker completes work.
nxm_status nxm_stream_complete(const struct nxm_device *device, uint32_t stream, uint64_t ticket);

// Waits for all work of a stream; without a worker, says that the caller has.
nxm_status nxm_stream_synchronize(const struct nxm_device *device, uint32_t stream);

// Whether nothing that was submitted to a stream is still running.
nxm_status nxm_stream_is_idle(const struct nxm_device *device, uint32_t stream, bool *out);

// Bytes of the blocks whose free waits for a stream.
nxm_status nxm_stream_pending_bytes(const struct nxm_device *device,
                                    uint32_t stream,
                                    uint64_t *out);

// Queues work on a stream. It runs on the device's worker after all that was submitted before; it must
// not throw. NXM_UNSUPPORTED without a worker.
nxm_status nxm_stream_run(const struct nxm_device *device,
                          uint32_t stream,
                          nxm_work work,
                          void *data);

// Lets a stream wait for all that was submitted to another one so far. NXM_UNSUPPORTED without a worker.
nxm_status nxm_stream_wait_stream(const struct nxm_device *device,
                                  uint32_t stream,
                                  uint32_t other);

// Registers a callback that frees blocks when the device is out of memory. It runs on the thread that
// allocates, with no lock held, in order of registration; it must not throw.
nxm_status nxm_register_release_callback(const struct nxm_device *device,
                                         nxm_release_callback callback,
                                         void *data,
                                         uint64_t *out);

// Removes a callback. A run that has begun on another thread may still be going on when this returns.
// NXM_INVALID_ARGUMENT for a number that names none.
nxm_status nxm_unregister_release_callback(const struct nxm_device *device,
                                           uint64_t id);

// Reads what the runtime says of a device's memory.
nxm_status nxm_get_memory_info(const struct nxm_device *device, struct nxm_memory_info *out);

// Waits for all work of a device, after which every queued free has run. Without a worker, says that
// the caller has waited. Read statistics after it.
nxm_status nxm_synchronize(const struct nxm_device *device);

// Waits for all devices, then gives every fully free segment back to the runtime. `out` may be null.
nxm_status nxm_empty_cache(const struct nxm_allocator *allocator,
                           struct nxm_released *out);

// Caps the bytes reserved from the runtime at a part of the device's memory, 0 to 1.
nxm_status nxm_set_memory_fraction(const struct nxm_device *device, double fraction);

// Caps the bytes reserved from the runtime; UINT64_MAX takes the cap away.
nxm_status nxm_set_memory_cap(const struct nxm_device *device, uint64_t bytes);

// Sets every peak of a device to its current value.
nxm_status nxm_reset_peak_memory_stats(const struct nxm_device *device);

// Zeroes a device's counters and accumulated values.
nxm_status nxm_reset_accumulated_memory_stats(const struct nxm_device *device);

// Reads the statistics of a device as they were at one moment.
nxm_status nxm_get_memory_stats(const struct nxm_device *device, struct nxm_memory_stats *out);

// Calls `visit` for every key of memory_stats(), sorted: "allocated_bytes.all.current" and so on.
nxm_status nxm_for_each_memory_stat(const struct nxm_device *device,
                                    nxm_stat_visitor visit,
                                    void *data);

// Bytes of the blocks of live tensors; 0 for null. One atomic load.
uint64_t nxm_memory_allocated(const struct nxm_device *device);

// Bytes of the segments held from the runtime; 0 for null. One atomic load.
uint64_t nxm_memory_reserved(const struct nxm_device *device);

// The table of memory_summary(), to be freed by nxm_string_free().
nxm_status nxm_memory_summary(const struct nxm_device *device, char **out);

// Analyses a device's segments. Takes its lock to copy the blocks.
nxm_status nxm_segment_pool_analysis(const struct nxm_device *device, struct nxm_analysis *out);

// The report of segment_pool_analysis_summary(), to be freed by nxm_string_free().
nxm_status nxm_segment_pool_analysis_summary(const struct nxm_device *device, char **out);

// Switches the memory history, with the values of PyTorch's _record_memory_history(): `enabled` is
// "all", "state" or null (off); `context` "all", "alloc", "state" or null (no stacks); the oldest
// events go when there are more than `max_entries`.
nxm_status nxm_record_memory_history(const struct nxm_device *device,
                                     const char *enabled,
                                     const char *context,
                                     size_t max_entries,
                                     bool clear_history);

// Attaches a text to all events from now on.
nxm_status nxm_set_memory_metadata(const struct nxm_device *device, const char *metadata);

// Writes a snapshot of all devices: JSON for a name that ends in .json, pickle otherwise. A temporary
// file is renamed, so that a failure leaves no half file.
nxm_status nxm_dump_snapshot(const struct nxm_allocator *allocator,
                             const char *path);

// A snapshot of all devices in memory: JSON, or a pickle. To be freed by nxm_bytes_free().
nxm_status nxm_snapshot(const struct nxm_allocator *allocator,
                        bool as_json,
                        uint8_t **out,
                        size_t *len);

// The value of a key, such as "kPoolBoundary".
nxm_status nxm_config_get(const struct nxm_allocator *allocator, const char *key, uint64_t *out);

// The keys that differ from their defaults, in the form of the variable; to be freed by
// nxm_string_free().
nxm_status nxm_config_string(const struct nxm_allocator *allocator, char **out);

// A hash of the keys in force, the same on every machine.
nxm_status nxm_config_hash(const struct nxm_allocator *allocator, uint64_t *out);

// What is wrong with a text of keys, one line each, empty if nothing; to be freed by nxm_string_free().
nxm_status nxm_config_check(const char *keys,
                            char **out);

// Holds the tensor of `bytes` at `address`: the first time a slice is made, after that the same slice
// serves. To be released by nxm_tensor_release() when the work that uses it has completed.
nxm_status nxm_tensor_acquire(const struct nxm_device *device,
                              uint64_t address,
                              uint64_t bytes,
                              struct nxm_tensor **out);

// The nrt_tensor_t for calls of libnrt; null for null. Valid while the tensor is held.
void *nxm_tensor_nrt(const struct nxm_tensor *tensor);

// Lets go of a tensor; nothing for null.
void nxm_tensor_release(struct nxm_tensor *tensor);

// Copies device memory to the host and waits for it. All of it must lie inside one segment. What `into`
// holds after a failure is not said.
nxm_status nxm_read(const struct nxm_device *device,
                    uint64_t address,
                    void *into,
                    uint64_t bytes);

// Copies host memory to the device and waits for it. All of it must lie inside one segment.
nxm_status nxm_write(const struct nxm_device *device,
                     uint64_t address,
                     const void *from,
                     uint64_t bytes);

// Sets device memory to a byte and waits for it.
nxm_status nxm_fill(const struct nxm_device *device,
                    uint64_t address,
                    uint8_t value,
                    uint64_t bytes);

// Copies device memory to a place of a device on the same HBM stack, and waits for it. The ranges must
// not overlap.
nxm_status nxm_copy(const struct nxm_device *device,
                    uint64_t from,
                    uint32_t to_device,
                    uint64_t to,
                    uint64_t bytes);

// The numbers of the last failure on this thread. NXM_INVALID_ARGUMENT, which becomes the last failure,
// if that was not NXM_OUT_OF_MEMORY.
nxm_status nxm_last_out_of_memory(struct nxm_out_of_memory *out);

// Reads the statistics of a device's pools as they were at one moment.
nxm_status nxm_get_pool_stats(const struct nxm_device *device, struct nxm_pool_stats *out);

// The addresses that a device's segments can have. NXM_UNSUPPORTED where the runtime does not tell.
nxm_status nxm_get_address_range(const struct nxm_device *device, struct nxm_address_range *out);

// The table of functions of a version of the ABI; null for one that this library does not have. The table
// of another version starts with the same three fields: cast it. Never freed.
const struct nxm_vtable_v1 *nxm_vtable(uint32_t version);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* NEURONX_MEM_H */
