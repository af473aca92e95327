/* reducers.h - the reducers of reducers.def as an enum and a table of facts. */
#ifndef RD_CORE_REDUCERS_H
#define RD_CORE_REDUCERS_H
#include "core/dtype.h"

typedef enum rd_reducer_id {
#define RD_REDUCE_ROW(name, ...) RD_RED_##name,
#include "core/reducers.def"
    RD_RED_user, /* an rd_reducer of the caller */
    RD_N_REDUCERS
} rd_reducer_id;

/* What may be done to the order of a reducer's elements without changing its result: exact,
 * anything; commutes, the combine tree with lanes; associates, the tree without lanes in C order;
 * serial, one left fold in C order. */
typedef enum rd_law { RD_LAW_exact, RD_LAW_commutes, RD_LAW_associates, RD_LAW_serial } rd_law;

typedef struct rd_reducer_info {
    const char *name;
    int         n_state, n_out;
    rd_law      law;
    float       cost;
} rd_reducer_info;

extern const rd_reducer_info rd_reducer_table[RD_N_REDUCERS];

/* Does it add up elements, or products?  Sums of f32 do so in f64 from block to block. */
static inline bool rd_reducer_adds(rd_reducer_id reducer)
{
    return reducer == RD_RED_sum || reducer == RD_RED_dot;
}
#endif
