/* reducer_functions.c - emits reducers as functions: the rows of reducers.def.
 *
 *     static inline void begin0(float *s0) { S(0) = RD_ZERO; }
 *     static inline void merge0(double *s0, const double *b0) { S(0) = S(0) + B(0); }
 *
 * A state is what a reducer remembers of its elements, one or several numbers; a node is the state
 * of a finished block. S(k) and B(k) in a row are number k of the two states.
 *
 * Fields. A fold has `user` if its reducer is the caller's own. */
#include "kernels/emit/reducer_parts.h"
#include <string.h>

/* The C code of a reducer's row, by its functions; "" or NULL where the row has none. */
typedef struct fold_code {
    const char *identity, *block, *merge, *finish, *empty;
} fold_code;

/* The code of each reducer, from reducers.def. */
static const fold_code fold_codes[RD_N_REDUCERS] = {
#define RD_REDUCE_ROW(name, n_state, n_out, law, kinds, cost, op, terminal, facts, neutral, anew, \
                      shown, identity, first, step, block, merge, finish, empty)                  \
    [RD_RED_##name] = { #identity, #block, #merge, #finish, #empty },
#include "core/reducers.def"
};

/* The C code that aligns the lanes of a reducer (RD_LANES_ROW); NULL for most reducers. */
typedef struct lanes_code {
    const char *pick, *align, *add;
} lanes_code;

/* The code of each reducer with such lanes, from reducers.def. */
static const lanes_code lanes_codes[RD_N_REDUCERS] = {
#define RD_LANES_ROW(name, n_state, pick, align, add) [RD_RED_##name] = { #pick, #align, #add },
#include "core/reducers.def"
};

/* Returns the greatest or the least value of a type, as C writes it: "127", "INT64_MIN",
 * "INFINITY". The tables are by log2 of the type's bytes. Bools are 0 and 1. */
static const char *extreme_of(rd_dtype type, bool greatest)
{
    static const char *const unsigned_most[]      = { "255", "65535", "0xffffffffu", "UINT64_MAX" },
                             *const signed_most[] = { "127", "32767", "__INT32_MAX__",
                                                      "INT64_MAX" },
                             *const signed_least[] = { "-128", "-32768", "(-__INT32_MAX__ - 1)",
                                                       "INT64_MIN" };
    const int                       log_size       = __builtin_ctz((unsigned)rd_dtype_size(type));

    switch (rd_dtype_kind(type)) {
    case RD_KIND_FLOAT: return greatest ? "INFINITY" : "-INFINITY";
    case RD_KIND_INT: return greatest ? signed_most[log_size] : signed_least[log_size];
    case RD_KIND_UINT: return greatest ? unsigned_most[log_size] : "0";
    default: return greatest ? "1" : "0";
    }
}

/* Writes the macros that the code of reducers.def uses: RD_ZERO, the greatest and least of the
 * type, and RD_NO_PLACE, "no element yet", the greatest value of the type of indices (32 or 64
 * bits). A sum begins with -0, because -0 + x is x also for x = -0; but an empty group (empties)
 * must be +0. */
static void add_extremes(rd_text *to, const rd_emit_fold *fold)
{
    const rd_dtype type = fold->fold->type;

    rd_text_add(to, "#define RD_ZERO %s\n#define RD_MOST %s\n#define RD_LEAST %s\n",
                rd_dtype_kind(type) != RD_KIND_FLOAT                      ? "0"
                : fold->merges_empty && rd_fold_begins_with_0(fold->fold) ? "(T)0.0"
                                                                          : "(T)-0.0",
                extreme_of(type, /*greatest=*/true), extreme_of(type, /*greatest=*/false));
    rd_text_add(to, "#define RD_NO_PLACE %s\n",
                strcmp(rd_place_type(fold), "int32_t") ? "INT64_MAX" : "__INT32_MAX__");
}

/* Writes which RD_BEST argmin and argmax use to compare an element with the best so far; of equal
 * ones that with the lowest index counts. If the elements of a lane (partial accumulator) come by
 * rising index (rises), indices need not be compared: only a better element replaces the best
 * (LATER); under a mask also the first one (FIRST_OR_LATER), as a state may begin without an
 * element. */
static void set_best(rd_text *to, const rd_emit_fold *f, bool rises)
{
    rd_text_add(to, "#undef RD_BEST\n#define RD_BEST RD_BEST_%s\n",
                !rises      ? "ANYWHERE"
                : f->masked ? "FIRST_OR_LATER"
                            : "LATER");
}

/* True if the lanes (partial accumulators) of a built-in reducer are not merged pairwise: all
 * are scaled to one of them first and then added, as for logsumexp. */
bool rd_aligns_lanes(const rd_emit_fold *f)
{
    return f->fold->lanes > 1 && !f->user && lanes_codes[f->fold->reducer].pick;
}

/* Writes the head of a function on two lanes (partial accumulators). head: "void pick"; other: the
 * name of the second lane's numbers.
 *
 *     static inline void pick0(float *s0, .., const float *b0, .. */
static void begin_of_lanes(rd_text *to, const rd_emit_fold *f, int number, const char *head,
                           char other)
{
    rd_text_add(to, "static inline %s%d(", head, number);
    rd_add_parameters(to, f, /*nodes=*/true, "", 's');
    rd_text_add(to, ", ");
    rd_add_parameters(to, f, /*nodes=*/true, "const ", other);
}

/* Writes the functions that merge lanes (partial accumulators) of logsumexp, pairs of a scale
 * and a sum. There are four: pick0() finds the lane to align to. Given an exponential, align0()
 * scales a lane to it, and apart0() returns the argument of that exponential, so that vectors
 * take all exponentials in between. The last, add0(), sums aligned lanes, and joins their flags
 * that an element came (seen). */
static void add_lanes_functions(rd_text *to, const rd_emit_fold *f, int number)
{
    const lanes_code *code = &lanes_codes[f->fold->reducer];

    begin_of_lanes(to, f, number, "void pick", 'b');
    rd_text_add(to, ")\n{\n    %s\n}\n#define A(k) (*a##k)\n", code->pick);
    rd_text_add(to, "#undef RD_LSE_ALIGN\n"
                    "#define RD_LSE_ALIGN(m, s, top) return RD_LSE_APART(m, top);\n");
    begin_of_lanes(to, f, number, "T apart", 'a');
    rd_text_add(to,
                ")\n{\n    %s\n}\n#undef RD_LSE_ALIGN\n"
                "#define RD_LSE_ALIGN(m, s, top) RD_LSE_ALIGN_BY(power, m, s, top)\n",
                code->align);
    begin_of_lanes(to, f, number, "void align", 'a');
    rd_text_add(
        to,
        ", const T power)\n{\n    %s\n}\n#undef RD_LSE_ALIGN\n#define RD_LSE_ALIGN RD_LSE_ALIGN_ITSELF\n#undef A\n",
        code->align);
    begin_of_lanes(to, f, number, "void add", 'b');
    rd_text_add(to, ")\n{\n    %s\n", code->add);
    if (f->seen)
        rd_text_add(to, "    *s%d |= *b%d;\n", f->n_state - 1, f->n_state - 1);
    rd_text_add(to, "}\n");
}

/* The text of RD_NAN, by which an extreme ends where its state is NaN or infinite.  Preludes for
 * the CPU make it of bits of the state.  With a constant, gcc folds comparisons of the result into
 * branches and makes no vectors: slabs of boxes that rays meet took five times as long. */
static const char *nan_of(const rd_emit_fold *f)
{
    if (rd_is_row_extreme(f)) /* beside a state that is a number */
        return "NAN";
    if (!rd_reducer_is_extreme(f->fold->reducer))
        return "NAN";
    return rd_dtype_class(f->fold->type) == RD_CLASS_f64 ? "RD_NAN_BY_F64(S(0))"
                                                         : "RD_NAN_BY_F32(S(0))";
}

/* Writes finish0(), which makes a result of a merged state: "static inline void finish0(const
 * double *s0, float *y0) { .. *y0 = (float)z[0]; }". If the state has met no element (its flag
 * is 0), the row's code for that follows. Bit 2 of the flag says that a step has met a NaN. An
 * argmin that no element has beaten has no index: it is -1 where there may have been no element
 * (a mask, a scan), else 0. */
static void add_finish(rd_text *to, const rd_emit_fold *f, int number)
{
    const fold_code *code = &fold_codes[f->fold->reducer];
    const char      *type = rd_is_place(f->fold) ? "int64_t" : rd_fold_type(f->fold);

    rd_text_add(to, "static inline void finish%d(", number);
    rd_add_parameters(to, f, /*nodes=*/true, "const ", 's');
    for (int k = 0; k < f->fold->n_out; k++)
        rd_text_add(to, ", %s *y%d", type, k);
    rd_text_add(to, ")\n{\n    const double ddof = %.17g;\n    %s z[2];\n", f->fold->ddof,
                rd_is_place(f->fold) ? "int64_t" : "T");
    rd_text_add(
        to, "#define Y(k) z[k]\n#define YI(k) z[k]\n#define P ddof\n#define RD_NAN %s\n    %s\n",
        rd_dtype_kind(f->fold->type) == RD_KIND_FLOAT ? nan_of(f) : "0",
        rd_is_row_extreme(f) ? "Y(0) = S(0);" : code->finish);
    if (rd_is_row_extreme(f))
        rd_text_add(to, "    if (*s%d & 2) { %s }\n", f->n_state - 1, code->empty);
    if (f->seen && !f->fold->identity)
        rd_text_add(to, "    if (!*s%d) { %s }\n", f->n_state - 1, code->empty);
    if (rd_is_place(f->fold))
        rd_text_add(to, "    if (z[0] == RD_NO_PLACE) z[0] = %d;\n",
                    f->masked || f->fold->scan ? -1 : 0); /* all are the worst */
    for (int k = 0; k < f->fold->n_out; k++)
        rd_text_add(to, "    *y%d = (%s)z[%d];\n", k, type, k);
    rd_text_add(to, "}\n#undef Y\n#undef YI\n#undef P\n#undef RD_NAN\n");
}

/* Writes the functions of a built-in reducer, with the code of its row in reducers.def. They are
 * begin0() (identity), step0() (takes an element), block0() (ends a block of steps), merge0()
 * (joins results of two blocks) and finish0(). Functions of exponentials have a form with the
 * exponential in it (RD_LSE_ITSELF) or given. Nodes are f64 where sums of f32 widen. If states have
 * a flag that an element came (seen), begin0() clears it and merge0() joins two. */
void rd_emit_reducer(rd_text *to, const rd_emit_fold *f, int number)
{
    const fold_code *code;

    if (f->user) {
        rd_user_functions(to, f, number);
        return;
    }
    code = &fold_codes[f->fold->reducer];
    rd_text_add(to, "#define S(k) (*s##k)\n#define SI(k) (*s##k)\n"
                    "#define B(k) (*b##k)\n#define BI(k) (*b##k)\n");
    add_extremes(to, f);
    rd_begin_type(to, rd_step_type(f), rd_step_class(f->fold));
    rd_begin_function(to, f, number, "begin", /*nodes=*/false);
    rd_text_add(to, ")\n{\n    %s\n", code->identity);
    if (f->seen)
        rd_text_add(to, "    *s%d = 0;\n", f->n_state - 1);
    rd_text_add(to, "}\n");
    set_best(to, f, rd_is_place(f->fold) && f->places_ascend);
    rd_add_step(to, f, number);
    if (rd_has_exponential(f))
        rd_text_add(to, "#undef RD_LSE\n#define RD_LSE RD_LSE_ITSELF\n");
    set_best(to, f, /*rises=*/false);
    rd_begin_function(to, f, number, "block", /*nodes=*/false);
    rd_text_add(to, ")\n{\n    %s\n}\n", code->block);
    rd_end_type(to);
    rd_begin_type(to, rd_merge_type(f),
                  rd_fold_widens(f->fold) ? RD_CLASS_f64 : rd_step_class(f->fold));
    rd_begin_function(to, f, number, "merge", /*nodes=*/true);
    rd_text_add(to, ", ");
    rd_add_parameters(to, f, /*nodes=*/true, "const ", 'b');
    rd_text_add(to, ")\n{\n    %s\n", code->merge);
    if (f->seen)
        rd_text_add(to, "    *s%d |= *b%d;\n", f->n_state - 1, f->n_state - 1);
    rd_text_add(to, "}\n");
    if (rd_aligns_lanes(f))
        add_lanes_functions(to, f, number);
    add_finish(to, f, number);
    rd_end_type(to);
    rd_text_add(to, "#undef S\n#undef SI\n#undef B\n#undef BI\n"
                    "#undef RD_ZERO\n#undef RD_MOST\n#undef RD_LEAST\n#undef RD_NO_PLACE\n");
}
