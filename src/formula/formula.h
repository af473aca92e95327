/* formula.h - formulas in text: characters -> tokens -> a tree of pieces -> nodes, the same as calls
 * would make.  docs/formulas.md is the grammar. */
#ifndef RD_FORMULA_FORMULA_H
#define RD_FORMULA_FORMULA_H
#include "expr/expr.h"
#include "expr/function_text.h"

/* Limits of a text.  A sentence names the one that is passed. */
enum {
    RD_FORMULA_LENGTH     = 1 << 16, /* bytes                                             */
    RD_FORMULA_NESTING    = 150,     /* parentheses, signs and choices inside each other   */
    RD_FORMULA_DEPTH      = 800,     /* of the tree: operators in a row, too               */
    RD_FORMULA_CALLS      = 150,     /* the same of calls, which take 5 KiB of stack each  */
    RD_FORMULA_STATEMENTS = 256,
    RD_FORMULA_NAMES      = 256, /* of arrays that `find` has found                     */
    RD_FORMULA_NAME       = 128, /* characters of a name, and of a text in quotes        */
    RD_FORMULA_INDICES    = 256  /* of a statement                                      */
};

/* ---- Tokens (token.c) ------------------------------------------------------------------------ */
typedef enum rd_token_kind {
    RD_TOKEN_END,
    RD_TOKEN_NUMBER,
    RD_TOKEN_NAME,
    RD_TOKEN_TEXT, /* in quotes, which belong to it */
    RD_TOKEN_SIGN,
    RD_TOKEN_LINE /* a statement ends with the line, or with ; */
} rd_token_kind;

typedef struct rd_token {
    rd_token_kind kind;
    size_t        at, length;
} rd_token;

/* ---- The tree (tree.c) ------------------------------------------------------------------------ */
typedef enum rd_phrase_kind {
    RD_PHRASE_NUMBER,
    RD_PHRASE_TEXT,
    RD_PHRASE_NAME,
    RD_PHRASE_UNARY,   /* op                                                    */
    RD_PHRASE_BINARY,  /* op; RD_OP_none: a product of matrices                  */
    RD_PHRASE_COMPARE, /* an operand, then links: a < b <= c                     */
    RD_PHRASE_LINK,    /* op and the operand behind it                           */
    RD_PHRASE_CHOICE,  /* condition ? yes : no                                   */
    RD_PHRASE_CALL,    /* arguments                                              */
    RD_PHRASE_KEYWORD, /* name = value; of a subscript low, and perhaps high, or EMPTY   */
    RD_PHRASE_LIST,    /* (a, b) or [a, b]                                       */
    RD_PHRASE_AT,      /* what is read, then a subscript for each axis           */
    RD_PHRASE_SLICE,   /* start, stop, step, each of which may be empty          */
    RD_PHRASE_EMPTY,
    RD_PHRASE_NEW,        /* a new axis                                             */
    RD_PHRASE_REST,       /* ...                                                    */
    RD_PHRASE_TRANSPOSED, /* x.T                                                    */
    RD_PHRASE_REDUCE,     /* name[indices where condition, keywords] body           */
    RD_PHRASE_INDEX,      /* of a reduction or a result, with first and last + 1    */
    RD_PHRASE_WHERE
} rd_phrase_kind;

typedef struct rd_phrase {
    rd_phrase_kind    kind;
    rd_op             op;
    size_t            at, length; /* of its name or sign in the text                       */
    int               depth;      /* of the tree below                                     */
    int               calls;      /* inside each other                                     */
    int               label;      /* NAME, INDEX: which index it is, -1 none               */
    bool              labelled;   /* an index is in it                                     */
    bool              skip_nan;   /* CALL: nan before the reducer's name                       */
    bool              whole;      /* NUMBER: integer, else real                            */
    bool              imaginary;  /* NUMBER: real times i                                  */
    int64_t           integer;
    double            real;
    rd_expr          *x; /* its value, once built, if there is no index in it              */
    struct rd_phrase *first, *last, *next; /* operands                                     */
    struct rd_phrase *body;                /* REDUCE                                       */
    struct rd_phrase *use;                 /* AT with indices: the next one                 */
} rd_phrase;

typedef struct rd_statement {
    size_t     at, length; /* of the name; 0: none          */
    size_t     from, to;   /* all of it                     */
    bool       add;        /* +=                            */
    rd_phrase *index;      /* of name[i, j] =; NULL: none   */
    rd_phrase *tree;
    rd_expr   *x;     /* once built                             */
    bool       whole; /* the text says a whole number       */
    int64_t    integer;
} rd_statement;

/* An index of a statement.  Its values are low, low + 1, ... */
typedef struct rd_formula_label {
    size_t           at, length;
    const rd_phrase *index;
    bool             visible, known, ranged;
    int64_t          low, n;
    const rd_phrase *from; /* the subscript that says how many there are, NULL: none */
    size_t           of;   /* ... and the array's place in the text                   */
    size_t           of_length;
    int              axis;
    rd_expr         *named; /* whose axis `axis_named` it is read at, and which has a name; NULL */
    int              axis_named;
} rd_formula_label;

typedef struct rd_formula_reader {
    rd_ctx                *ctx;
    const char            *call, *text;
    const rd_formula_opts *opts;
    bool                   failed;
    rd_token              *token;
    int                    n_tokens, now;
    rd_phrase             *piece;
    int                    n_pieces, room, nesting;
    rd_statement           statement[RD_FORMULA_STATEMENTS];
    int                    n_statements, done; /* done: that many are built */
    rd_named               found[RD_FORMULA_NAMES];
    char                  *found_names;
    int                    n_found;
    rd_formula_label       label[RD_FORMULA_INDICES];
    int                    n_labels;
    rd_phrase             *uses, *last_use;
    char                   why[RD_WHY]; /* an answer of opts->axes */
} rd_formula_reader;

/* Records a failure with a caret under byte `at`, if none is recorded yet; NULL. */
__attribute__((format(printf, 4, 5))) void *rd_formula_fail(rd_formula_reader *r, rd_status status,
                                                            size_t at, const char *format, ...);
/* x; or NULL, and the failure that its constructor recorded gets a caret under `at`. */
rd_expr *rd_formula_made(rd_formula_reader *r, rd_expr *x, size_t at);

bool rd_formula_tokens(rd_formula_reader *r);
bool rd_formula_is(const rd_formula_reader *r, size_t at, size_t length, const char *text);

/* ---- Reading (parse.c, parse_operators.c) ------------------------------------------------------ */
bool       rd_formula_parse(rd_formula_reader *r);
rd_phrase *rd_phrase_new(rd_formula_reader *r, rd_phrase_kind kind, const rd_token *t);
/* False where the tree gets too deep, or the operand is NULL. */
bool            rd_phrase_add(rd_formula_reader *r, rd_phrase *p, rd_phrase *operand);
const rd_token *rd_formula_token(const rd_formula_reader *r);                  /* that comes next */
bool            rd_formula_next(const rd_formula_reader *r, const char *text); /* is it this one? */
bool            rd_formula_take(rd_formula_reader *r, const char *text);
void           *rd_formula_expected(rd_formula_reader *r, const char *what);
/* `loosest`: of its operators, rank in the table of parse_operators.c */
rd_phrase *rd_formula_read(rd_formula_reader *r);
rd_phrase *rd_formula_read_binary(rd_formula_reader *r, int loosest);
rd_phrase *rd_formula_read_operand(rd_formula_reader *r);
/* Indices up to `end`, which is not taken, or to another word. */
bool rd_formula_read_index(rd_formula_reader *r, rd_phrase *into);
enum { RD_RANK_BITS = 5, RD_RANK_PRODUCT = 10 };

struct rd_text;
void rd_formula_print(struct rd_text *text, const rd_formula_reader *r);

/* ---- Names (names.c) --------------------------------------------------------------------------- */
/* The array of that name, NULL: there is none, or its `find` has failed, which is recorded. */
rd_expr *rd_formula_array(rd_formula_reader *r, size_t at, size_t length);
bool     rd_formula_has_array(rd_formula_reader *r, size_t at, size_t length);
/* The statement of that name that is built already. */
rd_statement *rd_formula_statement(rd_formula_reader *r, size_t at, size_t length);
/* One of core/reducers.def; or that, and a function that reduces as they do. */
bool rd_formula_is_reducer(const rd_formula_reader *r, size_t at, size_t length);
bool rd_formula_reduces(const rd_formula_reader *r, size_t at, size_t length);

/* ---- Numbers that are known now (constant.c) ---------------------------------------------------- */
bool rd_formula_integer(rd_formula_reader *r, const rd_phrase *p, int64_t *value);
/* Does the text say a whole number that no i64 is?  Beside floats it is the nearest f64. */
bool rd_formula_beyond(rd_formula_reader *r, const rd_phrase *p, double *value);
bool rd_formula_real(rd_formula_reader *r, const rd_phrase *p, double *value);
/* The same, but a failure is recorded where it is none. */
bool     rd_formula_need_integer(rd_formula_reader *r, const rd_phrase *p, const char *what,
                                 int64_t *value);
rd_dtype rd_formula_type(const rd_formula_reader *r, size_t at, size_t length);

/* Is it size(x), size(x, axis) or len(x)? */
bool rd_formula_is_size(const rd_formula_reader *r, const rd_phrase *p);

/* ---- Values (value.c, labelled.c) --------------------------------------------------------------------------- */
/* A value with labels of indices.  Labels ascend, and x has an axis for each; without labels x is a whole array.  x
 * NULL: it failed. */
typedef struct rd_labelled {
    rd_expr *x;
    int      n;
    int16_t  label[RD_MAX_RANK];
} rd_labelled;

rd_labelled rd_formula_value(rd_formula_reader *r, rd_phrase *p);
/* All labels of the values; false after a failure. */
bool rd_labelled_union(rd_formula_reader *r, int n, const rd_labelled *v, size_t at,
                       rd_labelled *all);
/* v with the labels of `all`: axes of extent 1, or (`whole`) of the index's, where it lacks one.  What
 * has no labels stays, and is a number, unless `whole`. */
rd_expr *rd_labelled_seen(rd_formula_reader *r, const rd_labelled *v, const rd_labelled *all,
                          bool whole, size_t at);
bool     rd_labelled_has(const rd_labelled *v, int label, int *place);

/* ---- Indices (index.c), subscripts (subscript.c) ------------------------------------------------ */
/* The steps find which names are indices, what their ranges say, and how far each index goes.  Ranges need
 * operands with a size, and extents need what is read at the indices; the steps between build these
 * (built.c). */
bool rd_formula_resolve(rd_formula_reader *r, rd_statement *s);
bool rd_formula_build_sized(rd_formula_reader *r, rd_statement *s);
bool rd_formula_ranges(rd_formula_reader *r);
bool rd_formula_build_read(rd_formula_reader *r);
bool rd_formula_extents(rd_formula_reader *r);

/* constant + sum of coef * index; of values of indices. */
typedef struct rd_formula_sum {
    int64_t constant;
    int     n;
    int16_t label[RD_MAX_RANK];
    int64_t coef[RD_MAX_RANK];
} rd_formula_sum;
/* False: it is not; a failure may be recorded. */
bool rd_formula_affine(rd_formula_reader *r, const rd_phrase *p, rd_formula_sum *a);
/* Its least and greatest value; false where an index has none. */
bool rd_formula_range(const rd_formula_reader *r, const rd_formula_sum *a, __int128 *low,
                      __int128 *high);
/* The mode by which pad(i), clamp(i), wrap(i) and the like in a subscript read places outside; -1: it is none of
 * these.  *inner becomes the index. */
int rd_formula_outside(const rd_formula_reader *r, rd_phrase *p, rd_phrase **inner);

rd_labelled rd_formula_subscripts(rd_formula_reader *r, rd_phrase *p);

/* ---- Names of axes (meet.c): what opts->axes knows ----------------------------------------------- */
/* NULL: it has none. */
const char *rd_formula_axis_name(rd_formula_reader *r, rd_expr *x, int axis);
/* The axis of that name; -1: none, or several, which is recorded. */
int rd_formula_axis_called(rd_formula_reader *r, rd_expr *x, const char *name, size_t at);
/* Records that x has no axis of that name, and which it has. */
void *rd_formula_no_axis(rd_formula_reader *r, rd_expr *x, const char *name, size_t at);
/* Puts views of whole arrays in x, NULL where there is none, whose shapes meet axis by axis as the names
 * say.  `into`: the axes of the result are those of x[0].  False: they do not belong together. */
bool rd_formula_meet(rd_formula_reader *r, int n, rd_expr **x, bool into, size_t at);
/* Asks the caller whether coordinates along two axes of one name are side by side; both arrays may be
 * replaced by parts.  False: they are not, which is recorded. */
bool rd_formula_side_by_side(rd_formula_reader *r, rd_expr **x, int x_axis, rd_expr **y, int y_axis,
                             size_t at);
/* The caller's answer; where it is NULL its reason is recorded. */
rd_expr *rd_formula_answer(rd_formula_reader *r, rd_expr *x, size_t at);
/* alike.c: may put operands of an operator in other units.  False: they do not belong together. */
bool rd_formula_alike(rd_formula_reader *r, int function, int n, rd_expr **x, size_t at);
/* y, of which the caller is told that it was made by that function of these. */
rd_expr *rd_formula_told(rd_formula_reader *r, rd_expr *y, const char *name, int n,
                         rd_expr *const *x);

/* ---- Arguments (arguments.c) -------------------------------------------------------------------- */
enum { RD_ARGUMENTS = 16, RD_ARGUMENT_LIST = 64 };
/* Read as a list says: "x axis:d=-1 method:n?", name, kind, default, ? where it may be missing.
 * Kinds: x expression (the default), v all others as list, l list of expressions, i integer, f number,
 * d axes, s integers, b truth, t type, n name or text, q numbers, p axes of two: a number of them, or
 * two lists, a an axis of the third argument (i: of the first). */
typedef struct rd_arguments {
    rd_formula_reader *r;
    rd_ctx            *ctx;
    const rd_phrase   *call;
    int                n;
    const char        *name[RD_ARGUMENTS];
    int                name_length[RD_ARGUMENTS];
    char               kind[RD_ARGUMENTS];
    const rd_phrase   *given[RD_ARGUMENTS];
    rd_labelled        x[RD_ARGUMENTS];
    int64_t            i[RD_ARGUMENTS];
    double             f[RD_ARGUMENTS];
    rd_dims            d;
    rd_ints            s, pair[2]; /* of p */
    double             q[RD_ARGUMENT_LIST];
    int32_t            n_q;
    bool               several; /* a list of q, not one */
    rd_dtype           t;
    char               text[RD_FORMULA_NAME + 1];
    rd_expr           *list[RD_ARGUMENT_LIST];
    int                n_list;
    rd_expr           *by[RD_MAX_RANK]; /* labels as they were given; n_list of them          */
} rd_arguments;
bool rd_formula_arguments(rd_formula_reader *r, const rd_phrase *call, const char *list,
                          rd_arguments *a);
/* beside.c: an index along an axis of x: of values that the caller knows, such as months, their places
 * along an axis of months.  NULL: refused. */
rd_expr *rd_formula_places(rd_formula_reader *r, rd_expr *x, int axis, rd_expr *index, size_t at);
/* beside.c: masks, weights and labels as the first array's axes have them; what labels say about groups. */
bool rd_formula_beside(rd_arguments *a);
/* alike.c: arguments of a function that are compared, or joined, in units that meet; false: they do not. */
bool rd_formula_alike_arguments(rd_arguments *a, const char *name);
/* Tells the caller which axes of a result are groups. */
void rd_formula_grouped(const rd_arguments *a, rd_expr *y);

/* ---- Functions that are no reducers (functions.c) ----------------------------------------------- */
typedef enum rd_formula_sort {
    RD_FORMULA_WHOLE,
    RD_FORMULA_MAPS,
    RD_FORMULA_REDUCES
} rd_formula_sort;

typedef struct rd_formula_function {
    const char     *name, *arguments;
    rd_formula_sort sort;
    rd_expr *(*build)(const rd_arguments *a);
} rd_formula_function;
const rd_formula_function *rd_formula_function_called(const rd_formula_reader *r, size_t at,
                                                      size_t length);

/* ---- Calls and reductions (apply.c) -------------------------------------------------------------- */
/* Finds the function, then the arguments, and makes the value. */
rd_labelled rd_formula_apply(rd_formula_reader *r, rd_phrase *p);

/* call.c: what a name means in name(...), and the list of its parameters, NULL: it has none, or a
 * failure is recorded. */
typedef enum rd_callee_kind {
    RD_CALLEE_REDUCER,
    RD_CALLEE_SCAN,
    RD_CALLEE_SIZE,
    RD_CALLEE_ROW,
    RD_CALLEE_TYPE,
    RD_CALLEE_OPERATOR,
    RD_CALLEE_UNKNOWN
} rd_callee_kind;
typedef struct rd_callee {
    rd_callee_kind             kind;
    const char                *list;
    const rd_formula_function *row;
    rd_dtype                   type;
    int                        function;
} rd_callee;
rd_callee   rd_formula_callee(rd_formula_reader *r, const rd_phrase *p);
rd_labelled rd_formula_call(rd_formula_reader *r, const rd_phrase *p, const rd_callee *callee,
                            rd_arguments *a);
/* nanmean(x) is mean(x, skip_nan=true), as NumPy calls it: *plain. */
bool rd_formula_without_nan(const rd_formula_reader *r, const rd_phrase *p, rd_phrase *plain);
/* May the caller have such a function?  What it makes of these; NULL, without a failure: there is none. */
bool        rd_formula_may_ask(rd_formula_reader *r, const rd_phrase *p);
rd_expr    *rd_formula_ask(rd_formula_reader *r, const rd_phrase *p, int n, rd_expr **x);
rd_labelled rd_formula_no_function(rd_formula_reader *r, const rd_phrase *p);

/* reduce.c: mean(x, axis=0), cumsum(x, axis=0). */
const char *rd_formula_reducer_list(rd_formula_reader *r, const rd_phrase *p);
const char *rd_formula_scan_list(void);
rd_labelled rd_formula_reduce(const rd_phrase *p, rd_arguments *a);
rd_labelled rd_formula_scan(const rd_phrase *p, rd_arguments *a);
/* name[indices, keywords] body as name(body, keywords), of copies of the pieces, as those stay the
 * tree's. */
typedef struct rd_bracket {
    rd_phrase call, copy[RD_ARGUMENTS];
} rd_bracket;
bool        rd_formula_bracket(rd_formula_reader *r, const rd_phrase *p, rd_bracket *b);
const char *rd_formula_bracket_list(const rd_formula_reader *r, const rd_phrase *p);
rd_labelled rd_formula_reduce_indices(const rd_phrase *p, rd_arguments *a);

/* contract.c: the factors of a sum[indices] of a product of arrays with indices; 0: it is none.  Their
 * sum, if two or more are sparse; x NULL without a failure: it is none. */
enum { RD_MOST_FACTORS = 8 };
int         rd_formula_factors(const rd_formula_reader *r, rd_phrase *p,
                               rd_phrase *factor[RD_MOST_FACTORS]);
rd_labelled rd_formula_sparse_sum(rd_formula_reader *r, const rd_phrase *p, int n,
                                  const rd_labelled *v);

/* ---- Other names (words.c) ---------------------------------------------------------------------- */
/* The name here of a function of NumPy, SciPy or PyTorch; NULL: it has the same, or none. */
const char *rd_formula_word(const rd_formula_reader *r, size_t at, size_t length);
/* Advice for a function that is not here: what to write, or where it is from; NULL: nothing is known. */
const char *rd_formula_instead(const rd_formula_reader *r, size_t at, size_t length);
/* np, numpy and the like. */
bool rd_formula_is_module(const rd_formula_reader *r, size_t at, size_t length);
#endif
