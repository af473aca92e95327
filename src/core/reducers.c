/* reducers.c - the rows of reducers.def as a table. */
#include "core/reducers.h"

enum { VI = 2 };

const rd_reducer_info rd_reducer_table[RD_N_REDUCERS] = {
#define RD_REDUCE_ROW(name, n_state, n_out, law, kinds, cost, ...) \
    { #name, n_state, n_out, RD_LAW_##law, cost },
#include "core/reducers.def"
    { "user", 0, 1, RD_LAW_serial, 10 }, /* the rd_reducer itself says how many of each */
};
