/* emit_elements.c - what a pass does with an element, as C text: the rows of ops.def as functions,
 * values where they are first needed, sums over short loops, and exponentials a strip at a time. */
#include "kernels/cpu/jit/emit.h"
#include "kernels/cpu/jit/parts.h"
#include "kernels/cpu/simd/simd.h"
#include <inttypes.h>
#include <string.h>

/* ---- Tables ---------------------------------------------------------------------------------- */
const char *const rd_c_types[RD_N_ELEMS] = { "float", "double", "int64_t", "uint64_t", "uint8_t" };
const char *const rd_c_classes[RD_N_ELEMS] = { "f32", "f64", "i64", "u64", "u64" };

const char *const rd_c_memory_types[RD_N_DTYPES] = {
#define RD_DTYPE(enum_, name, C, kind, class) [RD_##enum_] = #C,
#include "core/dtypes.def"
#undef RD_DTYPE
};

/* [of ints] */
static const char *const op_code[RD_N_OPS][2] = {
#define RD_OP(name, n, rule, cost, by, of_c, float_code, ...) \
    [RD_OP_##name] = { #float_code, #__VA_ARGS__ },
#define RD_TEST(name, n, rule, cost, by, of_c, float_code, ...) \
    [RD_OP_##name] = { #float_code, #__VA_ARGS__ },
#include "core/ops.def"
};

static bool is_real(rd_elem elem)
{
    return elem == RD_ELEM_f32 || elem == RD_ELEM_f64;
}

static bool is_test(const rd_spec_inst *inst)
{
    return rd_op_table[inst->op].rule == RD_RULE_COMPARE ||
           rd_op_table[inst->op].rule == RD_RULE_TEST;
}

/* ---- What can be ----------------------------------------------------------------------------- */
bool rd_spec_can(rd_op op, rd_dtype type)
{
    const bool ints = rd_dtype_kind(type) != RD_KIND_FLOAT;

    return op < RD_OP_where && !rd_op_calls(op, type) && strcmp(op_code[op][ints], "RD_NO") != 0;
}

/* ---- Operators ------------------------------------------------------------------------------- */
void rd_emit_class(rd_text *text, rd_elem elem)
{
    rd_text_add(text, "#define T %s\n#define CLASS %s\n", rd_c_types[elem], rd_c_classes[elem]);
    rd_text_add(text, "#define RD_T(f) WITH_WARNINGS_##f\n");
    if (is_real(elem))
        rd_text_add(text, "#define RD_F(name) rd_math_##name##_%s\n", rd_c_classes[elem]);
    rd_text_add(text, is_real(elem)
                          ? "#define RD_ADD(a, b) ((a) + (b))\n#define RD_MUL(a, b) ((a) * (b))\n"
                          : "#define RD_ADD(a, b) ((T)((uint64_t)(a) + (uint64_t)(b)))\n"
                            "#define RD_MUL(a, b) ((T)((uint64_t)(a) * (uint64_t)(b)))\n");
}

void rd_emit_class_end(rd_text *text)
{
    rd_text_add(text,
                "#undef T\n#undef CLASS\n#undef RD_T\n#undef RD_F\n#undef RD_ADD\n#undef RD_MUL\n");
}

/* f<number>() is what instruction `number` computes; narrow ints are cut to their type. */
static void emit_op(rd_text *text, const rd_spec_inst *inst, int number)
{
    static const char *const parameters[] = { "", "T a", "T a, T b", "T a, T b, T c" };
    const rd_dtype           type         = (rd_dtype)(is_test(inst) ? inst->from : inst->type);
    const rd_elem            elem = rd_elem_of(type), result = rd_elem_of((rd_dtype)inst->type);
    const bool               ints = rd_dtype_kind(type) != RD_KIND_FLOAT;

    rd_emit_class(text, elem);
    rd_text_add(text, "static inline %s f%d(%s)\n{\n    return (%s)(%s)(%s);\n}\n",
                rd_c_types[result], number, parameters[rd_op_table[inst->op].arity],
                rd_c_types[result], is_test(inst) ? "uint8_t" : rd_c_memory_types[inst->type],
                op_code[inst->op][ints]);
    rd_emit_class_end(text);
}

static bool rounds_to_ints(const rd_spec *spec)
{
    bool found = false;

    for (int k = 0; k < spec->n_inst; k++)
        found |= spec->inst[k].kind == RD_SPEC_CAST &&
                 is_real(rd_elem_of((rd_dtype)spec->inst[k].from)) &&
                 rd_elem_of((rd_dtype)spec->inst[k].type) == RD_ELEM_i64;
    return found;
}

static void emit_cast(rd_text *text, const rd_spec *spec, int number)
{
    const rd_spec_inst *inst = &spec->inst[number];
    const rd_elem from = rd_elem_of((rd_dtype)inst->from), to = rd_elem_of((rd_dtype)inst->type);
    const bool    real = is_real(from);
    const char   *code = "a";

    /* gcc 12 makes (float)(int64_t)x one rounding of x, which keeps the sign of a zero that an int
     * has not. */
    if (from == RD_ELEM_i64 && is_real(to) && rounds_to_ints(spec))
        code = to == RD_ELEM_f32 ? "a < 0 ? (float)a : __builtin_fabsf((float)a)"
                                 : "a < 0 ? (double)a : __builtin_fabs((double)a)";
    else if (to == RD_ELEM_b8)
        code = "a != 0";
    else if (real && to == RD_ELEM_i64)
        code = "rd_saturate_i64(a)";
    else if (real && to == RD_ELEM_u64)
        code = "rd_saturate_u64(a)";
    rd_text_add(text, "static inline %s f%d(%s a)\n{\n    return (%s)(%s)(%s);\n}\n",
                rd_c_types[to], number, rd_c_types[from], rd_c_types[to],
                to == RD_ELEM_b8 ? "uint8_t" : rd_c_memory_types[inst->type], code);
}

void rd_emit_ops(rd_text *text, const rd_spec *spec)
{
    for (int k = 0; k < spec->n_inst; k++) {
        if (spec->inst[k].kind == RD_SPEC_MAP || spec->inst[k].kind == RD_SPEC_SUM)
            emit_op(text, &spec->inst[k], k);
        if (spec->inst[k].kind == RD_SPEC_CAST)
            emit_cast(text, spec, k);
    }
}

/* ---- Elements -------------------------------------------------------------------------------- */
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
bool rd_spec_is_power(const rd_spec *spec, int number)
{
    const rd_spec_inst *inst = &spec->inst[number];

    return inst->kind == RD_SPEC_MAP && inst->op == RD_OP_exp &&
           is_real(rd_elem_of((rd_dtype)inst->type)) && spec->form != RD_SPEC_PHASES;
}

void rd_emit_value(rd_text *text, const rd_spec *spec, int number)
{
    const rd_spec_inst *inst = &spec->inst[number];

    rd_text_add(text, " \\\n    const %s v%d = ", rd_c_types[rd_elem_of((rd_dtype)inst->type)],
                number);
    switch ((rd_spec_kind)inst->kind) {
    case RD_SPEC_LOAD:
        rd_emit_operand(text, spec, inst->at);
        rd_text_add(text, inst->type == RD_BOOL ? " != 0" : "");
        break;
    case RD_SPEC_CONST: add_constant(text, inst); break;
    case RD_SPEC_SUM: rd_text_add(text, "a%d_##j[i]", number); break;
    case RD_SPEC_GIVEN: rd_text_add(text, "w->v%d", number); break;
    case RD_SPEC_SELECT: rd_text_add(text, "v%d ? v%d : v%d", inst->a, inst->b, inst->c); break;
    default:
        if (rd_spec_is_power(spec, number)) {
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
    int16_t operand[3], n = rd_spec_is_power(spec, number) ? 0 : operands_of(inst, operand);

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
    rd_emit_value(text, spec, number);
}

/* Values come where they are needed, so that of a tree of sums few are held at a time; but no load
 * after a store that it came before, which may be to the same place. */
void rd_emit_element(rd_text *text, const rd_spec *spec)
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
                rd_emit_operand(text, spec, inst->at);
            rd_text_add(text, " = (%s)v%d;", rd_c_memory_types[spec->operand[inst->at].type],
                        inst->a);
        }
    }
    rd_text_add(text, "\n");
}

/* ---- Short loops ----------------------------------------------------------------------------- */
/* Row j's sums of a short loop, arrays of columns: what they begin with, which may be what a loop
 * before has come to. */
static void emit_new_sums(rd_text *text, const rd_spec *spec, int loop)
{
    rd_text_add(text, "#define NEW_SUMS_%d(j, n)", loop);
    for (int k = 0; k < spec->n_inst; k++)
        if (spec->inst[k].kind == RD_SPEC_SUM && spec->inst[k].loop == loop) {
            bool done[RD_SPEC_INSTS] = { false };

            rd_text_add(text,
                        " \\\n    %s a%d_##j[STRIP] __attribute__((aligned(64)));"
                        " \\\n    INDEPENDENT for (int64_t i = 0; i < (n); i++) {",
                        rd_c_types[rd_elem_of((rd_dtype)spec->inst[k].type)], k);
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
        if (spec->operand[o].loop == loop && rd_spec_repeats(spec, o))
            rd_emit_repeated(text, spec, o);
        else if (spec->operand[o].loop == loop && spec->operand[o].walk == RD_WALK_STAYS)
            rd_text_add(text, " \\\n    const %s u%d_##j = p%d_##j[k * d%d_##j];",
                        rd_c_memory_types[spec->operand[o].type], o, o, o);
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
void rd_emit_sums(rd_text *text, const rd_spec *spec)
{
    for (int l = 1; l <= spec->n_loop; l++) {
        emit_new_sums(text, spec, l);
        emit_add_sums(text, spec, l);
    }
    rd_text_add(text, "#define SUMS(ROWS, n)");
    for (int l = 1; l <= spec->n_loop; l++)
        rd_text_add(text,
                    " \\\n    ROWS(NEW_SUMS_%d, n) for (int64_t k = 0; k < %d; k++) { "
                    "ROWS(ADD_SUMS_%d, n) }",
                    l, spec->extent[l - 1], l);
    rd_text_add(text, "\n");
    rd_text_add(text, "#define HAS_SUMS %d\n", spec->n_loop > 0);
}

/* Exponentials of n columns, and of what steps of folds make of them, come before all else that is
 * done with them.  Each has a loop of its own for its arguments; what loops compute more than once
 * compilers find again. */
static void emit_power(rd_text *text, const rd_spec *spec, int number)
{
    const rd_spec_inst *inst                = &spec->inst[number];
    const rd_elem       elem                = rd_elem_of((rd_dtype)spec->inst[inst->a].type);
    bool                done[RD_SPEC_INSTS] = { false };

    rd_text_add(text,
                " \\\n    %s e%d[MOST] __attribute__((aligned(64)));"
                " \\\n    INDEPENDENT for (int64_t i = 0; i < (n); i++) {",
                rd_c_types[elem], number);
    emit_needed(text, spec, inst->a, done);
    rd_text_add(text, " e%d[i] = ", number);
    if (inst->kind == RD_SPEC_STEP)
        rd_text_add(text, "rd_math_lse_exponent_%s(v%d - s%d[i], %s)", rd_c_classes[elem], inst->a,
                    rd_spec_first_state(spec, inst->at),
                    spec->fold[inst->at].reducer == RD_RED_logsumexp ? "RD_LSE_FAR" : "0");
    else
        rd_text_add(text, "v%d", inst->a);
    rd_text_add(text, "; } \\\n    POWER_STRIP(%s, e%d, n)", rd_c_classes[elem], number);
}

void rd_emit_powers(rd_text *text, const rd_spec *spec)
{
    int n = 0;

    rd_text_add(text, "#define POWERS(j, n)");
    for (int k = 0; k < spec->n_inst; k++)
        if (rd_spec_is_power(spec, k)) {
            emit_power(text, spec, k);
            n++;
        }
    rd_text_add(text, "\n#define STEP_POWERS(j, n)");
    for (int k = 0; k < spec->n_inst; k++)
        if (spec->inst[k].kind == RD_SPEC_STEP &&
            rd_fold_has_power(&spec->fold[spec->inst[k].at])) {
            emit_power(text, spec, k);
            n++;
        }
    rd_text_add(text, "\n#define N_POWERS %d\n", n);
}
