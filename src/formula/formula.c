/* formula.c - from text to nodes: tokens, then a tree, then each statement: its indices and its
 * value. */
#include "core/float_env.h"
#include "expr/lists.h"
#include "formula/formula.h"
#include "core/text_buffer.h"
#include "eval/debug.h"
#include <string.h>

/* Gives the value v the axes that the left side y[i, j] names, in that order. An index that v lacks
 * repeats it. NULL after an error. all.label lists these indices. An array without indices (v->n
 * is 0) of rank 1 or more has axes that no index names: an error. */
static rd_expr *apply_left_side(rd_formula_reader *r, const rd_statement *s, const rd_labelled *v)
{
    rd_labelled all = { 0 };

    for (const rd_phrase *q = s->index->first; q; q = q->next) {
        if (all.n == RD_MAX_RANK)
            return rd_formula_fail(r, RD_ERR_LIMIT, q->at, "more than %d indices", RD_MAX_RANK);
        all.label[all.n++] = (int16_t)q->label;
    }
    if (!v->n && v->x->rank)
        return rd_formula_fail(r, RD_ERR_SHAPE, s->tree->at,
                               "this is an array of rank %d: give its axes indices",
                               (int)v->x->rank);
    return rd_labelled_seen(r, v, &all, /*whole=*/true, s->at);
}

/* Returns the value of `name += s`, the sum with the earlier statement `before` of the same name.
 * If the left side names indices, s has their axes; else axes meet by position or name. NULL after
 * an error. rd_formula_broadcast_by_names() makes x[] fit by place or name, rd_formula_same_unit()
 * puts them in one unit, and the caller is told of the sum. */
static rd_expr *add_to_earlier(rd_formula_reader *r, const rd_statement *before,
                               const rd_statement *s)
{
    rd_expr *x[] = { before->x, s->x };

    if ((!s->index && !rd_formula_broadcast_by_names(r, 2, x, /*into=*/false, s->at)) ||
        !rd_formula_same_unit(r, RD_OP_add, 2, x, s->at))
        return NULL;
    return rd_formula_told(r, rd_formula_made(r, rd_add(x[0], x[1]), s->at),
                           rd_op_table[RD_OP_add].name, 2, x);
}

/* Builds a statement: finds its indices and their extents, then its value. `before` is an
 * earlier statement of the same name, to which += adds; it gets the sum. False after an error.
 * The steps are in order: names that are indices, operands of size(x), ranges, arrays that are
 * read at indices, extents, value. s->index: the left side names indices; s->add: it is +=.
 * s->whole says that the value is a known whole number, s->integer. A second result of one name
 * is an error, unless it is added. */
static bool build(rd_formula_reader *r, rd_statement *s)
{
    rd_labelled   v;
    rd_statement *before = s->length ? rd_formula_statement(r, s->at, s->length) : NULL;

    if (before && !s->add)
        return rd_formula_fail(r, RD_ERR_TEXT, s->at, "two results are called '%.*s'",
                               (int)s->length, r->text + s->at);
    if (!rd_formula_resolve(r, s) || !rd_formula_build_sized(r, s) || !rd_formula_ranges(r) ||
        !rd_formula_build_read(r) || !rd_formula_extents(r))
        return false;
    v = rd_formula_value(r, s->tree);
    if (!v.x)
        return false;
    s->x = s->index ? apply_left_side(r, s, &v) : v.x;
    if (!s->x)
        return false;
    s->whole = !s->index && !s->add && rd_formula_integer(r, s->tree, &s->integer);
    if (r->failed)
        return false;
    if (before) {
        before->x     = add_to_earlier(r, before, s);
        before->whole = false;
        s->x          = before->x;
    }
    return s->x != NULL;
}

/* Copies a part of the text into memory of the context; NULL without memory. */
static char *copy(const rd_formula_reader *r, size_t at, size_t length)
{
    char *text = rd_arena(r->ctx, length + 1);

    if (text)
        memcpy(text, r->text + at, length);
    return text;
}

/* Writes the results to `out`, one for each name, and returns how many there are; 0 after an
 * error. Statements with += that add to an earlier result are part of it. Names and texts are in
 * memory of the context, which frees them. `max` is the room in `out`; one more result is an
 * error. s->from to s->to are the bytes of the statement. */
static int collect_results(rd_formula_reader *r, int max, rd_named *out)
{
    int n = 0;

    for (int k = 0; k < r->n_statements; k++) {
        const rd_statement *s = &r->statement[k];
        char               *name, *text;
        bool                earlier = false;

        for (int j = 0; j < k; j++)
            earlier |= s->length && r->statement[j].length == s->length &&
                       !memcmp(r->text + r->statement[j].at, r->text + s->at, s->length);
        if (earlier)
            continue;
        if (n == max) {
            rd_formula_fail(r, RD_ERR_LIMIT, s->at, "more than %d result%s", max,
                            max == 1 ? "" : "s");
            return 0;
        }
        if (!(name = copy(r, s->at, s->length)) || !(text = copy(r, s->from, s->to - s->from)))
            return 0;
        out[n++] = (rd_named){ .name = name, .x = s->x, .add = s->add, .text = text };
    }
    return n;
}

/* Reads the text and builds all its statements in order; r->done counts those that are built. A
 * debug switch prints the tree in between. False after an error. */
static bool read_and_build(rd_formula_reader *r)
{
    rd_text text = { 0 };

    if (!rd_formula_tokens(r) || !rd_formula_parse(r))
        return false;
    if (rd_debug_wants_formula()) {
        rd_formula_print(&text, r);
        rd_debug_formula(&text);
    }
    for (; r->done < r->n_statements; r->done++)
        if (!build(r, &r->statement[r->done]))
            return false;
    return true;
}

/* Returns how many bytes of a caller's struct to copy: callers of an older release have a
 * shorter one, and 0 stands for the whole. */
static size_t size_given(uint32_t size, size_t all)
{
    return size && size < all ? size : all;
}

/* Reads a text and builds its results into `out`, at most `max`, for the public call of that
 * name. `last`: only the last result, without its name. Returns how many results there are, 0
 * after an error. `given` are the caller's options, NULL: none; structs of older callers are
 * shorter, so options and the functions in `axes` are copied to whole ones. The reader r has
 * tokens and pieces, which are freed at the end; the nodes stay in the context. */
static int read_text(rd_ctx *ctx, const char *call, const char *text, const rd_formula_opts *given,
                     int max, rd_named *out, bool last)
{
    rd_formula_opts    opts = { 0 };
    rd_formula_axes    axes = { 0 };
    rd_formula_reader *r;
    int                n = 0;

    if (!ctx || rd_error(ctx) != RD_OK)
        return 0;
    if (!text) {
        rd_fail(ctx, RD_ERR_ARGUMENT, "%s: the text is NULL", call);
        return 0;
    }
    if (!rd_list_ok(ctx, call, "results", out, max, 0) ||
        (given && !rd_list_ok(ctx, call, "names", given->in, given->n_in, 0)))
        return 0;
    if (given)
        memcpy(&opts, given, size_given(given->size, sizeof opts));
    if (opts.axes) {
        memcpy(&axes, opts.axes, size_given(opts.axes->size, sizeof axes));
        opts.axes = &axes;
    }
    if (!(r = rd_alloc(ctx, sizeof *r)))
        return 0;
    r->ctx         = ctx;
    r->call        = call;
    r->text        = text;
    r->opts        = &opts;
    r->found_names = rd_alloc(ctx, (int64_t)RD_FORMULA_NAMES * (RD_FORMULA_NAME + 1));
    if (r->found_names && read_and_build(r)) {
        if (last)
            *out = (rd_named){ .name = "", .x = r->statement[r->n_statements - 1].x };
        n = last ? 1 : collect_results(r, max, out);
    }
    rd_free(ctx, r->found_names);
    rd_free(ctx, r->token);
    rd_free(ctx, r->piece);
    rd_free(ctx, r);
    return n;
}

/* Builds all results of a text: the public call. Constants are computed in the default
 * floating-point environment. */
int rd_formula_all(rd_ctx *ctx, const char *text, const rd_formula_opts *opts, int max,
                   rd_named *out)
{
    const rd_float_env env = rd_float_env_begin();
    const int          n   = read_text(ctx, "rd_formula_all", text, opts, max, out, /*last=*/false);

    rd_float_env_end(env);
    return n;
}

/* Builds the last result of a text: the public call. Constants are computed in the default
 * floating-point environment. `in` are named arrays. NULL: an error is recorded, or ctx is NULL. */
rd_expr *rd_formula(rd_ctx *ctx, const char *text, rd_names in)
{
    rd_formula_opts opts = { .size = sizeof opts, .n_in = in.n };
    rd_named       *all, out = { 0 };

    if (!ctx || !rd_list_ok(ctx, "rd_formula", "names", in.at, in.n, 0) ||
        !(all = rd_alloc(ctx, ((int64_t)in.n + 1) * (int64_t)sizeof *all)))
        return NULL;
    for (int k = 0; k < in.n; k++)
        all[k] = (rd_named){ .name = in.at[k].name, .x = in.at[k].x };
    opts.in                = all;
    const rd_float_env env = rd_float_env_begin();

    read_text(ctx, "rd_formula", text, &opts, 1, &out, /*last=*/true);
    rd_float_env_end(env);
    rd_free(ctx, all);
    return out.x;
}
