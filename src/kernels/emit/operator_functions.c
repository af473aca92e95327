/* operator_functions.c - emits types, operators and casts: the rows of ops.def as functions.
 *
 *     static inline float f32_add(T a, T b) { return (float)(float)(RD_ADD(a, b)); }
 *
 * A half is a float of 16 bits, f16 or bf16: in registers it is a float.  A class is the type that
 * an element is computed in: f32, f64, i64 or u64. */
#include "kernels/emit/emit.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- Tables ---------------------------------------------------------------------------------- */
/* The C types of elements in memory, by rd_dtype, from dtypes.def. */
static const char *const memory_types[] = {
#define RD_DTYPE(enum_, name, C, ...) [RD_##enum_] = #C,
#include "core/dtypes.def"
#undef RD_DTYPE
};

/* The C type of an element in memory. */
const char *rd_memory_type(rd_dtype type)
{
    return memory_types[type];
}

/* The C expression of each operator in ops.def, for operands a, b and c: [0] of floats, [1] of
 * ints. */
static const char *const op_code[RD_N_OPS][2] = {
#define RD_OP(name, n, rule, cost, by, of_c, float_code, ...) \
    [RD_OP_##name] = { #float_code, #__VA_ARGS__ },
#define RD_TEST(name, n, rule, cost, by, of_c, float_code, ...) \
    [RD_OP_##name] = { #float_code, #__VA_ARGS__ },
#include "core/ops.def"
};

/* The code of f32 operators in programs that are `fast`, from fast.cuh of the CUDA backend. exp
 * is fast by its name, also in reducers. */
static const char *const fast_code[RD_N_OPS] = {
    [RD_OP_exp2] = "rd_fast_exp2(a)",       [RD_OP_reciprocal] = "rd_fast_div(1, a)",
    [RD_OP_sqrt] = "rd_fast_sqrt(a)",       [RD_OP_log] = "rd_fast_log(a)",
    [RD_OP_log2] = "rd_fast_log2(a)",       [RD_OP_sin] = "rd_fast_sin(a)",
    [RD_OP_cos] = "rd_fast_cos(a)",         [RD_OP_tanh] = "rd_fast_tanh(a)",
    [RD_OP_pow] = "rd_fast_pow(a, b)",      [RD_OP_div] = "rd_fast_div(a, b)",
    [RD_OP_pow_half] = "rd_fast_pow(a, b)",
};

/* Names of classes in C, and in the names of the library's functions. */
static const char *const c_types[RD_N_CLASS]   = { "float", "double", "int64_t", "uint64_t" };
static const char *const c_classes[RD_N_CLASS] = { "f32", "f64", "i64", "u64" };

/* True if the operator is a test or a comparison, so that its result is a bool. */
static bool is_test(const rd_inst *inst)
{
    return rd_op_table[inst->op].rule == RD_RULE_COMPARE ||
           rd_op_table[inst->op].rule == RD_RULE_TEST;
}

/* True if the class (the type in which elements are computed) is f32 or f64. */
static bool is_real(rd_class class)
{
    return class == RD_CLASS_f32 || class == RD_CLASS_f64;
}

/* ---- Types ----------------------------------------------------------------------------------- */
/* Returns the C type of a variable that holds an element: narrow ints are int32_t, halves
 * (floats of 16 bits) are float, bools uint8_t. */
const char *rd_register_type(rd_dtype type)
{
    switch (type) {
    case RD_I8:
    case RD_I16:
    case RD_I32:
    case RD_U8:
    case RD_U16: return "int32_t";
    case RD_U32: return "uint32_t";
    case RD_BOOL: return "uint8_t";
    default: return c_types[rd_dtype_class(type)];
    }
}

/* Returns the bytes of a variable that holds an element: 1 for a bool, 4 for other types up to 4
 * bytes, else 8. */
int rd_register_size(rd_dtype type)
{
    return type == RD_BOOL ? 1 : rd_dtype_size(type) <= 4 ? 4 : 8;
}

/* Writes the macros that the C code in ops.def and reducers.def uses, for one type: T, CLASS
 * ("f32"), RD_T(f) (a function that may write to `warnings`), RD_F(name) for a function of floats,
 * RD_ADD() and RD_MUL(). Ints add and multiply as uint64_t, because signed overflow is undefined in
 * C, and there it wraps around. */
void rd_begin_type(rd_text *to, const char *type, rd_class class)
{
    rd_text_add(to, "#define T %s\n#define CLASS %s\n#define RD_T(f) WITH_WARNINGS_##f\n", type,
                c_classes[class]);
    if (is_real(class))
        rd_text_add(to, "#define RD_F(name) rd_math_##name##_%s\n", c_classes[class]);
    rd_text_add(to, is_real(class)
                        ? "#define RD_ADD(a, b) ((a) + (b))\n#define RD_MUL(a, b) ((a) * (b))\n"
                        : "#define RD_ADD(a, b) ((T)((uint64_t)(a) + (uint64_t)(b)))\n"
                          "#define RD_MUL(a, b) ((T)((uint64_t)(a) * (uint64_t)(b)))\n");
}

/* Writes the #undefs of the macros that rd_begin_type() writes, so that the next type can define
 * them. */
void rd_end_type(rd_text *to)
{
    rd_text_add(to,
                "#undef T\n#undef CLASS\n#undef RD_T\n#undef RD_F\n#undef RD_ADD\n#undef RD_MUL\n");
}

/* Returns the name of a class, the type in which elements are computed, in the library's
 * functions: "f32" of rd_math_exp_f32(). */
const char *rd_class_name(rd_class class)
{
    return c_classes[class];
}

/* ---- Operators and casts --------------------------------------------------------------------- */
/* Returns the type in the name of an operator's function: that of the result; for a test, whose
 * result is always a bool, that of the operands, "f32_less". */
static rd_dtype named_type(const rd_inst *inst)
{
    return inst->kind == RD_I_MAP && is_test(inst) ? inst->from : inst->type;
}

/* Appends the string s at `at`, up to `end`, and returns the new end. */
static char *put(char *at, const char *end, const char *s)
{
    while (*s && at < end)
        *at++ = *s++;
    return at;
}

/* Writes the name of an operator's or a cast's function: "f32_of_i64", "f32_add", in RD_EMIT_NAME
 * characters with the end.  It is asked for often while a small expression is planned, and
 * snprintf() took a tenth of that time. */
void rd_op_name(const rd_inst *inst, char *name)
{
    const bool        cast = inst->kind == RD_I_CAST;
    const char *const end  = name + RD_EMIT_NAME - 1;
    char             *at   = put(name, end, rd_dtype_name(named_type(inst)));

    at  = put(at, end, cast ? "_of_" : "_");
    at  = put(at, end, cast ? rd_dtype_name(inst->from) : rd_op_table[inst->op].name);
    *at = '\0';
}

/* True if the operator, applied to halves (floats of 16 bits) in f32, gives a number that is a
 * half already and needs no rounding. It picks an operand, changes its sign, or makes a whole
 * number of it. */
static bool keeps_halves(const rd_inst *inst)
{
    switch (inst->op) {
    case RD_OP_neg:
    case RD_OP_abs:
    case RD_OP_sign:
    case RD_OP_floor:
    case RD_OP_ceil:
    case RD_OP_round:
    case RD_OP_trunc:
    case RD_OP_fmin:
    case RD_OP_fmax:
    case RD_OP_copysign:
    case RD_OP_heaviside:
    case RD_OP_minimum:
    case RD_OP_maximum: return inst->kind == RD_I_MAP;
    default: return false;
    }
}

/* Writes the end of an operator's function, "return (float)(float)(code);". The inner cast is to
 * the type in memory, which drops the bits that it has not; the outer one is to the register's
 * type. Halves (floats of 16 bits) are rounded, unless the result is a half already. */
static void add_return(rd_text *to, const rd_inst *inst, const char *code)
{
    const rd_dtype type = inst->type;
    const char *class   = rd_register_type(type);

    if (rd_dtype_is_narrow_float(type) && keeps_halves(inst))
        rd_text_add(to, "    return %s;\n}\n", code);
    else if (rd_dtype_is_narrow_float(type))
        rd_text_add(to, "    return rd_round_%s(%s);\n}\n", rd_dtype_name(type), code);
    else
        rd_text_add(to, "    return (%s)(%s)(%s);\n}\n", class,
                    type == RD_BOOL ? "uint8_t" : rd_memory_type(type), code);
}

/* True if the operator's function has the argument `warnings`, as it may report a division of ints
 * by 0. */
bool rd_op_warns(const rd_inst *inst)
{
    return rd_op_reports(inst->op, inst->type);
}

/* Returns the C expression of the operator for operands of a type: that of floats or that of ints
 * in ops.def. With `fast`, f32 may have a faster, less accurate one of the CUDA backend. fast_code
 * has NULL where there is no faster one. */
static const char *code_of(const rd_inst *inst, rd_dtype type, bool fast)
{
    const bool ints = rd_dtype_kind(type) != RD_KIND_FLOAT;

    return fast && fast_code[inst->op] && rd_dtype_class(type) == RD_CLASS_f32
               ? fast_code[inst->op]
               : op_code[inst->op][ints];
}

/* The C type of ints of 1 and 2 bytes, and of bools, as small as in memory; NULL for other
 * types. */
const char *rd_small_type(rd_dtype type)
{
    return rd_dtype_kind(type) == RD_KIND_FLOAT || rd_dtype_size(type) >= 4 ? NULL
           : type == RD_BOOL                                                ? "uint8_t"
                                                                            : rd_memory_type(type);
}

/* Returns the C type of a test's or comparison's operands: as small as in memory for ints of 1
 * and 2 bytes and bools, so that a vector compares as many as it loads. */
static const char *tested_type(rd_dtype type)
{
    return rd_small_type(type) ? rd_small_type(type) : rd_register_type(type);
}

/* True if the function is inlined into the loops that call it, however long it is: code of this
 * library (by OURS or OWN) that calls nothing.  Compilers leave a function with several callers
 * outside, and a loop with a call has no vectors: erf of f64 took 5 times as long as a kernel of
 * it. */
static bool is_inlined(const rd_inst *inst)
{
    const rd_by by = rd_op_table[inst->op].by;

    return (by == RD_BY_OURS || by == RD_BY_OWN) && !rd_op_calls(inst->op, inst->type);
}

/* Writes the function of an operator, between the macros of its type. The code of ints may name
 * `warnings` even where nothing can warn; there it is a dummy, for arithmetic (rule ARITH). The
 * parameters are as many as the operator has operands (arity).
 *
 *     static inline float f32_add(T a, T b)
 *     {
 *         return (float)(float)(a + b);
 *     } */
static void add_op(rd_text *to, const rd_inst *inst, const char *name, bool fast)
{
    static const char *const parameters[] = { "", "T a", "T a, T b", "T a, T b, T c" };
    const rd_dtype           type         = named_type(inst);

    rd_begin_type(to, is_test(inst) ? tested_type(type) : rd_register_type(type),
                  rd_dtype_class(type));
    rd_text_add(to, "%s %s %s(%s%s)\n{\n", is_inlined(inst) ? "RD_INLINE" : "static inline",
                rd_register_type(inst->type), name, parameters[rd_op_table[inst->op].arity],
                rd_op_warns(inst) ? ", uint32_t *const warnings" : "");
    if (!rd_op_warns(inst) && rd_op_table[inst->op].rule == RD_RULE_ARITH)
        rd_text_add(to, "    uint32_t none = 0, *const warnings = &none;\n");
    add_return(to, inst, code_of(inst, type, fast));
    rd_end_type(to);
}

/* Returns the cast of an int to a float. `rounds`: the program also makes ints of floats. Then
 * gcc 12 fuses (float)(int64_t)x into one rounding of x, which keeps the sign of a zero; an int
 * has no -0, so a fabs() takes the sign away. */
static const char *cast_of_int(const rd_inst *inst, bool rounds)
{
    if (!rounds)
        return "a";
    return rd_dtype_class(inst->type) == RD_CLASS_f32
               ? "a < 0 ? (float)a : __builtin_fabsf((float)a)"
               : "a < 0 ? (double)a : __builtin_fabs((double)a)";
}

/* True if some cast of the program makes ints of floats; cast_of_int() says why that matters. */
static bool rounds_to_ints(const rd_program *p)
{
    bool found = false;

    for (int32_t i = 0; i < p->n_inst; i++)
        found |= p->inst[i].kind == RD_I_CAST && is_real(rd_dtype_class(p->inst[i].from)) &&
                 !is_real(rd_dtype_class(p->inst[i].type));
    return found;
}

/* Returns the C expression of a cast of `a`: "rd_saturate_i64(a)", "a != 0". To a half (16 bits)
 * it goes by a float that is rounded to odd, because a second rounding to nearest then gives the
 * right half. rounds: see cast_of_int(). */
static const char *cast_code(const rd_inst *inst, bool rounds)
{
    const rd_class from = rd_dtype_class(inst->from), to = rd_dtype_class(inst->type);

    if (rd_dtype_is_narrow_float(inst->type))
        return from == RD_CLASS_f64   ? "rd_odd_f64(a)"
               : from == RD_CLASS_i64 ? "rd_odd_i64(a)"
               : from == RD_CLASS_u64 ? "rd_odd_u64(a)"
                                      : "(float)a";
    /* Vectors have masks for bools, which compilers choose by, and do not convert; but of 0.0 and
     * 1.0 they make branches where the bool is a choice itself. */
    if (inst->from == RD_BOOL && inst->type != RD_BOOL)
        return is_real(to) ? "(int)a" : "a ? 1 : 0";
    if (from == RD_CLASS_i64 && is_real(to))
        return cast_of_int(inst, rounds);
    if (inst->type == RD_BOOL)
        return "a != 0";
    if (is_real(from) && to == RD_CLASS_i64)
        return "rd_saturate_i64(a)";
    if (is_real(from) && to == RD_CLASS_u64)
        return "rd_saturate_u64(a)";
    return "a";
}

/* Writes the function of a cast. rounds: the program also makes ints of floats, see cast_of_int().
 *
 *     static inline float f32_of_i64(int64_t a) { return (float)(float)(a); } */
static void add_cast(rd_text *to, const rd_inst *inst, const char *name, bool rounds)
{
    rd_text_add(to, "static inline %s %s(%s a)\n{\n", rd_register_type(inst->type), name,
                inst->type == RD_BOOL ? tested_type(inst->from) : rd_register_type(inst->from));
    add_return(to, inst, cast_code(inst, rounds));
}

/* True if an earlier instruction than number i has the same operator and types, so that its
 * function is written already. */
static bool is_emitted(const rd_program *p, int32_t i)
{
    const rd_inst *inst = &p->inst[i];

    for (int32_t k = 0; k < i; k++) {
        const rd_inst *earlier = &p->inst[k];

        if (earlier->kind == inst->kind && named_type(earlier) == named_type(inst) &&
            (inst->kind == RD_I_CAST ? earlier->from == inst->from : earlier->op == inst->op))
            return true;
    }
    return false;
}

/* Writes a function for each operator and each cast of the program, in the order of first use.
 * p->fast: f32 functions may be the faster, less accurate ones of a GPU. If some cast makes ints of
 * floats, casts of ints to floats keep a compiler from fusing both (see cast_of_int()). */
void rd_emit_ops(rd_text *to, const rd_program *p)
{
    char name[RD_EMIT_NAME];

    for (int32_t i = 0; i < p->n_inst; i++) {
        const rd_inst *inst = &p->inst[i];

        if (inst->kind != RD_I_MAP && inst->kind != RD_I_CAST)
            continue;
        if (is_emitted(p, i))
            continue;
        rd_op_name(inst, name);
        if (inst->kind == RD_I_MAP)
            add_op(to, inst, name, p->fast);
        else
            add_cast(to, inst, name, rounds_to_ints(p));
    }
}

/* ---- Elements -------------------------------------------------------------------------------- */
/* Writes a constant by its bits: "rd_float_of(0x3f800000)", "(int64_t)0x2a".  So no bit is lost,
 * and NaNs and -0 stay what they are. */
void rd_add_constant(rd_text *to, const rd_inst *inst)
{
    if (inst->type == RD_BOOL) {
        rd_text_add(to, "%d", inst->value.u64 != 0);
        return;
    }
    switch (rd_dtype_class(inst->type)) {
    case RD_CLASS_f32:
        rd_text_add(to, "rd_float_of(0x%" PRIx32 ")", (uint32_t)inst->value.u64);
        break;
    case RD_CLASS_f64: rd_text_add(to, "rd_double_of(0x%" PRIx64 ")", inst->value.u64); break;
    case RD_CLASS_i64: rd_text_add(to, "(int64_t)0x%" PRIx64, inst->value.u64); break;
    default: rd_text_add(to, "(uint64_t)0x%" PRIx64, inst->value.u64); break;
    }
}

/* Writes the load of an element to a register: "rd_f16_to_f32(x)" of a half, "x != 0" of a bool. */
void rd_add_from_memory(rd_text *to, rd_dtype type, const char *element)
{
    if (rd_dtype_is_narrow_float(type))
        rd_text_add(to, "%s_to_f32(%s)", rd_memory_type(type), element);
    else
        rd_text_add(to, type == RD_BOOL ? "%s != 0" : "%s", element);
}

/* Writes what stands before a variable that is stored in memory: "rd_f16_of_f32(" for a half
 * (float of 16 bits), else a cast, "(uint8_t)". */
void rd_begin_stored(rd_text *to, rd_dtype type)
{
    rd_text_add(to, rd_dtype_is_narrow_float(type) ? "%s_of_f32(" : "(%s)", rd_memory_type(type));
}

/* Returns what stands behind a variable that is stored in memory: ")" for a half (float of 16
 * bits), else nothing. */
const char *rd_end_stored(rd_dtype type)
{
    return rd_dtype_is_narrow_float(type) ? ")" : "";
}
