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

typedef struct rd_cuda_choice {
    int32_t block;        /* threads of a block */
    int32_t fit, cut_fit; /* threads that a multiprocessor is to have registers for; of cut loops */

    /* ---- vector_access.c ---- */
    int32_t vector;     /* bytes that a thread takes at a time                    */
    int32_t most_wide;  /* elements that it takes at a time, however small        */
    int32_t ahead;      /* rounds of a loop that are done together, as far as ... */
    int32_t flight;     /* ... their loads are no more bytes of a thread,         */
    int32_t elements;   /* ... they are no more elements of a thread,             */
    int32_t weight;     /* ... and take no more instructions                      */
    int32_t least_team; /* threads, of lanes or of a chunk of a map               */
    int32_t least_row;  /* elements of a map's last axis that teams share         */
    int32_t scan_share; /* columns of scans are neighbours of one item only where
                         * one of so many threads still has an item               */

    /* ---- shared_transpose.c ---- */
    int32_t least_side; /* indices of a loop that goes by squares             */
    int32_t batch;      /* loads of a thread in flight, as a square is filled */

    /* ---- split_reduction.c ---- */
    int32_t work;       /* per cent of the threads that the GPU has room for: ...      */
    int64_t at_work;    /* ... so many; items that have fewer are cut into ranges */
    double  main_share; /* of an item's work, in a loop that is cut alone     */
    int32_t scan_range; /* blocks of the least range of a scan                */
    int32_t fan;        /* ranges of a group, and groups of one above         */

    /* ---- row_cache.c ---- */
    int32_t resident;   /* blocks of threads whose rows a multiprocessor has room for, or tiles */
    int32_t row_blocks; /* as many as teams are made wider for, twice as few of 16-bit elements */
    int32_t row_ahead;  /* rounds that are done together where there is no room for these       */

    /* ---- staged_rows.c, with `resident` ---- */
    int32_t least_apart; /* bytes: neighbours whose elements are nearer share lines anyway      */
    int32_t least_piece; /* bytes of rows, between which others' elements lie: smaller ones ... */
    int32_t most_gap;    /* ... no further apart than so many times their length                */

    /* ---- block_tile.c ---- */
    int32_t tile_share; /* rows and columns come together where one of so many threads has work */
    int32_t tile_room;  /* bytes of shared memory in which a block of threads has lanes of rows */

    /* ---- pair_tiles.c ---- */
    int32_t least_pairs;  /* results, and points that each meets           */
    int32_t most_results; /* of a thread                                   */
    int32_t pair_bytes;   /* of each value, of all pairs at hand           */
    int32_t pair_weight;  /* instructions of all pairs at hand, at most    */
    int32_t most_tile;    /* points in shared memory                       */

    /* ---- storage_class.c, print/gpu/states.c ---- */
    int32_t local;    /* bytes of a fold's states that a thread keeps for itself */
    int32_t unrolled; /* states of a thread by which loops are written out       */
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
