/* rdim/formulas.h - formulas: whole expressions in text.
 *
 * A formula's text becomes the nodes that calls would make.  docs/formulas.md defines the language:
 *     rd_formula(ctx, "(x - mean(x, axis=0, keepdims=true)) / b", RD_NAMES({ "x", x }, { "b", b }))
 *     rd_formula(ctx, "out[i] = sum[j] a[i, j] * x[j]", RD_NAMES({ "a", a }, { "x", x }))
 * Statements stand in lines or end with ";", and later ones read earlier ones by name.  NumPy's
 * nearest counterpart is the package numexpr. */
#ifndef RDIM_FORMULAS_H
#define RDIM_FORMULAS_H
#include "shapes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A name that a formula may read. */
typedef struct rd_name { const char *name; rd_expr *x; } rd_name;
/** Several names.  RD_NAMES() makes them. */
typedef struct rd_names { const rd_name *at; int32_t n; } rd_names;
/** A name and its value: an operand of a formula, or a result.
 *
 *  For a result, `add` says that the statement was `name[...] += ...`; then x is what is to be
 *  added.  `text` is the statement. */
typedef struct rd_named { const char *name; rd_expr *x; bool add; const char *text; } rd_named;
/** A coordinate in a formula: a text in quotes, or a number if text is NULL. */
typedef struct rd_formula_bound { const char *text; double number; } rd_formula_bound;
/** The room for a reason, in bytes, that functions of rd_formula_axes write to `why`. */
enum { RD_WHY = 1024 };

/** What the caller knows about the axes of arrays: their names, coordinates and units.
 *
 *  With it, whole arrays meet by the names of their axes, and `tas[lat=45]` reads by coordinate;
 *  docs/formulas.md has the rules.  Each function may be NULL.  It gets the `user` of
 *  rd_formula_opts.  To refuse, it writes a sentence of at most RD_WHY bytes to `why`. */
typedef struct rd_formula_axes {
    /** sizeof(rd_formula_axes). */
    uint32_t size;
    /** The name of an axis of x; NULL: none.  rd_axis_source() follows axes of results. */
    const char *(*name)(void *user, rd_expr *x, int axis);
    /** Axis x_axis of *x and y_axis of *y have one name and are to be read side by side.  It may
     *  replace *x and *y by parts that belong together.  False: refused. */
    bool (*meet)(void *user, rd_expr **x, int x_axis, rd_expr **y, int y_axis, char *why);
    /** The part of x at the coordinate `low` of an axis.  With `range`, the part from low to high,
     *  both inclusive; a NULL is an open end.  NULL: refused. */
    rd_expr *(*select)(void *user, rd_expr *x, int axis, bool range, const rd_formula_bound *low,
                       const rd_formula_bound *high, char *why);
    /** What replaces `index` in x[index]: places along that axis.  NULL: refused. */
    rd_expr *(*gather)(void *user, rd_expr *x, int axis, rd_expr *index, char *why);
    /** Gets the n labels of a reduction by label, and the number of groups of each, -1 if the text
     *  does not say.  It may replace a label by one from 0 to groups - 1.  False: refused. */
    bool (*labels)(void *user, int n, rd_expr **label, int64_t *groups, char *why);
    /** Tells that `axis` of x has the groups of `label`, as the formula gave that. */
    void (*grouped)(void *user, rd_expr *x, int axis, rd_expr *label);
    /** A function that formulas do not have.  NULL and an empty `why`: there is none. */
    rd_expr *(*call)(void *user, rd_ctx *ctx, const char *name, int n, rd_expr *const *x,
                     char *why);
    /** x and y are added, subtracted or compared, or an element is taken from one of them.  It may
     *  replace either by the same in other units.  False: refused. */
    bool (*alike)(void *user, rd_expr **x, rd_expr **y, char *why);
    /** Tells that the formula made y from n operands by the function of that name. */
    void (*made)(void *user, rd_expr *y, const char *name, int n, rd_expr *const *x);
} rd_formula_axes;
/** What a formula may read. */
typedef struct rd_formula_opts {
    /** sizeof(rd_formula_opts). */
    uint32_t        size;
    /** The number of names in `in`. */
    int             n_in;
    const rd_named *in;
    /** Called once for each name that `in` lacks.  It returns NULL for a name it does not know. */
    rd_expr *(*find)(void *user, rd_ctx *ctx, const char *name);
    /** The first argument of find, axis, and the functions of axes. */
    void           *user;
    /** The axis of x with a name, for axis=time; -1 if there is none.  NULL: axes->name is
     *  asked. */
    int (*axis)(void *user, rd_expr *x, const char *name);
    /** NULL: nothing is known of axes. */
    const rd_formula_axes *axes;
} rd_formula_opts;

/** The value of a formula's last statement.
 *
 *  @param in  the names that the text may read
 *  @return NULL on RD_ERR_TEXT, RD_ERR_SHAPE and the errors of the calls it makes, each with a
 *          caret under the character.  Also on RD_ERR_LIMIT (64 KiB of text, depth, number of
 *          names), and if the context has a failure already. */
RD_API rd_expr *rd_formula(rd_ctx *ctx, const char *text, rd_names in);
/** All statements of a formula as results, in their order, for one rd_eval_many(), in which they
 *  share passes.  A statement that adds to an earlier one of the text is part of that result.
 *
 *  @param opts  NULL: no names
 *  @param max   the room in `out`
 *  @param out   the results.  Names live as long as nodes; a statement without a name has ""
 *  @return the number of results.  0 on failure: the errors of rd_formula(), and RD_ERR_LIMIT for
 *          more than `max` results. */
RD_API int rd_formula_all(rd_ctx *ctx, const char *text, const rd_formula_opts *opts, int max,
                          rd_named *out);

#ifdef __cplusplus
}
#endif

#ifndef __cplusplus
/** Names for a formula, for one call: RD_NAMES({ "x", x }, { "b", b }). */
#define RD_NAMES(...) ((rd_names){ (const rd_name[]){ __VA_ARGS__ }, RD_N_(rd_name, __VA_ARGS__) })
#endif
#endif
