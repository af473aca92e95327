/* reducers_class.h - the rows of reducers.def for one register class.
 *
 * reducer_functions.c includes it once per class, with CLASS (a member of rd_word), T (its C type),
 * PICK, and the RD_ names that differ set.  PICK takes the rows of the kinds the class has. */
#define S(k)  s[k].CLASS
#define A(k)  a[k].CLASS
#define B(k)  b[k].CLASS
#define Y(k)  y[k].CLASS
#define SI(k) s[k].i64
#define BI(k) b[k].i64
#define YI(k) y[k].i64
#define P     ddof
#define WHOLE whole

/* The extremes of the accumulator's type: narrow ints have extremes of their own. */
#define RD_MOST  rd_fold_extreme(type, true).CLASS
#define RD_LEAST rd_fold_extreme(type, false).CLASS

#define CODE(name, part) JOIN(name##_##part, CLASS)
#define ELEMENT          const T x = px.CLASS, w = pw.CLASS;
#define DEFINE(name, identity_code, first_code, step_code, block_code, merge_code, finish_code, \
               empty_code)                                                                      \
    static void CODE(name, identity)(rd_word * s, rd_dtype type)                                \
    {                                                                                           \
        identity_code                                                                           \
    }                                                                                           \
    static void CODE(name, first)(rd_word * s, rd_word px, rd_word pw, int64_t i)               \
    {                                                                                           \
        ELEMENT first_code                                                                      \
    }                                                                                           \
    static void CODE(name, step)(rd_word * s, rd_word px, rd_word pw, int64_t i)                \
    {                                                                                           \
        ELEMENT step_code                                                                       \
    }                                                                                           \
    static void CODE(name, block)(rd_word * s)                                                  \
    {                                                                                           \
        block_code                                                                              \
    }                                                                                           \
    static void CODE(name, merge)(rd_word * s, const rd_word *b)                                \
    {                                                                                           \
        merge_code                                                                              \
    }                                                                                           \
    static void CODE(name, finish)(const rd_word *s, double ddof, int64_t whole, rd_word *y)    \
    {                                                                                           \
        finish_code                                                                             \
    }                                                                                           \
    static void CODE(name, empty)(rd_word * y)                                                  \
    {                                                                                           \
        empty_code                                                                              \
    }

#define DEFINE_LANES(name, n_state, pick_code, align_code, add_code)                      \
    static void CODE(name, pick)(rd_word * s, const rd_word *b)                           \
    {                                                                                     \
        pick_code                                                                         \
    }                                                                                     \
    static void CODE(name, align)(rd_word * s, const rd_word *a)                          \
    {                                                                                     \
        align_code                                                                        \
    }                                                                                     \
    static void CODE(name, add)(rd_word * s, const rd_word *b)                            \
    {                                                                                     \
        add_code                                                                          \
    }                                                                                     \
    static const rd_lanes_code CODE(name, lanes) = { CODE(name, pick), CODE(name, align), \
                                                     CODE(name, add) };

#define RD_REDUCE_ROW(name, n_state, n_out, law, kinds, cost, op, terminal, facts, neutral, anew, \
                      shown, ...)                                                                 \
    PICK(kinds, DEFINE, (name, __VA_ARGS__))
#define RD_LANES_ROW(name, ...) PICK(FLOAT, DEFINE_LANES, (name, __VA_ARGS__))
#include "core/reducers.def"

#define ENTRY(name)                                                                  \
    [RD_RED_##name] = { CODE(name, identity), CODE(name, first), CODE(name, step),   \
                        CODE(name, block),    CODE(name, merge), CODE(name, finish), \
                        CODE(name, empty) },
#define RD_REDUCE_ROW(name, n_state, n_out, law, kinds, ...) PICK(kinds, ENTRY, (name))
static const rd_reducer_code JOIN(table, CLASS)[RD_N_REDUCERS] = {
#include "core/reducers.def"
};
#define ENTRY_OF_LANES(name, ...) [RD_RED_##name] = &CODE(name, lanes),
#define RD_LANES_ROW(name, ...)   PICK(FLOAT, ENTRY_OF_LANES, (name, __VA_ARGS__))
static const rd_lanes_code *const JOIN(lanes, CLASS)[RD_N_REDUCERS] = {
#include "core/reducers.def"
};

#undef S
#undef A
#undef B
#undef Y
#undef SI
#undef BI
#undef YI
#undef P
#undef WHOLE
#undef RD_MOST
#undef RD_LEAST
#undef CODE
#undef ELEMENT
#undef DEFINE
#undef DEFINE_LANES
#undef ENTRY
#undef ENTRY_OF_LANES
#undef PICK
#undef CLASS
#undef T
#undef RD_F
#undef RD_ADD
#undef RD_MUL
#undef RD_ZERO
#undef RD_NAN
