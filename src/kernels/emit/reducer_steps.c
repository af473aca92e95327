/* reducer_steps.c - emits the steps of our reducers:
 *
 *     static inline void step0(float *s0, const T x, const T w, const int32_t i) { S(0) += x; }
 *
 * A state is what a reducer remembers of its elements; seen: its last number is a flag that it has
 * met one.  S(k) is number k of the state, x the element, w its weight, i its index, and take its
 * mask.
 *
 * Fields. A fold has `user` if its reducer is the caller's own. */
#include "kernels/emit/reducer_parts.h"
#include <string.h>

/* The C code of each built-in reducer's step, from reducers.def. */
static const char *const step_codes[RD_N_REDUCERS] = {
#define RD_REDUCE_ROW(name, n_state, n_out, law, kinds, cost, op, terminal, facts, neutral, anew, \
                      shown, identity, first, step, block, merge, finish, empty)                  \
    [RD_RED_##name] = #step,
#include "core/reducers.def"
};

/* True if the built-in reducer's step computes an exponential, as of logsumexp. Its code in
 * reducers.def does so by the macro RD_LSE(). */
bool rd_has_exponential(const rd_emit_fold *f)
{
    return rd_reducer_takes_exponential(f->fold->reducer);
}

/* Writes a function made of the step's code of logsumexp, with another meaning of the macro
 * RD_LSE(m, s, x, w, far) in it: `meaning`. head: "T distance". A function without a result (void)
 * changes the states, and gets the exponential as `power`; the others only read them. In RD_LSE m
 * is the scale of a state, s its sum, `far` how far x may be above m without a new scale. */
static void add_of_step(rd_text *to, const rd_emit_fold *f, int number, const char *head,
                        const char *meaning)
{
    const bool changes = strncmp(head, "void", 4) == 0;

    rd_text_add(to,
                "#undef RD_LSE\n#define RD_LSE(m, s, x, w, far) %s\n"
                "static inline %s%d(",
                meaning, head, number);
    rd_add_parameters(to, f, /*nodes=*/false, changes ? "" : "const ", 's');
    rd_text_add(to, ", const T x, const T w%s)\n{\n    %s\n}\n", changes ? ", const T power" : "",
                step_codes[f->fold->reducer]);
}

/* Writes parts of logsumexp's step as functions of their own, so that a loop can take all
 * exponentials by vectors in between. exponent0() is the argument of the exponential for any
 * element. In most strips no element is far enough above the scale m of its state to move it:
 * then distance0() is x - m, moves0() is 0, and near0() adds the exponential to the sum. */
static void add_exponent(rd_text *to, const rd_emit_fold *f, int number)
{
    add_of_step(to, f, number, "T exponent", "return RD_F(lse_exponent)((x) - (m), far);");
    add_of_step(to, f, number, "T distance", "return (x) - (m);");
    add_of_step(to, f, number, "int moves", "return (x) - (m) <= (far) ? 0 : 1;");
    add_of_step(to, f, number, "void near", "(s) = RD_F(fma)((w), power, (s));");
    rd_text_add(to, "#undef RD_LSE\n"
                    "#define RD_LSE(m, s, x, w, far) RD_LSE_BY(power, m, s, x, w, far)\n");
}

/* Writes a step that keeps its new state only where a condition holds, such as the mask "take":
 * "const float k0 = *s0; { code } *s0 = take ? *s0 : k0;". Only the first n_state numbers are kept;
 * the flag behind them is set elsewhere. It has no branch, so vectors compute the step for all
 * elements and blend. */
static void add_kept(rd_text *to, const rd_emit_fold *f, int n_state, const char *code,
                     const char *condition)
{
    for (int k = 0; k < n_state; k++)
        rd_text_add(to, "    const %s k%d = *s%d;\n", rd_state_type(f, k), k, k);
    rd_text_add(to, "    { %s }\n", code);
    for (int k = 0; k < n_state; k++)
        rd_text_add(to, "    *s%d = %s ? *s%d : k%d;\n", k, condition, k, k);
}

/* Writes some0(), the step in a loop that was padded to whole vectors, so that some elements do not
 * exist: `is` is 0 for these, and the state stays. It calls step0() and keeps the old state. */
static void add_some(rd_text *to, const rd_emit_fold *f, int number)
{
    rd_text code = { 0 };

    rd_text_add(&code, "step%d(", number);
    rd_add_each(&code, f, "s%d");
    rd_text_add(&code, ", x, w, i%s);", f->masked ? ", take" : "");
    rd_begin_function(to, f, number, "some", /*nodes=*/false);
    rd_text_add(to, ", const T x, const T w, const %s i%s, const uint8_t is)\n{\n",
                rd_place_type(f), f->masked ? ", const uint8_t take" : "");
    add_kept(to, f, f->n_state, code.at ? code.at : "", "is");
    rd_text_add(to, "}\n");
    rd_text_free(&code);
}

/* True if the reducer is a built-in minimum or maximum of floats. */
static bool is_extreme_of_floats(const rd_emit_fold *f)
{
    const rd_op op = rd_reducer_table[f->fold->reducer].op;

    return !f->user && (op == RD_OP_minimum || op == RD_OP_maximum) &&
           rd_dtype_kind(f->fold->type) == RD_KIND_FLOAT;
}

/* True if the reducer is a minimum or maximum of the elements of a sparse row (by_rows), floats,
 * with a flag `seen` in its state that an element came. Its step compares numbers only, and
 * notes a NaN as bit 2 of the flag. */
bool rd_is_row_extreme(const rd_emit_fold *f)
{
    return f->fold->by_rows && f->seen && is_extreme_of_floats(f);
}

/* True if the reducer has a function one0() for elements one after the other: a minimum or
 * maximum of floats, of a sparse row or by label (n_group > 0). */
bool rd_has_scalar_step(const rd_emit_fold *f)
{
    return rd_is_row_extreme(f) || (f->fold->n_group > 0 && is_extreme_of_floats(f));
}

/* Writes the step of a minimum or maximum, which compares and chooses: "const T k = S(0), z = x
 * < k ? x : k; S(0) = z;". It names the old state by a constant, k. Without that, gcc chooses
 * between numbers in integer registers, and an extreme of rows of seven took 1.6 times as long. */
static void add_extreme(rd_text *to, const rd_emit_fold *f)
{
    const bool least = rd_reducer_table[f->fold->reducer].op == RD_OP_minimum;

    rd_text_add(to, "    const T k = S(0), z = x %c k ? x : k;\n", least ? '<' : '>');
    rd_text_add(to, f->masked ? "    S(0) = take ? z : S(0);\n" : "    S(0) = z;\n");
}

/* Writes the body of the step of a minimum or maximum that notes elements in the flag, which is
 * the last number of the state: 1 for any element, 3 for a NaN (x != x). */
static void add_noting_step(rd_text *to, const rd_emit_fold *f)
{
    add_extreme(to, f);
    rd_text_add(to, "    *s%d |= %s(x != x ? 3 : 1);\n}\n", f->n_state - 1,
                f->masked ? "!take ? 0 : " : "");
}

/* Writes one0(), the step of a serial loop over a sparse row, for a minimum or maximum with a
 * flag. It notes a NaN by a branch, which is hardly ever taken and costs less than setting a bit
 * for each element. */
static void add_one(rd_text *to, const rd_emit_fold *f, int number)
{
    const int seen = f->n_state - 1;

    rd_begin_function(to, f, number, "one", /*nodes=*/false);
    rd_text_add(to, ", const T x, const T w, const %s i%s)\n{\n", rd_place_type(f),
                f->masked ? ", const uint8_t take" : "");
    add_extreme(to, f);
    rd_text_add(to, "    *s%d |= %s1;\n    if (__builtin_expect(%sx != x, 0)) *s%d |= 2;\n}\n",
                seen, f->masked ? "!take ? 0 : " : "", f->masked ? "take && " : "", seen);
}

/* Writes one0() for a minimum or maximum by label. The next element often has the same label and
 * waits for this step, so it is one instruction plus a branch for NaN, which is hardly ever
 * taken. It sets the flag that an element came, if there is one (seen). */
static void add_one_by_label(rd_text *to, const rd_emit_fold *f, int number)
{
    rd_text_add(to, "#ifndef RARELY\n#define RARELY\n#endif\n"); /* for texts without RARELY */
    rd_begin_function(to, f, number, "one", /*nodes=*/false);
    rd_text_add(to, ", const T x, const T w, const %s i%s)\n{\n", rd_place_type(f),
                f->masked ? ", const uint8_t take" : "");
    add_extreme(to, f);
    if (f->seen)
        rd_text_add(to, "    *s%d |= %s;\n", f->n_state - 1, f->masked ? "take != 0" : "1");
    rd_text_add(to, "    if (__builtin_expect(%sx != x, 0)) { RARELY; S(0) = x; }\n}\n",
                f->masked ? "take && " : "");
}

/* Writes fours0(), which takes four elements of a row into the state: first their minimum (or
 * maximum), then that with the state, so that only one comparison waits for the state. Of equal
 * elements the first counts, as it does one by one. A NaN among them sets the flag to 3. */
static void add_fours(rd_text *to, const rd_emit_fold *f, int number)
{
    const char sign = rd_reducer_table[f->fold->reducer].op == RD_OP_minimum ? '<' : '>';

    rd_begin_function(to, f, number, "fours", /*nodes=*/false);
    rd_text_add(
        to,
        ", const T *x)\n{\n"
        "    const T a = x[1] %c x[0] ? x[1] : x[0], b = x[3] %c x[2] ? x[3] : x[2];\n"
        "    const T k = S(0), z = b %c a ? b : a;\n"
        "    S(0) = z %c k ? z : k;\n"
        "    *s%d |= __builtin_isunordered(x[0], x[1]) | __builtin_isunordered(x[2], x[3]) ? 3 : "
        "1;\n"
        "}\n",
        sign, sign, sign, sign, f->n_state - 1);
}

/* Writes step0(), which takes an element x with weight w and index i into a state, and its variants
 * for masks, padding, exponentials and single elements:
 *
 *     static inline void step0(float *s0, const T x, const T w, const int32_t i) { S(0) += x; }
 *
 * seen: the last number of a state is a flag that an element came. An extreme that notes NaNs in
 * that flag has steps of its own. */
void rd_add_step(rd_text *to, const rd_emit_fold *f, int number)
{
    const char *code = step_codes[f->fold->reducer];
    const int   last = f->n_state - f->seen;

    if (rd_has_exponential(f))
        add_exponent(to, f, number);
    rd_begin_function(to, f, number, "step", /*nodes=*/false);
    rd_text_add(to, ", const T x, const T w, const %s i%s%s)\n{\n", rd_place_type(f),
                f->masked ? ", const uint8_t take" : "",
                rd_has_exponential(f) ? ", const T power" : "");
    if (rd_is_row_extreme(f)) {
        add_noting_step(to, f);
        add_one(to, f, number);
        add_some(to, f, number);
        add_fours(to, f, number);
        return;
    }
    if (f->masked)
        add_kept(to, f, last, code, "take");
    else
        rd_text_add(to, "    %s\n", code);
    if (f->seen)
        rd_text_add(to, f->masked ? "    *s%d = take ? 1 : *s%d;\n" : "    *s%d = 1;\n", last,
                    last);
    rd_text_add(to, "}\n");
    if (!rd_has_exponential(f))
        add_some(to, f, number);
    if (rd_has_scalar_step(f))
        add_one_by_label(to, f, number);
}
