/* Latencies as a log-linear histogram: 128 steps to a power of two, so a figure is at most 0.8 % off. */
#include <stdint.h>
#include <string.h>

enum { STEP_BITS = 7, STEPS = 1 << STEP_BITS, BUCKETS = STEPS * 40 };
typedef struct { uint64_t buckets[BUCKETS], count, sum, max; } Histogram;

static void record(Histogram *h, uint64_t ns) {
    int shift = ns < STEPS ? 0 : 63 - __builtin_clzll(ns) - STEP_BITS;
    uint64_t i = (uint64_t)shift * STEPS + (ns >> shift);
    h->buckets[i < BUCKETS ? i : BUCKETS - 1]++;
    h->count++;
    h->sum += ns;
    if (ns > h->max) h->max = ns;
}

/* The latency in microseconds that `share` of the answers did not exceed. */
static double percentile_us(const Histogram *h, double share) {
    uint64_t want = (uint64_t)(share * (double)h->count), seen = 0;
    for (int i = 0; i < BUCKETS; i++) {
        seen += h->buckets[i];
        if (h->buckets[i] && seen >= want) {
            int shift = i < 2 * STEPS ? 0 : i / STEPS - 1;
            return (double)((uint64_t)(i - shift * STEPS) << shift) / 1000.0;
        }
    }
    return 0;
}
