/* random_sparse.h - random sparse arrays beside the same dense ones, and the same steps on both.
 *
 * The dense twin is what a sparse expression means.  With .stored it is looked at where `stored`
 * is true alone, as .where of its reductions. */
#ifndef RD_TESTS_RANDOM_SPARSE_H
#define RD_TESTS_RANDOM_SPARSE_H
#include <rdim.h>
#include <stdbool.h>
#include <stdint.h>

enum { SPARSE_RANK = 5, SPARSE_BLOCKS = 64, SPARSE_LEAVES = 4, SPARSE_SEEN = 8 };

typedef struct sparse_pair {
    rd_expr *sparse, *dense;
    rd_expr *stored;   /* bools of its shape: where there is something; NULL: everywhere         */
    double   most;     /* no finite element is greater                                            */
    double   grain;    /* all are multiples of it; 0: of nothing, and sums of them round          */
    double   rough;    /* bits of both may differ, by this part of `most`: what flips by a
                      * rounding must not be asked; 0: they are the same                      */
    bool     infinite; /* of what has infinities, or is NaN, only that it is no number is known */
    bool     summed;   /* signs of zeros may differ: nothing is divided by it                     */
    bool     uniform;  /* what is not stored is one element, so a sparse result must be there     */
    bool     part; /* part of a reduction: its last bits hang on whether the whole is asked for */
    uint64_t axes; /* those that the pattern has for sure, whatever their extents             */
} sparse_pair;

/* Where elements are: a tree of levels. */
typedef struct sparse_places {
    rd_shape shape;
    int      n, n_block;
    rd_level level[SPARSE_RANK];
    int64_t *at; /* of each its place in C order */
} sparse_places;

typedef struct sparse_case {
    rd_ctx       *ctx;
    uint64_t      seed, state;
    void         *block[SPARSE_BLOCKS]; /* memory, exactly as long as it is read */
    int           n_block;
    rd_shape      shape;
    rd_index      origin; /* of the leaves' axes; n == 0: 0 */
    sparse_places places[SPARSE_LEAVES];
    sparse_pair   leaf[SPARSE_LEAVES]; /* of one shape; some have the pattern of the first */
    int           refused;             /* steps that a sparse operand does not take */
    char          steps[400];          /* those that were taken                     */
    char          complaint[800];      /* of a refusal that should not be; "": none  */
} sparse_case;

/* A case: its leaves.  Freed with its memory. */
void sparse_case_begin(sparse_case *c, rd_ctx *ctx, uint64_t seed);
void sparse_case_end(sparse_case *c);
/* Dense memory of random elements. */
sparse_pair sparse_dense_leaf(sparse_case *c, rd_dtype type, rd_shape shape);
/* y, dense, with x's indices along axes of one extent, the last one with the last one. */
sparse_pair sparse_beside(sparse_pair y, const rd_expr *x);
/* One step more, the same of both; x itself where it does not go. */
sparse_pair sparse_step(sparse_case *c, sparse_pair x);
sparse_pair sparse_map(sparse_case *c, sparse_pair x);
/* An operator of ops.def, of complex numbers a row of complex.def. */
sparse_pair sparse_function(sparse_case *c, sparse_pair x);
sparse_pair sparse_view(sparse_case *c, sparse_pair x);
sparse_pair sparse_fold(sparse_case *c, sparse_pair x);
sparse_pair sparse_scan(sparse_case *c, sparse_pair x);
sparse_pair sparse_product(sparse_case *c, sparse_pair x);

/* ---- Whole results --------------------------------------------------------------------------- */
/* What rd_eval_sparse() makes of a sparse x, with the levels of its choice or random ones: index
 * arrays are in order, elements are those of `dense`, which is rd_eval() of x, and with .stored
 * places are those where `stored` is true.  Else there is a complaint. */
void sparse_check_arrays(sparse_case *c, sparse_pair x, const rd_array *dense,
                         const rd_array *stored);

/* ---- For the steps --------------------------------------------------------------------------- */
/* An operand that broadcasts with x. */
sparse_pair sparse_partner(sparse_case *c, sparse_pair x);
/* y after a step on x named `what`, whose both forms are made: y if they are, x if both were refused
 * alike, or the sparse one because it asks for rd_dense() and that `may` be, or for what is not
 * stored.  Else there is a complaint.  `status` and `why` are of the sparse form. */
typedef struct sparse_verdict {
    rd_status status;
    char      why[300];
} sparse_verdict;
void        sparse_note(sparse_case *c, sparse_verdict *v);
sparse_pair sparse_settle(sparse_case *c, const char *what, sparse_pair x, sparse_pair y,
                          const sparse_verdict *v, bool may);

/* y.sparse and y.dense are `call`, in which v and w stand for those of x and z. */
#define SPARSE_BOTH(c, what, x, z, y, may, call)                  \
    do {                                                          \
        sparse_verdict verdict_;                                  \
        rd_expr       *v = (x).sparse, *w = (z).sparse;           \
        (void)w;                                                  \
        (y).sparse = (call);                                      \
        sparse_note(c, &verdict_);                                \
        v         = (x).dense;                                    \
        w         = (z).dense;                                    \
        (y).dense = (call);                                       \
        (y)       = sparse_settle(c, what, x, y, &verdict_, may); \
    } while (0)

/* Is the sum of n elements exact in 24 bits? */
bool sparse_sums_exactly(sparse_pair x, double n);
/* y, a reduction of x with .stored along these axes: where it has elements, if it is sparse. */
sparse_pair sparse_still_stored(sparse_pair x, sparse_pair y, const rd_dims *dims);
/* Says that what two steps came to is wrong. */
void sparse_complain(sparse_case *c, const char *what, const char *why);

/* 0 <= result < n; true once in n */
int  sparse_below(sparse_case *c, int n);
bool sparse_once(sparse_case *c, int n);
/* What a few roundings come to, as a part of the greatest element. */
double sparse_unit(const rd_expr *x);
/* A type of elements, the common ones more often. */
rd_dtype sparse_type(sparse_case *c);
#endif
