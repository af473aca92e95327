/* strip_at.h - a part of a loop tree whose loops over one axis would go by strips, and how wide these
 * would be.  The tree is as it was built: no pass has changed it. */
#ifndef RD_KERNELS_PASS_STRIP_AT_H
#define RD_KERNELS_PASS_STRIP_AT_H
#include "kernels/loop/facts.h"
#include "kernels/pass/chosen_strips.h"

typedef struct rd_strip_at {
    const rd_schedule *t;
    int                vector; /* bytes of a vector */
    int32_t            top;    /* the loop over the axis; or the body that holds such loops */
    int32_t            axis;
    bool               around; /* the latter */
} rd_strip_at;

/* Each statement of the region. */
#define RD_EACH_IN(r, s)                                               \
    for (int32_t s = rd_next_stmt((r)->t, (r)->top, (r)->top); s >= 0; \
         s         = rd_next_stmt((r)->t, s, (r)->top))

/* fold_mappings.c: how the folds of a region meet its strips; those elsewhere stay as they are. */
void rd_find_fold_mappings(const rd_strip_at *r, rd_fold_in_strip *fold);
/* Is a loop in the region, over another axis, short and simple enough to be written out? */
bool rd_unrolls_loop(const rd_strip_at *r, int32_t loop);
/* Do the elements of a load lie apart in memory, so that they are collected by a loop of their own? */
bool rd_needs_packing(const rd_strip_at *r, int32_t stmt);
/* reuse: the outermost loop of the region whose rounds all read what the load reads, -1. */
int32_t rd_loop_of_rereads(const rd_strip_at *r, int32_t stmt);

/* Does the statement stand in a loop over the axis; does the fold begin in a loop? */
bool rd_stands_along(const rd_strip_at *r, int32_t stmt);
bool rd_fold_begins_in(const rd_schedule *t, int32_t fold, int32_t loop);
/* Do clusters along the axis say which ranges of a list a loop inside visits? */
bool rd_has_clusters(const rd_strip_at *r);

/* large_arrays.c: does memory say where a position is?  Bytes of all elements along its axes; what fits the
 * caches; what leaves them before anybody reads it. */
bool   rd_is_data_dependent(const rd_schedule *t, const rd_linear *at);
double rd_bytes_of_axes(const rd_schedule *t, const rd_linear *at, rd_dtype type);
double rd_cached_bytes(void);
double rd_nontemporal_bytes(void);
/* Is it a load of a large array, of which each round of the loop reads a row along the axis? */
bool rd_reads_large_rows(const rd_schedule *t, int32_t stmt, int32_t loop, int32_t axis);
/* Does a STORE, of neighbours along the axis, go past the caches; any? */
bool rd_is_nontemporal_store(const rd_schedule *t, int32_t stmt, int32_t axis);
bool rd_has_nontemporal_store(const rd_strip_at *r);
/* For tests: what has so many bytes is large; 0: what does not fit the caches. */
void rd_force_large(int64_t bytes);

/* unroll_jam_rounds.c, of the pass `unroll_jam`: how many rounds of a loop directly around a vector loop are merged
 * into that, 0: none. */
int32_t rd_unroll_jam_rounds(const rd_strip_at *r, const rd_strip *strip,
                             const rd_fold_in_strip *fold, int32_t loop);
/* unroll_jam_outer_rounds.c, of the pass `unroll_jam_outer`: how many rounds of an outer loop are merged into the serial loop between it
 * and a vector loop, 0: none. */
int32_t rd_unroll_jam_outer_rounds(const rd_strip_at *r, const rd_strip *strip,
                                   const rd_fold_in_strip *fold, int32_t loop);
/* register_strips.c: another region in place of one whose states are more than a cache holds, in which rows along
 * its axis go together with their states in registers.  `fold` is changed in either case. */
bool rd_prefers_register_strips(const rd_strip_at *r, rd_fold_in_strip *fold, rd_strip_at *by);
/* pad_tail.c: is the last strip of a row as long as the others in the text, or the only one as long as whole
 * vectors? */
bool rd_pads_tail(const rd_strip_at *r, const rd_strip *strip, const rd_fold_in_strip *fold);
/* A loop over the only strip of a row becomes so, with lanes of nothing behind those that have elements. */
void rd_pad_lanes(rd_schedule *t, int32_t stmt, int32_t width);

/* one_state_strips.c: does one state take all of a strip? */
bool rd_uses_one_state(const rd_strip_at *r, const rd_fold_in_strip *fold);

/* strip_widths.c: all of *strip but the place of the region. */
bool rd_takes_exp_of_pairs(const rd_strip_at *r, int32_t loop);
void rd_find_width(const rd_strip_at *r, const rd_fold_in_strip *fold, rd_strip *strip);
#endif
