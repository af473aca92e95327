/* reducers.h - the reducers of reducers.def as an enum and a table of facts.
 *
 * Code that depends on the reducer asks for a fact of it, not whether it is this one or that: then
 * a new reducer needs no change there. */
#ifndef RD_CORE_REDUCERS_H
#define RD_CORE_REDUCERS_H
#include "core/ops.h"

typedef enum rd_reducer_id {
#define RD_REDUCE_ROW(name, ...) RD_RED_##name,
#include "core/reducers.def"
    RD_RED_user, /* an rd_reducer of the caller */
    RD_N_REDUCERS,
    RD_RED_none = RD_N_REDUCERS
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

/* The kinds of its accumulators; OWN: the caller's, of which nothing is known. */
typedef enum rd_kinds {
    RD_KINDS_ANY,
    RD_KINDS_FLOAT,
    RD_KINDS_INT,
    RD_KINDS_BOOL,
    RD_KINDS_OWN
} rd_kinds;

/* Bits of the column `facts`; reducers.def says what they mean. */
enum {
    RD_IS_SUM            = 1,
    RD_MULTIPLIES        = 2,
    RD_IS_EXTREME        = 4,
    RD_IS_IDEMPOTENT     = 8,
    RD_TAKES_EXPONENTIAL = 16,
    RD_PADS              = 32
};

/* Facts of a reducer, from its row in reducers.def. */
typedef struct rd_reducer_info {
    const char   *name, *shown;   /* shown: what people call it; NULL: by its name */
    int           n_state, n_out; /* registers of a state; results */
    rd_law        law;            /* how elements may be reordered */
    rd_kinds      kinds;
    float         cost;     /* in additions */
    rd_op         op;       /* the operator that takes an element and merges; RD_OP_none */
    int           terminal; /* 0 or 1 among bools, or one of the constants above */
    int           facts;
    double        neutral; /* the element that changes nothing; NaN: there is none */
    rd_reducer_id anew;    /* its twin for scans that begin anew; RD_RED_none */
    bool          place;   /* the result is the position of an element, kept in register 1 */
    bool          empty;   /* the result without elements is not that of the identity */
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

/* The built-in reducer of a name; RD_RED_none: there is none. */
rd_reducer_id rd_reducer_named(const char *name);

/* Returns the name of a reducer that people know: the column `shown` of its table, or its own
 * name. */
static inline const char *rd_reducer_shown(rd_reducer_id reducer)
{
    const rd_reducer_info *info = &rd_reducer_table[reducer];

    return info->shown ? info->shown : info->name;
}

/* True if it is an rd_reducer of the caller, of which the table says nothing. */
static inline bool rd_reducer_is_users(rd_reducer_id reducer)
{
    return reducer == RD_RED_user;
}

/* True if the result is the index of an element, as of argmin. */
static inline bool rd_reducer_places(rd_reducer_id reducer)
{
    return rd_reducer_table[reducer].place;
}

/* True if one bool decides the result, as `true` decides any(), so that a loop may exit early.
 * terminal: that bool, 0 or 1; other values mean the ends of an int type, or that nothing
 * decides. */
static inline bool rd_reducer_decides(rd_reducer_id reducer)
{
    return rd_reducer_table[reducer].terminal == 0 || rd_reducer_table[reducer].terminal == 1;
}

/* True if the result is one of the elements: a minimum or maximum. */
static inline bool rd_reducer_is_extreme(rd_reducer_id reducer)
{
    return rd_reducer_table[reducer].facts & RD_IS_EXTREME;
}

/* True if the result is a sum of elements or products, however it is added up. */
static inline bool rd_reducer_is_sum(rd_reducer_id reducer)
{
    return rd_reducer_table[reducer].facts & RD_IS_SUM;
}

/* True if a state (what the reducer remembers) is one number, the sum of its elements or
 * products. Such sums of f32 add the results of blocks in f64. */
static inline bool rd_reducer_adds(rd_reducer_id reducer)
{
    return rd_reducer_is_sum(reducer) && rd_reducer_table[reducer].n_state == 1;
}

/* True if a state (what the reducer remembers) is the plain sum of the elements: its operator is
 * an addition, with no weight and no product. */
static inline bool rd_reducer_adds_elements(rd_reducer_id reducer)
{
    return rd_reducer_table[reducer].op == RD_OP_add;
}

/* True if the reducer adds products of two operands, so that the second operand is a factor and
 * no weight. */
static inline bool rd_reducer_multiplies(rd_reducer_id reducer)
{
    return rd_reducer_table[reducer].facts & RD_MULTIPLIES;
}

/* True if each step of the reducer takes an exponential, as of logsumexp. Its lanes (partial
 * accumulators) are all scaled to one of them before they are added up. */
static inline bool rd_reducer_takes_exponential(rd_reducer_id reducer)
{
    return rd_reducer_table[reducer].facts & RD_TAKES_EXPONENTIAL;
}

/* True if an element that comes several times changes no more than if it came once, as for min
 * or any, so that ranges of elements may overlap. */
static inline bool rd_reducer_is_idempotent(rd_reducer_id reducer)
{
    return rd_reducer_table[reducer].facts & RD_IS_IDEMPOTENT;
}

/* True if vectors of the reducer may have lanes (partial accumulators) without elements beside
 * lanes that have some; the table's column says so (PADS). */
static inline bool rd_reducer_pads(rd_reducer_id reducer)
{
    return rd_reducer_table[reducer].facts & RD_PADS;
}

/* True if an element x never changes the result: it is the neutral element, such as 0 of a sum.
 * NaN: the reducer has none, and no x equals it. */
static inline bool rd_reducer_ignores(rd_reducer_id reducer, double x)
{
    return rd_reducer_table[reducer].neutral == x;
}

/* True if the result has the same bits however elements are grouped: by law (exact), for minima
 * and maxima, and for sums and products of ints, which wrap. */
static inline bool rd_reducer_any_grouping(rd_reducer_id reducer, rd_dtype type)
{
    const rd_reducer_info *info = &rd_reducer_table[reducer];
    const bool             ints = rd_dtype_kind(type) != RD_KIND_FLOAT;

    return info->law == RD_LAW_exact || rd_reducer_is_extreme(reducer) ||
           (ints && info->kinds == RD_KINDS_ANY);
}
#endif
