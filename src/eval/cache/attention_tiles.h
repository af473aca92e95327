/* attention_tiles.h - a run of attention: what its files share. */
#ifndef RD_EVAL_CACHE_ATTENTION_TILES_H
#define RD_EVAL_CACHE_ATTENTION_TILES_H
#include "eval/cache/attention.h"
#include <pthread.h>
#include <stdatomic.h>

/* Rows and columns of a tile: scores of 128 KB in f32, and as many exponentials.  Tiles of a block
 * are above one another and share a copy of keys.  A mask leaves out columns by groups. */
enum { RD_TILE_ROWS = 128, RD_TILE_COLUMNS = 256, RD_BLOCK_TILES = 2, RD_TILE_GROUP = 128 };

/* Kinds of evaluations behind those of forms of scores, and how many a worker remembers. */
enum { RD_KEYS_KIND = RD_CHOICE_FORMS, RD_FINITE_KIND, RD_TILE_PLANS = 64 };

/* The indices of a tile, or of a block: first[k] to end[k] of axis k of the product. */
typedef struct rd_tile_box {
    int64_t first[RD_MAX_RANK], end[RD_MAX_RANK];
} rd_tile_box;

struct rd_attention_run {
    const rd_attention *a;
    rd_eval_opts        opts;
    char               *out;
    int64_t             stride[RD_MAX_RANK]; /* of the result, by axes of the product */
    rd_ctx             *ctx;
    int64_t             groups;   /* of columns */
    pthread_mutex_t     planning; /* held by a thread that makes a plan */
    _Atomic(char)      *finite;   /* by index of the other axes, and group: are values finite */
};

/* The copy of keys, and what it is a copy of. */
typedef struct rd_keys_copy {
    rd_attention_keys of;
    float            *data;
    int64_t           room;
    const rd_expr    *made; /* the node that was copied; NULL: nothing yet */
    rd_tile_box       box;  /* of that node */
} rd_keys_copy;

struct rd_attention_worker {
    rd_attention_run *run;
    rd_attention      a; /* expressions in this worker's context */
    rd_ctx           *ctx;
    rd_choices        choices;
    rd_expr          *form[RD_CHOICE_FORMS]; /* scores by what is known of choices */
    rd_attention_keys keys_of[RD_CHOICE_FORMS];
    rd_keys_copy      keys;
    int64_t          *index;  /* 0, 1, 2 ... */
    char             *memory; /* sums of each tile of a block, and those of a tile's columns */
    int64_t           row_bytes, sum_bytes;
    int64_t           met[RD_TILE_PLANS]; /* what was evaluated, by kind and extents */
    int               n_met;
};

/* ---- attention_sums.c ------------------------------------------------------------------------ */
/* The values of a row of the result. */
int64_t rd_row_values(const rd_attention *a);
/* Sets sizes and takes memory; false: there is none. */
bool rd_sums_begin(rd_attention_worker *w);
/* Sums of values, of weights, and greatest scores of tile `which`; of columns: RD_BLOCK_TILES. */
void *rd_sum_values(const rd_attention_worker *w, int which);
void *rd_sum_weights(const rd_attention_worker *w, int which);
void *rd_sum_greatest(const rd_attention_worker *w, int which);
/* Set sums of so many rows to those of no columns; add those of some; store the result. */
void rd_sums_clear(rd_attention_worker *w, int which, int64_t rows);
void rd_sums_add(rd_attention_worker *w, int which, int64_t rows);
void rd_sums_store(rd_attention_worker *w, int which, const rd_tile_box *t);

/* ---- attention_keys.c ------------------------------------------------------------------------ */
/* Returns the copy of the keys of a box; rd_box_part() calls it.  user: the worker. */
rd_expr *rd_keys_part(void *user, rd_expr *x, const int64_t *first, const int64_t *end);
/* Evaluates results in the worker's context (attention_run.c).  kind, rows, columns: what they are;
 * the first of its kind is planned. */
rd_status rd_tile_evaluate(rd_attention_worker *w, int kind, int64_t rows, int64_t columns, int n,
                           rd_expr *const *y, rd_array *out);
#endif
