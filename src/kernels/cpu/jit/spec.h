/* spec.h - what is to be compiled: one pass over rows of elements, apart from where they lie and
 * how many there are.
 *
 * A list of instructions on one element each; an operand is named by the number of the instruction
 * that made it.  Equal bytes are equal passes, so a spec is its own key: it has no bytes between
 * its members, and holds classes, not extents, but for short loops, which are written out, or kept
 * as loops of a constant extent. */
#ifndef RD_KERNELS_CPU_JIT_SPEC_H
#define RD_KERNELS_CPU_JIT_SPEC_H
#include "core/ops.h"
#include "core/reducers.h"

enum {
    RD_SPEC_INSTS    = 512,
    RD_SPEC_OPERANDS = 128,
    RD_SPEC_FOLDS    = 4,
    RD_SPEC_STATES   = 12,
    RD_SPEC_LOOPS    = 8
};

typedef enum rd_spec_kind {
    RD_SPEC_LOAD,   /* element of an operand                  */
    RD_SPEC_STORE,  /* element of an operand = a              */
    RD_SPEC_CONST,  /* value                                  */
    RD_SPEC_MAP,    /* op(a, b, c)                            */
    RD_SPEC_CAST,   /* a from type `from`                     */
    RD_SPEC_SELECT, /* a ? b : c                              */
    /* what op(a, sum), min and max, op(sum, a), the others, or fma(a, b, sum) comes to over the
     * indices of a short loop, from c on */
    RD_SPEC_SUM,
    RD_SPEC_STEP,  /* a fold takes a, of dot a b; else b is a */
    RD_SPEC_CLOSE, /* of PHASES: what fold `at` of a phase before comes to, with ddof `value`     */
    RD_SPEC_GIVEN  /* where a phase is emitted: made outside of it    */
} rd_spec_kind;

typedef struct rd_spec_inst {
    uint8_t  kind, op, type, from; /* rd_spec_kind, rd_op, rd_dtype of the result and, MAP tests and
                                    * CAST, of operands */
    int16_t  a, b, c;
    int16_t  at;    /* LOAD, STORE: operand; STEP: fold            */
    int16_t  loop;  /* the short loop that it is in, from 1; 0: none */
    int16_t  phase; /* the phase that it is in, from 1; 0: none      */
    uint64_t value;
} rd_spec_inst;

/* How an operand moves from column to column. */
typedef enum rd_spec_walk { RD_WALK_STAYS, RD_WALK_BESIDE, RD_WALK_APART } rd_spec_walk;

typedef struct rd_spec_operand {
    uint8_t type;      /* rd_dtype, as it lies in memory          */
    uint8_t walk;      /* rd_spec_walk                            */
    uint8_t every_row; /* the same in all rows                    */
    uint8_t of;        /* it lies `ahead` elements from this operand, or is itself */
    int16_t ahead;
    uint8_t past; /* it is stored past the caches: by passes and phases without folds       */
    uint8_t loop; /* it moves with the index of that short loop, from 1; 0: of none */
} rd_spec_operand;

typedef struct rd_spec_fold {
    uint8_t reducer, type; /* rd_reducer_id; of the elements */
    uint8_t widens;        /* states of finished blocks merge as f64 */
    uint8_t phase;         /* that feeds it, from 1; 0: there are none */
} rd_spec_fold;

typedef enum rd_spec_form {
    RD_SPEC_MAPS,    /* no folds                                              */
    RD_SPEC_LANES,   /* a row is as many neighbouring lanes of one result     */
    RD_SPEC_COLUMNS, /* neighbours belong to neighbouring results of one lane */
    RD_SPEC_TOTALS,  /* a row is all of a fold, of RD_SPEC_BLOCKS at most     */
    RD_SPEC_PHASES   /* maps and totals one after the other, for each row     */
} rd_spec_form;

/* Levels of the combine tree of totals, and the blocks that it can have. */
enum { RD_SPEC_LEVELS = 5, RD_SPEC_BLOCKS = 1 << (RD_SPEC_LEVELS - 1) };

typedef struct rd_spec {
    uint8_t         vector; /* bytes of a vector: of 16 baseline, 32 avx2, 64 avx512 */
    uint8_t         form;   /* rd_spec_form                                          */
    uint8_t         lanes;  /* of the folds                                          */
    uint8_t         n_operand, n_fold, n_loop;
    uint8_t         blocks; /* totals of more than one block */
    uint8_t         phase;  /* where one is emitted: which */
    int16_t         n_inst;
    uint8_t         extent[RD_SPEC_LOOPS]; /* of short loops */
    rd_spec_operand operand[RD_SPEC_OPERANDS];
    rd_spec_fold    fold[RD_SPEC_FOLDS];
    rd_spec_inst    inst[RD_SPEC_INSTS];
} rd_spec;

/* Of what is in use. */
static inline size_t rd_spec_bytes(const rd_spec *spec)
{
    return offsetof(rd_spec, inst) + (size_t)spec->n_inst * sizeof *spec->inst;
}
#endif
