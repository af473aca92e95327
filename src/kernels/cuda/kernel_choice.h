/* kernel_choice.h - the numbers of a kernel on which only its speed depends, all in one
 * structure. */
#ifndef RD_KERNELS_CUDA_KERNEL_CHOICE_H
#define RD_KERNELS_CUDA_KERNEL_CHOICE_H
#include "kernels/program.h"

/* The rows of tuning.def. */
typedef enum rd_cuda_tuned {
#define RD_TUNING(field, ...) RD_TUNED_##field,
#include "kernels/cuda/tuning.def"
    RD_N_TUNED
} rd_cuda_tuned;

/* The tuning parameters of a kernel. */
typedef struct rd_cuda_choice {
    int32_t block; /* threads of a block                                                 */
    int32_t fit,
        cut_fit; /* threads for which a multiprocessor must have registers; of split loops */

    /* ---- vector_access.c ---- */
    int32_t vector;     /* bytes of a vector access                                             */
    int32_t most_wide;  /* elements of a vector access, at most                                 */
    int32_t ahead;      /* rounds of a loop that a thread prefetches, as long as ...            */
    int32_t flight;     /* ... their loads are at most so many bytes of a thread,               */
    int32_t elements;   /* ... at most so many elements of a thread,                            */
    int32_t weight;     /* ... and take at most so many instructions                            */
    int32_t least_team; /* threads of a team that has lanes, or chunks of a map                 */
    int32_t least_row;  /* elements of a map's last axis, if teams share it                     */
    int32_t scan_share; /* scans in columns: `width` neighbours are one item only if one of so
                         * many threads still has an item                                       */

    /* ---- shared_transpose.c ---- */
    int32_t least_side; /* indices of a loop that is transposed, at least                       */
    int32_t batch;      /* loads that a thread prefetches while it fills a square               */

    /* ---- split_reduction.c ---- */
    int32_t work;       /* per cent of the threads that the GPU has room for: ...               */
    int64_t at_work;    /* ... so many threads; if items have fewer, loops are split            */
    double  main_share; /* share of an item's work in a loop that is split alone                */
    int32_t scan_range; /* blocks of the shortest range of a scan                               */
    int32_t fan;        /* ranges of a group, and groups of a group of the level above          */

    /* ---- row_cache.c ---- */
    int32_t resident;   /* blocks of threads whose rows, or tiles, fit on a multiprocessor      */
    int32_t row_blocks; /* ... for which teams are widened; half as many for 16-bit elements    */
    int32_t row_ahead;  /* rounds that a thread prefetches if fewer blocks fit                  */

    /* ---- staged_rows.c, with `resident` ---- */
    int32_t least_apart; /* bytes: neighbours that are nearer share memory lines anyway         */
    int32_t least_piece; /* bytes: shorter rows are staged only if the gaps between them ...    */
    int32_t most_gap;    /* ... are short: the step is at most so many times their length       */

    /* ---- block_tile.c ---- */
    int32_t tile_share; /* block tiles are used if one of so many threads has work              */
    int32_t tile_room;  /* bytes of shared memory for the lanes of a tile's rows                */

    /* ---- pair_tiles.c ---- */
    int32_t least_pairs;  /* results, and points that each reads, at least                      */
    int32_t most_results; /* results of a thread, at most                                       */
    int32_t pair_bytes;   /* bytes of each value, over all pairs that a thread has at once      */
    int32_t pair_weight;  /* instructions of all pairs that a thread has at once, at most       */
    int32_t most_tile;    /* points of a tile, at most                                          */

    /* ---- storage_class.c, print/gpu/states.c ---- */
    int32_t local;    /* bytes of a fold's states in local arrays of a thread, at most          */
    int32_t unrolled; /* loops over so many states of a thread are unrolled                     */
} rd_cuda_choice;

/* The numbers by rule, for a GPU that has room for so many threads; a tuning replaces some of
 * them. */
rd_cuda_choice rd_cuda_choose(int64_t threads, const rd_tuning *tuning);

/* ---- tuning.c -------------------------------------------------------------------------------- */
/* The field of a row of tuning.def; rd_cuda_tuned_values(): the values that it may have, in
 * rising order, and how many there are. */
int32_t *rd_cuda_tuned_field(rd_cuda_choice *choice, rd_cuda_tuned row);
int32_t  rd_cuda_tuned_values(rd_cuda_tuned row, const int16_t **values);
/* Adds all numbers that can be tuned: "block=128, vector=8 (by rule 16), ...". */
void rd_cuda_choice_text(rd_text *text, const rd_cuda_choice *choice);
/* See rd_device_table. */
void rd_cuda_tuning_text(rd_text *text, const rd_tuning *tuning);
bool rd_cuda_tuning_read(const char *text, rd_tuning *tuning, char *why);
#endif
