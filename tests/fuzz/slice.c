/* slice.c - views of a small array, one after the other: slice texts, formulas' subscripts, and the calls with
 * any numbers, and gathers by index arrays of any integer type.
 *
 * Beside each stands a model: which element of the operand each place of the result is, by loops over lists of
 * places.  What the model refuses the library must refuse, and the other way round; in the end the elements are
 * compared.  An index array may have indices outside: then evaluation is refused, unless nothing needs them. */
#include "fuzz/slice_model.h"
#include "fuzz/driver.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const rd_fuzz_words[] = { ":",
                                      "::-1",
                                      "...",
                                      "new",
                                      ",",
                                      ";",
                                      "-1",
                                      "0",
                                      "1:",
                                      ":-1",
                                      "2:10:2",
                                      "::2",
                                      " ",
                                      "::",
                                      "1",
                                      "-3",
                                      "3",
                                      "::-2",
                                      "\t",
                                      "-",
                                      "7:",
                                      "-9:9",
                                      "+",
                                      "9223372036854775807",
                                      "-9223372036854775807",
                                      NULL };

typedef struct state {
    rd_ctx     *ctx;
    fuzz_bytes *in;
    rd_expr    *x;
    model       m;
    bool        over; /* a step was refused, or is too large to go on */
} state;

/* ---- One step: the library's, and the model's ---------------------------------------------------------- */
/* Both have taken it, or both not. */
static void step(state *s, rd_expr *y, bool right, const lists *l, const char *call)
{
    if (!y && right)
        fuzz_wrong("%s: refused what is right: %s", call, rd_error_text(s->ctx));
    if (y && !right)
        fuzz_wrong("%s: took what is wrong", call);
    if (!y) {
        fuzz_refusal(s->ctx, call);
        s->over = true;
        return;
    }
    s->over = !model_step(&s->m, l);
    s->x    = y;
    if (y->rank != s->m.rank)
        fuzz_wrong("%s: rank %d instead of %d", call, y->rank, s->m.rank);
    for (int a = 0; a < y->rank; a++)
        if (y->extent[a] != s->m.extent[a])
            fuzz_wrong("%s: axis %d has extent %" PRId64 " instead of %" PRId64, call, a,
                       y->extent[a], s->m.extent[a]);
    const rd_index origin = rd_origin_of(y);

    for (int a = 0; a < y->rank; a++) {
        if (l->knows_origin && origin.at[a] != s->m.origin[a])
            fuzz_wrong("%s: axis %d begins at %" PRId64 " instead of %" PRId64, call, a,
                       origin.at[a], s->m.origin[a]);
        s->m.origin[a] = origin.at[a];
    }
}

static void by_text(state *s)
{
    char *const text = fuzz_text(s->in, ';');
    lists       l;
    const bool  right = model_text(&s->m, text, &l);

    step(s, rd_slice(s->x, text), right, &l, "rd_slice");
    free(text);
}

/* Formulas have more subscripts than slices; they count from 0. */
static void by_formula(state *s)
{
    char *const text = fuzz_text(s->in, ';'), *const whole = malloc(strlen(text) + 4);
    lists l;
    bool  right = model_text(&s->m, text, &l) && !strstr(text, "new");

    for (int a = 0; a < s->m.rank; a++)
        right = right && s->m.origin[a] == 0;
    snprintf(whole, strlen(text) + 4, "x[%s]", text);
    const rd_named        in   = { .name = "x", .x = s->x };
    const rd_formula_opts opts = { .size = sizeof opts, .n_in = 1, .in = &in };
    rd_named              out;
    const int             n = rd_formula_all(s->ctx, whole, &opts, 1, &out);
    rd_expr *const        y = n == 1 ? out.x : NULL;

    if (right)
        step(s, y, true, &l, "rd_formula");
    else if (!y)
        fuzz_refusal(s->ctx, NULL);
    free(text);
    free(whole);
}

static int read_axis(state *s)
{
    const int64_t n = fuzz_number(s->in);

    return n < INT32_MIN ? INT32_MIN : n > INT32_MAX ? INT32_MAX : (int)n;
}

/* The axis that the number says, or -1. */
static int real_axis(const state *s, int axis)
{
    const int rank = s->m.rank;

    return axis < -rank || axis >= rank ? -1 : axis < 0 ? axis + rank : axis;
}

static void by_select(state *s)
{
    const int     axis = read_axis(s), a = real_axis(s, axis);
    const int64_t i = fuzz_number(s->in);
    lists         l;
    const bool    right = a >= 0 && model_select(&s->m, a, i, &l);

    step(s, rd_select(s->x, axis, i), right, &l, "rd_select");
}

static int64_t read_bound(state *s)
{
    const uint8_t open = fuzz_byte(s->in);

    return open % 4 == 3 ? RD_OPEN : fuzz_number(s->in);
}

static void by_range(state *s)
{
    const int     axis = read_axis(s), a = real_axis(s, axis);
    const int64_t start = read_bound(s), stop = read_bound(s), by = fuzz_number(s->in);
    lists         l;
    const bool    right = a >= 0 && by != 0;

    if (right)
        model_range(&s->m, a, start, stop, by, &l);
    step(s, rd_slice_axis(s->x, axis, start, stop, by), right, &l, "rd_slice_axis");
}

static void by_permute(state *s)
{
    rd_index order = { .n = fuzz_below(s->in, 5) };
    lists    l;

    for (int k = 0; k < order.n; k++)
        order.at[k] = fuzz_number(s->in);
    const bool right = model_permute(&s->m, &order, &l);

    step(s, rd_permute(s->x, order), right, &l, "rd_permute");
}

static void by_diagonal(state *s)
{
    const int     axis1 = read_axis(s), axis2 = read_axis(s);
    const int     a = real_axis(s, axis1), b = real_axis(s, axis2);
    const int64_t offset = fuzz_number(s->in);
    lists         l;
    const bool    right = a >= 0 && b >= 0 && a != b;

    if (right)
        model_diagonal(&s->m, a, b, offset, &l);
    step(s, rd_diagonal(s->x, axis1, axis2, offset), right, &l, "rd_diagonal");
}

static void by_window(state *s)
{
    const int     axis = read_axis(s), a = real_axis(s, axis);
    const int64_t n = fuzz_number(s->in), by = fuzz_number(s->in);
    lists         l;
    bool          right = a >= 0 && n >= 1 && by >= 1 && s->m.rank < RD_MAX_RANK;

    if (right && n > MOST_EXTENT) { /* no window, of an extent that the model has no room for */
        s->over = true;
        return;
    }
    if (right)
        model_window(&s->m, a, n, by, &l);
    step(s, rd_window(s->x, axis, n, by), right, &l, "rd_window");
}

static void by_origin(state *s)
{
    rd_index first = { .n = s->m.rank };

    for (int a = 0; a < first.n; a++)
        first.at[a] = fuzz_number(s->in) % 1000;
    s->x = rd_reindex(s->x, first);
    if (!s->x)
        fuzz_wrong("rd_reindex: %s", rd_error_text(s->ctx));
    memcpy(s->m.origin, first.at, sizeof s->m.origin);
}

/* An index array of rank 0 or 1, whose memory the context outlives. */
static void by_take(state *s, int64_t *memory)
{
    static const rd_dtype types[] = {
        RD_I64, RD_I32, RD_I8, RD_U8, RD_U64, RD_I16, RD_BOOL, RD_F64
    };
    const rd_dtype type = types[fuzz_below(s->in, 8)];
    const int      axis = read_axis(s), a = real_axis(s, axis), n = fuzz_below(s->in, 7);
    rd_array       index = { .in = memory, .type = type, .shape = RD_SHAPE(n) };
    lists          l;
    indices        is = { .rank = n < 6, .n = n < 6 ? n : 1, .is_unsigned = type == RD_U64 };

    index.shape = is.rank ? index.shape : RD_SCALAR;
    for (int64_t i = 0; i < is.n; i++)
        is.at[i] = model_store((char *)memory + i * rd_dtype_size(type), type, fuzz_number(s->in));
    bool right = a >= 0 && type != RD_BOOL && type != RD_F64;

    if (right)
        model_take(&s->m, a, &is, &l);
    rd_expr *const y = rd_take(s->x, axis, rd_leaf(s->ctx, &index));
    if (!y && right && s->m.extent[a] == 0) /* refused now or when it is evaluated */
        right = false;
    step(s, y, right, &l, "rd_take");
}

/* ---- All steps ----------------------------------------------------------------------------------------- */
static void compare(state *s)
{
    rd_array   out;
    const bool ok = fuzz_evaluate(s->ctx, s->x, &out);

    if (!ok && !s->m.doubtful)
        fuzz_wrong("the views are refused when they are evaluated");
    for (int64_t i = 0; ok && i < s->m.n; i++) {
        const int32_t is = ((const int32_t *)out.data)[i], want = s->m.element[i];

        if (want == OUTSIDE)
            fuzz_wrong("an index outside of its axis gave an element");
        if (is != want)
            fuzz_wrong("element %" PRId64 " is %d instead of %d", i, (int)is, (int)want);
    }
    rd_array_free(&out);
}

enum { MOST_STEPS = 6 };

static void begin(state *s, int32_t *memory)
{
    static const int64_t extents[] = { 3, 4, 2, 5, 1, 6, 3, 0 };
    rd_array             array     = { .in = memory, .type = RD_I32 };

    array.shape.n = fuzz_below(s->in, 4);
    for (int a = 0; a < array.shape.n; a++)
        array.shape.at[a] = extents[fuzz_below(s->in, 8)];
    model_begin(&s->m, &array.shape);
    memcpy(memory, s->m.element, (size_t)s->m.n * sizeof *memory);
    s->x = rd_leaf(s->ctx, &array);
}

static void try_steps(state *s)
{
    int32_t memory[MOST_ELEMENTS];
    int64_t index[MOST_STEPS][8];

    begin(s, memory);
    for (int k = 0; k < MOST_STEPS && !s->over && fuzz_left(s->in) > 0; k++)
        switch (fuzz_below(s->in, 9)) {
        case 0: by_text(s); break;
        case 1: by_formula(s); break;
        case 2: by_select(s); break;
        case 3: by_range(s); break;
        case 4: by_take(s, index[k]); break;
        case 5: by_permute(s); break;
        case 6: by_diagonal(s); break;
        case 7: by_window(s); break;
        default: by_origin(s);
        }
    if (!s->over)
        compare(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static state s;
    fuzz_bytes   in = { bytes, bytes + n };

    s = (state){ .ctx = fuzz_context(), .in = &in };
    try_steps(&s);
    fuzz_context_end(s.ctx);
    return 0;
}
