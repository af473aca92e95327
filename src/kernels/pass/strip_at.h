/* strip_at.h - a region of a loop tree whose loops over one axis may be strip-mined, and how
 * wide its strips are. The tree is as it was built: no pass has changed it. */
#ifndef RD_KERNELS_PASS_STRIP_AT_H
#define RD_KERNELS_PASS_STRIP_AT_H
#include "kernels/loop/facts.h"
#include "kernels/pass/chosen_strips.h"

/* A region: choose_strips.c fills it from what loop/regions.h has found. */
typedef struct rd_strip_at {
    const rd_schedule *t;
    int                vector; /* bytes of a vector */
    int32_t            top;    /* the loop over the axis, or the body that holds such loops */
    int32_t            axis;
    bool               top_is_body; /* top is such a body */
} rd_strip_at;

/* Visits each statement of the region. */
#define RD_EACH_IN(r, s)                                               \
    for (int32_t s = rd_next_stmt((r)->t, (r)->top, (r)->top); s >= 0; \
         s         = rd_next_stmt((r)->t, s, (r)->top))

/* fold_mappings.c: how strips map to the accumulators of the region's folds. Entries of other
 * folds stay as they are. */
void rd_find_fold_mappings(const rd_strip_at *r, rd_fold_in_strip *fold);
/* True if a loop in the region, over another axis, is short and simple enough to be unrolled. */
bool rd_unrolls_loop(const rd_strip_at *r, int32_t loop);
/* True if the elements of a load are strided or gathered, so that a loop of their own packs
 * them. */
bool rd_needs_packing(const rd_strip_at *r, int32_t stmt);
/* The outermost loop of the region whose rounds all read what the load reads, -1. */
int32_t rd_loop_of_rereads(const rd_strip_at *r, int32_t stmt);

/* True if the statement stands in a loop over the axis. */
bool rd_stands_along(const rd_strip_at *r, int32_t stmt);
/* True if the fold begins in the loop. */
bool rd_fold_begins_in(const rd_schedule *t, int32_t fold, int32_t loop);
/* True if clusters along the axis select the list of ranges that a loop inside visits. */
bool rd_has_clusters(const rd_strip_at *r);

/* large_arrays.c: true if the position depends on values that memory holds. */
bool rd_is_data_dependent(const rd_schedule *t, const rd_linear *at);
/* Bytes of all elements along the axes of a position. */
double rd_bytes_of_axes(const rd_schedule *t, const rd_linear *at, rd_dtype type);
/* An array of more bytes does not fit the caches. */
double rd_cached_bytes(void);
/* A result of so many bytes, or more, is stored non-temporally. */
double rd_nontemporal_bytes(void);
/* True if the statement loads from a large array, of which each round of the loop reads a row
 * along the axis. */
bool rd_reads_large_rows(const rd_schedule *t, int32_t stmt, int32_t loop, int32_t axis);
/* True if the statement is a STORE of neighbours along the axis that is non-temporal. */
bool rd_is_nontemporal_store(const rd_schedule *t, int32_t stmt, int32_t axis);
/* True if the region has such a store. */
bool rd_has_nontemporal_store(const rd_strip_at *r);
/* For tests: arrays of so many bytes are large; 0: those that exceed the caches. */
void rd_force_large(int64_t bytes);

/* unroll_jam_rounds.c, for pass `unroll_jam`: how many rounds of a loop directly around a vector
 * loop are jammed into it; 0: none. */
int32_t rd_unroll_jam_rounds(const rd_strip_at *r, const rd_strip *strip,
                             const rd_fold_in_strip *fold, int32_t loop);
/* True if the rounds of the loop can be jammed for so many rows of a loop around. */
bool rd_can_jam_into(const rd_strip_at *r, const rd_strip *strip, const rd_fold_in_strip *fold,
                     int32_t loop, int32_t rows);
/* unroll_jam_outer_rounds.c, for pass `unroll_jam_outer`: how many rounds of an outer loop are
 * jammed into the serial loop between it and a vector loop; 0: none. */
int32_t rd_unroll_jam_outer_rounds(const rd_strip_at *r, const rd_strip *strip,
                                   const rd_fold_in_strip *fold, int32_t loop);
/* register_strips.c: true if *by is a better region, as rows along the old axis are jammed there
 * with their states in registers. `fold` is changed in either case. */
bool rd_prefers_register_strips(const rd_strip_at *r, rd_fold_in_strip *fold, rd_strip_at *by);
/* pad_tail.c: true if the last strip of a row has the length of the others in the text, or the
 * only strip that of whole vectors. */
bool rd_pads_tail(const rd_strip_at *r, const rd_strip *strip, const rd_fold_in_strip *fold);
/* Pads the loop over the only strip of a row: lanes behind those with elements are neutral. */
void rd_pad_lanes(rd_schedule *t, int32_t stmt, int32_t width);

/* one_state_strips.c: true if one accumulator takes all of a strip. */
bool rd_uses_one_state(const rd_strip_at *r, const rd_fold_in_strip *fold);

/* strip_widths.c: true if a long loop takes exponentials of f32 for pairs of points. */
bool rd_takes_exp_of_pairs(const rd_strip_at *r, int32_t loop);
/* Fills all of *strip but the place of the region: widths, and what follows from them. */
void rd_find_width(const rd_strip_at *r, const rd_fold_in_strip *fold, rd_strip *strip);
#endif
