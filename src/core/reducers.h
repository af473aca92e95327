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

/* How a reducer's elements may be reordered without changing its result:
 *
 *    exact        in any way
 *    commutes     by the combine tree with lanes
 *    associates   by the combine tree without lanes, in C order
 *    serial       not at all: one left fold in C order */
typedef enum rd_law { RD_LAW_exact, RD_LAW_commutes, RD_LAW_associates, RD_LAW_serial } rd_law;

/* Terminal elements, after which no other changes the result: 0 or 1 of bools, or an end of an
 * int type. */
enum { RD_ENDS_NEVER = -1, RD_ENDS_LEAST = 2, RD_ENDS_MOST = 3 };

/* Facts of a reducer, from its row in reducers.def. */
typedef struct rd_reducer_info {
    const char *name;
    int         n_state, n_out; /* registers of a state; results */
    rd_law      law;            /* how elements may be reordered */
    float       cost;           /* in additions */
    rd_op       op;             /* the operator that takes an element and merges; RD_OP_none */
    int         terminal;       /* 0 or 1 among bools, or one of the constants above */
    bool        place;          /* the result is the position of an element, kept in register 1 */
    bool        empty;          /* the result without elements is not that of the identity */
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

/* Position before any element has come; every real position is less. */
#define RD_NO_PLACE INT64_MAX

/* True if the result is the position of an element. */
static inline bool rd_reducer_places(rd_reducer_id reducer)
{
    return rd_reducer_table[reducer].place;
}

/* True if one bool decides the result, so that a loop may exit early. */
static inline bool rd_reducer_decides(rd_reducer_id reducer)
{
    return rd_reducer_table[reducer].terminal == 0 || rd_reducer_table[reducer].terminal == 1;
}

/* True if the reducer adds elements or products.  Sums of f32 add blocks in f64. */
static inline bool rd_reducer_adds(rd_reducer_id reducer)
{
    return reducer == RD_RED_sum || reducer == RD_RED_dot;
}
#endif
