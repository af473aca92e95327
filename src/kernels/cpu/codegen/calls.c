/* calls.c - calls of users' functions: of a strip's operands, in arrays, at once; of a strip of
 * one, if all are one. */
#include "kernels/cpu/codegen/parts.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void declare_operand(rd_codegen *n, rd_text *to, const rd_inst *inst, int k, int32_t width)
{
    (void)n;
    rd_text_add(to, " %s k%" PRId32 "_%d[%" PRId32 "] LINES;",
                rd_operand_type(&n->p->call[inst->arg], inst->type), inst->dst, k, width);
}

/* k5_0[i] = r3; */
static void add_operand(rd_codegen *n, rd_text *to, const rd_inst *inst, int k, const char *at)
{
    const rd_call *call = &n->p->call[inst->arg];

    rd_text_add(to, " k%" PRId32 "_%d[%s] = ", inst->dst, k, at);
    if (call->block)
        rd_add_stored(n, to, call->in_type, call->in[k]);
    else
        rd_operand_text(n, to, call->in[k]);
    rd_text_add(to, ";");
}

static void add_arguments(rd_text *to, const rd_call *call, const rd_inst *inst, const char *format)
{
    for (int k = 0; k < call->n_in; k++) {
        rd_text_add(to, k ? ", " : "");
        rd_text_add(to, format, inst->dst, k);
    }
}

/* One element after the other: result y. */
static void add_single_calls(rd_text *to, const rd_call *call, const rd_inst *inst,
                             const char *count)
{
    const char *type = call->f32_1 || call->f32_2 ? "float" : "double";

    rd_text_add(to, " for (int64_t i = 0; i < %s; i++) y%" PRId32 "[i] = ((%s (*)(", count,
                inst->dst, type);
    for (int k = 0; k < call->n_in; k++)
        rd_text_add(to, k ? ", %s" : "%s", type);
    rd_text_add(to, "))q->function[%" PRId32 "].code)(", inst->arg);
    add_arguments(to, call, inst, "k%d_%d[i]");
    rd_text_add(to, ");");
}

/* After one that has failed none is called. */
static void add_block_call(rd_text *to, const rd_call *call, const rd_inst *inst, const char *count)
{
    rd_text_add(to, " if (!q->sentence) { const void *const in[] = { ");
    add_arguments(to, call, inst, "k%d_%d");
    rd_text_add(to,
                " }; q->failing = %" PRId32
                "; q->sentence = ((const char *(*)(void *, int64_t, const void *const *, "
                "void *))q->function[%" PRId32 "].code)(q->function[%" PRId32
                "].user, %s, in, y%" PRId32 "); }",
                inst->arg, inst->arg, inst->arg, count, inst->dst);
}

static void add_row_call(rd_text *to, const rd_call *call, const rd_inst *inst, const char *count)
{
    const char *type = inst->type == RD_F32 ? "float" : "double";

    rd_text_add(to, " { const %s *const in[] = { ", type);
    add_arguments(to, call, inst, "k%d_%d");
    rd_text_add(to,
                " }; ((void (*)(int64_t, const %s *const *, %s *))q->function[%" PRId32
                "].code)(%s, in, y%" PRId32 "); }",
                type, type, inst->arg, count, inst->dst);
}

/* ---- By their text --------------------------------------------------------------------------- */
static bool has_text(const rd_codegen *n, const rd_call *call)
{
    return call->body && !n->pointers;
}

static void add_text_calls(rd_text *to, const rd_call *call, const rd_inst *inst, const char *count)
{
    rd_text_add(to, " for (int64_t i = 0; i < %s; i++) y%" PRId32 "[i] = call%" PRId32 "(", count,
                inst->dst, inst->arg);
    add_arguments(to, call, inst, "k%d_%d[i]");
    rd_text_add(to, ");");
}

/* ---- Any ------------------------------------------------------------------------------------- */
static void add_call(const rd_codegen *n, rd_text *to, const rd_call *call, const rd_inst *inst,
                     const char *count)
{
    if (has_text(n, call))
        add_text_calls(to, call, inst, count);
    else if (call->block)
        add_block_call(to, call, inst, count);
    else if (call->f32_1 || call->f32_2 || call->f64_1 || call->f64_2)
        add_single_calls(to, call, inst, count);
    else
        add_row_call(to, call, inst, count);
}

/* What the function makes is of this type. */
static const char *result_type(const rd_codegen *n, const rd_inst *inst)
{
    const rd_call *call = &n->p->call[inst->arg];

    return call->block ? rd_memory_type(inst->type) : rd_operand_type(call, inst->type);
}

static void declare_result(rd_codegen *n, rd_text *to, const rd_inst *inst, int32_t width)
{
    const rd_call *call = &n->p->call[inst->arg];

    rd_text_add(to, " %s y%" PRId32 "[%" PRId32 "] LINES;", result_type(n, inst), inst->dst, width);
    if (call->block && width == 1)
        rd_text_add(to, " y%" PRId32 "[0] = (%s){ 0 };", inst->dst, rd_memory_type(inst->type));
}

/* The result as a register. */
static void add_result(rd_codegen *n, rd_text *to, const rd_inst *inst, const char *at)
{
    char element[40];

    snprintf(element, sizeof element, "y%" PRId32 "[%s]", inst->dst, at);
    if (n->p->call[inst->arg].block)
        rd_add_from_memory(to, inst->type, element);
    else
        rd_text_add(to, "%s", element);
}

/* Of one element. */
void rd_codegen_call_once(rd_codegen *n, rd_text *to, int32_t i)
{
    const rd_inst *inst = &n->p->inst[i];
    const rd_call *call = &n->p->call[inst->arg];

    rd_text_add(to, "%s r%" PRId32 "; {", rd_register_type(inst->type), inst->dst);
    for (int k = 0; k < call->n_in; k++) {
        declare_operand(n, to, inst, k, 1);
        add_operand(n, to, inst, k, "0");
    }
    declare_result(n, to, inst, 1);
    add_call(n, to, call, inst, "1");
    rd_text_add(to, " r%" PRId32 " = ", inst->dst);
    add_result(n, to, inst, "0");
    rd_text_add(to, "; }");
}

/* Of a strip: its result is an array, which loops over the strip read. */
void rd_codegen_call_strip(rd_codegen *n, int32_t i)
{
    const rd_inst *inst = &n->p->inst[i];
    const rd_call *call = &n->p->call[inst->arg];
    const char    *type = rd_register_type(inst->type);
    const bool     same = strcmp(type, result_type(n, inst)) == 0 && inst->type != RD_BOOL;
    rd_text       *to, line = { 0 };

    to = rd_strip_loop(n);
    for (int k = 0; k < call->n_in; k++) {
        declare_operand(n, &n->before, inst, k, rd_strip_room(n));
        add_operand(n, to, inst, k, "i");
    }
    rd_text_add(&n->before, " %s a%" PRId32 "[%" PRId32 "] LINES;", type, inst->dst,
                rd_strip_room(n));
    if (same)
        rd_text_add(&n->before, " %s *const y%" PRId32 " = a%" PRId32 ";", type, inst->dst,
                    inst->dst);
    else
        declare_result(n, &n->before, inst, rd_strip_room(n));
    rd_text_add(&n->before, "\n");
    n->arrays = true;
    rd_strip_loop_end(n);
    add_call(n, &line, call, inst, "n");
    rd_line(n, "%s", line.at + 1);
    rd_text_free(&line);
    if (same)
        return;
    to = rd_strip_loop(n);
    rd_text_add(to, " a%" PRId32 "[i] = ", inst->dst);
    add_result(n, to, inst, "i");
    rd_text_add(to, ";");
    rd_strip_loop_end(n);
}
