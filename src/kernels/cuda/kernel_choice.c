/* kernel_choice.c - the rule for the numbers of a kernel, where nothing but its speed depends on
 * them. */
#include "kernels/cuda/kernel_choice.h"

/* Returns the parameters of kernels by rule, without tuning.  Their sources are the vendor's
 * guides, counts of machine code, and measurements on an H200 where a time is given. */
static rd_cuda_choice by_rule(void)
{
    return (rd_cuda_choice){
        /* Threads of a block. Four warps, one for each scheduler of a multiprocessor. A small
         * block soon makes room for the next, and shared memory has room for the rows of all
         * its teams. */
        .block = 128,
        /* Threads for which a multiprocessor must have registers. So each has 64; left to
         * itself the compiler takes 85 for a log-sum-exp, which then is 1.16 times as slow on
         * an H200. */
        .fit = 1024,
        /* The same of kernels of split loops. 80 registers: with 64 nearly every split sum
         * spills some, where it combines ranges. Left to itself the compiler takes 106, and
         * bf16 are 1.06 times as slow. */
        .cut_fit = 768,

        /* Bytes of a vector access. The widest one there is, for the fewest instructions a
         * byte. */
        .vector = 16,
        /* Elements of a vector access, at most. 8 elements of 16 bits; 16 elements of 8 bits
         * would need 16 accumulators in registers. */
        .most_wide = 8,
        /* Rounds of a loop that a thread prefetches. Memory that answers after 0.6 us wants
         * some 20 KiB in flight from each multiprocessor of an H100, more to be safe: 512
         * threads, where registers leave room for 1024, have 64 KiB. */
        .ahead = 8,
        /* Instructions of the rounds that are prefetched, at most. A longer body is no longer
         * bound by memory, and fills the instruction cache. */
        .weight = 512,
        /* Threads of a team (of one item), at least. 8 threads by 16 bytes are a line of 128
         * bytes. */
        .least_team = 8,
        /* Elements of a map's last axis that teams share, at least. Shorter rows are less than
         * two rounds of a team; one item does a whole row. */
        .least_row = 64,
        /* Scans of columns keep single items if fewer than 1/8 of the threads had one. They
         * hide little latency: threads matter more to them than wide loads do. */
        .scan_share = 8,

        /* Indices of a loop that is transposed, at least. Half a warp: less would leave most of
         * a square empty. */
        .least_side = 16,
        .batch      = 8, /* loads that a thread issues while it fills a square */

        .work = 100, /* per cent of the GPU's threads below which loops are split */
        /* A loop with this share of an item's work is split alone. Each range repeats the rest
         * of the item's work. */
        .main_share = 15.0 / 16,
        /* Blocks of the combine tree in a range of a scan, at least. It pays for the beginning
         * and the end of two passes. */
        .scan_range = 4,
        /* Ranges of a group, and groups of a larger one. Few enough that the last team reads
         * few nodes, and a million ranges have seven levels. */
        .fan = 8,

        /* Blocks of threads that a multiprocessor's shared memory must have room for. While one
         * waits for its row or tile, two others work. */
        .resident = 3,
        /* Blocks with cached rows for which teams are widened. So that threads take 8 bytes at
         * a time of rows of 1024: an H200's softmax of f32 takes 2.45 ms, with 16 bytes 2.58;
         * of bf16 5.16, with 16 bytes 5.64, with four 5.77. */
        .row_blocks = 12,
        /* Rounds that a thread prefetches if fewer blocks fit. A row of 4096 f32 takes 3.15 ms
         * with 16 rounds, 3.65 with eight. */
        .row_ahead = 16,

        /* Bytes between neighbours' elements; nearer ones are not staged. So near, the elements
         * of a warp are in one line of 128 bytes. */
        .least_apart = 4,
        /* Bytes of a staged row, at least, if the gaps are long. Memory is read in sectors of
         * 32 bytes. */
        .least_piece = 32,
        .most_gap    = 2, /* short gaps: the step is at most so many times a row */

        /* Block tiles need 1/16 of the threads at work. 128 threads of 2048 have 128 bytes each
         * in flight: memory is half as fast as it can be, and one read takes as long as two. */
        .tile_share = 16,
        /* Bytes of shared memory for a tile's rows. Two f32 numbers for each lane of 64 rows,
         * and the words of their exchange. A multiprocessor has room for five such blocks. */
        .tile_room = 40 << 10,

        /* Results, and points of each, for which points are tiled. With fewer results most of a
         * block would be idle; a block of the tree is 64 points. */
        .least_pairs = 64,
        /* Results of a thread, and bytes of a value of all its pairs. 16 pairs of f32 are 4
         * results of 4 points: two loads of 16 bytes from shared memory for each coordinate of
         * all. Fewer results and more points would need a few loads more, but less memory for
         * the coordinates of results. */
        .most_results = 4,
        .pair_bytes   = 64,
        /* Instructions of all pairs of a thread, at most. The unrolled code of so many pairs
         * stays in the instruction cache. */
        .pair_weight = 2048,
        /* Points of a tile, at most. Two barriers cost nothing next to the pairs of 128 points. */
        .most_tile = 128,

        /* Bytes of a fold's states in local arrays, at most. The driver reserves as much for
         * each thread that the GPU has room for: 528 MiB of an H100. */
        .local = 2048,
        /* States over which loops are unrolled, at most. A local array with constant indices
         * stays in registers. */
        .unrolled = 16,
    };
}

/* Returns the parameters of kernels for a GPU that runs so many threads at once: by rule, with
 * those replaced that a tuning asks for (0: by rule). flight and elements, the bytes and
 * elements that a thread may have loaded and not used, follow from the rounds that it prefetches
 * (ahead). at_work: threads below which loops are split. */
rd_cuda_choice rd_cuda_choose(int64_t threads, const rd_tuning *tuning)
{
    rd_cuda_choice c = by_rule();

    for (rd_cuda_tuned row = 0; row < RD_N_TUNED; row++)
        if (tuning->at[row])
            *rd_cuda_tuned_field(&c, row) = tuning->at[row];
    /* A round's load is 16 bytes at most. */
    c.flight = 16 * c.ahead;
    /* Each element is in a register from its load on.  For 8 rounds a thread needs about 64
     * registers, and a multiprocessor has room for 1024 such threads. */
    c.elements = 4 * c.ahead;
    c.at_work  = threads * c.work / 100;
    return c;
}
