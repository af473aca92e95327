/* loop_walk.h - some rounds of a loop of a tree, run without data: which elements and which states
 * its statements touch, in which order. */
#ifndef RD_TESTS_LOOP_WALK_H
#define RD_TESTS_LOOP_WALK_H
#include "kernels/loop/facts.h"

enum { WALK_TOUCHES = 160, WALK_DEPTH = 12 };

/* One element of memory, or some states of a fold, that a statement has touched. */
typedef struct touch {
    int32_t stmt, which;        /* which of rd_accesses_of(), -1: of a fold              */
    bool    writes, known;      /* known: no number of memory says where                 */
    int64_t at, n;              /* memory: elements from there on; folds: the cell       */
    int64_t lane, step;         /* lane -1: all lanes, and of BEGIN all cells            */
    int64_t round;              /* of the loop                                           */
    int64_t inside[WALK_DEPTH]; /* rounds of the loops in it around the statement       */
    int32_t depth;
} touch;

typedef struct walk {
    const rd_schedule *t;
    int32_t            loop, n;
    bool               full; /* there was more than has room */
    touch              touch[WALK_TOUCHES];
} walk;

/* The first time that the loop is run; of each loop a few rounds: the first three, one in the middle
 * and the last.  False: memory says how many there are. */
bool walk_loop(walk *w, const rd_schedule *t, int32_t loop);
/* Do two touches need the order that they have?  Not where both only read, or take elements of a
 * fold that any order suits. */
bool walk_conflict(const walk *w, const touch *a, const touch *b);
#endif
