/* reducers.c - reducers as functions of a text: the rows of reducers.def. */
#include "kernels/emit/emit.h"
#include <string.h>

typedef struct fold_code {
    const char *identity, *step, *block, *merge, *finish, *empty;
} fold_code;

static const fold_code fold_codes[RD_N_REDUCERS] = {
#define RD_REDUCE_ROW(name, n_state, n_out, law, kinds, cost, op, terminal, identity, first, step, \
                      block, merge, finish, empty)                                                 \
    [RD_RED_##name] = { #identity, #step, #block, #merge, #finish, #empty },
#include "core/reducers.def"
};

typedef struct lanes_code {
    const char *pick, *align, *add;
} lanes_code;

static const lanes_code lanes_codes[RD_N_REDUCERS] = {
#define RD_LANES_ROW(name, n_state, pick, align, add) [RD_RED_##name] = { #pick, #align, #add },
#include "core/reducers.def"
};

/* ---- Reducers -------------------------------------------------------------------------------- */
static bool is_place(const rd_fold *f)
{
    return rd_reducer_places(f->reducer);
}

/* Of results.  Bools are u64 in folds. */
static const char *fold_type(const rd_fold *f)
{
    return f->type == RD_BOOL ? "uint64_t" : rd_register_type(f->type);
}

/* Is the state one of the elements, or made of their bits?  Sums and products leave the type. */
static bool is_like_elements(const rd_fold *f)
{
    const rd_reducer_info *r = &rd_reducer_table[f->reducer];

    return r->n_state == 1 && r->op != RD_OP_none && rd_op_table[r->op].rule != RD_RULE_ARITH;
}

/* Of states in a block, and of finished blocks. */
static const char *step_type(const rd_emit_fold *f)
{
    const char *const small =
        f->narrow && is_like_elements(f->fold) ? rd_small_type(f->fold->type) : NULL;

    return f->in_32_bits ? "int32_t" : small ? small : fold_type(f->fold);
}

static const char *merge_type(const rd_emit_fold *f)
{
    return rd_fold_widens(f->fold) ? "double" : f->in_32_bits ? fold_type(f->fold) : step_type(f);
}

static rd_class step_class(const rd_fold *f)
{
    return f->type == RD_BOOL ? RD_CLASS_u64 : rd_dtype_class(f->type);
}

static int step_size(const rd_fold *f)
{
    return f->type == RD_BOOL ? 8 : rd_register_size(f->type);
}

static bool is_seen(const rd_emit_fold *f, int k)
{
    return f->seen && k == f->n_state - 1;
}

/* As wide as elements, so that vectors hold as many of both; narrow if all places fit. */
static const char *place_type(const rd_emit_fold *f)
{
    return step_size(f->fold) == 4 && f->places < INT32_MAX ? "int32_t" : "int64_t";
}

/* Is an empty fold not what its identity comes to?  A place says so itself. */
static bool tells_nothing(const rd_fold *f)
{
    return rd_reducer_table[f->reducer].empty && !rd_reducer_places(f->reducer);
}

/* Is a sum of nothing what it begins with?  Of floats by label, too. */
static bool begins_with_0(const rd_fold *f)
{
    return (f->n_group || f->by_rows) && (rd_reducer_adds(f->reducer) || f->reducer == RD_RED_sum2);
}

void rd_emit_facts(rd_emit_fold *f, int64_t places)
{
    f->places = places;
    f->seen   = (f->masked || f->fold->exclusive || f->empties) && tells_nothing(f->fold) &&
              !(f->empties && begins_with_0(f->fold));
    f->n_state = rd_reducer_table[f->fold->reducer].n_state + f->seen;
    f->bytes   = 8;
}

const char *rd_state_type(const rd_emit_fold *f, int k)
{
    if (f->user)
        return rd_user_state_type(f, k);
    if (is_seen(f, k))
        return f->cells ? "uint8_t" : step_size(f->fold) == 4 ? "int32_t" : "int64_t";
    return is_place(f->fold) && k == 1 ? place_type(f) : step_type(f);
}

const char *rd_state_elem(const rd_emit_fold *f)
{
    return rd_class_name(step_class(f->fold));
}

const char *rd_node_type(const rd_emit_fold *f, int k)
{
    if (f->user || is_seen(f, k))
        return rd_state_type(f, k);
    return is_place(f->fold) && k == 1 ? place_type(f) : merge_type(f);
}

const char *rd_result_type(const rd_fold *f)
{
    if (f->user)
        return rd_register_type(f->out);
    return is_place(f) ? "int64_t" : fold_type(f);
}

void rd_add_each(rd_text *to, const rd_emit_fold *f, const char *format)
{
    for (int k = 0; k < f->n_state; k++) {
        rd_text_add(to, k ? ", " : "");
        rd_text_add(to, format, k);
    }
}

void rd_add_parameters(rd_text *to, const rd_emit_fold *f, bool nodes, const char *keep, char name)
{
    for (int k = 0; k < f->n_state; k++)
        rd_text_add(to, "%s%s%s *%c%d", k ? ", " : "", keep,
                    nodes ? rd_node_type(f, k) : rd_state_type(f, k), name, k);
}

static void begin_function(rd_text *to, const rd_emit_fold *f, int number, const char *name,
                           bool nodes)
{
    rd_text_add(to, "static inline void %s%d(", name, number);
    rd_add_parameters(to, f, nodes, "", 's');
}

static void add_extremes(rd_text *to, const rd_emit_fold *fold)
{
    static const char *const most[RD_F64 + 1] = {
        [RD_BOOL] = "1",         [RD_I8] = "127",
        [RD_I16] = "32767",      [RD_I32] = "__INT32_MAX__",
        [RD_I64] = "INT64_MAX",  [RD_U8] = "255",
        [RD_U16] = "65535",      [RD_U32] = "0xffffffffu",
        [RD_U64] = "UINT64_MAX", [RD_F16] = "INFINITY",
        [RD_BF16] = "INFINITY",  [RD_F32] = "INFINITY",
        [RD_F64] = "INFINITY"
    };
    static const char *const least[RD_F64 + 1] = {
        [RD_BOOL] = "0",         [RD_I8] = "-128",
        [RD_I16] = "-32768",     [RD_I32] = "(-__INT32_MAX__ - 1)",
        [RD_I64] = "INT64_MIN",  [RD_U8] = "0",
        [RD_U16] = "0",          [RD_U32] = "0",
        [RD_U64] = "0",          [RD_F16] = "-INFINITY",
        [RD_BF16] = "-INFINITY", [RD_F32] = "-INFINITY",
        [RD_F64] = "-INFINITY"
    };
    const rd_dtype type = fold->fold->type;

    rd_text_add(to, "#define RD_ZERO %s\n#define RD_MOST %s\n#define RD_LEAST %s\n",
                rd_dtype_kind(type) != RD_KIND_FLOAT                 ? "0"
                : fold->empties && rd_fold_begins_with_0(fold->fold) ? "(T)0.0"
                                                                     : "(T)-0.0",
                most[type], least[type]);
    rd_text_add(to, "#define RD_NO_PLACE %s\n",
                strcmp(place_type(fold), "int32_t") ? "INT64_MAX" : "__INT32_MAX__");
}

/* Where elements of a lane come by rising place, the first of equals is the first to come. */
static void set_best(rd_text *to, const rd_emit_fold *f, bool rises)
{
    rd_text_add(to, "#undef RD_BEST\n#define RD_BEST RD_BEST_%s\n",
                !rises      ? "ANYWHERE"
                : f->masked ? "FIRST_OR_LATER"
                            : "LATER");
}

bool rd_takes_power(const rd_emit_fold *f)
{
    return !f->fold->user && strstr(fold_codes[f->fold->reducer].step, "RD_LSE(") != NULL;
}

/* A function of the states, an element and its weight: the step's code with another meaning of
 * RD_LSE. */
static void add_of_step(rd_text *to, const rd_emit_fold *f, int number, const char *head,
                        const char *meaning)
{
    const bool changes = strncmp(head, "void", 4) == 0;

    rd_text_add(to,
                "#undef RD_LSE\n#define RD_LSE(m, s, x, w, far) %s\n"
                "static inline %s%d(",
                meaning, head, number);
    rd_add_parameters(to, f, false, changes ? "" : "const ", 's');
    rd_text_add(to, ", const T x, const T w%s)\n{\n    %s\n}\n", changes ? ", const T power" : "",
                fold_codes[f->fold->reducer].step);
}

bool rd_goes_by_lane(const rd_emit_fold *f)
{
    return f->fold->lanes > 1 && !f->user && lanes_codes[f->fold->reducer].pick;
}

/* "static inline void pick0(float *s0, ..., const float *b0, ...": of the lanes of a fold. */
static void begin_of_lanes(rd_text *to, const rd_emit_fold *f, int number, const char *head,
                           char other)
{
    rd_text_add(to, "static inline %s%d(", head, number);
    rd_add_parameters(to, f, true, "", 's');
    rd_text_add(to, ", ");
    rd_add_parameters(to, f, true, "const ", other);
}

/* What lanes go by; what each becomes that adds up, with its exponential apart, for vectors; and
 * their sum. */
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

/* What a step takes the exponential of is a function of its own: between the two a strip has its
 * exponentials by vectors.  Of most strips no element is so far above what its state has as m that
 * this moves.  They are told by the distances, their exponentials are those of the distances, and
 * the step is an addition. */
static void add_exponent(rd_text *to, const rd_emit_fold *f, int number)
{
    add_of_step(to, f, number, "T exponent", "return RD_F(lse_exponent)((x) - (m), far);");
    add_of_step(to, f, number, "T distance", "return (x) - (m);");
    add_of_step(to, f, number, "int moves", "return (x) - (m) <= (far) ? 0 : 1;");
    add_of_step(to, f, number, "void near", "(s) = RD_F(fma)((w), power, (s));");
    rd_text_add(to, "#undef RD_LSE\n"
                    "#define RD_LSE(m, s, x, w, far) RD_LSE_BY(power, m, s, x, w, far)\n");
}

/* What a step leaves is kept where a condition says so: vectors compute it for all. */
static void add_kept(rd_text *to, const rd_emit_fold *f, int n_state, const char *code,
                     const char *condition)
{
    for (int k = 0; k < n_state; k++)
        rd_text_add(to, "    const %s k%d = *s%d;\n", rd_state_type(f, k), k, k);
    rd_text_add(to, "    { %s }\n", code);
    for (int k = 0; k < n_state; k++)
        rd_text_add(to, "    *s%d = %s ? *s%d : k%d;\n", k, condition, k, k);
}

/* The step of a strip of which some elements are none, see rest.c. */
static void add_some(rd_text *to, const rd_emit_fold *f, int number)
{
    rd_text code = { 0 };

    rd_text_add(&code, "step%d(", number);
    rd_add_each(&code, f, "s%d");
    rd_text_add(&code, ", x, w, i%s);", f->masked ? ", take" : "");
    begin_function(to, f, number, "some", false);
    rd_text_add(to, ", const T x, const T w, const %s i%s, const uint8_t is)\n{\n", place_type(f),
                f->masked ? ", const uint8_t take" : "");
    add_kept(to, f, f->n_state, code.at ? code.at : "", "is");
    rd_text_add(to, "}\n");
    rd_text_free(&code);
}

bool rd_notes_nan(const rd_emit_fold *f)
{
    const rd_op op = rd_reducer_table[f->fold->reducer].op;

    return f->fold->by_rows && f->seen && !f->user &&
           (op == RD_OP_minimum || op == RD_OP_maximum) &&
           rd_dtype_kind(f->fold->type) == RD_KIND_FLOAT;
}

/* What the state is goes by way of a constant: else gcc chooses between numbers in registers of
 * ints, and an extreme of rows of seven took 1.6 times as long. */
static void add_extreme(rd_text *to, const rd_emit_fold *f)
{
    const bool least = rd_reducer_table[f->fold->reducer].op == RD_OP_minimum;

    rd_text_add(to, "    const T k = S(0), z = x %c k ? x : k;\n", least ? '<' : '>');
    rd_text_add(to, f->masked ? "    S(0) = take ? z : S(0);\n" : "    S(0) = z;\n");
}

static void add_noting_step(rd_text *to, const rd_emit_fold *f)
{
    add_extreme(to, f);
    rd_text_add(to, "    *s%d |= %s(x != x ? 3 : 1);\n}\n", f->n_state - 1,
                f->masked ? "!take ? 0 : " : "");
}

/* The same of one element after another: NaN is rare, and a branch that is never taken costs less
 * than a bit of each. */
static void add_one(rd_text *to, const rd_emit_fold *f, int number)
{
    const int seen = f->n_state - 1;

    begin_function(to, f, number, "one", false);
    rd_text_add(to, ", const T x, const T w, const %s i%s)\n{\n", place_type(f),
                f->masked ? ", const uint8_t take" : "");
    add_extreme(to, f);
    rd_text_add(to, "    *s%d |= %s1;\n    if (__builtin_expect(%sx != x, 0)) *s%d |= 2;\n}\n",
                seen, f->masked ? "!take ? 0 : " : "", f->masked ? "take && " : "", seen);
}

/* Four elements are as one, their extreme: of equals the first, as it would be one by one. */
static void add_fours(rd_text *to, const rd_emit_fold *f, int number)
{
    const char sign = rd_reducer_table[f->fold->reducer].op == RD_OP_minimum ? '<' : '>';

    begin_function(to, f, number, "fours", false);
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

static void add_step(rd_text *to, const rd_emit_fold *f, int number)
{
    const char *code = fold_codes[f->fold->reducer].step;
    const int   last = f->n_state - f->seen;

    if (rd_takes_power(f))
        add_exponent(to, f, number);
    begin_function(to, f, number, "step", false);
    rd_text_add(to, ", const T x, const T w, const %s i%s%s)\n{\n", place_type(f),
                f->masked ? ", const uint8_t take" : "",
                rd_takes_power(f) ? ", const T power" : "");
    if (rd_notes_nan(f)) {
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
    if (!rd_takes_power(f))
        add_some(to, f, number);
}

static void add_finish(rd_text *to, const rd_emit_fold *f, int number)
{
    const fold_code *code = &fold_codes[f->fold->reducer];
    const char      *type = is_place(f->fold) ? "int64_t" : fold_type(f->fold);

    rd_text_add(to, "static inline void finish%d(", number);
    rd_add_parameters(to, f, true, "const ", 's');
    for (int k = 0; k < f->fold->n_out; k++)
        rd_text_add(to, ", %s *y%d", type, k);
    rd_text_add(to, ")\n{\n    const double ddof = %.17g;\n    %s z[2];\n", f->fold->ddof,
                is_place(f->fold) ? "int64_t" : "T");
    rd_text_add(
        to, "#define Y(k) z[k]\n#define YI(k) z[k]\n#define P ddof\n#define RD_NAN %s\n    %s\n",
        rd_dtype_kind(f->fold->type) == RD_KIND_FLOAT ? "NAN" : "0",
        rd_notes_nan(f) ? "Y(0) = S(0);" : code->finish);
    if (rd_notes_nan(f))
        rd_text_add(to, "    if (*s%d & 2) { %s }\n", f->n_state - 1, code->empty);
    if (f->seen && !f->fold->identity)
        rd_text_add(to, "    if (!*s%d) { %s }\n", f->n_state - 1, code->empty);
    if (is_place(f->fold))
        rd_text_add(to, "    if (z[0] == RD_NO_PLACE) z[0] = %d;\n",
                    f->masked || f->fold->scan ? -1 : 0); /* all are the worst */
    for (int k = 0; k < f->fold->n_out; k++)
        rd_text_add(to, "    *y%d = (%s)z[%d];\n", k, type, k);
    rd_text_add(to, "}\n#undef Y\n#undef YI\n#undef P\n#undef RD_NAN\n");
}

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
    rd_begin_type(to, step_type(f), step_class(f->fold));
    begin_function(to, f, number, "begin", false);
    rd_text_add(to, ")\n{\n    %s\n", code->identity);
    if (f->seen)
        rd_text_add(to, "    *s%d = 0;\n", f->n_state - 1);
    rd_text_add(to, "}\n");
    set_best(to, f, is_place(f->fold) && f->rises);
    add_step(to, f, number);
    if (rd_takes_power(f))
        rd_text_add(to, "#undef RD_LSE\n#define RD_LSE RD_LSE_ITSELF\n");
    set_best(to, f, false);
    begin_function(to, f, number, "block", false);
    rd_text_add(to, ")\n{\n    %s\n}\n", code->block);
    rd_end_type(to);
    rd_begin_type(to, merge_type(f), rd_fold_widens(f->fold) ? RD_CLASS_f64 : step_class(f->fold));
    begin_function(to, f, number, "merge", true);
    rd_text_add(to, ", ");
    rd_add_parameters(to, f, true, "const ", 'b');
    rd_text_add(to, ")\n{\n    %s\n", code->merge);
    if (f->seen)
        rd_text_add(to, "    *s%d |= *b%d;\n", f->n_state - 1, f->n_state - 1);
    rd_text_add(to, "}\n");
    if (rd_goes_by_lane(f))
        add_lanes_functions(to, f, number);
    add_finish(to, f, number);
    rd_end_type(to);
    rd_text_add(to, "#undef S\n#undef SI\n#undef B\n#undef BI\n"
                    "#undef RD_ZERO\n#undef RD_MOST\n#undef RD_LEAST\n#undef RD_NO_PLACE\n");
}
