/* ways.h - the results of a random graph, evaluated in every way that must not change a bit. */
#ifndef RD_TESTS_GRAPHS_WAYS_H
#define RD_TESTS_GRAPHS_WAYS_H
#include <rdim.h>

/* What ways.c is asked by Python. */
/* A context whose memory holds something from the start; limit: bytes it may hold, 0: no limit. */
RD_API rd_ctx *graph_context(int64_t limit);
RD_API void   *graph_memory(int64_t bytes, int32_t at_end);
RD_API void    graph_memory_reset(void);
/* What a crash says: which graph it was. */
RD_API void graph_begin(int64_t number);
/* How many ways there are, and their names; NULL for those that this machine has not. */
RD_API int32_t     graph_ways(void);
RD_API const char *graph_way_name(int32_t way);
/* Evaluates n results plainly into out, whose data are set here: dense memory between guards. */
RD_API rd_status graph_plain(rd_ctx *ctx, int32_t n, rd_expr *const *x, rd_array *out);
/* Evaluates them in another way: 0, or -1 with a sentence in `why`, of at most `room` bytes.  `leaf` is
 * memory that a result may be written over. */
RD_API int32_t graph_same(rd_ctx *ctx, int32_t n, rd_expr *const *x, const rd_array *plain,
                          int32_t way, uint64_t seed, void *leaf, int64_t leaf_bytes, char *why,
                          int64_t room);
/* Have two arrays of one dense layout the same bits, but for which NaN it is?  The first element that
 * has not, else -1. */
RD_API int64_t graph_differ(const rd_array *a, const rd_array *b);
#endif
