/* accesses.h - how a reduction's operands are read, down to memory: what combine.c decides from. */
#ifndef RD_EVAL_COLLECT_ACCESSES_H
#define RD_EVAL_COLLECT_ACCESSES_H
#include "eval/ir.h"

enum { RD_ACCESS_BUCKETS = 128 };

/* How one operand is read: elements per index of each axis.  A fold among the operands is looked
 * through, down to what it reads: whether its result is at hand or an array is not known yet, and
 * must not matter. */
typedef struct rd_own_access {
    int64_t coef[RD_MAX_AXES];
    rd_set  axes, gathered;
    int     bytes; /* 0: a coordinate, which is computed and not read */
    double  times; /* how many reads are alike                        */
    int32_t next;  /* of its bucket, counted from 1; 0: none          */
} rd_own_access;

/* What a stored value reads, found once for each depth at which it is met. */
typedef struct rd_looked {
    int                  depth, n;
    const rd_own_access *access;
    struct rd_looked    *next;
} rd_looked;

typedef struct rd_fold_reads {
    const rd_graph *graph;
    const rd_value *value;
    rd_own_access  *access; /* each other than all others, in the order in which they were found */
    int             n, room;
    rd_set          space;
    int             depth;                     /* of stored values looked through          */
    int32_t         bucket[RD_ACCESS_BUCKETS]; /* the last access of that hash, from 1 on  */
    rd_looked     **looked;                    /* by value, of all reductions of the graph */
    int32_t         along; /* what rd_stored_along() says; only where no bit depends on it */
} rd_fold_reads;

/* Fills in the accesses of o->value.  False: no memory. */
bool rd_find_accesses(rd_fold_reads *o);
/* stored.c: for each value the axis along which neighbours of what is stored of it lie side by
 * side; -1: nothing is.  NULL: no memory. */
int32_t *rd_stored_along(const rd_graph *graph);
#endif
