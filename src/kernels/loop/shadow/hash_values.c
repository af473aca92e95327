/* hash_values.c - hashes that stand for numbers in a shadow run: those of operators, and what
 * decides if a number is not known.
 *
 * A shadow is a known number, or a hash of the operation and operands that made the number. A
 * shadow run executes a loop tree, and its program, on such hashes: both must store equal ones. */
#include "kernels/loop/shadow/shadow.h"
#include "kernels/cpu/reference/op_functions.h"
#include <stdarg.h>

/* Returns the hash of a shadow: of a known number that of its bits, else what it has. */
uint64_t rd_shadow_hash(rd_shadow x)
{
    return x.known ? rd_mix(RD_OF_NUMBER, x.bits) : x.bits;
}

/* Returns the shadow of a known int. */
rd_shadow rd_shadow_of_int(int64_t value)
{
    return (rd_shadow){ (uint64_t)value, true };
}

/* Returns the shadow of a number of which only the hash is known: how it was computed. */
static rd_shadow unknown_shadow(uint64_t hash)
{
    return (rd_shadow){ hash, false };
}

/* Returns the shadow of a known number. Bits that a narrow type does not have are 0, so that equal
 * numbers have equal shadows. */
static rd_shadow known_shadow(rd_word word, rd_dtype type)
{
    const rd_word zero = { .u64 = 0 };
    rd_word       made = zero;

    if (rd_dtype_class(type) == RD_CLASS_f32)
        made.f32 = word.f32;
    else
        made = word;
    return (rd_shadow){ made.u64, true };
}

/* ---- What decides ---------------------------------------------------------------------------- */
/* Decides whether a mask is true: as it is if known, else by two bits from the middle of its hash.
 * So three of four unknown masks are true, and both branches of a program run. Equal shadows
 * decide alike, in the program and in the tree. */
bool rd_shadow_true(rd_shadow x)
{
    return x.known ? x.bits != 0 : (x.bits >> 20 & 3) != 0;
}

/* Decides the value of an int: as it is if known, else 0 or 1 by its hash, as most axes have these
 * indices. */
int64_t rd_shadow_int(rd_shadow x)
{
    return x.known ? (int64_t)x.bits : (int64_t)(x.bits >> 20 & 1);
}

/* Decides a label (group of an element) in [0, n_group], by its hash if it is unknown; n_group
 * names no group. */
int64_t rd_shadow_label(rd_shadow x, int64_t n_group)
{
    return x.known ? (int64_t)x.bits : (int64_t)(x.bits % ((uint64_t)n_group + 1));
}

/* ---- Values ---------------------------------------------------------------------------------- */
/* True if the operand alone decides the result of a logical `and` or `or`. A bound of a loop
 * leaves out what such a mask of indices leaves out. x is one operand. */
static bool is_absorbing(const rd_tree_value *let, rd_shadow x)
{
    return x.known && let->from == RD_BOOL && (x.bits ? let->op == RD_OP_or : let->op == RD_OP_and);
}

/* Returns the shadow of an operator's value: the number itself if all operands are known and the
 * operator has code for their type, else a hash of the operator and its operands. One known operand
 * may decide an `and` or `or` alone. The hash of a test includes the type of its operands, as its
 * result is a bool for any type. The result of a narrow type wraps as its stores would; warnings of
 * operators do not count. */
static rd_shadow map_value(const rd_tree_value *let, const rd_shadow *in)
{
    const rd_rule rule  = rd_op_table[let->op].rule;
    const bool    test  = rule == RD_RULE_COMPARE || rule == RD_RULE_TEST;
    bool          known = true;
    uint64_t      hash  = rd_mix(RD_OF_MAP, (uint64_t)let->op << 16 | (uint64_t)let->type << 8 |
                                                (test ? (uint64_t)let->from : 0));
    rd_word       word[3], result = { .u64 = 0 };
    uint32_t      warnings = 0;

    for (int32_t k = 0; k < 3; k++)
        word[k].u64 = k < let->n ? in[k].bits : 0;
    for (int32_t k = 0; k < let->n; k++) {
        known &= in[k].known;
        hash = rd_mix(hash, rd_shadow_hash(in[k]));
    }
    for (int32_t k = 0; k < let->n; k++)
        if (is_absorbing(let, in[k]))
            return in[k];
    rd_op_fn *code = rd_op_code(let->op, rd_dtype_class(test ? let->from : let->type));
    if (!known || !code)
        return unknown_shadow(hash);
    code(&result, &word[0], &word[1], &word[2], &warnings);
    if (!test && rd_op_needs_wrap(let->type))
        result = rd_op_wrap(result, let->type);
    return known_shadow(result, let->type);
}

/* Returns the shadow of a conversion: the converted number if x is known, else a hash of both
 * types and x. */
static rd_shadow cast_value(const rd_tree_value *let, rd_shadow x)
{
    const rd_word word = { .u64 = x.bits };

    if (x.known)
        return known_shadow(rd_word_convert(word, let->from, let->type), let->type);
    return unknown_shadow(
        rd_mix(rd_mix(RD_OF_CAST, (uint64_t)let->type << 8 | (uint64_t)let->from), x.bits));
}

/* Returns the shadow of an INDEX, which is checked to be below let->word. A known index counts
 * from the end if it is negative; an unknown one becomes a known one, chosen by its hash. */
static rd_shadow checked_index(const rd_tree_value *let, rd_shadow x)
{
    const int64_t extent = let->word.i64 > 0 ? let->word.i64 : 1;

    if (!x.known)
        return rd_shadow_of_int((int64_t)(x.bits % (uint64_t)extent));
    return rd_shadow_of_int((int64_t)x.bits < 0 ? (int64_t)x.bits + extent : (int64_t)x.bits);
}

/* Returns the shadow of a call of a user's function: a hash of the function's number and the
 * operands. */
static rd_shadow call_value(const rd_tree_value *let, const rd_shadow *in)
{
    uint64_t hash = rd_mix(RD_OF_CALL, (uint64_t)let->arg);

    for (int32_t k = 0; k < let->n; k++)
        hash = rd_mix(hash, rd_shadow_hash(in[k]));
    return unknown_shadow(hash);
}

/* Returns the shadow of what a LET makes, by its kind: a known number, or a hash of the operation
 * and its operands. `in` has the operands' shadows. */
rd_shadow rd_shadow_value(const rd_tree_value *let, const rd_shadow *in)
{
    switch (let->kind) {
    case RD_I_CONST: return known_shadow(let->word, let->type);
    case RD_I_MAP: return map_value(let, in);
    case RD_I_CAST: return cast_value(let, in[0]);
    case RD_I_SELECT: return rd_shadow_true(in[0]) ? in[1] : in[2];
    case RD_I_INDEX: return checked_index(let, in[0]);
    case RD_I_CALL: return call_value(let, in);
    default: return unknown_shadow(RD_OF_NUMBER);
    }
}

/* ---- Failures -------------------------------------------------------------------------------- */
/* Notes the first failure of a shadow run as a sentence in *why; returns false. */
bool rd_shadow_fails(rd_text *why, const char *format, ...)
{
    va_list list;

    if (why->n)
        return false;
    va_start(list, format);
    rd_text_add_list(why, format, list);
    va_end(list);
    return false;
}
