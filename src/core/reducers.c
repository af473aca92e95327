/* reducers.c - the rows of reducers.def as a table. */
#include "core/reducers.h"

enum { VI = 2, NEVER = RD_ENDS_NEVER, LEAST = RD_ENDS_LEAST, MOST = RD_ENDS_MOST };

const rd_reducer_info rd_reducer_table[RD_N_REDUCERS] = {
#define RD_REDUCE_ROW(name, n_state, n_out, law, kinds, cost, op, terminal, identity, first, step, \
                      block, merge, finish, empty)                                                 \
    { #name,                                                                                       \
      n_state,                                                                                     \
      n_out,                                                                                       \
      RD_LAW_##law,                                                                                \
      cost,                                                                                        \
      RD_OP_##op,                                                                                  \
      terminal,                                                                                    \
      sizeof(#n_state) == sizeof "VI",                                                             \
      sizeof(#empty) > 1 },
#include "core/reducers.def"
    /* the caller's rd_reducer has its numbers of states and outputs */
    { "user", 0, 1, RD_LAW_serial, 10, RD_OP_none, NEVER, false, false },
};
