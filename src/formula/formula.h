/* formula.h - formulas in text: characters become tokens, tokens a tree of pieces, pieces nodes.
 *
 * The nodes are those that calls of the library would make. docs/formulas.md is the grammar. The
 * files: token.c (lexer), parse.c and parse_operators.c (parser), index.c, built.c and
 * subscript.c (indices), value.c, apply.c, arguments.c, call.c and reduce.c (evaluation),
 * formula.c (all of it in order). */
#ifndef RD_FORMULA_FORMULA_H
#define RD_FORMULA_FORMULA_H
#include "expr/expr.h"
#include "expr/function_text.h"

/* Limits of a text. An error message names the limit that the text exceeds. */
enum {
    RD_FORMULA_LENGTH     = 1 << 16, /* bytes of the text                                 */
    RD_FORMULA_NESTING    = 150,     /* parentheses, signs and choices inside each other   */
    RD_FORMULA_DEPTH      = 800,     /* of the tree; operators in a row make it deeper      */
    RD_FORMULA_CALLS      = 150,     /* calls inside each other: 5 KiB of stack each        */
    RD_FORMULA_STATEMENTS = 256,
    RD_FORMULA_NAMES      = 256, /* arrays that the function `find` has found           */
    RD_FORMULA_NAME       = 128, /* characters of a name, and of a text in quotes        */
    RD_FORMULA_INDICES    = 256  /* indices of a statement                              */
};

/* ---- Tokens (token.c) ------------------------------------------------------------------------ */
typedef enum rd_token_kind {
    RD_TOKEN_END,
    RD_TOKEN_NUMBER,
    RD_TOKEN_NAME,
    RD_TOKEN_TEXT, /* in quotes, with the quotes */
    RD_TOKEN_SIGN,
    RD_TOKEN_LINE /* the end of a statement: the end of the line, or ; */
} rd_token_kind;

/* A token, filled by token.c. */
typedef struct rd_token {
    rd_token_kind kind;
    size_t        at, length; /* bytes of the text */
} rd_token;

/* ---- The tree (parse.c) ---------------------------------------------------------------------- */
typedef enum rd_phrase_kind {
    RD_PHRASE_NUMBER,
    RD_PHRASE_TEXT,
    RD_PHRASE_NAME,
    RD_PHRASE_UNARY,   /* op                                                    */
    RD_PHRASE_BINARY,  /* op; RD_OP_none: @, a product of matrices                */
    RD_PHRASE_COMPARE, /* an operand, then links: a < b <= c                     */
    RD_PHRASE_LINK,    /* op, then its right operand                           */
    RD_PHRASE_CHOICE,  /* condition ? yes : no                                   */
    RD_PHRASE_CALL,    /* arguments                                              */
    RD_PHRASE_KEYWORD, /* name = value; in a subscript low and perhaps high, or EMPTY    */
    RD_PHRASE_LIST,    /* (a, b) or [a, b]                                       */
    RD_PHRASE_AT,      /* the array, then its subscripts                         */
    RD_PHRASE_SLICE,   /* start, stop, step, each of which may be empty          */
    RD_PHRASE_EMPTY,
    RD_PHRASE_NEW,        /* a new axis                                             */
    RD_PHRASE_REST,       /* ...                                                    */
    RD_PHRASE_TRANSPOSED, /* x.T                                                    */
    RD_PHRASE_REDUCE,     /* name[indices where condition, keywords] body           */
    RD_PHRASE_INDEX,      /* index of a reduction or a result: first, last + 1    */
    RD_PHRASE_WHERE
} rd_phrase_kind;

/* A piece of the tree, filled by parse.c; index.c adds labels, and value.c adds the value. */
typedef struct rd_phrase {
    rd_phrase_kind    kind;
    rd_op             op;         /* of UNARY, BINARY and LINK */
    size_t            at, length; /* its name or sign, as bytes of the text                */
    int               depth;      /* depth of the tree below                                     */
    int               calls;      /* calls inside each other, at most                      */
    int               label;      /* NAME, INDEX: number of the index; -1: none            */
    bool              labelled;   /* it contains an index                                  */
    bool              skip_nan;   /* CALL: "nan" stands before the name of the reducer     */
    bool              whole;      /* NUMBER: it is integer, else real                            */
    bool              imaginary;  /* NUMBER: the value is real * i                         */
    int64_t           integer;    /* NUMBER: the value if it is whole ... */
    double            real;       /* ... and if it is not, or is imaginary */
    rd_expr          *x; /* the value, once built; NULL if the piece contains an index     */
    struct rd_phrase *first, *last, *next; /* operands                                     */
    struct rd_phrase *body;                /* REDUCE: the body                                   */
    struct rd_phrase *next_indexed;        /* AT with indices: the next AT with indices     */
} rd_phrase;

/* A statement, filled by parse.c; formula.c adds the value. */
typedef struct rd_statement {
    size_t     at, length; /* the name; length 0: no name   */
    size_t     from, to;   /* bytes of the whole statement  */
    bool       add;        /* +=                            */
    rd_phrase *index;      /* list of name[i, j] =; or NULL */
    rd_phrase *tree;       /* the right side */
    rd_expr   *x;          /* the value, once built                  */
    bool       whole;      /* the value is a known whole number  */
    int64_t    integer;
} rd_statement;

/* An index of a statement.  Its values are low, low + 1, ... */
typedef struct rd_formula_label {
    size_t           at, length; /* its name, as bytes of the text */
    const rd_phrase *index;
    bool             visible, known, ranged; /* in scope; n is known; the text has a range */
    int64_t          low, n;                 /* the least value; how many values */
    const rd_phrase *from;                   /* the subscript that has given n, NULL: none */
    size_t           of; /* ... and the position of its array in the text             */
    size_t           of_length;
    int              axis; /* ... and the axis that it reads */
    rd_expr *named; /* the first array with a named axis, `axis_named`, that it reads; or NULL */
    int      axis_named;
} rd_formula_label;

/* The state of reading one text. */
typedef struct rd_formula_reader {
    rd_ctx                *ctx;
    const char            *call, *text;   /* the public call, for messages; the whole text */
    const rd_formula_opts *opts;          /* the caller's: arrays, and functions to ask */
    bool                   failed;        /* a failure is recorded: reading ends */
    rd_token              *token;         /* all tokens of the text */
    int                    n_tokens, now; /* now: the next token to read */
    rd_phrase             *piece;         /* all pieces of the tree */
    int                    n_pieces, room, nesting; /* nesting: depth that is read */
    rd_statement           statement[RD_FORMULA_STATEMENTS];
    int                    n_statements, done;      /* done: that many are built */
    rd_named               found[RD_FORMULA_NAMES]; /* arrays that opts->find has found */
    char                  *found_names; /* their names, RD_FORMULA_NAME + 1 bytes each */
    int                    n_found;
    rd_formula_label       label[RD_FORMULA_INDICES]; /* indices of the statement */
    int                    n_labels;
    rd_phrase             *indexed_arrays, *last_indexed; /* list of AT with indices */
    char                   why[RD_WHY];                   /* the reason why opts->axes refuses */
} rd_formula_reader;

/* Records a failure with a caret under byte `at`, unless one is recorded. Returns NULL. */
__attribute__((format(printf, 4, 5))) void *rd_formula_fail(rd_formula_reader *r, rd_status status,
                                                            size_t at, const char *format, ...);
/* Returns x. If x is NULL, the failure that its constructor recorded gets a caret under `at`. */
rd_expr *rd_formula_made(rd_formula_reader *r, rd_expr *x, size_t at);

bool rd_formula_tokens(rd_formula_reader *r);
bool rd_formula_is(const rd_formula_reader *r, size_t at, size_t length, const char *text);

/* ---- Reading (parse.c, parse_operators.c) ---------------------------------------------------- */
bool       rd_formula_parse(rd_formula_reader *r);
rd_phrase *rd_phrase_new(rd_formula_reader *r, rd_phrase_kind kind, const rd_token *t);
/* Appends an operand. False: the tree gets too deep, or the operand is NULL. */
bool            rd_phrase_add(rd_formula_reader *r, rd_phrase *p, rd_phrase *operand);
const rd_token *rd_formula_token(const rd_formula_reader *r);        /* the next token */
bool  rd_formula_next(const rd_formula_reader *r, const char *text); /* true: the next one is it */
bool  rd_formula_take(rd_formula_reader *r, const char *text);
void *rd_formula_expected(rd_formula_reader *r, const char *what);
/* `loosest`: the least rank of operators to read, of the table in core/precedence.def */
rd_phrase *rd_formula_read(rd_formula_reader *r);
rd_phrase *rd_formula_read_binary(rd_formula_reader *r, int loosest);
rd_phrase *rd_formula_read_operand(rd_formula_reader *r);
/* Reads an index with an optional range, and appends it to `into`. */
bool rd_formula_read_index(rd_formula_reader *r, rd_phrase *into);
enum { RD_RANK_BITS = 5, RD_RANK_PRODUCT = 10 };

struct rd_text;
void rd_formula_print(struct rd_text *text, const rd_formula_reader *r);

/* ---- Names (names.c) ------------------------------------------------------------------------- */
/* Finds the array of that name. NULL: there is none, or `find` has failed, which is recorded. */
rd_expr *rd_formula_array(rd_formula_reader *r, size_t at, size_t length);
bool     rd_formula_has_array(rd_formula_reader *r, size_t at, size_t length);
/* Finds the built statement of that name. */
rd_statement *rd_formula_statement(rd_formula_reader *r, size_t at, size_t length);
/* True if the name is in core/reducers.def; or that, or a function with the sort REDUCES. */
bool rd_formula_is_reducer(const rd_formula_reader *r, size_t at, size_t length);
bool rd_formula_reduces(const rd_formula_reader *r, size_t at, size_t length);

/* ---- Numbers that are known now (constant.c) ------------------------------------------------- */
bool rd_formula_integer(rd_formula_reader *r, const rd_phrase *p, int64_t *value);
/* True if p is a whole number beyond 64 bits. Beside floats it is the nearest f64. */
bool rd_formula_beyond(rd_formula_reader *r, const rd_phrase *p, double *value);
bool rd_formula_real(rd_formula_reader *r, const rd_phrase *p, double *value);
/* Reads a whole number; records a failure about `what` if p is none. */
bool     rd_formula_need_integer(rd_formula_reader *r, const rd_phrase *p, const char *what,
                                 int64_t *value);
rd_dtype rd_formula_type(const rd_formula_reader *r, size_t at, size_t length);

/* True if p is size(x), size(x, axis) or len(x). */
bool rd_formula_is_size(const rd_formula_reader *r, const rd_phrase *p);

/* ---- Values (value.c, labelled.c) ------------------------------------------------------------ */
/* A value with labels of indices. Labels ascend, and x has an axis for each label. Without
 * labels x is a whole array. x NULL: the evaluation failed. */
typedef struct rd_labelled {
    rd_expr *x;
    int      n;
    int16_t  label[RD_MAX_RANK];
} rd_labelled;

rd_labelled rd_formula_value(rd_formula_reader *r, rd_phrase *p);
/* Collects all labels of the values. False: a failure is recorded. */
bool rd_labelled_union(rd_formula_reader *r, int n, const rd_labelled *v, size_t at,
                       rd_labelled *all);
/* Views v with the labels of `all`. A missing axis has extent 1, or (`whole`) the extent of the
 * index. A value without labels is a number, and stays as it is unless `whole`. */
rd_expr *rd_labelled_seen(rd_formula_reader *r, const rd_labelled *v, const rd_labelled *all,
                          bool whole, size_t at);
bool     rd_labelled_has(const rd_labelled *v, int label, int *place);

/* ---- Indices (index.c), subscripts (subscript.c) --------------------------------------------- */
/* The steps find the names that are indices, the ranges in the text, and the extent of each
 * index. Ranges need operands with a size, and extents need the arrays that are read; built.c
 * builds these between. */
bool rd_formula_resolve(rd_formula_reader *r, rd_statement *s);
bool rd_formula_build_sized(rd_formula_reader *r, rd_statement *s);
bool rd_formula_ranges(rd_formula_reader *r);
bool rd_formula_build_read(rd_formula_reader *r);
bool rd_formula_extents(rd_formula_reader *r);

/* An affine sum of indices: constant + sum of coef[k] * value of label[k]. */
typedef struct rd_formula_sum {
    int64_t constant;
    int     n;
    int16_t label[RD_MAX_RANK];
    int64_t coef[RD_MAX_RANK];
} rd_formula_sum;
/* Reads p as such a sum. False: it is none, or a failure is recorded. */
bool rd_formula_affine(rd_formula_reader *r, const rd_phrase *p, rd_formula_sum *a);
/* Finds the least and the greatest value of a sum. False: an index has no values. */
bool rd_formula_range(const rd_formula_reader *r, const rd_formula_sum *a, __int128 *low,
                      __int128 *high);
/* Finds the mode by which pad(i), clamp(i), wrap(i) and the like read outside an axis; *inner
 * becomes the index. -1: p is none of them. */
int rd_formula_outside(const rd_formula_reader *r, rd_phrase *p, rd_phrase **inner);

rd_labelled rd_formula_subscripts(rd_formula_reader *r, rd_phrase *p);

/* ---- Names of axes (meet.c): what opts->axes knows ------------------------------------------- */
/* The name of an axis of x; NULL: it has none. */
const char *rd_formula_axis_name(rd_formula_reader *r, rd_expr *x, int axis);
/* Finds the axis of that name. -1: there is none, or there are several, which is recorded. */
int rd_formula_axis_called(rd_formula_reader *r, rd_expr *x, const char *name, size_t at);
/* Records that x has no axis of that name, with the names that it has. */
void *rd_formula_no_axis(rd_formula_reader *r, rd_expr *x, const char *name, size_t at);
/* Replaces whole arrays in x by views that broadcast axis by axis, as their names say; NULL
 * entries stay. `into`: the result has the axes of x[0]. False: they do not belong together. */
bool rd_formula_broadcast_by_names(rd_formula_reader *r, int n, rd_expr **x, bool into, size_t at);
/* Asks the caller to align coordinates along two axes of one name; both arrays may become parts
 * of themselves. False: the coordinates do not fit, which is recorded. */
bool rd_formula_side_by_side(rd_formula_reader *r, rd_expr **x, int x_axis, rd_expr **y, int y_axis,
                             size_t at);
/* Returns the answer x of the caller. If it is NULL, its reason is recorded. */
rd_expr *rd_formula_answer(rd_formula_reader *r, rd_expr *x, size_t at);
/* alike.c: puts operands of an operator in one unit. False: refused, which is recorded. */
bool rd_formula_same_unit(rd_formula_reader *r, int function, int n, rd_expr **x, size_t at);
/* Tells the caller that the function `name` made y of the operands x. Returns y. */
rd_expr *rd_formula_told(rd_formula_reader *r, rd_expr *y, const char *name, int n,
                         rd_expr *const *x);

/* ---- Arguments (arguments.c) ----------------------------------------------------------------- */
enum { RD_ARGUMENTS = 16, RD_ARGUMENT_LIST = 64 };
/* Arguments, read as a list of parameters says: "x axis:d=-1 method:n?" has name, kind, default,
 * and ? if the parameter is optional. The kinds are:
 *
 *      x  an expression (the default)          t  an element type
 *      v  all other arguments, as a list       n  a name or a text
 *      l  a list of expressions                q  numbers
 *      i  an integer                           s  integers
 *      f  a number                             b  true or false
 *      d  axes                                 a  an axis of the third argument
 *      p  axes of two arrays: a number of them, or two lists
 *
 * An i with the name axis is an axis of the first argument. */
typedef struct rd_arguments {
    rd_formula_reader *r;
    rd_ctx            *ctx;
    const rd_phrase   *call;               /* the piece of the tree */
    int                n;                  /* parameters */
    const char        *name[RD_ARGUMENTS]; /* in the list of parameters, not terminated */
    int                name_length[RD_ARGUMENTS];
    char               kind[RD_ARGUMENTS];  /* a letter of the list above */
    const rd_phrase   *given[RD_ARGUMENTS]; /* the argument; NULL: not given */
    /* by parameter: the value of kind x; of kinds i, b, a and p; of kind f */
    rd_labelled x[RD_ARGUMENTS];
    int64_t     i[RD_ARGUMENTS];
    double      f[RD_ARGUMENTS];
    rd_dims     d;          /* kind d: axes */
    rd_ints     s, pair[2]; /* kind s: integers; kind p: two lists */
    double      q[RD_ARGUMENT_LIST];
    int32_t     n_q;                       /* kind q: the n_q numbers in q */
    bool        several;                   /* q is a list, not one number */
    rd_dtype    t;                         /* kind t: an element type; RD_AUTO: none */
    char        text[RD_FORMULA_NAME + 1]; /* kind n: a name or a text */
    rd_expr    *list[RD_ARGUMENT_LIST];    /* kinds l and v: arrays */
    int         n_list;
    rd_expr    *by[RD_MAX_RANK]; /* the n_list group labels, as they were given */
} rd_arguments;
bool rd_formula_arguments(rd_formula_reader *r, const rd_phrase *call, const char *list,
                          rd_arguments *a);
/* beside.c: translates an index along an axis of x that only the caller understands, such as
 * months along an axis of months, to positions. NULL: refused. */
rd_expr *rd_formula_places(rd_formula_reader *r, rd_expr *x, int axis, rd_expr *index, size_t at);
/* beside.c: views masks, weights and labels with the axes of the first array, and finds how many
 * groups labels have. */
bool rd_formula_prepare_arguments(rd_arguments *a);
/* alike.c: puts arguments that are compared or joined in one unit. False: refused. */
bool rd_formula_alike_arguments(rd_arguments *a, const char *name);
/* beside.c: tells the caller which axes of the result y are groups. */
void rd_formula_grouped(const rd_arguments *a, rd_expr *y);

/* ---- Functions that are no reducers (functions.c) -------------------------------------------- */
typedef enum rd_formula_sort {
    RD_FORMULA_WHOLE,  /* takes whole arrays */
    RD_FORMULA_MAPS,   /* elementwise: operands broadcast, and may have indices */
    RD_FORMULA_REDUCES /* reduces axes; also name[indices] body */
} rd_formula_sort;

/* A row of functions.def; `arguments` is its list of parameters. */
typedef struct rd_formula_function {
    const char     *name, *arguments;
    rd_formula_sort sort;
    rd_expr *(*build)(const rd_arguments *a);
} rd_formula_function;
const rd_formula_function *rd_formula_function_called(const rd_formula_reader *r, size_t at,
                                                      size_t length);

/* ---- Calls and reductions (apply.c) ---------------------------------------------------------- */
/* Evaluates a call or a reduction: finds the function, reads its arguments, builds the value. */
rd_labelled rd_formula_apply(rd_formula_reader *r, rd_phrase *p);

/* call.c: what a name means in name(...), and the list of its parameters. `list` NULL: it has
 * none, or a failure is recorded. */
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
    const char                *list; /* its parameters */
    const rd_formula_function *row;  /* ROW: of functions.def */
    rd_dtype                   type;
    int                        function; /* OPERATOR: an rd_op or RD_TEXT_CLIP */
} rd_callee;
rd_callee   rd_formula_callee(rd_formula_reader *r, const rd_phrase *p);
rd_labelled rd_formula_call(rd_formula_reader *r, const rd_phrase *p, const rd_callee *callee,
                            rd_arguments *a);
/* True for nanmean(x) and the like, NumPy's names: *plain becomes mean(x, skip_nan=true). */
bool rd_formula_without_nan(const rd_formula_reader *r, const rd_phrase *p, rd_phrase *plain);
/* True if the caller may have such a function. rd_formula_ask() calls it; NULL without a
 * failure: the caller has no such function. */
bool        rd_formula_may_ask(rd_formula_reader *r, const rd_phrase *p);
rd_expr    *rd_formula_ask(rd_formula_reader *r, const rd_phrase *p, int n, rd_expr **x);
rd_labelled rd_formula_no_function(rd_formula_reader *r, const rd_phrase *p);

/* reduce.c: the parameters of reducers and scans, and calls: mean(x, axis=0), cumsum(x, axis=0). */
const char *rd_formula_reducer_list(rd_formula_reader *r, const rd_phrase *p);
const char *rd_formula_scan_list(void);
rd_labelled rd_formula_reduce(const rd_phrase *p, rd_arguments *a);
rd_labelled rd_formula_scan(const rd_phrase *p, rd_arguments *a);
/* name[indices, keywords] body as the call name(body, keywords), made of copies of the pieces,
 * because the tree keeps the pieces themselves. */
typedef struct rd_bracket {
    rd_phrase call, copy[RD_ARGUMENTS];
} rd_bracket;
bool        rd_formula_bracket(rd_formula_reader *r, const rd_phrase *p, rd_bracket *b);
const char *rd_formula_bracket_list(const rd_formula_reader *r, const rd_phrase *p);
rd_labelled rd_formula_reduce_indices(const rd_phrase *p, rd_arguments *a);

/* contract.c: the factors of sum[indices] of a product of arrays with indices; 0: p is no such
 * sum. Then their sum, if two or more are sparse; x NULL without a failure: no contraction fits. */
enum { RD_MOST_FACTORS = 8 };
int         rd_formula_factors(const rd_formula_reader *r, rd_phrase *p,
                               rd_phrase *factor[RD_MOST_FACTORS]);
rd_labelled rd_formula_sparse_sum(rd_formula_reader *r, const rd_phrase *p, int n,
                                  const rd_labelled *v);

/* ---- Other names (words.c) ------------------------------------------------------------------- */
/* Translates a name of NumPy, SciPy or PyTorch to the name here. NULL: the names are the same,
 * or the function is not here. */
const char *rd_formula_word(const rd_formula_reader *r, size_t at, size_t length);
/* Returns advice for a function that is not here: what to write, or who has it. NULL: none. */
const char *rd_formula_instead(const rd_formula_reader *r, size_t at, size_t length);
/* True if the name is np, numpy or another module. */
bool rd_formula_is_module(const rd_formula_reader *r, size_t at, size_t length);
#endif
