/* attention.h - sums weighed by exponentials of scores, as attention is: found in expressions, and
 * evaluated in tiles of rows and columns, so that no row of scores is ever whole. */
#ifndef RD_EVAL_CACHE_ATTENTION_H
#define RD_EVAL_CACHE_ATTENTION_H
#include "eval/plan.h"

/* sum over j of e(i, j) v(j, d), perhaps over the sum of e(i, j), with e = exp(s), or
 * exp(s - max over j of s).  Axes are those of the product below the sum. */
typedef struct rd_attention {
    rd_expr *y;       /* the sum itself, or its quotient; it has the product's axes without j */
    rd_expr *scores;  /* s along these axes, of extent 1 along value axes */
    rd_expr *values;  /* v along all of them */
    bool     largest; /* the greatest score of a row is subtracted */
    bool     divided; /* by the sum of e */
    int      rank, columns, rows; /* rank of the product; j; the axis that tiles share */
    uint64_t value_axes;          /* bits: the axes d */
    int64_t  extent[RD_MAX_RANK]; /* of the product */
    /* the result's axis for each axis of the sum; -1: it has none.  reshaped: the result has these
     * axes in C order, in another shape */
    int      result_axis[RD_MAX_RANK];
    rd_expr *view; /* the sum with its axes in that order */
    bool     reshaped;
} rd_attention;

/* The operand of the product in scores that goes with columns, such as keys, if a copy is worth it
 * whose columns are adjacent. */
typedef struct rd_attention_keys {
    const rd_expr *node;
    uint64_t       varies;       /* bits: axes along which it does not repeat */
    int            column, step; /* axes of it: columns, and the one that is summed over */
} rd_attention_keys;

/* attention_find.c: true if y is such a sum, which is described. */
bool rd_attention_find(rd_expr *y, rd_attention *a);
/* The same without a description, which is a new node. */
bool rd_attention_is(rd_expr *y);
/* True if m is the maximum of s over axis j, broadcast along j again to the shape of s. */
bool rd_is_largest(rd_expr *m, const rd_expr *s, int j);
/* Finds keys below scores along a's axes; node is NULL: none. */
rd_attention_keys rd_attention_find_keys(const rd_attention *a, const rd_expr *scores);

/* A node whose box another function makes: from elements first[a] <= i[a] < end[a] of x. */
typedef struct rd_box_swap {
    const rd_expr *node;
    rd_expr *(*make)(void *user, rd_expr *x, const int64_t *first, const int64_t *end);
    void *user;
} rd_box_swap;

/* box_part.c: elements first[a] <= i[a] < end[a] of x, which are some: of the same box, or what it
 * reads, of each operand.  swap: NULL, or one node.  NULL after a failure. */
rd_expr *rd_box_part(rd_expr *x, const int64_t *first, const int64_t *end, const rd_box_swap *swap);

/* These read a view of memory in this process (attention_keys.c).  They return its step along axis
 * k, in elements, and the address of an element.  0 and NULL: x is something else. */
int64_t     rd_leaf_step(const rd_expr *x, int k);
const void *rd_leaf_element(const rd_expr *x, const int64_t *at);

/* ---- Masks (attention_mask.c) ---------------------------------------------------------------- */
/* A condition is true for some, no, or all elements of a tile. */
typedef enum rd_truth { RD_SOMETIMES, RD_NEVER, RD_ALWAYS } rd_truth;

/* The choices, where(mask, s, -inf), of scores, and what is known of each mask in a tile. */
enum { RD_MOST_CHOICES = 3, RD_CHOICE_FORMS = 27 };
typedef struct rd_choices {
    int            n;
    const rd_expr *where[RD_MOST_CHOICES];
    rd_truth       truth[RD_MOST_CHOICES];
    bool           met[RD_MOST_CHOICES];
} rd_choices;

/* Returns whether a mask is true for some, no or all indices first[a] <= i[a] < end[a];
 * RD_SOMETIMES also where it cannot be told. */
rd_truth rd_mask_truth(const rd_expr *x, const int64_t *first, const int64_t *end);
/* Lists choices of scores. */
void rd_choices_find(rd_choices *c, const rd_expr *scores);
/* Finds what is known of them for indices first[a] <= i[a] < end[a] of the scores.  True if all
 * these scores are -inf. */
bool rd_choices_ask(rd_choices *c, const rd_expr *scores, const int64_t *first, const int64_t *end);
/* The scores with what is known taken for granted.  NULL after a failure. */
rd_expr *rd_choices_made(const rd_choices *c, rd_expr *scores);
/* Returns the truths of all masks as one number below RD_CHOICE_FORMS; 0: none is known. */
int rd_choices_form(const rd_choices *c);

/* ---- Runs (attention_run.c) ------------------------------------------------------------------ */
/* Blocks of rows, which threads share; tiles of all, if no mask leaves one out. */
int64_t rd_attention_blocks(const rd_attention *a);
int64_t rd_attention_tiles(const rd_attention *a);
/* The bytes of all scores. */
double rd_attention_score_bytes(const rd_attention *a);
/* The bytes that a thread works in, beside its plans' arrays. */
int64_t rd_attention_bytes(const rd_attention *a);
/* A tile's sums of weighed values and of weights, and its greatest scores (NULL: none); NULL
 * after a failure.  `out` describes dense results, without memory. */
enum { RD_TILE_RESULTS = 3 };
int rd_attention_sample(const rd_attention *a, rd_expr *y[RD_TILE_RESULTS],
                        rd_array out[RD_TILE_RESULTS]);

/* A run; a thread's part of it. */
typedef struct rd_attention_run    rd_attention_run;
typedef struct rd_attention_worker rd_attention_worker;

/* out, stride: of the result, by its axes.  NULL: no memory, or a result of another shape is not
 * dense. */
rd_attention_run *rd_attention_begin(const rd_attention *a, const rd_eval_opts *opts,
                                     const rd_expr *result, void *out, const int64_t *stride);
void              rd_attention_end(rd_attention_run *run);
/* NULL after recording a failure in ctx, where the expressions are cloned to. */
rd_attention_worker *rd_attention_worker_new(rd_attention_run *run, rd_ctx *ctx);
void                 rd_attention_worker_free(rd_attention_worker *w);
/* Evaluates row block k. */
rd_status rd_attention_block(rd_attention_worker *w, int64_t k);
#endif
