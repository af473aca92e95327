/* reducers.c - the rows of reducers.def as a table. */
#include "core/reducers.h"
#include <math.h>
#include <string.h>

enum { VI = 2, NEVER = RD_ENDS_NEVER, LEAST = RD_ENDS_LEAST, MOST = RD_ENDS_MOST };
enum {
    SUM         = RD_IS_SUM,
    PRODUCTS    = RD_MULTIPLIES,
    EXTREME     = RD_IS_EXTREME,
    IDEMPOTENT  = RD_IS_IDEMPOTENT,
    EXPONENTIAL = RD_TAKES_EXPONENTIAL,
    PADS        = RD_PADS
};
#define NONE NAN

const rd_reducer_info rd_reducer_table[RD_N_REDUCERS] = {
#define RD_REDUCE_ROW(name, n_state, n_out, law, kinds, cost, op, terminal, facts, neutral, anew, \
                      shown, identity, first, step, block, merge, finish, empty)                  \
    { #name,                                                                                      \
      shown,                                                                                      \
      n_state,                                                                                    \
      n_out,                                                                                      \
      RD_LAW_##law,                                                                               \
      RD_KINDS_##kinds,                                                                           \
      cost,                                                                                       \
      RD_OP_##op,                                                                                 \
      terminal,                                                                                   \
      facts,                                                                                      \
      neutral,                                                                                    \
      RD_RED_##anew,                                                                              \
      sizeof(#n_state) == sizeof "VI",                                                            \
      sizeof(#empty) > 1 },
#include "core/reducers.def"
    /* the caller's rd_reducer has its numbers of states and outputs */
    { "user", NULL, 0, 1, RD_LAW_serial, RD_KINDS_OWN, 10, RD_OP_none, NEVER, 0, NONE, RD_RED_none,
      false, false },
};

/* The built-in reducer of a name; RD_RED_none: there is none. Built-in ones come before
 * RD_RED_user. */
rd_reducer_id rd_reducer_named(const char *name)
{
    int reducer = 0;

    while (reducer < RD_RED_user && strcmp(rd_reducer_table[reducer].name, name) != 0)
        reducer++;
    return reducer < RD_RED_user ? (rd_reducer_id)reducer : RD_RED_none;
}
