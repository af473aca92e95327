/* simd.h - kernels on rows of elements: one table per instruction set, filled by the same source.
 *
 * A kernel knows no loops of a program, no trees and no slots: it gets pointers to contiguous
 * elements.  All tables give the same bits.  Maps consist of operations that IEEE 754 rounds
 * correctly, one result per element.  Folds add in the order that the caller gives. */
#ifndef RD_KERNELS_CPU_SIMD_H
#define RD_KERNELS_CPU_SIMD_H
#include "core/ops.h"
#include "core/reducers.h"
#include "core/combine_tree.h"
#include "kernels/compress.h"

/* The elements of registers, contiguous: f32 and f64 as they are, ints widened to 64 bits, bool as
 * bytes 0 or 1.  Narrow floats exist in memory only; some folds widen them as they
 * load them. */
typedef enum rd_elem {
    RD_ELEM_f32,
    RD_ELEM_f64,
    RD_ELEM_i64,
    RD_ELEM_u64,
    RD_ELEM_b8,
#define RD_DTYPE(...)
#define RD_NARROW_FLOAT(type, name, ...) RD_ELEM_##name,
#include "core/dtypes.def"
    RD_N_ELEMS
} rd_elem;

rd_elem rd_elem_of(rd_dtype type);

/* Returns the bytes of an element; narrow floats of memory follow b8 in the list. */
static inline int rd_elem_size(rd_elem elem)
{
    static const int size[RD_N_ELEMS] = {
        4, 8, 8, 8, 1,
#define RD_DTYPE(...)
#define RD_NARROW_FLOAT(type, name, C, ...) sizeof(C),
#include "core/dtypes.def"
    };

    return size[elem];
}

/* True of elements that are narrow floats in memory. */
static inline bool rd_elem_is_narrow_float(rd_elem elem)
{
    return elem > RD_ELEM_b8;
}

enum { RD_N_DTYPES = RD_F8 + 1, RD_N_FORMS = 8 };

/* y[i] = f(a[i], b[i], c[i]); y may be an operand.  In a form, bit k says that operand k is one
 * element for all i. */
typedef void rd_simd_map(int64_t n, void *y, const void *a, const void *b, const void *c,
                         uint32_t *warnings);
/* Loads from memory of a type to contiguous elements, and stores to it; the stride is in elements
 * of memory. */
typedef void rd_simd_load(int64_t n, void *y, const void *x, int64_t stride);
typedef void rd_simd_store(int64_t n, void *y, int64_t stride, const void *x);
/* Transposes: y[i ldy + j] = x[j ldx + i] for i < n, j < m, of any type of a size; strides in
 * elements.  Meanwhile the elements `ahead` of those of x are prefetched into the second-level
 * cache; 0: none. */
typedef void rd_simd_transpose(int64_t n, int64_t m, void *y, int64_t ldy, const void *x,
                               int64_t ldx, int64_t ahead);
/* Casts: y[i] = x[i] in another element.  The caller wraps results of narrow types. */
typedef void rd_simd_cast(int64_t n, void *y, const void *x);
/* Wraps elements to their narrow type in place: cuts ints, rounds halves. */
typedef void rd_simd_wrap(int64_t n, void *y);

/* The operands of a fold kernel: `rows` rows of n elements, which update n contiguous states, first
 * row first. */
typedef struct rd_fold_rows {
    void       *s[RD_MAX_STATE]; /* state k of all n                                     */
    int64_t     n, rows, along;  /* along: of blocks, elements of a row, steps of n; of totals, of a
                                  * block */
    const void *x, *y;           /* elements; weights, factors or a fused map's second operand */
    int64_t     ldx, ldy;        /* elements from row to row                             */
    int64_t     index, index_row, index_col; /* flat index of element (0, 0), and its steps */
    int64_t coly;  /* of y from column to column: 1, one for a row 0, more: kernels transpose it */
    int64_t below; /* rows below that are prefetched where y is transposed */
    const void *mask; /* of masked steps: bytes, 1 for the elements that count, like x */
    int64_t     ldm;
} rd_fold_rows;

typedef void rd_simd_rows(const rd_fold_rows *q);
/* Updates cells one after the other, each of all lanes; the next cell's elements are `x` and `y`
 * further on.  Fresh cells begin with their first row. */
typedef void rd_simd_cells(const rd_fold_rows *q, int64_t cells, int64_t x, int64_t y, bool fresh);
/* Folds rows that are whole folds, of a few blocks of the combine tree at most: y[r] = finished
 * state of row r. */
enum { RD_TOTAL_LEVELS = 5, RD_TOTAL_BLOCKS = 1 << (RD_TOTAL_LEVELS - 1) };
typedef void rd_simd_totals(const rd_fold_rows *q, void *y);
/* Folds full blocks: `rows` rows for each of `blocks` blocks of all lanes, a power of two.  The
 * blocks become one node of the combine tree, node[0][l] being its state of lane l.  node[1 .. log2
 * blocks] are scratch for nodes below it. */
typedef void rd_simd_block(const rd_fold_rows *q, int64_t blocks, void *const *node);

/* The operands of a group-by kernel: n neighbours.  Element c updates state cell + c cell_col +
 * label apart of lane (lane + c lane_col) mod lanes.  It updates state `nowhere` if its label is
 * not in [0, n_group). */
typedef struct rd_group_row {
    void       *s[RD_MAX_STATE]; /* state k of all cells, lane after lane, `stride` apart */
    int64_t     n, n_group, apart, cell, cell_col, nowhere, lane, lane_col, lanes, stride;
    const void *x, *y, *label;         /* y: weights or factors, or NULL                        */
    int64_t     colx, coly, col_label; /* from element to element: 1, or 0: it is one for all  */
    int64_t     index, index_col;
    /* of sums, if cells are neighbours and labels are one for a row: of more than one row */
    int64_t rows, ldx, row_label;
    bool    far; /* the states are more than a second-level cache holds */
} rd_group_row;

/* Returns the subscript of the state that element c with this label updates: the cell of its group,
 * or `nowhere` if the label names none, in the array of its lane.  The number of lanes is a power
 * of two. */
static inline int64_t rd_group_state(const rd_group_row *q, int64_t c, int64_t label)
{
    const int64_t at = (uint64_t)label < (uint64_t)q->n_group
                           ? q->cell + c * q->cell_col + label * q->apart
                           : q->nowhere;

    return at + ((q->lane + c * q->lane_col) & (q->lanes - 1)) * q->stride;
}

/* Updates the states of groups.  Labels are int64_t, but kernels of group_sum read the type that
 * memory has. */
typedef void rd_simd_group(const rd_group_row *q);

/* A reducer's kernels on contiguous states.  States of finished blocks have elements `counter`: f64
 * for sums of f32. */
typedef struct rd_fold_code {
    rd_elem        counter;
    rd_simd_rows  *first; /* begins states with one row        */
    rd_simd_rows  *step;
    rd_simd_rows  *masked; /* takes those that count into states that have begun; NULL where what
                           * does not may be the identity */
    rd_simd_rows  *along;  /* begins state r with row r, n elements one after the other */
    rd_simd_group *group;  /* takes neighbours of groups into states that have begun */
    void (*block)(int64_t n, void *const *s); /* NULL: nothing to do */
    void (*widen)(int64_t n, void *const *to, void *const *s);
    void (*merge)(int64_t n, void *const *a, void *const *b);
    /* The first n of so many lanes, side by side, become one, the first; NULL: they merge. */
    void (*lanes)(int64_t n, int64_t lanes, void *const *s);
    void (*finish)(int64_t n, void *const *s, double ddof, void *const *y);
    bool uncounted; /* state 0 counts elements, but a step without weights leaves that to callers */
} rd_fold_code;

/* Finds the best element of x[0 .. n), the first of equals.  If it is better than *best, sets *best
 * to it and returns its place; else returns -1. */
typedef int64_t rd_simd_best(int64_t n, const void *x, void *best);

/* Counts the elements of x[0 .. n) that compare true with *limit. */
typedef int64_t rd_simd_count_if(int64_t n, const void *x, const void *limit);

/* sums[i mod period] += x[i] for ints of up to 16 bits; period at most RD_SMALL_PERIOD. */
enum { RD_SMALL_PERIOD = 16 };
typedef void rd_simd_small(int64_t n, int64_t period, const void *x, int64_t *sums);

/* Maps that are fused into the step of a reducer (fused_folds.def): it folds f(x, y). */
typedef enum rd_fused {
    RD_FUSED_none,
    RD_FUSED_square,
    RD_FUSED_abs,
    RD_FUSED_mul,
    RD_FUSED_sub,
    RD_FUSED_add,
    RD_FUSED_sqdiff,
    RD_FUSED_absdiff,
    RD_FUSED_scale, /* from here on y is one number for each row */
    RD_FUSED_sqshift,
    RD_FUSED_absshift,
    RD_N_FUSED
} rd_fused;
/* True if the second operand of the fused map is one number for each row. */
static inline bool rd_fused_by_row(rd_fused map)
{
    return map >= RD_FUSED_scale;
}

/* c[r,j] = sum over k of a[r,k] b[k,j] for r < rows, j < cols, k < steps; steps in elements, those
 * of b and c along j are 1. */
typedef struct rd_product_tile {
    const void *a, *b;
    void       *c;
    int64_t     rows, cols, steps, a_row, a_step, b_row, c_row;
} rd_product_tile;

/* The most steps of a product: the combine tree of its blocks has so many levels. */
enum { RD_PRODUCT_NODES = 16, RD_PRODUCT_STEPS = RD_TREE_STEPS << (RD_PRODUCT_NODES - 2) };
typedef void rd_simd_product(const rd_product_tile *q);

/* The state of a scan along a row of memory: RD_PREFIX_TREE of kernels/program.h. */
enum { RD_SCAN_BLOCK = RD_TREE_STEPS };
typedef struct rd_scan_state {
    int64_t  n;                   /* elements taken                                      */
    uint64_t part[RD_SCAN_BLOCK]; /* floats: elements of the current block, side by side */
    uint64_t hi, lo;              /* what the blocks before come to; ints: all elements  */
    double   sums[];              /* sums of floats: kernels/math/prefix_sums.h               */
} rd_scan_state;

/* The states of neighbouring scans: hi and lo are the prefix of the blocks before, `part` the
 * prefix within the current block.  All are identities before the first element.  lo and sums exist
 * for sums of floats only; sums are `pitch` apart (kernels/math/prefix_sums.h). */
typedef struct rd_scan_columns {
    void   *hi, *lo, *part;
    double *sums;
    int64_t pitch;
} rd_scan_columns;

/* The operands of a scan kernel: rows of elements, and rows of results. */
typedef struct rd_scan_rows {
    int64_t     n, rows;
    const void *x;
    void       *y;
    int64_t     ldx, ldy;    /* from row to row, in elements                          */
    bool        nontemporal; /* results by non-temporal stores: rows begin at cache lines */
} rd_scan_rows;

typedef struct rd_scan_code {
    /* Scans n contiguous elements of one scan. */
    void (*along)(rd_scan_state *s, int64_t n, void *y, const void *x, bool exclusive,
                  bool nontemporal);
    /* Neighbouring scans.  start: initialises them.  rows: takes rows within a block.  block: ends
     * block number `block`.  prefix: writes the results without a further row. */
    void (*start)(int64_t n, const rd_scan_columns *s);
    void (*rows)(const rd_scan_columns *s, const rd_scan_rows *q);
    void (*block)(int64_t n, const rd_scan_columns *s, int64_t block);
    void (*prefix)(int64_t n, const rd_scan_columns *s, void *y);
    bool nontemporal; /* kernels can write results by non-temporal stores */
} rd_scan_code;

/* The operands of a scan by a reducer that no operator merges: rows of one block.  Kernel `rows`
 * updates neighbouring states row after row.  Kernel `along` scans each row for itself; the state
 * of row r is r s_row further on. */
typedef struct rd_running {
    void       *s[RD_MAX_STATE];      /* of the current block, which have begun     */
    const void *before[RD_MAX_STATE]; /* of the blocks before; NULL: there are none */
    int64_t     s_row, n, rows;
    const void *x, *w; /* w: weights, or NULL */
    int64_t     ldx, ldw;
    int64_t     index, index_row, index_col;
    double      ddof;
    void       *y;
    int64_t     ldy; /* bytes from row to row */
} rd_running;

/* The kernels of such a scan; NULL where the kernels of the fold must do it step by step. */
typedef struct rd_running_code {
    void (*rows)(const rd_running *q);
    void (*along)(const rd_running *q);
} rd_running_code;

/* The kernels of one instruction set; `probe` says whether the processor has it. */
typedef struct rd_simd {
    const char *name;
    int32_t     vector; /* its bytes */
    bool (*probe)(void);
    rd_simd_map *const (*map[RD_N_ELEMS])[RD_N_FORMS]; /* [operands' element][op][form] */
    rd_simd_map *const   *select[RD_N_ELEMS];          /* [element][form]; a is of b8 */
    rd_simd_cast *const  *cast[RD_N_ELEMS];            /* [to][from] */
    rd_simd_cast *const  *cast_half;                   /* [from]; to f32, to be rounded again */
    rd_simd_load *const  *load;                        /* [type] */
    rd_simd_store *const *store;                       /* [type] */
    rd_simd_wrap *const  *wrap;                        /* [type]; NULL: nothing to cut */
    const rd_fold_code   *fold[RD_N_ELEMS];            /* [accumulator's element][reducer] */
    const rd_fold_code   *short_sum; /* [reducer] of f32, of one step: lanes merge as f32 */
    rd_simd_rows *const (*fused[RD_N_ELEMS])[RD_N_FUSED]; /* [operands' element][reducer][map],
                                                              * or NULL */
    rd_simd_rows *const (
        *transposed[RD_N_ELEMS])[RD_N_FUSED];                /* likewise: y lies in columns, q->coly
                                                              * apart */
    rd_simd_cells *const (*cells[RD_N_ELEMS])[RD_N_FUSED];   /* likewise                          */
    rd_simd_totals *const (*totals[RD_N_ELEMS])[RD_N_FUSED]; /* likewise                          */
    rd_simd_block *const (*blocks[RD_N_ELEMS])[RD_N_FUSED];  /* likewise                          */
    rd_simd_best *const *best[RD_N_ELEMS];      /* [element][reducer]: of places, or NULL */
    rd_simd_rows *const *best_rows[RD_N_ELEMS]; /* their step where rows come by rising index */
    int64_t (*count)(int64_t n, const void *x); /* of bytes 1 among bytes 0 */
    rd_simd_count_if *const (*count_if[RD_N_ELEMS])[2]; /* [element][comparison][of magnitudes],
                                                            * or NULL */
    rd_simd_small *const *small;                        /* [type], or NULL */
    rd_simd_group *const *const (
        *group_sum)[RD_N_ELEMS];                /* [accumulator's element][operand's][label's
                                                      * type], or NULL */
    const rd_scan_code    *scan[RD_N_ELEMS];    /* [element][reducer] */
    const rd_running_code *running[RD_N_ELEMS]; /* likewise            */
    rd_simd_product       *product[RD_N_ELEMS]; /* f32, f64 */
    void (*copy_nontemporal)(int64_t bytes, void *y, const void *x); /* by non-temporal stores */
    rd_simd_transpose *transpose[9]; /* [bytes of an element]: 1, 2, 4, 8 */
    rd_simd_transpose
        *transpose_nontemporal[9]; /* likewise, rows of y aligned to cache lines; or NULL */
    rd_compressors picks;
} rd_simd;

extern const rd_simd rd_simd_baseline, rd_simd_avx2, rd_simd_avx512;

/* Returns the kernel that casts to elements of a type, before they are wrapped.  A cast to a half
 * makes f32 that are rounded once more. */
static inline rd_simd_cast *rd_simd_cast_to(const rd_simd *simd, rd_dtype to, rd_elem from)
{
    return rd_dtype_is_narrow_float(to) ? simd->cast_half[from] : simd->cast[rd_elem_of(to)][from];
}

/* True if kernels prefetch rows of memory in addition to the hardware prefetcher.  It depends on
 * the processor, or on the environment variable RDIM_FETCH=0 or 1. */
extern bool rd_prefetches_rows;
/* True if compiled loops over several rows prefetch the rows behind them, in the order of
 * memory. */
extern bool rd_prefetches_rows_behind;

/* The best table of this machine. */
const rd_simd *rd_simd_here(void);
/* The table of that name, NULL if there is none or it cannot run here. */
const rd_simd *rd_simd_named(const char *name);
#endif
