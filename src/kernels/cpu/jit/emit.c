/* emit.c - a pass as C text: macros for its elements and states, between the library's own code (prelude.h) and the loops
 * (loops.h).  What operators and reducers do is the text of their rows in ops.def and reducers.def. */
#include "kernels/cpu/jit/emit.h"
#include "kernels/cpu/simd/simd.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

extern const char rd_prelude[], rd_loops[];

/* ---- Tables ------------------------------------------------------------------------------------------------ */
static const char *const c_types[RD_N_ELEMS] = { "float", "double", "int64_t", "uint64_t", "uint8_t" };
static const char *const classes[RD_N_ELEMS] = { "f32", "f64", "i64", "u64", "u64" };

static const char *const memory_types[RD_N_DTYPES] = {
#define RD_DTYPE(enum_, name, C, kind, class) [RD_##enum_] = #C,
#include "core/dtypes.def"
#undef RD_DTYPE
};

/* [of ints] */
static const char *const op_code[RD_N_OPS][2] = {
#define RD_OP(name, n, rule, cost, float_code, ...)   [RD_OP_##name] = { #float_code, #__VA_ARGS__ },
#define RD_TEST(name, n, rule, cost, float_code, ...) [RD_OP_##name] = { #float_code, #__VA_ARGS__ },
#include "core/ops.def"
};

typedef struct fold_code {
    const char *first, *step, *block, *merge, *finish;
} fold_code;

static const fold_code fold_codes[RD_N_REDUCERS] = {
#define RD_REDUCE_ROW(name, n_state, n_out, law, kinds, cost, first, step, block, merge, finish, empty) \
    [RD_RED_##name] = { #first, #step, #block, #merge, #finish },
#include "core/reducers.def"
};

/* The step of states that have met an element, of weight 1: what the row comes to then, as in simd/moments.h, lse.h. */
static const char *begun_step(rd_reducer_id reducer, bool has_fma)
{
    switch (reducer) {
    /* Rows come by rising index. */
    case RD_RED_argmin: return "if (S(0) == S(0) && !(x >= S(0))) { S(0) = x; SI(1) = i; }";
    case RD_RED_argmax: return "if (S(0) == S(0) && !(x <= S(0))) { S(0) = x; SI(1) = i; }";
    /* S(0) is counted apart.  An fma adds, too, with the same rounding: elsewhere than where four additions queue up (mean and
     * variance of rows of 8192 f32 on Zen 4: 0.87 of the time). */
    case RD_RED_moments:
        return has_fma ? "T d = x - S(1); S(2) = RD_F(fma)(d, 1, S(2)); S(3) += d * d;"
                       : "T d = x - S(1); S(2) += d; S(3) += d * d;";
    case RD_RED_logsumexp:
    case RD_RED_maxsumexp:
        return "const T e = x == S(0) ? 1 : power;"
               "const T less = RD_F(fma)(S(1), e, 1); const int more = x > S(0);"
               " S(1) = more ? less : S(1) + e; S(0) = more ? x : S(0);";
    default: return fold_codes[reducer].step;
    }
}

/* Does it take exp(-|x - m|) of each element x?  Steps and merges are handed it as `power`. */
static bool has_power(const rd_spec_fold *fold)
{
    return fold->reducer == RD_RED_logsumexp || fold->reducer == RD_RED_maxsumexp;
}

/* What states are merged as. */
static rd_elem merge_elem(const rd_spec_fold *fold)
{
    return fold->widens ? RD_ELEM_f64 : rd_elem_of((rd_dtype)fold->type);
}

/* What states of finished blocks lie in memory as: sums of f32 are f64. */
static rd_elem wide_elem(const rd_spec_fold *fold)
{
    return rd_reducer_adds((rd_reducer_id)fold->reducer) && fold->type == RD_F32 ? RD_ELEM_f64
                                                                                 : rd_elem_of((rd_dtype)fold->type);
}

static bool is_real(rd_elem elem)
{
    return elem == RD_ELEM_f32 || elem == RD_ELEM_f64;
}

static bool is_test(const rd_spec_inst *inst)
{
    return rd_op_table[inst->op].rule == RD_RULE_COMPARE || rd_op_table[inst->op].rule == RD_RULE_TEST;
}

/* ---- What can be ------------------------------------------------------------------------------------------- */
static bool calls_c(rd_op op)
{
    switch (op) {
    case RD_OP_sin:
    case RD_OP_cos:
    case RD_OP_tan:
    case RD_OP_atan2:
    case RD_OP_hypot:
    case RD_OP_fmod:
    case RD_OP_floordiv:
    case RD_OP_remainder: return true;
    default: return false;
    }
}

bool rd_spec_can(rd_op op, rd_dtype type)
{
    const bool ints = rd_dtype_kind(type) != RD_KIND_FLOAT;

    return op < RD_OP_where && !calls_c(op) && !(ints && op == RD_OP_pow) && strcmp(op_code[op][ints], "RD_NO") != 0;
}

/* ---- Operators --------------------------------------------------------------------------------------------- */
static void begin_class(rd_text *text, rd_elem elem)
{
    rd_text_add(text, "#define T %s\n#define CLASS %s\n", c_types[elem], classes[elem]);
    rd_text_add(text, "#define RD_T(f) WITH_WARNINGS_##f\n");
    if (is_real(elem))
        rd_text_add(text, "#define RD_F(name) rd_math_##name##_%s\n", classes[elem]);
    rd_text_add(text, is_real(elem) ? "#define RD_ADD(a, b) ((a) + (b))\n#define RD_MUL(a, b) ((a) * (b))\n"
                                    : "#define RD_ADD(a, b) ((T)((uint64_t)(a) + (uint64_t)(b)))\n"
                                      "#define RD_MUL(a, b) ((T)((uint64_t)(a) * (uint64_t)(b)))\n");
}

static void end_class(rd_text *text)
{
    rd_text_add(text, "#undef T\n#undef CLASS\n#undef RD_T\n#undef RD_F\n#undef RD_ADD\n#undef RD_MUL\n");
}

/* f<number>() is what instruction `number` computes; narrow ints are cut to their type. */
static void emit_op(rd_text *text, const rd_spec_inst *inst, int number)
{
    static const char *const parameters[] = { "", "T a", "T a, T b", "T a, T b, T c" };
    const rd_dtype           type         = (rd_dtype)(is_test(inst) ? inst->from : inst->type);
    const rd_elem            elem = rd_elem_of(type), result = rd_elem_of((rd_dtype)inst->type);
    const bool               ints = rd_dtype_kind(type) != RD_KIND_FLOAT;

    begin_class(text, elem);
    rd_text_add(text, "static inline %s f%d(%s)\n{\n    return (%s)(%s)(%s);\n}\n", c_types[result], number,
                parameters[rd_op_table[inst->op].arity], c_types[result],
                is_test(inst) ? "uint8_t" : memory_types[inst->type], op_code[inst->op][ints]);
    end_class(text);
}

static bool rounds_to_ints(const rd_spec *spec)
{
    bool found = false;

    for (int k = 0; k < spec->n_inst; k++)
        found |= spec->inst[k].kind == RD_SPEC_CAST && is_real(rd_elem_of((rd_dtype)spec->inst[k].from)) &&
                 rd_elem_of((rd_dtype)spec->inst[k].type) == RD_ELEM_i64;
    return found;
}

static void emit_cast(rd_text *text, const rd_spec *spec, int number)
{
    const rd_spec_inst *inst = &spec->inst[number];
    const rd_elem       from = rd_elem_of((rd_dtype)inst->from), to = rd_elem_of((rd_dtype)inst->type);
    const bool          real = is_real(from);
    const char         *code = "a";

    /* gcc 12 makes (float)(int64_t)x one rounding of x, which keeps the sign of a zero that an int has not. */
    if (from == RD_ELEM_i64 && is_real(to) && rounds_to_ints(spec))
        code = to == RD_ELEM_f32 ? "a < 0 ? (float)a : __builtin_fabsf((float)a)"
                                 : "a < 0 ? (double)a : __builtin_fabs((double)a)";
    else if (to == RD_ELEM_b8)
        code = "a != 0";
    else if (real && to == RD_ELEM_i64)
        code = "rd_saturate_i64(a)";
    else if (real && to == RD_ELEM_u64)
        code = "rd_saturate_u64(a)";
    rd_text_add(text, "static inline %s f%d(%s a)\n{\n    return (%s)(%s)(%s);\n}\n", c_types[to], number,
                c_types[from], c_types[to], to == RD_ELEM_b8 ? "uint8_t" : memory_types[inst->type], code);
}

static void emit_ops(rd_text *text, const rd_spec *spec)
{
    for (int k = 0; k < spec->n_inst; k++) {
        if (spec->inst[k].kind == RD_SPEC_MAP || spec->inst[k].kind == RD_SPEC_SUM)
            emit_op(text, &spec->inst[k], k);
        if (spec->inst[k].kind == RD_SPEC_CAST)
            emit_cast(text, spec, k);
    }
}

/* ---- Folds ------------------------------------------------------------------------------------------------- */
/* Is state k of the fold an index?  It counts rows, in an int as wide as the elements. */
static bool is_index(const rd_spec_fold *fold, int k)
{
    return k == 1 && (fold->reducer == RD_RED_argmin || fold->reducer == RD_RED_argmax);
}

/* Does state k of the fold count its elements?  The loops do not; who knows how many rows there were does. */
static bool is_count(const rd_spec_fold *fold, int k)
{
    return k == 0 && fold->reducer == RD_RED_moments;
}

/* Does no step change state k of the fold?  To store it again costs as much as what changes. */
static bool is_fixed(const rd_spec_fold *fold, int k)
{
    return k == 1 && fold->reducer == RD_RED_moments;
}

static bool takes_products(const rd_spec_fold *fold)
{
    return fold->reducer == RD_RED_dot;
}

static const char *index_type(const rd_spec_fold *fold)
{
    return rd_elem_size(rd_elem_of((rd_dtype)fold->type)) == 4 ? "int32_t" : "int64_t";
}

/* "float *s0, float *s1", or of b */
static void add_states(rd_text *text, const rd_spec_fold *fold, const char *type, char name)
{
    const int n = rd_reducer_table[fold->reducer].n_state;

    for (int k = 0; k < n; k++)
        rd_text_add(text, "%s%s *%c%d", k ? ", " : "", is_index(fold, k) ? index_type(fold) : type, name, k);
}

static void emit_fold_function(rd_text *text, const rd_spec_fold *fold, int number, const char *name, const char *begin,
                               const char *code)
{
    rd_text_add(text, "static inline void %s%d(", name, number);
    add_states(text, fold, "T", 's');
    rd_text_add(text, "%s\n    %s\n}\n", begin, code);
}

/* block<number>(), and of what comes out of it merge<number>(). */
static void emit_fold_end(rd_text *text, const rd_spec_fold *fold, int number)
{
    const fold_code *code = &fold_codes[fold->reducer];

    emit_fold_function(text, fold, number, "block", ")\n{", code->block);
    end_class(text);
    begin_class(text, merge_elem(fold));
    rd_text_add(text, "static inline void merge%d(", number);
    add_states(text, fold, "T", 's');
    rd_text_add(text, ", ");
    add_states(text, fold, "const T", 'b');
    if (has_power(fold))
        rd_text_add(text, ", const T power)\n{\n    RD_LSE_BY(power, S(0), S(1), B(0), B(1))\n}\n");
    else
        rd_text_add(text, ")\n{\n    %s\n}\n", code->merge);
}

/* What a fold comes to, from its states at the end of the tree. */
static void emit_finish(rd_text *text, const rd_spec_fold *fold, int number)
{
    char wide[20];

    snprintf(wide, sizeof wide, "const %s", c_types[merge_elem(fold)]);
    begin_class(text, rd_elem_of((rd_dtype)fold->type));
    rd_text_add(text, "#define Y(k) (y[k])\n#define P ddof\n#define RD_NAN NAN\nstatic inline void finish%d(", number);
    add_states(text, fold, wide, 's');
    rd_text_add(text, ", const double ddof, T *y)\n{\n    %s\n}\n#undef Y\n#undef P\n#undef RD_NAN\n",
                fold_codes[fold->reducer].finish);
    end_class(text);
}

static bool closes_blocks(const rd_spec *spec)
{
    return spec->form == RD_SPEC_TOTALS || spec->form == RD_SPEC_LANES || spec->form == RD_SPEC_PHASES;
}

/* first<number>(), step<number>(), and where blocks end in registers what comes after them. */
static void emit_fold(rd_text *text, const rd_spec *spec, int number)
{
    const rd_spec_fold *fold  = &spec->fold[number];
    const fold_code    *code  = &fold_codes[fold->reducer];
    const rd_elem       elem  = rd_elem_of((rd_dtype)fold->type);
    const char         *begin = takes_products(fold) ? ", const T x, const T w, const int64_t i)\n{"
                                                     : ", const T x, const int64_t i)\n{\n    const T w = 1;";

    rd_text_add(text, "#define S(k) (*s##k)\n#define SI(k) (*s##k)\n#define B(k) (*b##k)\n");
    begin_class(text, elem);
    emit_fold_function(text, fold, number, "first", begin, code->first);
    emit_fold_function(text, fold, number, "step",
                       has_power(fold) ? ", const T x, const int64_t i, const T power)\n{" : begin,
                       begun_step((rd_reducer_id)fold->reducer, spec->vector >= 32));
    if (closes_blocks(spec))
        emit_fold_end(text, fold, number);
    end_class(text);
    if (spec->form == RD_SPEC_PHASES)
        emit_finish(text, fold, number);
    rd_text_add(text, "#undef S\n#undef SI\n#undef B\n");
}

/* Is the fold one of the phase at hand? */
static bool takes_part(const rd_spec *spec, int fold)
{
    return spec->fold[fold].phase == spec->phase;
}

/* Number of the fold's first state among all. */
static int first_state(const rd_spec *spec, int fold)
{
    int n = 0;

    for (int k = 0; k < fold; k++)
        n += rd_reducer_table[spec->fold[k].reducer].n_state;
    return n;
}

/* Number of the state behind its last. */
static int states_end(const rd_spec *spec, int fold)
{
    return first_state(spec, fold) + rd_reducer_table[spec->fold[fold].reducer].n_state;
}

/* "&s0[l], &s1[l]", or without an index */
static void add_state_arguments(rd_text *text, const rd_spec *spec, int fold, const char *name, const char *index)
{
    const int at = first_state(spec, fold), n = rd_reducer_table[spec->fold[fold].reducer].n_state;

    for (int k = 0; k < n; k++)
        rd_text_add(text, "%s&%s%d%s", k ? ", " : "", name, at + k, index);
}

static void emit_steps(rd_text *text, const rd_spec *spec, const char *macro, const char *function, bool powers)
{
    rd_text_add(text, "#define %s(r)", macro);
    for (int k = 0; k < spec->n_inst; k++)
        if (spec->inst[k].kind == RD_SPEC_STEP) {
            rd_text_add(text, " %s%d(", function, spec->inst[k].at);
            add_state_arguments(text, spec, spec->inst[k].at, "n", "");
            rd_text_add(text, ", v%d", spec->inst[k].a);
            if (takes_products(&spec->fold[spec->inst[k].at]))
                rd_text_add(text, ", v%d", spec->inst[k].b);
            rd_text_add(text, ", r");
            if (powers && has_power(&spec->fold[spec->inst[k].at]))
                rd_text_add(text, ", e%d[i]", k);
            rd_text_add(text, ");");
        }
    rd_text_add(text, "\n");
}

static void emit_states(rd_text *text, const rd_spec *spec)
{
    rd_text_add(text, "#define STATES(DO)");
    for (int f = 0; f < spec->n_fold; f++)
        for (int k = 0; takes_part(spec, f) && k < rd_reducer_table[spec->fold[f].reducer].n_state; k++)
            if (is_index(&spec->fold[f], k))
                rd_text_add(text, " DO##_INDEX(%d, %s)", first_state(spec, f) + k, index_type(&spec->fold[f]));
            else
                rd_text_add(text, " DO%s(%d, %s)",
                            is_count(&spec->fold[f], k)   ? "##_COUNT"
                            : is_fixed(&spec->fold[f], k) ? "##_FIXED"
                                                          : "",
                            first_state(spec, f) + k, c_types[rd_elem_of((rd_dtype)spec->fold[f].type)]);
    rd_text_add(text, "\n");
}

/* Lane l of the states is that of a finished block, and goes to the call's states, or to node `to` of the tree. */
static void emit_block(rd_text *text, const rd_spec *spec)
{
    rd_text_add(text, "#define ENDS(l, to)");
    for (int f = 0; f < spec->n_fold; f++) {
        if (!takes_part(spec, f))
            continue;
        rd_text_add(text, " block%d(", f);
        add_state_arguments(text, spec, f, "s", "[l]");
        rd_text_add(text, ");");
        for (int k = first_state(spec, f); k < states_end(spec, f); k++)
            if (spec->form == RD_SPEC_TOTALS)
                rd_text_add(text, " t->w%d[to][l] = s%d[l];", k, k);
            else
                rd_text_add(text, " ((%s *)q->state[%d])[to] = s%d[l];", c_types[wide_elem(&spec->fold[f])], k, k);
    }
    rd_text_add(text, "\n");
}

/* ---- Trees of blocks --------------------------------------------------------------------------------------- */
/* States w.. of the tree's nodes, of all lanes. */
static void emit_nodes(rd_text *text, const rd_spec *spec)
{
    rd_text_add(text, "#define LEVELS %d\n#define BLOCKS %d\n#define NODES", spec->blocks ? RD_SPEC_LEVELS : 1,
                spec->blocks);
    for (int f = 0; f < spec->n_fold; f++)
        for (int k = first_state(spec, f); takes_part(spec, f) && k < states_end(spec, f); k++)
            rd_text_add(text, " %s w%d[LEVELS][LANES] __attribute__((aligned(64)));",
                        c_types[merge_elem(&spec->fold[f])], k);
    rd_text_add(text, "\n");
}

/* For l < n: state w..<to> takes <name>..<from>. */
static void add_merges(rd_text *text, const rd_spec *spec, int fold, const char *n, const char *to, const char *name,
                       const char *from)
{
    const rd_spec_fold *f    = &spec->fold[fold];
    const char         *type = classes[merge_elem(f)];
    const int           at   = first_state(spec, fold);

    rd_text_add(text, " \\\n    {");
    if (has_power(f))
        rd_text_add(text,
                    " %s e[LANES] __attribute__((aligned(64)));"
                    " for (int64_t l = 0; l < %s; l++) e[l] = rd_minus_abs_%s(%s%d%s - t->w%d%s);"
                    " rd_exp_strip_%s(e, %s);",
                    c_types[merge_elem(f)], n, type, name, at, from, at, to, type, n);
    rd_text_add(text, " INDEPENDENT for (int64_t l = 0; l < %s; l++) merge%d(", n, fold);
    add_state_arguments(text, spec, fold, "t->w", to);
    rd_text_add(text, ", ");
    add_state_arguments(text, spec, fold, name, from);
    rd_text_add(text, "%s); }", has_power(f) ? ", e[l]" : "");
}

/* Of one vector lane l merges lane l + half, the others what nobody reads any more: in registers, where to read what has
 * just been written from another place would wait for memory. */
static void add_merges_in_vector(rd_text *text, const rd_spec *spec, int fold, int half)
{
    const rd_elem elem  = merge_elem(&spec->fold[fold]);
    const int     lanes = spec->vector / rd_elem_size(elem);
    char          n[12];

    rd_text_add(text, " \\\n    {");
    for (int k = first_state(spec, fold); k < states_end(spec, fold); k++) {
        rd_text_add(text,
                    " \\\n    %s b%d[%d] __attribute__((aligned(64)));"
                    " *(vec_%s *)b%d = __builtin_shufflevector(*(vec_%s *)t->w%d[0], *(vec_%s *)t->w%d[0]",
                    c_types[elem], k, lanes, classes[elem], k, classes[elem], k, classes[elem], k);
        for (int l = 0; l < lanes; l++)
            rd_text_add(text, ", %d", (l + half) % lanes);
        rd_text_add(text, ");");
    }
    snprintf(n, sizeof n, "%d", lanes);
    add_merges(text, spec, fold, n, "[0][l]", "b", "[l]");
    rd_text_add(text, " }");
}

/* Lane l takes lane l + half for half = LANES/2 .. 1, as results.c has it: of all lanes. */
static void emit_close(rd_text *text, const rd_spec *spec)
{
    rd_text_add(text, "#define CLOSE");
    for (int f = 0; f < spec->n_fold; f++)
        for (int half = takes_part(spec, f) ? spec->lanes / 2 : 0; half > 0; half /= 2) {
            char n[12], from[24];

            snprintf(n, sizeof n, "%d", half);
            snprintf(from, sizeof from, "[0][l + %d]", half);
            if (half * rd_elem_size(merge_elem(&spec->fold[f])) < spec->vector)
                add_merges_in_vector(text, spec, f, half);
            else
                add_merges(text, spec, f, n, "[0][l]", "t->w", from);
        }
    rd_text_add(text, "\n");
}

/* Loops over as many lanes as there are: MERGES, of a node that takes the next one's, HALVES, of lanes that take those
 * `half` behind them. */
static void emit_merges(rd_text *text, const rd_spec *spec)
{
    rd_text_add(text, "#define MERGES(node, width)");
    for (int f = 0; spec->blocks && f < spec->n_fold; f++)
        if (takes_part(spec, f))
            add_merges(text, spec, f, "width", "[node][l]", "t->w", "[node + 1][l]");
    rd_text_add(text, "\n#define HALVES(half, width)");
    for (int f = 0; f < spec->n_fold; f++)
        if (takes_part(spec, f))
            add_merges(text, spec, f, "width", "[0][l]", "t->w", "[0][l + half]");
    rd_text_add(text, "\n#define GIVES(r)");
    for (int f = 0; f < spec->n_fold; f++)
        for (int k = first_state(spec, f); takes_part(spec, f) && k < states_end(spec, f); k++)
            rd_text_add(text, " ((%s *)q->state[%d])[r] = t.w%d[0][0];", c_types[wide_elem(&spec->fold[f])], k, k);
    rd_text_add(text, "\n");
}

static void emit_vectors(rd_text *text, const rd_spec *spec)
{
    static const rd_elem elems[] = { RD_ELEM_f32, RD_ELEM_f64, RD_ELEM_i64, RD_ELEM_u64 };

    for (size_t k = 0; k < sizeof elems / sizeof *elems; k++)
        rd_text_add(text, "typedef %s vec_%s __attribute__((vector_size(%d), may_alias));\n", c_types[elems[k]],
                    classes[elems[k]], spec->vector);
}

static void emit_tree(rd_text *text, const rd_spec *spec)
{
    emit_nodes(text, spec);
    emit_close(text, spec);
    emit_merges(text, spec);
}

/* ---- Elements ---------------------------------------------------------------------------------------------- */
static bool is_stored(const rd_spec *spec, int operand)
{
    bool stored = false;

    for (int k = 0; k < spec->n_inst; k++)
        stored |= spec->inst[k].kind == RD_SPEC_STORE && spec->inst[k].at == operand;
    return stored;
}

/* Elements that are apart or beside each other, and no row changes: worth a copy for a strip of many rows. */
static bool is_copied(const rd_spec *spec, int operand)
{
    return !is_stored(spec, operand) && spec->operand[operand].every_row &&
           spec->operand[operand].walk != RD_WALK_STAYS;
}

static void add_pointer(rd_text *text, const rd_spec_operand *o, int number)
{
    const char *type = memory_types[o->type];

    rd_text_add(text, " \\\n    %s *const p%d_##j = (%s *)(void *)q->operand[%d].at + %d", type, number, type, o->of,
                o->ahead);
    if (!o->every_row)
        rd_text_add(text, " + (r) * q->operand[%d].row", o->of);
    if (o->walk == RD_WALK_BESIDE)
        rd_text_add(text, " + (from)");
    if (o->walk == RD_WALK_APART)
        rd_text_add(text, " + (from) * q->operand[%d].col; const int64_t c%d_##j = q->operand[%d].col", o->of, number,
                    o->of);
    if (o->loop)
        rd_text_add(text, "; const int64_t d%d_##j = q->operand[%d].deep", number, o->of);
    else if (o->walk == RD_WALK_STAYS)
        rd_text_add(text, "; const %s u%d_##j = *p%d_##j", type, number, number);
    rd_text_add(text, ";");
}

/* Two macros: with all operands where they are, and with copies of those that no row changes. */
static void emit_pointers(rd_text *text, const rd_spec *spec, const char *name, bool copies)
{
    rd_text_add(text, "#define %s(j, r, from)", name);
    for (int k = 0; k < spec->n_operand; k++)
        if (copies && is_copied(spec, k))
            rd_text_add(text, " \\\n    %s *const p%d_##j = h%d; enum { c%d_##j = 1, d%d_##j = STRIP };",
                        memory_types[spec->operand[k].type], k, k, k, k);
        else if (spec->operand[k].type) /* or else nothing reads it */
            add_pointer(text, &spec->operand[k], k);
    rd_text_add(text, "\n");
}

/* Element i of an operand; in short loops, whose index is k, what stays along the columns has been read before. */
static void add_element(rd_text *text, const rd_spec *spec, int operand)
{
    const rd_spec_operand *o = &spec->operand[operand];

    if (o->walk == RD_WALK_STAYS) {
        rd_text_add(text, "u%d_##j", operand);
        return;
    }
    rd_text_add(text, "p%d_##j[", operand);
    if (o->loop)
        rd_text_add(text, "k * d%d_##j + ", operand);
    if (o->walk == RD_WALK_APART)
        rd_text_add(text, "(i) * c%d_##j]", operand);
    else
        rd_text_add(text, "i]");
}

/* Indices of the short loop that an operand moves with; 1: it moves with none. */
static int depth_of(const rd_spec *spec, int operand)
{
    return spec->operand[operand].loop ? spec->extent[spec->operand[operand].loop - 1] : 1;
}

static void add_copy(rd_text *text, const rd_spec *spec, int o)
{
    rd_text_add(text,
                " \\\n    for (int64_t k = 0; k < %d; k++) for (int64_t i = 0; i < STRIP; i++)"
                " h%d[k * STRIP + i] = p%d_0[",
                depth_of(spec, o), o, o);
    if (spec->operand[o].loop)
        rd_text_add(text, "k * d%d_0 + ", o);
    rd_text_add(text, "(i < (n) ? i : (n) - 1)");
    if (spec->operand[o].walk == RD_WALK_APART)
        rd_text_add(text, " * c%d_0", o);
    rd_text_add(text, "];");
}

/* Elements apart, which no short loop reads. */
static bool is_apart(const rd_spec *spec, int operand)
{
    return is_copied(spec, operand) && spec->operand[operand].walk == RD_WALK_APART && !spec->operand[operand].loop;
}

static bool is_beside(const rd_spec *spec, int first, int operand)
{
    return is_apart(spec, first) && is_apart(spec, operand) && spec->operand[operand].of == spec->operand[first].of;
}

/* Operands of one memory.  If their elements are as far apart as there are operands, as the coordinates of points are, they
 * are loaded by vectors and sorted in registers, not one by one (3 coordinates for 64 rows: 5 % of a Gaussian sum).  Loops
 * find them in memory whichever way they came: gcc 12 schedules worse what has them in registers from here on (`nn3`). */
static void add_copies_beside(rd_text *text, const rd_spec *spec, int first)
{
    int n = 0;

    for (int o = first; o < spec->n_operand; o++)
        n += is_beside(spec, first, o);
    if (n > 1) {
        rd_text_add(text, " \\\n    if ((n) >= STRIP && c%d_0 == %d) for (int64_t i = 0; i < STRIP; i++) {", first, n);
        for (int o = first; o < spec->n_operand; o++)
            if (is_beside(spec, first, o))
                rd_text_add(text, " h%d[i] = p%d_0[i * %d];", o, o, n);
        rd_text_add(text, " } else");
    }
    rd_text_add(text, " {");
    for (int o = first; o < spec->n_operand; o++)
        if (is_beside(spec, first, o))
            add_copy(text, spec, o);
    rd_text_add(text, n > 1 ? " } __asm__ volatile(\"\" ::: \"memory\");" : " }");
}

/* n columns, those beyond them like the last one: of each index of a short loop, a strip. */
static void emit_copies(rd_text *text, const rd_spec *spec)
{
    bool any = false;

    rd_text_add(text, "#define COPIES(from, n)");
    for (int o = 0; o < spec->n_operand; o++)
        if (is_copied(spec, o)) {
            rd_text_add(text, " \\\n    %s h%d[%d * STRIP] __attribute__((aligned(64)));",
                        memory_types[spec->operand[o].type], o, depth_of(spec, o));
            any = true;
        }
    if (any)
        rd_text_add(text, " \\\n    { POINTERS(0, 0, from)");
    for (int o = 0; o < spec->n_operand; o++) {
        int first = 0;

        while (first < o && !is_beside(spec, first, o))
            first++;
        if (first == o && is_apart(spec, o))
            add_copies_beside(text, spec, o);
        else if (first == o && is_copied(spec, o))
            add_copy(text, spec, o);
    }
    rd_text_add(text, any ? " }\n" : "\n");
}

/* Can columns beyond the last be like it?  Nothing may be read there, nor stored. */
static bool pads(const rd_spec *spec)
{
    bool can = spec->form == RD_SPEC_COLUMNS;

    for (int o = 0; o < spec->n_operand; o++)
        can = can && (is_copied(spec, o) || (spec->operand[o].walk == RD_WALK_STAYS && !is_stored(spec, o)));
    return can;
}

static float cost(const rd_spec *spec)
{
    float sum = 0;

    for (int k = 0; k < spec->n_inst; k++)
        sum += spec->inst[k].kind == RD_SPEC_MAP ? rd_op_table[spec->inst[k].op].cost : 0;
    for (int k = 0; k < spec->n_fold; k++)
        sum += rd_reducer_table[spec->fold[k].reducer].cost;
    return sum;
}

/* Rows jam where states are in memory and elements cost little beside them. */
static int jam(const rd_spec *spec)
{
    bool streams = false;

    for (int k = 0; k < spec->n_operand; k++)
        streams |= spec->operand[k].walk != RD_WALK_STAYS && !spec->operand[k].every_row;
    return spec->form == RD_SPEC_COLUMNS && !spec->n_loop && streams && cost(spec) < 30 ? 4 : 0;
}

static bool is_streamed(const rd_spec *spec, int operand)
{
    return spec->operand[operand].walk == RD_WALK_BESIDE && !spec->operand[operand].every_row &&
           !is_stored(spec, operand);
}

/* Columns of a cache line. */
static int part(const rd_spec *spec)
{
    int widest = 1;

    for (int k = 0; k < spec->n_operand; k++)
        if (is_streamed(spec, k) && rd_dtype_size((rd_dtype)spec->operand[k].type) > widest)
            widest = rd_dtype_size((rd_dtype)spec->operand[k].type);
    return 64 / widest;
}

/* The rows that follow these into the second-level cache: as they lie, or if rows do not adjoin, as tasks share columns,
 * the same columns of each (Zen 4, 2 threads, min, max, mean and variance of columns of f64: 25 ms without, 20 with).  And
 * of these rows what comes soon into the first: either alone helps half as much, and less if it is said
 * for several lines at a time (mean and variance of columns of f32 on Zen 5: 12.7 ms without, with both 8.9). */
static void emit_fetch(rd_text *text, const rd_spec *spec)
{
    enum { SOON = 2048 };

    rd_text_add(text, "#define PART %d\n#define FETCH(part)", part(spec));
    for (int k = 0; k < spec->n_operand; k++) {
        int soon;

        if (!is_streamed(spec, k))
            continue;
        soon = SOON / rd_dtype_size((rd_dtype)spec->operand[k].type);
        rd_text_add(
            text,
            " \\\n    for (int64_t k = 0; q->operand[%d].row == q->n && k < JAM * PART; k += 64 / sizeof *p%d_0)"
            " __builtin_prefetch(p%d_0 + JAM * (q->n + part) + k, 0, 2);",
            k, k, k);
        for (int j = 0; j < jam(spec); j++) {
            rd_text_add(text, " if (q->operand[%d].row != q->n)", k);
            rd_text_add(text, " __builtin_prefetch(p%d_%d + JAM * q->operand[%d].row + part, 0, 2);", k, j, k);
            rd_text_add(text, " __builtin_prefetch(p%d_%d + part + (part + %d < q->n ? %d : 0));", k, j, soon, soon);
        }
    }
    rd_text_add(text, "\n");
}

/* Blocks end, and with them what the processor fetches by itself, which also stops at each page: with a fetch of its own a
 * pass that sums rows of 4 KiB reads memory at 38 GB/s, else at 15 (Zen 5; 2 KiB ahead: 24, 16 KiB: 28).  Not every
 * processor gains by it (simd/fetch.c). */
static void emit_fetch_strip(rd_text *text, const rd_spec *spec)
{
    enum { AHEAD = 8192 };

    rd_text_add(text, "#define FETCH_STRIP(adjoin)");
    for (int k = 0; k < spec->n_operand && rd_fetches_rows; k++)
        if (is_streamed(spec, k) && !spec->phase)
            rd_text_add(text,
                        " \\\n    for (size_t k = 0; k < STRIP * sizeof *p%d_0; k += 64)"
                        " __builtin_prefetch((const char *)p%d_0 + (q->operand[%d].row == (adjoin) ? %d : 0) + k);",
                        k, k, spec->operand[k].of, AHEAD);
    rd_text_add(text, "\n");
}

/* n elements of what is at hand, or of the next row there, into the second-level cache. */
static void add_fetch(rd_text *text, const rd_spec *spec, const char *n, bool next_row)
{
    for (int k = 0; k < spec->n_operand; k++)
        if (is_streamed(spec, k))
            rd_text_add(text,
                        " \\\n    for (size_t k = 0; k < %s * sizeof *p%d_0; k += 64)"
                        " __builtin_prefetch((const char *)(p%d_0 + %d * q->operand[%d].row) + k, 0, 2);",
                        n, k, k, next_row, spec->operand[k].of);
}

/* Memory would idle while a block of a row's first phase ends, and in its second phase, which finds the row in a cache:
 * meanwhile the beginning of what follows is fetched, and then all of the next row (Zen 4, softmax of rows of 1024 f32: 0.9 to
 * 1.1 of the hand loop's time, 1.4 without). */
static void emit_fetch_next(rd_text *text, const rd_spec *spec)
{
    rd_text_add(text, "#define FETCHES_END %d\n#define FETCH_END", spec->phase == 1);
    if (spec->phase == 1)
        add_fetch(text, spec, "(q->n < 512 ? q->n : 512)", false);
    rd_text_add(text, "\n#define FETCH_ROW");
    if (spec->phase == 2)
        add_fetch(text, spec, "STRIP", true);
    rd_text_add(text, "\n");
}

/* Cache lines begin where the first one has them. */
static void emit_past(rd_text *text, const rd_spec *spec)
{
    int first = -1;

    rd_text_add(text, "#define OUTPUTS");
    for (int k = 0; k < spec->n_operand; k++)
        if (spec->operand[k].past) {
            rd_text_add(text, " %s o%d[STRIP] __attribute__((aligned(64)));", memory_types[spec->operand[k].type], k);
            first = first < 0 ? k : first;
        }
    rd_text_add(text, "\n#define PAST(n)");
    for (int k = 0; k < spec->n_operand; k++)
        if (spec->operand[k].past)
            rd_text_add(text, " past((char *)p%d_0, (const char *)o%d, (n) * (int64_t)sizeof *o%d);", k, k, k);
    rd_text_add(text, "\n#define HAS_PAST %d\n", first >= 0);
    if (first >= 0)
        rd_text_add(text, "#define HEAD ((int64_t)(-(uintptr_t)p%d_0 %% 64 / sizeof *p%d_0))\n", first, first);
}

static void add_constant(rd_text *text, const rd_spec_inst *inst)
{
    rd_word word = { .u64 = inst->value };

    switch (rd_elem_of((rd_dtype)inst->type)) {
    case RD_ELEM_f32: rd_text_add(text, "rd_float_of(0x%" PRIx32 ")", (uint32_t)word.u64); break;
    case RD_ELEM_f64: rd_text_add(text, "rd_double_of(0x%" PRIx64 ")", word.u64); break;
    case RD_ELEM_i64: rd_text_add(text, "(int64_t)0x%" PRIx64, word.u64); break;
    case RD_ELEM_u64: rd_text_add(text, "(uint64_t)0x%" PRIx64, word.u64); break;
    default: rd_text_add(text, "%d", word.u64 != 0); break;
    }
}

/* How many values a value is made of, and which. */
static int operands_of(const rd_spec_inst *inst, int16_t operand[3])
{
    operand[0] = inst->a;
    operand[1] = inst->b;
    operand[2] = inst->c;
    switch ((rd_spec_kind)inst->kind) {
    case RD_SPEC_MAP: return rd_op_table[inst->op].arity;
    case RD_SPEC_CAST: return 1;
    case RD_SPEC_SELECT: return 3;
    default: return 0;
    }
}

static void add_arguments(rd_text *text, const rd_spec_inst *inst)
{
    int16_t   operand[3];
    const int n = operands_of(inst, operand);

    for (int k = 0; k < n && k < 3; k++) /* clang-tidy does not know the table of operators */
        rd_text_add(text, "%sv%d", k ? ", " : "", operand[k]);
}

/* These are taken by strips (math_exp_strip.h). */
static bool is_power(const rd_spec *spec, int number)
{
    const rd_spec_inst *inst = &spec->inst[number];

    return inst->kind == RD_SPEC_MAP && inst->op == RD_OP_exp && is_real(rd_elem_of((rd_dtype)inst->type)) &&
           spec->form != RD_SPEC_PHASES;
}

static void emit_value(rd_text *text, const rd_spec *spec, int number)
{
    const rd_spec_inst *inst = &spec->inst[number];

    rd_text_add(text, " \\\n    const %s v%d = ", c_types[rd_elem_of((rd_dtype)inst->type)], number);
    switch ((rd_spec_kind)inst->kind) {
    case RD_SPEC_LOAD:
        add_element(text, spec, inst->at);
        rd_text_add(text, inst->type == RD_BOOL ? " != 0" : "");
        break;
    case RD_SPEC_CONST: add_constant(text, inst); break;
    case RD_SPEC_SUM: rd_text_add(text, "a%d_##j[i]", number); break;
    case RD_SPEC_GIVEN: rd_text_add(text, "w->v%d", number); break;
    case RD_SPEC_SELECT: rd_text_add(text, "v%d ? v%d : v%d", inst->a, inst->b, inst->c); break;
    default:
        if (is_power(spec, number)) {
            rd_text_add(text, "e%d[i]", number);
            break;
        }
        rd_text_add(text, "f%d(", number);
        add_arguments(text, inst);
        rd_text_add(text, ")");
        break;
    }
    rd_text_add(text, ";");
}

/* What it is made of comes first, the oldest before the others, then the value, once. */
static void emit_needed(rd_text *text, const rd_spec *spec, int number, bool *done)
{
    const rd_spec_inst *inst = &spec->inst[number];
    int16_t             operand[3], n = is_power(spec, number) ? 0 : operands_of(inst, operand);

    if (done[number])
        return;
    done[number] = true;
    for (int k = 0; k < n; k++) {
        int next = number;

        for (int i = 0; i < n; i++)
            next = !done[operand[i]] && operand[i] < next ? operand[i] : next;
        if (next < number)
            emit_needed(text, spec, next, done);
    }
    emit_value(text, spec, number);
}

/* Values come where they are needed, so that of a tree of sums few are held at a time; but no load after a store that it
 * came before, which may be to the same place. */
static void emit_element(rd_text *text, const rd_spec *spec)
{
    bool done[RD_SPEC_INSTS] = { false };

    rd_text_add(text, "#define ELEMENT(j, i)");
    for (int k = 0; k < spec->n_inst; k++) {
        const rd_spec_inst *inst  = &spec->inst[k];
        const bool          store = inst->kind == RD_SPEC_STORE;

        if (!store && inst->kind != RD_SPEC_STEP)
            continue;
        for (int i = 0; store && i < k; i++)
            if (spec->inst[i].kind == RD_SPEC_LOAD && !spec->inst[i].loop)
                emit_needed(text, spec, i, done);
        emit_needed(text, spec, inst->a, done);
        if (!store)
            emit_needed(text, spec, inst->b, done);
        else {
            rd_text_add(text, " \\\n    ");
            if (spec->operand[inst->at].past)
                rd_text_add(text, "o%d[i]", inst->at);
            else
                add_element(text, spec, inst->at);
            rd_text_add(text, " = (%s)v%d;", memory_types[spec->operand[inst->at].type], inst->a);
        }
    }
    rd_text_add(text, "\n");
}

/* ---- Short loops ------------------------------------------------------------------------------------------- */
/* Row j's sums of a short loop, arrays of columns: what they begin with, which may be what a loop before has come to. */
static void emit_new_sums(rd_text *text, const rd_spec *spec, int loop)
{
    rd_text_add(text, "#define NEW_SUMS_%d(j, n)", loop);
    for (int k = 0; k < spec->n_inst; k++)
        if (spec->inst[k].kind == RD_SPEC_SUM && spec->inst[k].loop == loop) {
            bool done[RD_SPEC_INSTS] = { false };

            rd_text_add(text,
                        " \\\n    %s a%d_##j[STRIP] __attribute__((aligned(64)));"
                        " \\\n    INDEPENDENT for (int64_t i = 0; i < (n); i++) {",
                        c_types[rd_elem_of((rd_dtype)spec->inst[k].type)], k);
            emit_needed(text, spec, spec->inst[k].c, done);
            rd_text_add(text, " a%d_##j[i] = v%d; }", k, spec->inst[k].c);
        }
    rd_text_add(text, "\n");
}

/* Of an element and a sum, min and max take the element first, as in reducers.def. */
static void add_sum(rd_text *text, const rd_spec_inst *inst, int number)
{
    rd_text_add(text, " a%d_##j[i] = f%d(", number, number);
    if (inst->op == RD_OP_fma)
        rd_text_add(text, "v%d, v%d, a%d_##j[i]);", inst->a, inst->b, number);
    else if (inst->op == RD_OP_minimum || inst->op == RD_OP_maximum)
        rd_text_add(text, "v%d, a%d_##j[i]);", inst->a, number);
    else
        rd_text_add(text, "a%d_##j[i], v%d);", number, inst->a);
}

/* Index k of a short loop for n columns of row j. */
static void emit_add_sums(rd_text *text, const rd_spec *spec, int loop)
{
    bool done[RD_SPEC_INSTS] = { false };

    rd_text_add(text, "#define ADD_SUMS_%d(j, n) {", loop);
    for (int o = 0; o < spec->n_operand; o++)
        if (spec->operand[o].loop == loop && spec->operand[o].walk == RD_WALK_STAYS)
            rd_text_add(text, " \\\n    const %s u%d_##j = p%d_##j[k * d%d_##j];", memory_types[spec->operand[o].type],
                        o, o, o);
    rd_text_add(text, " \\\n    INDEPENDENT for (int64_t i = 0; i < (n); i++) {");
    for (int k = 0; k < spec->n_inst; k++)
        if (spec->inst[k].kind == RD_SPEC_SUM && spec->inst[k].loop == loop) {
            emit_needed(text, spec, spec->inst[k].a, done);
            emit_needed(text, spec, spec->inst[k].b, done);
            add_sum(text, &spec->inst[k], k);
        }
    rd_text_add(text, " } }\n");
}

/* Rows share a loop: what it reads of a column is read once for all of them. */
static void emit_sums(rd_text *text, const rd_spec *spec)
{
    for (int l = 1; l <= spec->n_loop; l++) {
        emit_new_sums(text, spec, l);
        emit_add_sums(text, spec, l);
    }
    rd_text_add(text, "#define SUMS(ROWS, n)");
    for (int l = 1; l <= spec->n_loop; l++)
        rd_text_add(text, " \\\n    ROWS(NEW_SUMS_%d, n) for (int64_t k = 0; k < %d; k++) { ROWS(ADD_SUMS_%d, n) }", l,
                    spec->extent[l - 1], l);
    rd_text_add(text, "\n");
    rd_text_add(text, "#define HAS_SUMS %d\n", spec->n_loop > 0);
}

/* Exponentials of n columns, and of what steps of folds make of them, come before all else that is done with them.  Each
 * has a loop of its own for its arguments; what loops compute more than once compilers find again. */
static void emit_power(rd_text *text, const rd_spec *spec, int number)
{
    const rd_spec_inst *inst                = &spec->inst[number];
    const rd_elem       elem                = rd_elem_of((rd_dtype)spec->inst[inst->a].type);
    bool                done[RD_SPEC_INSTS] = { false };

    rd_text_add(text,
                " \\\n    %s e%d[MOST] __attribute__((aligned(64)));"
                " \\\n    INDEPENDENT for (int64_t i = 0; i < (n); i++) {",
                c_types[elem], number);
    emit_needed(text, spec, inst->a, done);
    rd_text_add(text, " e%d[i] = ", number);
    if (inst->kind == RD_SPEC_STEP)
        rd_text_add(text, "rd_minus_abs_%s(v%d - s%d[i])", classes[elem], inst->a, first_state(spec, inst->at));
    else
        rd_text_add(text, "v%d", inst->a);
    rd_text_add(text, "; } \\\n    POWER_STRIP(%s, e%d, n)", classes[elem], number);
}

static void emit_powers(rd_text *text, const rd_spec *spec)
{
    int n = 0;

    rd_text_add(text, "#define POWERS(j, n)");
    for (int k = 0; k < spec->n_inst; k++)
        if (is_power(spec, k)) {
            emit_power(text, spec, k);
            n++;
        }
    rd_text_add(text, "\n#define STEP_POWERS(j, n)");
    for (int k = 0; k < spec->n_inst; k++)
        if (spec->inst[k].kind == RD_SPEC_STEP && has_power(&spec->fold[spec->inst[k].at])) {
            emit_power(text, spec, k);
            n++;
        }
    rd_text_add(text, "\n#define N_POWERS %d\n", n);
}

/* ---- Sizes ------------------------------------------------------------------------------------------------- */
static int widest_sum(const rd_spec *spec)
{
    int widest = 1;

    for (int k = 0; k < spec->n_inst; k++) {
        const int size = rd_elem_size(rd_elem_of((rd_dtype)spec->inst[k].type));

        widest = spec->inst[k].kind == RD_SPEC_SUM && size > widest ? size : widest;
    }
    return widest;
}

/* 4 vectors; but gcc takes loops of up to 16 elements apart before it makes vectors of them. */
static int strip_of_sums(const rd_spec *spec)
{
    const int n = 4 * spec->vector / widest_sum(spec);
    return n > 32 ? n : 32;
}

/* States of so many elements fit the registers beside what computes them; a row of lanes has no more than these. */
static int strip(const rd_spec *spec)
{
    const int registers = spec->vector == 64 ? 20 : 8;
    int       bytes = 0, n = closes_blocks(spec) ? spec->lanes : 64, widest = 1;

    if (spec->n_loop)
        return strip_of_sums(spec);
    for (int f = 0; f < spec->n_fold; f++) {
        const int size = rd_elem_size(rd_elem_of((rd_dtype)spec->fold[f].type));

        if (!takes_part(spec, f))
            continue;
        bytes += size * (rd_reducer_table[spec->fold[f].reducer].n_state - is_count(&spec->fold[f], 0));
        widest = size > widest ? size : widest;
    }
    while (n * bytes > registers * spec->vector && n * widest > spec->vector)
        n /= 2;
    return n;
}

/* Vectors that a strip of the only exponential takes, or 0: there is none, or several, or a fold takes powers too. */
static int vectors_of_power(const rd_spec *spec)
{
    int n = 0, vectors = 0;

    for (int k = 0; k < spec->n_inst; k++)
        if (is_power(spec, k)) {
            vectors = strip(spec) * rd_elem_size(rd_elem_of((rd_dtype)spec->inst[k].type)) / spec->vector;
            n++;
        }
    for (int f = 0; f < spec->n_fold; f++)
        n += 2 * has_power(&spec->fold[f]);
    return n == 1 ? vectors : 0;
}

/* Rows that are taken together.  Sums of short loops take half of the registers, 32 with AVX-512, or else 16.  An
 * exponential is a chain of a dozen operations, and a processor does not see far enough ahead to find what else there is to
 * do in the next row: it wants eight vectors side by side (a Gaussian sum of f32 on a Zen 4: four, 14.4 cycles for each;
 * two rows of four, 12.8; its multiplications and fmas alone take 11). */
static int shared_rows(const rd_spec *spec)
{
    int vectors = vectors_of_power(spec), most = 8;

    if (spec->n_loop) {
        vectors = strip_of_sums(spec) * widest_sum(spec) / spec->vector;
        most    = spec->vector == 64 ? 16 : 8;
    }
    return vectors == 0 ? 1 : 4 * vectors <= most ? 4 : 2 * vectors <= most ? 2 : 1;
}

/* ---- All together ------------------------------------------------------------------------------------------ */
/* Loops over elements and what they need. */
static void emit_loops(rd_text *text, const rd_spec *spec)
{
    static const char *const forms[] = { "MAPS", "LANES", "COLUMNS", "TOTALS" };

    rd_text_add(
        text, "#define FORM_%s\n#define LANES %d\n#define STRIP %d\n#define JAM %d\n#define PADS %d\n#define ROWS %d\n",
        forms[spec->form], spec->lanes, strip(spec), jam(spec), pads(spec), shared_rows(spec));
    emit_pointers(text, spec, "POINTERS", false);
    emit_pointers(text, spec, "STRIP_POINTERS", true);
    emit_copies(text, spec);
    emit_fetch(text, spec);
    emit_fetch_strip(text, spec);
    emit_fetch_next(text, spec);
    emit_past(text, spec);
    emit_element(text, spec);
    emit_sums(text, spec);
    emit_powers(text, spec);
    emit_states(text, spec);
    emit_steps(text, spec, "FIRST", "first", false);
    emit_steps(text, spec, "STEP", "step", true);
    if (closes_blocks(spec))
        emit_block(text, spec);
    if (spec->form == RD_SPEC_TOTALS)
        emit_tree(text, spec);
    rd_text_add(text, "%s", rd_loops);
}

/* ---- Phases ------------------------------------------------------------------------------------------------ */
static int phases(const rd_spec *spec)
{
    int n = 0;

    for (int k = 0; k < spec->n_inst; k++)
        n = spec->inst[k].phase > n ? spec->inst[k].phase : n;
    return n;
}

/* One phase, or what is between them, as a spec of its own: numbers are the same, and what others make is given. */
static void phase_of(rd_spec *one, const rd_spec *spec, int phase)
{
    bool used[RD_SPEC_OPERANDS] = { false };

    memcpy(one, spec, rd_spec_bytes(spec));
    one->phase = (uint8_t)phase;
    one->form  = phase ? RD_SPEC_MAPS : RD_SPEC_PHASES;
    for (int k = 0; k < spec->n_inst; k++) {
        rd_spec_inst *inst = &one->inst[k];

        if (inst->phase != phase && inst->kind != RD_SPEC_CONST)
            inst->kind = RD_SPEC_GIVEN;
        if (inst->kind == RD_SPEC_STEP)
            one->form = RD_SPEC_TOTALS;
        if (inst->kind == RD_SPEC_LOAD || inst->kind == RD_SPEC_STORE)
            used[inst->at] = true;
    }
    for (int k = 0; k < spec->n_operand; k++)
        if (!used[k])
            one->operand[k] = (rd_spec_operand){ .of = spec->operand[k].of };
}

/* Each phase has names of its own, and macros like those of others. */
static void begin_phase(rd_text *text, int phase)
{
    static const char *const own[]    = { "tree",      "take_block", "merge_nodes", "close",
                                          "total_row", "map_row",    "LONGER",      "MOST" };
    static const char *const macros[] = { "FORM_MAPS", "FORM_TOTALS", "LANES",       "STRIP",          "JAM",
                                          "PADS",      "ROWS",        "POINTERS",    "STRIP_POINTERS", "COPIES",
                                          "PART",      "FETCH",       "FETCH_STRIP", "FETCHES_END",    "FETCH_END",
                                          "FETCH_ROW", "OUTPUTS",     "PAST",        "HAS_PAST",       "HEAD",
                                          "ELEMENT",   "SUMS",        "HAS_SUMS",    "POWERS",         "STEP_POWERS",
                                          "N_POWERS",  "STATES",      "FIRST",       "STEP",           "ENDS",
                                          "LEVELS",    "BLOCKS",      "NODES",       "CLOSE",          "MERGES",
                                          "HALVES",    "GIVES",       "PARTS",       "EACH_OF_PART",   "ALL_ROWS" };

    for (size_t k = 0; k < sizeof own / sizeof *own; k++)
        rd_text_add(text, "#undef %s\n#define %s %s_%d\n", own[k], own[k], own[k], phase);
    for (size_t k = 0; k < sizeof macros / sizeof *macros; k++)
        rd_text_add(text, "#undef %s\n", macros[k]);
}

static bool makes_value(const rd_spec_inst *inst)
{
    return inst->phase == 0 && inst->kind != RD_SPEC_STORE && inst->kind != RD_SPEC_CONST;
}

/* What a row has one of. */
static void emit_given(rd_text *text, const rd_spec *spec)
{
    rd_text_add(text, "typedef struct given {\n    char none;\n");
    for (int k = 0; k < spec->n_inst; k++)
        if (makes_value(&spec->inst[k]))
            rd_text_add(text, "    %s v%d;\n", c_types[rd_elem_of((rd_dtype)spec->inst[k].type)], k);
    rd_text_add(text, "} given;\n#define GIVEN_PARAMETER , const given *const w\n#define GIVEN_ARGUMENT , w\n");
}

static void emit_close_of_row(rd_text *text, const rd_spec *spec, int number)
{
    const rd_spec_inst *inst = &spec->inst[number];
    const char         *type = c_types[rd_elem_of((rd_dtype)inst->type)];
    char                tree[20];

    snprintf(tree, sizeof tree, "t%d.w", spec->fold[inst->at].phase);
    rd_text_add(text, " \\\n    %s v%d; finish%d(", type, number, inst->at);
    add_state_arguments(text, spec, inst->at, tree, "[0][0]");
    rd_text_add(text, ", rd_double_of(0x%" PRIx64 "), &v%d);", inst->value, number);
}

/* Instructions [from, to) that are in no phase. */
static void emit_between(rd_text *text, const rd_spec *spec, int phase, int from, int to)
{
    rd_text_add(text, "#define BEFORE_%d(j)", phase);
    for (int k = from; k < to; k++) {
        const rd_spec_inst *inst = &spec->inst[k];

        if (inst->phase)
            continue;
        if (inst->kind == RD_SPEC_CLOSE)
            emit_close_of_row(text, spec, k);
        else if (inst->kind == RD_SPEC_STORE)
            rd_text_add(text, " \\\n    *p%d_##j = (%s)v%d;", inst->at, memory_types[spec->operand[inst->at].type],
                        inst->a);
        else
            emit_value(text, spec, k);
        if (makes_value(inst))
            rd_text_add(text, " row.v%d = v%d;", k, k);
    }
    rd_text_add(text, "\n");
}

/* The instruction behind the last one of a phase; behind the last phase all. */
static int end_of(const rd_spec *spec, int phase, int n_phase)
{
    int end = phase > n_phase ? spec->n_inst : 0;

    for (int k = 0; k < spec->n_inst; k++)
        end = spec->inst[k].phase == phase ? k + 1 : end;
    return end;
}

/* All phases of a row, then the next one: what a phase has read or made is near for those that follow, and results leave
 * while other rows come. */
static void emit_rows(rd_text *text, const rd_spec *spec)
{
    const int n_phase = phases(spec);
    rd_spec   one;

    phase_of(&one, spec, 0);
    emit_pointers(text, &one, "OF_ROW", false);
    for (int k = 1, from = 0; k <= n_phase + 1; from = end_of(spec, k++, n_phase))
        emit_between(text, &one, k, from, end_of(spec, k, n_phase));
    rd_text_add(text, "static void rows(const rd_kernel_call *q)\n{\n    for (int64_t r = 0; r < q->rows; r++) {\n"
                      "        given row;\n        OF_ROW(0, r, 0)\n");
    for (int k = 1; k <= n_phase; k++) {
        phase_of(&one, spec, k);
        rd_text_add(text, "        BEFORE_%d(0)\n", k);
        if (one.form == RD_SPEC_TOTALS)
            rd_text_add(text, "        tree_%d t%d;\n        total_row_%d(q, &t%d, r, &row);\n", k, k, k, k);
        else
            rd_text_add(text, "        map_row_%d(q, r, &row);\n", k);
    }
    rd_text_add(text,
                "        BEFORE_%d(0)\n    }\n}\n"
                "__attribute__((visibility(\"default\"))) const rd_kernels rdim_kernels = { .map = rows };\n",
                n_phase + 1);
}

static void emit_phases(rd_text *text, const rd_spec *spec)
{
    rd_spec one;

    emit_given(text, spec);
    rd_text_add(text, "#define IS_PHASE 1\n");
    for (int k = 1; k <= phases(spec); k++) {
        phase_of(&one, spec, k);
        begin_phase(text, k);
        emit_loops(text, &one);
    }
    emit_rows(text, spec);
}

void rd_spec_text(rd_text *text, const rd_spec *spec)
{
    rd_text_add(text, "%s\n", rd_prelude);
    emit_ops(text, spec);
    for (int f = 0; f < spec->n_fold; f++)
        emit_fold(text, spec, f);
    emit_vectors(text, spec);
    if (spec->form == RD_SPEC_PHASES) {
        emit_phases(text, spec);
        return;
    }
    rd_text_add(text, "#define GIVEN_PARAMETER\n#define GIVEN_ARGUMENT\n#define IS_PHASE 0\n");
    emit_loops(text, spec);
}

const char *const *rd_spec_flags(int vector_bytes)
{
    /* As the library's own kernels are compiled, see CMakeLists.txt. */
#define ALWAYS                                                                                                         \
    "-std=gnu11", "-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fvisibility=hidden", "-fPIC", \
        "-shared", "-pipe", "-w"
    static const char *const baseline[] = { ALWAYS, NULL };
    static const char *const avx2[]     = { ALWAYS, "-mavx2", "-mfma", NULL };
    static const char *const avx512[]   = { ALWAYS,       "-mavx2",     "-mfma",      "-mavx512f",
                                            "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mprefer-vector-width=512",
                                            NULL };

    return vector_bytes == 64 ? avx512 : vector_bytes == 32 ? avx2 : baseline;
}
