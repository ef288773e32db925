/* A training step as the allocator sees it, in C99: weights that stay, activations that come and go on
 * two streams, a snapshot, and what is said when memory runs out. Without an argument on a simulated
 * trn2 core; with a path, on the libnrt at that path. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "neuronx_mem.h"

#define MIB ((uint64_t)1 << 20)
#define N_LAYERS 4

/* Ends the program when a call fails. */
static void check(nxm_status status, const char *what)
{
    if (status != NXM_OK) {
        fprintf(stderr, "%s: %s: %s\n", what, nxm_status_name(status), nxm_last_error_message());
        exit(1);
    }
}

static nxm_allocator *make_allocator(const char *libnrt)
{
    nxm_options *options = NULL;
    nxm_allocator *allocator = NULL;

    check(nxm_options_new(&options), "options");
    if (libnrt != NULL) {
        check(nxm_options_use_libnrt(options, libnrt), "libnrt");
    } else {
        check(nxm_options_use_simulator(options, "trn2", 2, 1, 0), "simulator");
    }
    check(nxm_options_set_config(options, "kRoundupPower2Divisions=8"), "config");
    check(nxm_allocator_new(options, &allocator), "allocator");
    nxm_options_free(options);
    return allocator;
}

static void print_text(char *text)
{
    puts(text);
    nxm_string_free(text);
}

static void step(const nxm_device *device, uint32_t copies)
{
    nxm_block activations[N_LAYERS];
    uint64_t work = 0;
    int i;

    for (i = 0; i < N_LAYERS; i++) {
        check(nxm_allocate(device, (uint64_t)(i + 1) * 3 * MIB, 0, &activations[i]), "activation");
    }
    /* A copy reads the last one on another stream. */
    check(nxm_record_stream(device, &activations[N_LAYERS - 1], copies), "record_stream");
    check(nxm_stream_submit(device, copies, &work), "submit");
    for (i = N_LAYERS - 1; i >= 0; i--) {
        check(nxm_free(device, &activations[i]), "free");
    }
    check(nxm_stream_complete(device, copies, work), "complete");
}

int main(int argc, char **argv)
{
    nxm_allocator *allocator = make_allocator(argc > 1 ? argv[1] : NULL);
    const nxm_device *device = NULL;
    nxm_memory_stats stats;
    nxm_analysis analysis;
    nxm_block weights, too_large;
    nxm_released released;
    uint32_t copies = 0;
    uint8_t *snapshot = NULL;
    size_t snapshot_bytes = 0;
    char *text = NULL;
    int i;

    check(nxm_allocator_device(allocator, 0, &device), "device");
    check(nxm_record_memory_history(device, "all", NULL, 1000, false), "history");
    check(nxm_stream_new(device, &copies), "stream");
    check(nxm_allocate(device, 48 * MIB, 0, &weights), "weights");
    for (i = 0; i < 3; i++) {
        step(device, copies);
    }
    check(nxm_synchronize(device), "synchronize");

    memset(&stats, 0, sizeof stats);
    stats.struct_size = sizeof stats;
    check(nxm_get_memory_stats(device, &stats), "stats");
    printf("allocated %" PRIu64 ", peak %" PRIu64 ", reserved %" PRIu64 ", requests %" PRIu64 "\n",
           stats.allocated_bytes.current, stats.allocated_bytes.peak, stats.reserved_bytes.current,
           stats.allocation_requests);
    analysis.struct_size = sizeof analysis;
    check(nxm_segment_pool_analysis(device, &analysis), "analysis");
    printf("internal fragmentation %" PRIu64 ", cached free %" PRIu64 "\n",
           analysis.internal_fragmentation_bytes, analysis.cached_free_bytes);
    check(nxm_memory_summary(device, &text), "summary");
    print_text(text);
    check(nxm_config_string(allocator, &text), "config");
    print_text(text);

    check(nxm_snapshot(allocator, true, &snapshot, &snapshot_bytes), "snapshot");
    printf("snapshot: %s\n", snapshot_bytes > 1000 && snapshot[0] == '{' ? "some JSON" : "nothing");
    nxm_bytes_free(snapshot, snapshot_bytes);

    /* Errors are codes and texts. */
    if (nxm_allocate(device, (uint64_t)1 << 50, 0, &too_large) != NXM_OUT_OF_MEMORY) {
        return 1;
    }
    printf("%s (status %d)\n", nxm_last_error_message(), nxm_last_error_runtime_status());
    check(nxm_free(device, &weights), "free");
    printf("a second free: %s\n", nxm_status_name(nxm_free(device, &weights)));
    check(nxm_empty_cache(allocator, &released), "empty_cache");
    printf("given back: %" PRIu64 " segments, reserved %" PRIu64 "\n", released.segments,
           nxm_memory_reserved(device));
    nxm_allocator_free(allocator);
    nxm_clear_last_error();
    return 0;
}
