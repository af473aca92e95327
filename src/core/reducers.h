/* reducers.h - the reducers of reducers.def as an enum and a table of facts. */
#ifndef RD_CORE_REDUCERS_H
#define RD_CORE_REDUCERS_H
#include "core/ops.h"

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

/* An element after which no other changes the result: a bool, or of ints an end of their type. */
enum { RD_ENDS_NEVER = -1, RD_ENDS_LEAST = 2, RD_ENDS_MOST = 3 };

typedef struct rd_reducer_info {
    const char *name;
    int         n_state, n_out;
    rd_law      law;
    float       cost;
    rd_op       op;       /* that takes an element, and merges; RD_OP_none                      */
    int         terminal; /* 0 or 1, which decides among bools, or one of those above             */
    bool        place;    /* the result is the place of an element, which is register 1         */
    bool        empty;    /* that of no element is not what the identity comes to               */
} rd_reducer_info;

/* The most registers of a state. */
#define VI 2
enum {
    RD_MAX_STATE = sizeof(union {
#define RD_REDUCE_ROW(name, n_state, ...) char name[n_state];
#include "core/reducers.def"
    })
};
#undef VI

extern const rd_reducer_info rd_reducer_table[RD_N_REDUCERS];

/* Of an element when none has come: any element's place is before it. */
#define RD_NO_PLACE INT64_MAX

/* Is the result the place of an element? */
static inline bool rd_reducer_places(rd_reducer_id reducer)
{
    return rd_reducer_table[reducer].place;
}

/* Is it of bools, one of which decides, so that others need not come? */
static inline bool rd_reducer_decides(rd_reducer_id reducer)
{
    return rd_reducer_table[reducer].terminal == 0 || rd_reducer_table[reducer].terminal == 1;
}

/* Does it add up elements, or products?  Sums of f32 do so in f64 from block to block. */
static inline bool rd_reducer_adds(rd_reducer_id reducer)
{
    return reducer == RD_RED_sum || reducer == RD_RED_dot;
}
#endif
