/* reduce.c - reducers with arrays, mean(x, axis=0) and cumsum(x, axis=0), and with indices,
 * sum[j where j < i] x[i, j]. */
#include "formula/formula.h"
#include <string.h>

/* Keywords of rd_reduce_opts, as a list of parameters; the enum has their positions. */
#define KEYWORDS "where? weights? initial? skip_nan:b=0 dtype:t? ddof:f=0 p:f=0 accuracy:n?"
enum { WHERE, WEIGHTS, INITIAL, SKIP_NAN, DTYPE, DDOF, P, ACCURACY, N_KEYWORDS };

/* Returns the value that stands for a failure, which is recorded already: x is NULL. */
static rd_labelled none(void)
{
    return (rd_labelled){ 0 };
}

/* Reads the keyword accuracy=, which is argument k of the call; pairwise if it is not given.
 * False after an error. a->text is its name; `names` are in the order of rd_accuracy. */
static bool read_accuracy(const rd_arguments *a, int k, rd_accuracy *accuracy)
{
    static const char *const names[] = { "pairwise", "compensated", "wide", "serial" };

    *accuracy = RD_PAIRWISE;
    if (!a->given[k])
        return true;
    for (int i = 0; i < 4; i++)
        if (!strcmp(names[i], a->text)) {
            *accuracy = (rd_accuracy)i;
            return true;
        }
    return rd_formula_fail(a->r, RD_ERR_TEXT, a->given[k]->at,
                           "expected pairwise, compensated, wide or serial");
}

/* Reads the keywords of a reduction (where=, weights=, ..) into options. They are arguments of
 * the call, in the order of the enum from argument k on. False after an error. a->x are arrays,
 * NULL if not given; a->i whole numbers, a->f reals, a->t the type. */
static bool read_keywords(const rd_arguments *a, int k, rd_reduce_opts *o)
{
    *o = (rd_reduce_opts){ .size     = sizeof *o,
                           .where    = a->x[k + WHERE].x,
                           .weights  = a->x[k + WEIGHTS].x,
                           .initial  = a->x[k + INITIAL].x,
                           .skip_nan = a->i[k + SKIP_NAN],
                           .type     = a->t,
                           .ddof     = a->f[k + DDOF],
                           .p        = a->f[k + P] };
    return read_accuracy(a, k + ACCURACY, &o->accuracy);
}

/* Copies a name, `length` bytes of the text at `at`, to `name`, with an end. */
static void copy_name(const rd_formula_reader *r, size_t at, size_t length, char name[])
{
    memcpy(name, r->text + at, length);
    name[length] = '\0';
}

/* True if no argument of the call has indices, as mean(x, axis=0) takes arrays without any; else
 * records an error. a->x[k].n counts the indices of argument k. */
static bool check_whole(rd_formula_reader *r, const rd_phrase *p, const rd_arguments *a)
{
    for (int k = 0; k < a->n; k++)
        if (a->x[k].n)
            return rd_formula_fail(r, RD_ERR_ARGUMENT, a->given[k]->at,
                                   "this has indices: say which one goes, as in %.*s[i] x[i, j]",
                                   (int)p->length, r->text + p->at);
    return true;
}

/* True, after recording an error, for max(x, 0) and min(x, 0): in NumPy the 0 is an axis, in C it
 * is an operand. It is such a call if it has a second argument, and that has no keyword. False:
 * it is another call. */
static bool refuse_ambiguous(rd_formula_reader *r, const rd_phrase *p)
{
    const bool min = rd_formula_is(r, p->at, p->length, "min");

    if ((!min && !rd_formula_is(r, p->at, p->length, "max")) || !p->first || !p->first->next ||
        p->first->next->kind == RD_PHRASE_KEYWORD)
        return false;
    rd_formula_fail(r, RD_ERR_ARGUMENT, p->first->next->at,
                    "say %simum(x, y) of two arrays, %s(x, axis=0) along an axis",
                    min ? "min" : "max", min ? "min" : "max");
    return true;
}

/* Returns the list of parameters of a reducer, as rd_formula_arguments() reads it: "axis:d?" is
 * an optional parameter of kind d (axes). NULL after an error. */
const char *rd_formula_reducer_list(rd_formula_reader *r, const rd_phrase *p)
{
    return refuse_ambiguous(r, p) ? NULL : "x axis:d? keepdims:b=0 by:l? groups:s? " KEYWORDS;
}

/* Builds a reduction of arrays without indices, mean(x, axis=0, by=labels), by the name of the
 * reducer. The enum has the positions of its parameters in its list. x is NULL after an error.
 * p->skip_nan: the name began with "nan". a->d are the axes, a->list the labels of by= and a->s
 * the numbers of groups. The caller is told which axes are groups, and by which name y was made. */
rd_labelled rd_formula_reduce(const rd_phrase *p, rd_arguments *a)
{
    enum { X, AXIS, KEEP, BY, GROUPS, FIRST };
    rd_formula_reader *r = a->r;
    rd_reduce_opts     o;
    char               name[RD_FORMULA_NAME + 1];

    if (!check_whole(r, p, a) || !rd_formula_prepare_arguments(a) || !read_keywords(a, FIRST, &o))
        return none();
    copy_name(r, p->at, p->length, name);
    o.skip_nan |= p->skip_nan;
    o.dims = a->d;
    o.dims.flags |= a->i[KEEP] ? RD_DIMS_KEEP : 0;
    o.by             = (rd_exprs){ a->list, a->n_list };
    o.groups         = a->s;
    rd_expr *const y = rd_formula_made(r, rd_reduce_name(a->x[X].x, name, &o), p->at);

    rd_formula_grouped(a, y);
    return (rd_labelled){ .x = rd_formula_told(r, y, name, 1, &a->x[X].x) };
}

/* Returns the list of parameters of a scan such as cumsum, as rd_formula_arguments() reads it:
 * "exclusive:b=0" is a bool, false by default. */
const char *rd_formula_scan_list(void)
{
    return "x axis:d? exclusive:b=0 reverse:b=0 restart? " KEYWORDS;
}

/* Builds a scan of arrays without indices, cumsum(x, axis=0), by the name behind "cum". The enum
 * has the positions of its parameters in its list. Without axis= the array must be a vector. x
 * is NULL after an error. FIRST is where the KEYWORDS begin; p->at + 3 skips "cum". */
rd_labelled rd_formula_scan(const rd_phrase *p, rd_arguments *a)
{
    enum { X, AXIS, EXCLUSIVE, REVERSE, RESTART, FIRST };
    rd_formula_reader *r = a->r;
    rd_reduce_opts     o;
    char               name[RD_FORMULA_NAME + 1];

    if (!check_whole(r, p, a) || !rd_formula_prepare_arguments(a) || !read_keywords(a, FIRST, &o))
        return none();
    if (!a->given[AXIS] && a->x[X].x->rank != 1)
        return (rd_labelled){ .x = rd_formula_fail(
                                  r, RD_ERR_AXIS, p->at,
                                  "an array of rank %d: say along which axis, as in "
                                  "%.*s(x, axis=0)",
                                  (int)a->x[X].x->rank, (int)p->length, r->text + p->at) };
    copy_name(r, p->at + 3, p->length - 3, name);
    o.dims           = a->given[AXIS] ? a->d : RD_DIMS(0);
    o.exclusive      = a->i[EXCLUSIVE];
    o.reverse        = a->i[REVERSE];
    o.restart        = a->x[RESTART].x;
    rd_expr *const y = rd_formula_made(r, rd_scan_name(a->x[X].x, name, &o), p->at);

    return (rd_labelled){ .x = rd_formula_told(r, y, name, 1, &a->x[X].x) };
}

/* ---- With indices ---------------------------------------------------------------------------- */
/* Returns the row of functions.def with the name of the reduction p; NULL: it is a reducer of
 * core/reducers.def. */
static const rd_formula_function *function_of(const rd_formula_reader *r, const rd_phrase *p)
{
    return rd_formula_function_called(r, p->at, p->length);
}

/* Returns the list of parameters of name[indices, keywords] body, as if it were the call
 * name(body, keywords): its first parameter is the body. */
const char *rd_formula_bracket_list(const rd_formula_reader *r, const rd_phrase *p)
{
    const rd_formula_function *f = function_of(r, p);

    return f ? f->arguments : "x " KEYWORDS;
}

/* Rewrites name[indices where condition, keywords] body as the call name(body, where=condition,
 * keywords), made of copies of the pieces in b, because the tree keeps the pieces themselves.
 * Indices are left out. False after an error. copy[0] is the body, and the others follow by
 * `next`. A condition becomes the keyword where, whose operand it is: its piece has the word in
 * the text. */
bool rd_formula_bracket(rd_formula_reader *r, const rd_phrase *p, rd_bracket *b)
{
    int n = 1;

    b->call = (rd_phrase){ .kind = RD_PHRASE_CALL, .at = p->at, .length = p->length, .label = -1 };
    b->copy[0] = *p->body;
    for (const rd_phrase *q = p->first; q; q = q->next) {
        if (q->kind == RD_PHRASE_INDEX)
            continue;
        if (n == RD_ARGUMENTS)
            return rd_formula_fail(r, RD_ERR_ARGUMENT, q->at, "too many keywords");
        b->copy[n] = *q;
        if (q->kind == RD_PHRASE_WHERE) {
            b->copy[n].kind   = RD_PHRASE_KEYWORD;
            b->copy[n].length = strlen("where");
        }
        b->copy[n - 1].next = &b->copy[n];
        n++;
    }
    b->copy[n - 1].next = NULL;
    b->call.first       = b->copy;
    return true;
}

/* True unless a keyword contradicts the indices in brackets: they say which axes are reduced, so
 * axis= and keepdims= may not, and initial= must be one number without indices. False after
 * recording the error. kind d is axes; a->given[k] NULL: not given; a->x[k].n counts indices. */
static bool check_keywords(const rd_arguments *a)
{
    for (int k = 0; k < a->n; k++) {
        if (a->given[k] && (a->kind[k] == 'd' || !strncmp(a->name[k], "keepdims", 8)))
            return rd_formula_fail(a->r, RD_ERR_ARGUMENT, a->given[k]->at,
                                   "the indices say what is reduced");
        if (a->given[k] && a->x[k].n && !strncmp(a->name[k], "initial", 7))
            return rd_formula_fail(a->r, RD_ERR_ARGUMENT, a->given[k]->at,
                                   "initial takes a number");
    }
    return true;
}

/* Broadcasts all operands to the same labels (numbers of indices): those of the bracket, which
 * are reduced, and those that the operands have. The body, operand 0, is repeated along labels
 * that it lacks, so that each value of an index counts. *dims becomes the axes of the bracket's
 * indices, *kept the other labels. False after an error. v[k] is operand k with its labels, and
 * v[a->n] has those of the bracket and no value (x NULL). `all` has every label; an operand that
 * is not given stays NULL. */
static bool broadcast_labels(rd_formula_reader *r, const rd_phrase *p, rd_arguments *a,
                             rd_dims *dims, rd_labelled *kept)
{
    rd_labelled all, v[RD_ARGUMENTS + 1] = { { 0 } };

    for (const rd_phrase *q = p->first; q; q = q->next) {
        const rd_labelled both[] = { v[a->n], { .n = 1, .label = { (int16_t)q->label } } };

        if (q->kind == RD_PHRASE_INDEX && !rd_labelled_union(r, 2, both, p->at, &v[a->n]))
            return false;
    }
    memcpy(v, a->x, (size_t)a->n * sizeof *v);
    if (!rd_labelled_union(r, a->n + 1, v, p->at, &all))
        return false;
    for (int k = 0; k < a->n; k++) {
        a->x[k].x = rd_labelled_seen(r, &v[k], &all, k == 0 && v[0].n < all.n, p->at);
        if (v[k].x && !a->x[k].x)
            return false;
    }
    *dims = RD_NONE;
    *kept = (rd_labelled){ 0 };
    for (int k = 0, place; k < all.n; k++)
        if (rd_labelled_has(&v[a->n], all.label[k], &place))
            dims->axis[dims->n++] = k;
        else
            kept->label[kept->n++] = all.label[k];
    return true;
}

/* Builds a reduction over indices, sum[j] x[i, j]: broadcasts the operands to common indices,
 * then reduces the axes of those in brackets. The result has the other indices. x is NULL after
 * an error. f is its row of functions.def, whose f->build makes the node; NULL: it is a reducer,
 * whose keywords follow the body as arguments from 1 on. a->d becomes the axes. */
rd_labelled rd_formula_reduce_indices(const rd_phrase *p, rd_arguments *a)
{
    rd_formula_reader         *r = a->r;
    const rd_formula_function *f = function_of(r, p);
    rd_reduce_opts             o;
    rd_labelled                kept;
    char                       name[RD_FORMULA_NAME + 1];

    a->call = p; /* errors name the reduction, not the copied call */
    if (!check_keywords(a) || !broadcast_labels(r, p, a, &a->d, &kept) ||
        (!f && !read_keywords(a, 1, &o)))
        return none();
    if (f) {
        kept.x = f->build(a);
    } else {
        o.dims = a->d;
        copy_name(r, p->at, p->length, name);
        kept.x = rd_reduce_name(a->x[0].x, name, &o);
    }
    kept.x = rd_formula_made(r, kept.x, p->at);
    rd_formula_told(r, kept.x, f ? f->name : name, 1, &a->x[0].x);
    return kept;
}
