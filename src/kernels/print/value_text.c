/* value_text.c - statements of a text that make or store a value.
 *
 *     const float r3 = r0 ? r1 : r2;
 *     p6[i * 1] = (float)r2;
 *
 * Fields. n->vector is the vector loop whose body is printed, -1: none. A load or store with `slot`
 * >= 0 is of the program's memory, others are of arrays of the tree.
 *
 * Words. Scratch is temporary memory of a task. */
#include "kernels/print/print.h"
#include <inttypes.h>

/* Makes the instruction that the value would be, because functions of emit/ take instructions.
 * Operands are numbers of values; -1: there is none. */
rd_inst rd_print_inst(const rd_printing *n, const rd_tree_value *let)
{
    const int32_t *in = &n->t->operand[let->first];

    return (rd_inst){ .kind  = let->kind,
                      .type  = let->type,
                      .from  = let->from,
                      .op    = let->op,
                      .a     = let->n > 0 ? in[0] : -1,
                      .b     = let->n > 1 ? in[1] : -1,
                      .c     = let->n > 2 ? in[2] : -1,
                      .arg   = let->arg,
                      .value = let->word };
}

/* Returns the value that is operand k of a value. */
static const rd_tree_value *operand_of(const rd_printing *n, const rd_tree_value *let, int32_t k)
{
    return &n->t->let[n->t->operand[let->first + k]];
}

/* True if the value is floor(int / constant) or its remainder, with a constant above 0 that the
 * text knows, and the language has a function for it, whose division compilers turn into
 * products. */
static bool is_division_by_constant(const rd_printing *n, const rd_tree_value *let)
{
    const rd_tree_value *by = let->n > 1 ? operand_of(n, let, /*k=*/1) : NULL;

    return n->dialect->divides && let->kind == RD_I_MAP && by && by->kind == RD_I_CONST &&
           (let->op == RD_OP_floordiv || let->op == RD_OP_remainder) &&
           rd_dtype_kind(let->type) != RD_KIND_FLOAT && let->type != RD_BOOL && by->word.i64 > 0;
}

/* Adds an element of memory, "((const float *)x1)[i0 + 3 * i1]", or with slot -1 of local array
 * `store`, "a5[i]". Directly in a vector loop the access is by a pointer to the loop's first
 * element, "p7[i * 3]", or reads the padded copy of the elements, "z7[i]". Scratch (temporary
 * memory of a task) has no qualifier such as OpenCL's __global. */
static void add_element(rd_printing *n, rd_text *to, int32_t slot, int32_t store, rd_dtype type,
                        const rd_linear *at, const char *qualifier, int32_t stmt)
{
    const bool scratch = slot >= n->t->p->first_scratch;

    if (rd_has_pointer(n, slot, at, n->t->stmt[stmt].parent)) {
        if (rd_is_padded(n, stmt, at)) {
            rd_text_add(to, "z%" PRId32 "[i]", stmt);
            return;
        }
        rd_text_add(to, "p%" PRId32 "[i * ", stmt);
        rd_print_number(n, to, rd_linear_coef(n->t, at, rd_loop_of(n->t, n->vector)->axis));
        rd_text_add(to, "]");
        return;
    }
    if (slot >= 0)
        rd_text_add(to, "((%s%s%s *)x%" PRId32 ")[", scratch ? "" : n->dialect->memory, qualifier,
                    rd_memory_type(type), slot);
    else
        rd_text_add(to, "a%" PRId32 "[", store);
    rd_print_linear(n, to, at);
    rd_text_add(to, "]");
}

/* True if some strip of the program has bytes that are widened to ints: it is shorter than a vector
 * of bytes (pass widen_bytes). */
static bool has_widened_bytes(const rd_schedule *t)
{
    for (int32_t k = 0; k < t->n_store; k++)
        if (t->store[k].fold < 0 && !t->store[k].memory && t->store[k].type == RD_I32)
            return true;
    return false;
}

/* True if a value that is loaded here is a bool outside of vector loops, which vector loops may
 * combine with vectors of bools. Of "p7[0] != 0" gcc 12 would then make a vector of masks, bit by
 * bit; a number it repeats by one instruction. Strips that are shorter than a vector of bytes have
 * masks of ints, and get none of it. */
static bool is_repeated_bool(const rd_printing *n, const rd_tree_value *let)
{
    return let->type == RD_BOOL && n->vector < 0 && n->dialect->hides && !has_widened_bytes(n->t);
}

/* Adds a loaded element as a value: "p7[i * 1] != 0" of a bool, "rd_f16_to_f32(p7[i * 1])" of a
 * half, "(uint8_t)((p7[0] + 255) >> 8)" of a bool that is repeated. Buffers of the program
 * (slot >= 0), and local arrays with `memory`, hold the type in memory, which is converted to the
 * register's type. Other local arrays hold the register's type already. */
static void add_load(rd_printing *n, rd_text *to, const rd_tree_value *let)
{
    rd_text element = { 0 };

    add_element(n, &element, let->slot, let->store, let->type, &let->at, "const ", let->made_by);
    const bool from_memory = let->slot >= 0 || n->t->store[let->store].memory ||
                             n->t->store[let->store].type != let->type;

    if (from_memory && is_repeated_bool(n, let)) /* 0 or 1, as of "!= 0" */
        rd_text_add(to, "(uint8_t)((%s + 255) >> 8)", element.at ? element.at : "");
    else if (from_memory)
        rd_add_from_memory(to, let->type, element.at ? element.at : "");
    else
        rd_text_add(to, "%s", element.at ? element.at : "");
    rd_text_end(&element, n->to);
}

/* Adds a constant. In a text of one function (whole), floats outside of vector loops are hidden
 * from compilers by a call, "rd_hidden_f32(..)". If gcc knew the number, it would branch where a
 * vector would blend. Texts of several functions pass constants through memory, so they are
 * hidden anyway. */
static void add_constant(rd_printing *n, rd_text *to, const rd_tree_value *let)
{
    const rd_inst inst   = rd_print_inst(n, let);
    const bool    hidden = n->dialect->hides && n->t->whole && n->vector < 0 &&
                        rd_dtype_kind(let->type) == RD_KIND_FLOAT;

    if (hidden)
        rd_text_add(to, "rd_hidden_%s(", rd_class_name(rd_dtype_class(let->type)));
    rd_add_constant(to, &inst);
    rd_text_add(to, hidden ? ")" : "");
}

/* Adds the call of a floored division or remainder of ints by a constant, which the text spells
 * out so that compilers turn the division into products: "rd_floordiv_by_int64_t(r3, 12)". */
static void add_division(rd_printing *n, rd_text *to, const rd_tree_value *let)
{
    const rd_inst by = rd_print_inst(n, operand_of(n, let, /*k=*/1));

    rd_text_add(to, "rd_%s_by_%s(r%" PRId32 ", ", rd_op_table[let->op].name,
                rd_register_type(let->type), n->t->operand[let->first]);
    rd_add_constant(to, &by);
    rd_text_add(to, ")");
}

/* True if operand k is the constant exponent of a power by half integers, x^2.5. It is spelled
 * out in the call, because compilers then reduce the power to a few products. */
static bool is_constant_exponent(const rd_printing *n, const rd_tree_value *let, int32_t k)
{
    return let->kind == RD_I_MAP && let->op == RD_OP_pow_half && k == 1 &&
           operand_of(n, let, k)->kind == RD_I_CONST;
}

/* Adds the constant exponent of a power as a literal, ", 2.5", so that compilers know it. */
static void add_exponent(const rd_printing *n, rd_text *to, const rd_tree_value *let)
{
    const rd_inst inst = rd_print_inst(n, operand_of(n, let, /*k=*/1));

    rd_text_add(to, ", ");
    rd_add_constant(to, &inst);
}

/* Adds "f32_add(r1, r2)", with ", &warnings" for an operator that may warn. A reversed
 * difference, which is squared later, has its operands the other way round: b - a for a - b. */
static void add_operation(rd_printing *n, rd_text *to, const rd_tree_value *let)
{
    const rd_inst inst = rd_print_inst(n, let);
    char          name[RD_EMIT_NAME];

    rd_op_name(&inst, name);
    rd_text_add(to, "%s(", name);
    for (int32_t k = 0; k < let->n; k++)
        if (is_constant_exponent(n, let, k))
            add_exponent(n, to, let);
        else
            rd_text_add(to, "%sr%" PRId32, k ? ", " : "",
                        n->t->operand[let->first + (let->reversed ? let->n - 1 - k : k)]);
    rd_text_add(to, let->kind == RD_I_MAP && rd_op_warns(&inst) ? ", &warnings)" : ")");
}

/* Adds the check of an index that is read at run time, "rd_index_i64(r3, N4, &failed)", where N4
 * is the extent. Negative indices count from the end. An index outside sets `failed`, and index
 * 0 stands in for it. Outside of vector loops it is rd_index_one_i64(), which may branch. */
static void add_index(rd_printing *n, rd_text *to, const rd_tree_value *let)
{
    rd_text_add(to, "%s(r%" PRId32 ", ",
                rd_dtype_class(let->from) == RD_CLASS_u64 ? "rd_index_u64"
                : n->vector >= 0                          ? "rd_index_i64"
                                                          : "rd_index_one_i64",
                n->t->operand[let->first]);
    rd_print_number(n, to, let->word.i64);
    rd_text_add(to, ", &failed)");
}

/* Adds a cast of a float that is known to fit an int32_t or to be NaN,
 * "(uint8_t)(int32_t)rd_or_0_f64(r7)". Vector units have this cast, and its bits are those of
 * the full cast, which also treats large numbers. */
static void add_bounded_cast(const rd_printing *n, rd_text *to, const rd_tree_value *let)
{
    rd_text_add(to, "(%s)(int32_t)rd_or_0_%s(r%" PRId32 ")", rd_memory_type(let->type),
                rd_class_name(rd_dtype_class(let->from)), n->t->operand[let->first]);
}

/* True if the type is an int with a sign. */
static bool is_signed(rd_dtype type)
{
    return rd_dtype_kind(type) == RD_KIND_INT;
}

/* True if the value is an int of at most 17 bits with its sign, such as a byte in a 64-bit type.
 * It looks through casts and choices, 4 deep at most, so that the search is short. */
static bool has_17_bits(const rd_printing *n, const rd_tree_value *let, int depth)
{
    enum { DEEP = 4, MOST = 65535 };

    if (rd_dtype_kind(let->type) == RD_KIND_FLOAT || depth == DEEP)
        return false;
    if (rd_small_type(let->type))
        return true;
    switch (let->kind) {
    case RD_I_CONST:
        return let->word.i64 >= (is_signed(let->type) ? -MOST : 0) && let->word.i64 <= MOST;
    case RD_I_CAST: /* as unsigned, what is negative is large */
        return (is_signed(let->type) || !is_signed(let->from)) &&
               has_17_bits(n, operand_of(n, let, /*k=*/0), depth + 1);
    case RD_I_SELECT:
        return has_17_bits(n, operand_of(n, let, /*k=*/1), depth + 1) &&
               has_17_bits(n, operand_of(n, let, /*k=*/2), depth + 1);
    default: return false;
    }
}

/* Returns the narrow type in which a choice "c ? x : y" of small ints in an 8-byte type is made,
 * so that a vector holds more of them: the memory type of x if y is 0, else int32_t. NULL: the
 * value's own type. */
static const char *chosen_type(const rd_printing *n, const rd_tree_value *let)
{
    const rd_tree_value *x = operand_of(n, let, /*k=*/1), *y = operand_of(n, let, /*k=*/2);

    if (rd_register_size(let->type) < 8 || !has_17_bits(n, let, /*depth=*/0))
        return NULL;
    return rd_small_type(x->type) && y->kind == RD_I_CONST && y->word.u64 == 0
               ? rd_small_type(x->type)
               : "int32_t";
}

/* Adds an operand of a choice, cast to the narrow type (NULL: no cast). Constants are spelled
 * out: gcc 12 does not vectorise the choice if they come as variables. */
static void add_chosen(const rd_printing *n, rd_text *to, int32_t value, const char *type)
{
    const rd_tree_value *let = &n->t->let[value];

    if (type)
        rd_text_add(to, "(%s)", type);
    if (type && let->kind == RD_I_CONST)
        rd_text_add(to, "(%" PRId64 ")", let->word.i64);
    else
        rd_text_add(to, "r%" PRId32, value);
}

/* Adds a choice between two values, "r2 ? (uint8_t)r0 : (uint8_t)(0)". Both are cast to a narrow
 * type where chosen_type() finds one, so that vectors hold more of them. */
static void add_choice(const rd_printing *n, rd_text *to, const rd_tree_value *let)
{
    const int32_t    *in   = &n->t->operand[let->first];
    const char *const type = chosen_type(n, let);

    rd_text_add(to, "r%" PRId32 " ? ", in[0]);
    add_chosen(n, to, in[1], type);
    rd_text_add(to, " : ");
    add_chosen(n, to, in[2], type);
}

/* Adds the expression that makes the value, by the kind of its instruction. fits_int32: a cast
 * of a float that fits an int32_t; in a vector loop it is the cast that vector units have. */
void rd_print_value(rd_printing *n, rd_text *to, const rd_tree_value *let)
{
    switch (let->kind) {
    case RD_I_CONST: add_constant(n, to, let); break;
    case RD_I_COORD: rd_print_linear(n, to, &let->at); break;
    case RD_I_LOAD: add_load(n, to, let); break;
    case RD_I_INDEX: add_index(n, to, let); break;
    case RD_I_SELECT: add_choice(n, to, let); break;
    default:
        if (is_division_by_constant(n, let))
            add_division(n, to, let);
        else if (let->fits_int32 && n->vector >= 0)
            add_bounded_cast(n, to, let);
        else if (rd_is_short_quotient(n, let))
            rd_print_short_quotient(n, to, let);
        else
            add_operation(n, to, let);
    }
}

/* Prints the definition of a value, "const float r3 = r0 ? r1 : r2;". A load of an element of the
 * caller's arrays is also counted, "loads++;". Scratch is not counted, nor are loads of where rows
 * begin and end (uncounted). In vector loops one statement counts all loads of the loop. */
void rd_print_let(rd_printing *n, const rd_stmt *s)
{
    const rd_tree_value *let = &n->t->let[s->value];

    if (let->kind == RD_I_CALL) {
        rd_print_call(n, s->value);
        return;
    }
    rd_print_begin_line(n);
    rd_text_add(n->to, "const %s r%" PRId32 " = ", rd_register_type(let->type), s->value);
    rd_print_value(n, n->to, let);
    rd_text_add(n->to, ";\n");
    if (n->dialect->counts && n->vector < 0 && let->kind == RD_I_LOAD && !let->uncounted &&
        let->slot >= 0 && let->slot < n->t->p->first_scratch)
        rd_print_line(n, "loads++;");
}

/* Prints a store, "p6[i * 1] = (float)r2;". Buffers of the program (slot >= 0), and local arrays
 * with `memory`, take the type in memory, so the register is converted. */
void rd_print_store(rd_printing *n, int32_t stmt)
{
    const rd_stmt *s      = &n->t->stmt[stmt];
    const bool     memory = s->slot >= 0 || n->t->store[s->store].memory;

    rd_print_begin_line(n);
    add_element(n, n->to, s->slot, s->store, s->type, &s->at, "", stmt);
    rd_text_add(n->to, " = ");
    if (memory)
        rd_begin_stored(n->to, s->type);
    rd_text_add(n->to, "r%" PRId32 "%s;\n", s->x, memory ? rd_end_stored(s->type) : "");
}
