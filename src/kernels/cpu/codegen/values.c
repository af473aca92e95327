/* values.c - instructions that make or store a value, as statements. */
#include "kernels/cpu/codegen/parts.h"
#include <inttypes.h>
#include <stdio.h>

void rd_operand_text(rd_codegen *n, rd_text *to, int32_t reg)
{
    const bool apart = n->here && n->varies[reg] && n->made_in[reg] != n->round;

    if (n->ahead && n->copy[reg]) {
        rd_text_add(to, "r%" PRId32 "_%" PRId32, reg, n->copy[reg]);
        return;
    }
    if (apart)
        n->crosses[reg] = true;
    if (!apart && !(n->here && n->varies[reg] && rd_cuts(n, &n->p->inst[n->made[reg]])))
        rd_text_add(to, "r%" PRId32, reg);
    else if (n->part >= 0 && n->made[reg] < n->p->loop[n->part].begin)
        rd_text_add(to, "a%" PRId32 "[v%" PRId32 " - whole%" PRId32 " + i]", reg, n->here->axis,
                    n->here->axis);
    else
        rd_text_add(to, "a%" PRId32 "[i]", reg);
}

/* ---- What a value is ------------------------------------------------------------------------- */
static void add_constant(const rd_codegen *n, rd_text *to, const rd_inst *inst)
{
    const bool hidden = n->whole && !n->here; /* part by part it comes from the task's state */
    const bool real   = rd_dtype_kind(inst->type) == RD_KIND_FLOAT;

    if (hidden && real)
        rd_text_add(to, "rd_hidden_%s(", rd_class_name(rd_dtype_class(inst->type)));
    rd_add_constant(to, inst);
    rd_text_add(to, hidden && real ? ")" : "");
}

/* Does the strip add up short ints alone? */
static bool strip_sums_in_32_bits(const rd_codegen *n)
{
    bool some = false;

    for (int32_t i = n->here->from; i < n->here->to; i++)
        if (rd_takes_step(&n->p->inst[i])) {
            if (!n->fold[n->p->inst[i].arg].of.in_32_bits)
                return false;
            some = true;
        }
    return some;
}

/* Bytes of which a vector holds more than the strip does: gcc 12 finds no vectors of anything then
 * (a masked sum of f64, 32 lanes, AVX-512: 33 ms, 4 where they are ints), but if all that they
 * become is int32s (a count of bytes that pass a test: 0.7 ms, 4.2 where they are ints first). */
static bool is_narrow(const rd_codegen *n, const rd_address *at, int64_t coef)
{
    return rd_dtype_size(at->type) == 1 && coef == 1 && n->strip > 0 && n->strip < n->vector &&
           !strip_sums_in_32_bits(n);
}

/* Where the element lies: in a strip by way of a pointer to its first, which is made before the
 * loop. */
static void add_element(rd_codegen *n, rd_text *to, int32_t i, bool store)
{
    const rd_address *at   = &n->p->address[n->p->inst[i].arg];
    const char       *type = rd_memory_type(at->type), *keep = store ? "" : "const ";
    bool              plain = n->here && n->open && !n->unrolled;
    int64_t           coef  = n->here ? rd_coef(at, n->here->axis) : 0;

    for (int32_t k = 0; k < at->n_add; k++)
        plain &= at->add[k].axis >= 0;
    if (!plain) {
        rd_text_add(to, "((%s%s *)m%" PRId32 ")[", keep, type, at->slot);
        rd_position(n, to, at);
        rd_text_add(to, "]");
        return;
    }
    rd_text_add(&n->before, "%*s%s%s *const x%" PRId32 " = (%s%s *)m%" PRId32 " + ", 4 * n->indent,
                "", keep, type, i, keep, type, at->slot);
    rd_position_of_strip(n, &n->before, at);
    rd_text_add(&n->before, ";\n");
    if (!store && is_narrow(n, at, coef)) {
        rd_text_add(&n->before,
                    "%*sint32_t w%" PRId32 "[%d] LINES%s;\n%*srd_widen_%s(w%" PRId32 ", x%" PRId32
                    ", n);\n",
                    4 * n->indent, "", i, rd_strip_room(n), n->padded ? " = { 0 }" : "",
                    4 * n->indent, "", at->type == RD_I8 ? "i8" : "u8", i, i);
        rd_text_add(to, "w%" PRId32 "[i]", i);
        return;
    }
    if (n->padded && coef == 1) {
        rd_add_padded(n, i, type);
        rd_text_add(to, "p%" PRId32 "[i]", i);
        return;
    }
    rd_text_add(to, "x%" PRId32 "[i", i);
    if (coef != 1) {
        rd_text_add(to, " * ");
        rd_number_text(n, to, coef);
    }
    rd_text_add(to, "]");
}

void rd_add_load(rd_codegen *n, rd_text *to, int32_t i)
{
    const rd_address *at      = &n->p->address[n->p->inst[i].arg];
    rd_text           element = { 0 };

    add_element(n, &element, i, false);
    rd_add_from_memory(to, at->type, element.at ? element.at : "");
    rd_text_free(&element);
}

/* Of a choice between short ints of a wide type, see rd_has_17_bits(): what it is of, so that
 * vectors choose as many as they load.  NULL: of the type. */
static const char *chosen_type(const rd_codegen *n, const rd_inst *inst)
{
    const rd_inst *const x = &n->p->inst[n->made[inst->b]], *const y =
                                                                &n->p->inst[n->made[inst->c]];

    if (rd_register_size(inst->type) < 8 || !rd_has_17_bits(n, inst->dst))
        return NULL;
    return rd_small_type(x->type) && y->kind == RD_I_CONST && y->value.u64 == 0
               ? rd_small_type(x->type)
               : "int32_t";
}

/* Numbers are written out: with those of a task's state gcc 12 finds no vectors. */
static void add_chosen(rd_codegen *n, rd_text *to, int32_t reg, const char *type)
{
    const rd_inst *const made = &n->p->inst[n->made[reg]];

    if (type)
        rd_text_add(to, "(%s)", type);
    if (type && made->kind == RD_I_CONST)
        rd_text_add(to, "(%" PRId64 ")", made->value.i64);
    else
        rd_operand_text(n, to, reg);
}

static void add_choice(rd_codegen *n, rd_text *to, const rd_inst *inst)
{
    const char *const type = chosen_type(n, inst);

    rd_operand_text(n, to, inst->a);
    rd_text_add(to, " ? ");
    add_chosen(n, to, inst->b, type);
    rd_text_add(to, " : ");
    add_chosen(n, to, inst->c, type);
}

static void add_call(rd_codegen *n, rd_text *to, const rd_inst *inst)
{
    const int32_t in[]  = { inst->a, inst->b, inst->c };
    const int     count = inst->kind == RD_I_MAP ? rd_op_table[inst->op].arity : 1;
    char          name[RD_EMIT_NAME];

    rd_op_name(inst, name);
    rd_text_add(to, "%s(", name);
    for (int k = 0; k < count && k < 3; k++) {
        rd_text_add(to, k ? ", " : "");
        rd_operand_text(n, to, in[k]);
    }
    rd_text_add(to, inst->kind == RD_I_MAP && rd_op_warns(inst) ? ", &warnings)" : ")");
}

static void add_division(rd_codegen *n, rd_text *to, const rd_inst *inst)
{
    rd_text_add(to, "rd_%s_by_%s(", rd_op_table[inst->op].name, rd_register_type(inst->type));
    rd_operand_text(n, to, inst->a);
    rd_text_add(to, ", ");
    add_constant(n, to, &n->p->inst[n->made[inst->b]]);
    rd_text_add(to, ")");
}

/* Negative indices count from the end; one that is outside is noted, and the first element stands
 * in for it. */
static void add_index(rd_codegen *n, rd_text *to, const rd_inst *inst)
{
    const bool u64   = rd_dtype_class(inst->from) == RD_CLASS_u64;
    const bool strip = n->here && n->varies[inst->dst];

    rd_text_add(to, u64 ? "rd_index_u64(" : strip ? "rd_index_i64(" : "rd_index_one_i64(");
    rd_operand_text(n, to, inst->a);
    rd_text_add(to, ", ");
    rd_number_text(n, to, inst->value.i64);
    rd_text_add(to, ", &failed)");
}

static void add_value(rd_codegen *n, rd_text *to, int32_t i)
{
    const rd_inst *inst = &n->p->inst[i];

    switch (inst->kind) {
    case RD_I_CONST: add_constant(n, to, inst); break;
    case RD_I_COORD: rd_position(n, to, &n->p->address[inst->arg]); break;
    case RD_I_LOAD:
        if (n->here && n->at_hand[i] >= 0)
            rd_operand_text(n, to, n->at_hand[i]);
        else if (n->here && n->reuse[i] >= 0)
            rd_add_collected(n, to, i);
        else
            rd_add_load(n, to, i);
        break;
    case RD_I_INDEX: add_index(n, to, inst); break;
    case RD_I_SELECT:
        if (inst->a == n->covered) {
            rd_operand_text(n, to, inst->b);
            break;
        }
        add_choice(n, to, inst);
        break;
    default:
        if (rd_divides_by_number(n, inst))
            add_division(n, to, inst);
        else
            add_call(n, to, inst);
    }
}

/* ---- Statements ------------------------------------------------------------------------------ */
static void count_load(rd_codegen *n, int32_t i)
{
    if (n->p->inst[i].kind == RD_I_LOAD && n->reuse[i] < 0 &&
        n->p->address[n->p->inst[i].arg].slot < n->p->first_scratch)
        n->loads++;
}

static void declare_array(rd_codegen *n, int32_t i, char name, rd_dtype type)
{
    rd_text_add(&n->before, "%*s%s %c%" PRId32 "[%" PRId32 "] LINES;\n", 4 * n->indent, "",
                rd_register_type(type), name, n->p->inst[i].dst, rd_strip_room(n));
    n->arrays = true;
}

/* The function of a strip of arguments: by vectors where the library has it so, else one by one. */
static void add_function_of_strip(rd_codegen *n, const rd_inst *inst)
{
    const char *elem = rd_dtype_class(inst->type) == RD_CLASS_f32 ? "f32" : "f64";
    char        name[RD_EMIT_NAME];

    rd_op_name(inst, name);
    if (rd_draws_words(n, inst))
        rd_line(n, "rd_philox_strip(a%" PRId32 ", n, UINT64_C(%" PRIu64 "));", inst->dst,
                n->p->inst[n->made[inst->b]].value.u64);
    else if (inst->op == RD_OP_exp)
        rd_line(n, "EXP_OF_STRIP(%s, a%" PRId32 ", n)", elem, inst->dst);
    else if (rd_op_table[inst->op].by == RD_BY_HARD)
        rd_line(n, "OF_STRIP(%s, %s, a%" PRId32 ", n)", rd_op_table[inst->op].name, elem,
                inst->dst);
    else {
        char second[24] = "";

        if (rd_op_table[inst->op].arity == 2)
            snprintf(second, sizeof second, ", b%" PRId32 "[i]", inst->dst);
        rd_line(n, "for (int64_t i = 0; i < n; i++) a%" PRId32 "[i] = %s(a%" PRId32 "[i]%s%s);",
                inst->dst, name, inst->dst, second, rd_op_warns(inst) ? ", &warnings" : "");
        return;
    }
    if (rd_dtype_is_half(inst->type))
        rd_line(n,
                "INDEPENDENT for (int64_t i = 0; i < n; i++) a%" PRId32
                "[i] = rd_round_%s(a%" PRId32 "[i]);",
                inst->dst, rd_dtype_name(inst->type), inst->dst);
}

/* Floats become narrow ints by vectors, where all of the strip fit. */
static void add_narrowed(rd_codegen *n, int32_t i)
{
    const rd_inst *inst = &n->p->inst[i];
    rd_text       *to   = rd_strip_loop(n);
    char           name[RD_EMIT_NAME];

    rd_op_name(inst, name);
    declare_array(n, i, 'a', inst->type);
    declare_array(n, i, 'b', inst->from);
    rd_text_add(to, " b%" PRId32 "[i] = ", inst->dst);
    rd_operand_text(n, to, inst->a);
    rd_text_add(to, ";");
    rd_strip_loop_end(n);
    rd_line(n, "INTS_OF_STRIP(%s, %s, %s, b%" PRId32 ", a%" PRId32 ", n)",
            rd_memory_type(inst->type), name,
            rd_dtype_kind(inst->type) == RD_KIND_UINT ? "-1" : "-2147483648.0", inst->dst,
            inst->dst);
}

/* The strip's arguments are put into arrays, and a loop of its own takes the function of them. */
static void add_cut(rd_codegen *n, int32_t i)
{
    if (n->p->inst[i].kind == RD_I_CAST) {
        add_narrowed(n, i);
        return;
    }
    const rd_inst *inst  = &n->p->inst[i];
    const int32_t  in[]  = { inst->a, inst->b };
    const int      arity = rd_draws_words(n, inst) ? 1 : rd_op_table[inst->op].arity;
    rd_text       *to    = rd_strip_loop(n);

    for (int k = 0; k < arity && k < 2; k++) {
        declare_array(n, i, "ab"[k], inst -> type);
        rd_text_add(to, " %c%" PRId32 "[i] = ", "ab"[k], inst -> dst);
        rd_operand_text(n, to, in[k]);
        rd_text_add(to, ";");
    }
    rd_strip_loop_end(n);
    add_function_of_strip(n, inst);
}

/* An index that is made in no loop over the strip is one for all of it. */
bool rd_gathers(const rd_codegen *n, const rd_address *at, int32_t axis)
{
    bool found = false;

    for (int32_t k = 0; k < at->n_add; k++)
        for (int32_t l = at->add[k].axis < 0 ? n->p->inst[n->made[at->add[k].reg]].loop : -1;
             l >= 0; l = n->p->loop[l].parent)
            found |= n->p->loop[l].axis == axis && n->p->loop[l].kind == RD_LOOP_EACH;
    return found;
}

bool rd_lies_apart(const rd_codegen *n, int32_t i, int32_t axis)
{
    const rd_address *at =
        n->p->inst[i].kind == RD_I_LOAD ? &n->p->address[n->p->inst[i].arg] : NULL;

    if (!at || n->reuse[i] >= 0 || n->at_hand[i] >= 0)
        return false;
    return (rd_gathers(n, at, axis) || (rd_coef(at, axis) != 1 && rd_coef(at, axis) != 0) ||
            (at->type == RD_F16 && rd_coef(at, axis)));
}

/* Instructions widen f16 side by side; compilers do not find them. */
static bool is_row_of_halves(const rd_codegen *n, int32_t i)
{
    const rd_address *at = &n->p->address[n->p->inst[i].arg];

    return !rd_has_registers(at) && at->type == RD_F16 && rd_coef(at, n->here->axis) == 1;
}

/* Elements that lie apart are collected first, by a loop of its own: it may have no vectors, and
 * all else does. */
static void collect(rd_codegen *n, int32_t i)
{
    const rd_inst *inst = &n->p->inst[i];
    rd_text       *to, unused = { 0 };

    rd_strip_loop_end(n);
    to = rd_strip_loop(n);
    declare_array(n, i, 'a', inst->type);
    if (is_row_of_halves(n, i)) {
        add_element(n, &unused, i, false);
        rd_text_free(&unused);
    } else {
        rd_text_add(to, " a%" PRId32 "[i] = ", inst->dst);
        add_value(n, to, i);
        rd_text_add(to, ";");
    }
    count_load(n, i);
    rd_strip_loop_end(n);
    if (is_row_of_halves(n, i))
        rd_line(n, "rd_widen_f16(a%" PRId32 ", x%" PRId32 ", n);", inst->dst, i);
    n->made_in[inst->dst] = -1;
}

static void add_varying(rd_codegen *n, int32_t i)
{
    const rd_inst *inst = &n->p->inst[i];
    rd_text       *to;

    if (!n->unrolled && rd_lies_apart(n, i, n->here->axis)) {
        collect(n, i);
        return;
    }
    to = rd_strip_loop(n);

    n->made_in[inst->dst] = n->round;
    rd_text_add(to, " const %s r%" PRId32 " = ", rd_register_type(inst->type), inst->dst);
    add_value(n, to, i);
    rd_text_add(to, ";");
    count_load(n, i);
    if (inst->kind == RD_I_LOAD)
        rd_add_fetch(n, i);
    if (n->crosses[inst->dst] && !n->unrolled) {
        declare_array(n, i, 'a', inst->type);
        rd_text_add(to, " a%" PRId32 "[i] = r%" PRId32 ";", inst->dst, inst->dst);
    }
}

static bool is_plain_load(const rd_codegen *n, const rd_inst *inst)
{
    bool plain = inst->kind == RD_I_LOAD && !n->stored[n->p->address[inst->arg].slot];

    for (int32_t k = 0; plain && k < n->p->address[inst->arg].n_add; k++)
        plain = n->p->address[inst->arg].add[k].axis >= 0;
    return plain;
}

/* It, or an index that it makes, which is looked at once and not for each element. */
static bool goes_ahead(const rd_codegen *n, const rd_inst *inst)
{
    return is_plain_load(n, inst) || (inst->kind == RD_I_INDEX && n->copy[inst->a]);
}

/* The same for all elements of a strip, in a loop that is written out: what is loaded is so before
 * the loop over the strip, as compilers cannot know that stores leave it as it is. */
static void add_unrolled(rd_codegen *n, int32_t i)
{
    const rd_inst *inst = &n->p->inst[i];
    const char    *type = rd_register_type(inst->type);
    rd_text       *to   = rd_strip_loop(n);

    rd_text_add(to, " const %s r%" PRId32 " = ", type, inst->dst);
    if (goes_ahead(n, inst)) {
        rd_text_add(&n->before, "%*sconst %s r%" PRId32 "_%" PRId32 " = ", 4 * n->indent, "", type,
                    inst->dst, ++n->names);
        n->ahead = true;
        add_value(n, &n->before, i);
        n->ahead           = false;
        n->copy[inst->dst] = n->names;
        rd_text_add(&n->before, ";\n");
        rd_text_add(to, "r%" PRId32 "_%" PRId32, inst->dst, n->names);
    } else
        add_value(n, to, i);
    rd_text_add(to, ";");
    count_load(n, i);
}

/* The same for all elements of a strip, or in none. */
static void add_single(rd_codegen *n, int32_t i)
{
    const rd_inst *inst  = &n->p->inst[i];
    rd_text        value = { 0 }, *to = n->open ? &n->before : n->to;
    const bool     open = n->open;

    if (n->unrolled) {
        add_unrolled(n, i);
        return;
    }
    n->open = false; /* no pointers of the strip */
    if (inst->kind == RD_I_CALL)
        rd_codegen_call_once(n, &value, i);
    else
        add_value(n, &value, i);
    n->open = open;
    if (inst->kind == RD_I_CALL && (!n->dry || open))
        rd_text_add(to, "%*s%s\n", 4 * n->indent, "", value.at ? value.at : "");
    else if (!n->dry || open)
        rd_text_add(to, "%*sconst %s r%" PRId32 " = %s;\n", 4 * n->indent, "",
                    rd_register_type(inst->type), inst->dst, value.at ? value.at : "");
    rd_text_free(&value);
    if (inst->kind == RD_I_LOAD && n->p->address[inst->arg].slot < n->p->first_scratch && !n->dry)
        rd_text_add(to, "%*sloads++;\n", 4 * n->indent, "");
}

void rd_add_stored(rd_codegen *n, rd_text *to, rd_dtype type, int32_t reg)
{
    rd_begin_stored(to, type);
    rd_operand_text(n, to, reg);
    rd_text_add(to, "%s", rd_end_stored(type));
}

static void add_store(rd_codegen *n, int32_t i)
{
    const rd_inst    *inst = &n->p->inst[i];
    const rd_address *at   = &n->p->address[inst->arg];
    rd_text           line = { 0 }, *to = n->here ? rd_strip_loop(n) : &line;

    if (n->here && n->unread[i])
        return;
    if (n->here && rd_goes_past(n, n->here, i)) {
        rd_add_past(n, i);
        return;
    }
    rd_text_add(to, " ");
    add_element(n, to, i, true);
    rd_text_add(to, " = ");
    rd_add_stored(n, to, at->type, inst->a);
    rd_text_add(to, ";");
    if (!n->here)
        rd_line(n, "%s", line.at ? line.at + 1 : "");
    rd_text_free(&line);
}

void rd_codegen_value(rd_codegen *n, int32_t i)
{
    const rd_inst *inst = &n->p->inst[i];

    if (inst->kind == RD_I_STORE)
        add_store(n, i);
    else if (!n->here || !n->varies[inst->dst])
        add_single(n, i);
    else if (inst->kind == RD_I_CALL)
        rd_codegen_call_strip(n, i);
    else if (rd_cuts(n, inst))
        add_cut(n, i);
    else
        add_varying(n, i);
}
