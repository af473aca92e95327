/* closes.c - ends of folds: the states that are left become results. */
#include "kernels/cpu/codegen/parts.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *class_of(rd_dtype type)
{
    return type == RD_BOOL ? "uint64_t" : rd_register_type(type);
}

/* ---- Results --------------------------------------------------------------------------------- */
const char *rd_result_type(const rd_fold *f)
{
    if (f->user)
        return rd_register_type(f->out);
    return rd_reducer_places(f->reducer) ? "int64_t" : class_of(f->type);
}

void rd_declare_results(rd_text *to, const rd_codegen_fold *f, int32_t dst)
{
    for (int32_t k = 0; k < f->fold->n_out; k++)
        rd_text_add(to, " %s r%d;", rd_result_type(f->fold), dst + k);
}

/* finish(nodes, &r5, &r6); of a strip, nodes may be arrays. */
static void add_finish(rd_codegen *n, rd_text *to, const rd_codegen_fold *f, int32_t dst,
                       const char *name, const char *at)
{
    rd_text_add(to, " finish%d(", rd_number_of(n, f));
    rd_add_states(to, n, f, name, at);
    for (int32_t k = 0; k < f->fold->n_out; k++)
        rd_text_add(to, ", &r%d", dst + k);
    rd_text_add(to, ");");
}

/* Registers of results that other loops over the strip read. */
void rd_keep_results(rd_codegen *n, rd_text *to, const rd_codegen_fold *f, int32_t dst)
{
    for (int32_t k = 0; k < f->fold->n_out; k++) {
        n->made_in[dst + k] = n->round;
        if (!n->crosses[dst + k] || n->unrolled)
            continue;
        rd_text_add(&n->before, "%*s%s a%d[%d] LINES;\n", 4 * n->indent, "",
                    rd_result_type(f->fold), dst + k, rd_strip_room(n));
        rd_text_add(to, " a%d[i] = r%d;", dst + k, dst + k);
        n->arrays = true;
    }
}

/* One block's states, lane by lane, to nodes w. */
static void add_block(rd_codegen *n, rd_text *to, const rd_codegen_fold *f, const char *at)
{
    const int number = rd_number_of(n, f);

    rd_text_add(to, " block%d(", number);
    rd_add_states(to, n, f, "s", at);
    rd_text_add(to, ");");
}

static void close_inner(rd_codegen *n, const rd_codegen_fold *f, int32_t dst)
{
    rd_text  *to     = rd_strip_loop(n);
    const int number = rd_number_of(n, f);

    for (int k = 0; k < f->n_state; k++)
        rd_text_add(to, " %s w%d_%d[%d];", rd_node_type(f, k), number, k, f->lanes);
    for (int32_t l = 0; l < f->lanes; l++) {
        char at[20];

        snprintf(at, sizeof at, "%d", l);
        add_block(n, to, f, at);
        for (int k = 0; k < f->n_state; k++)
            rd_text_add(to, " w%d_%d[%d] = s%d_%d[%d];", number, k, l, number, k, l);
    }
    for (int32_t half = f->fold->lanes / 2; half > 0; half /= 2)
        for (int32_t l = 0; l < half && l + half < f->lanes; l++) {
            char a[20], b[20];

            snprintf(a, sizeof a, "%d", l);
            snprintf(b, sizeof b, "%d", l + half);
            rd_text_add(to, " merge%d(", number);
            rd_add_states(to, n, f, "w", a);
            rd_text_add(to, ", ");
            rd_add_states(to, n, f, "w", b);
            rd_text_add(to, ");");
        }
    rd_declare_results(to, f, dst);
    add_finish(n, to, f, dst, "w", "0");
    rd_keep_results(n, to, f, dst);
}

/* A cell for each element of the strip, of one lane. */
static void close_cells(rd_codegen *n, const rd_codegen_fold *f, int32_t dst)
{
    const int number = rd_number_of(n, f);
    rd_text   at = { 0 }, line = { 0 }, *to;

    rd_add_first_state(n, &at, f);
    if (f->room) {
        rd_strip_loop_end(n);
        rd_text_add(&line, "close%d(", number);
        rd_add_states(&line, n, f, "s", at.at);
        rd_add_tree_arguments(n, &line, f);
        rd_text_add(&line, ", %s, n, ", at.at);
        if (f->split)
            rd_text_add(&line, "f%d[1], f%d[0]);", number, number);
        else {
            rd_number_text(n, &line, f->steps);
            rd_text_add(&line, ", 0);");
        }
        rd_line(n, "%s", line.at);
        for (int k = 0; k < f->n_state; k++) {
            rd_text states = { 0 };

            rd_number_text(n, &states, f->states);
            rd_line(n, "const %s *const w%d_%d = node%d_%d(tree%d, 0, %s) + %s;",
                    rd_node_type(f, k), number, k, number, k, number, states.at, at.at);
            rd_text_free(&states);
        }
    } else if (f->lanes > 1) {
        rd_strip_loop_end(n);
        for (int k = 0; k < f->n_state; k++)
            rd_line(n, "%s w%d_%d[%" PRId64 "] LINES;", rd_node_type(f, k), number, k, f->states);
        rd_text_add(&line, "cells%d(", number);
        rd_add_states(&line, n, f, "s", at.at);
        rd_text_add(&line, ", ");
        rd_add_states(&line, n, f, "w", "0");
        rd_line(n, "%s, %d, %d, n);", line.at, f->lanes, n->here->width);
    }
    to = rd_strip_loop(n);
    rd_declare_results(to, f, dst);
    if (!f->room && f->lanes == 1) {
        rd_text own = { 0 };

        rd_text_add(&own, "%s + i", at.at);
        rd_text_add(to, " {");
        for (int k = 0; k < f->n_state; k++)
            rd_text_add(to, " %s b%d_%d[1]; %s w%d_%d[1];", rd_state_type(f, k), number, k,
                        rd_node_type(f, k), number, k);
        for (int k = 0; k < f->n_state; k++)
            rd_text_add(to, " b%d_%d[0] = s%d_%d[%s];", number, k, number, k, own.at);
        rd_text_add(to, " block%d(", number);
        rd_add_states(to, n, f, "b", "0");
        rd_text_add(to, ");");
        for (int k = 0; k < f->n_state; k++)
            rd_text_add(to, " w%d_%d[0] = b%d_%d[0];", number, k, number, k);
        add_finish(n, to, f, dst, "w", "0");
        rd_text_add(to, " }");
        rd_text_free(&own);
    } else
        add_finish(n, to, f, dst, "w", "i");
    rd_keep_results(n, to, f, dst);
    rd_text_free(&at);
    rd_text_free(&line);
}

/* One cell, of all lanes. */
static void close_lanes(rd_codegen *n, const rd_codegen_fold *f, int32_t dst)
{
    const int number = rd_number_of(n, f);
    rd_text   at = { 0 }, line = { 0 };

    rd_strip_loop_end(n);
    rd_add_first_state(n, &at, f);
    rd_declare_results(&line, f, dst);
    rd_line(n, "%s", line.at + 1);
    rd_text_free(&line);
    rd_line(n, "{");
    n->indent++;
    for (int k = 0; k < f->n_state; k++)
        rd_line(n, "%s w%d_%d[%d] LINES;", rd_node_type(f, k), number, k, f->lanes);
    if (f->room) {
        rd_text_add(&line, "close%d(", number);
        rd_add_states(&line, n, f, "s", at.at);
        rd_add_tree_arguments(n, &line, f);
        rd_text_add(&line, ", %s, %d, ", at.at, f->lanes);
        if (f->split)
            rd_text_add(&line, "f%d[1], f%d[0]);", number, number);
        else {
            rd_number_text(n, &line, f->steps);
            rd_text_add(&line, ", 0);");
        }
        rd_line(n, "%s", line.at);
        for (int k = 0; k < f->n_state; k++) {
            rd_text states = { 0 };

            rd_number_text(n, &states, f->states);
            rd_line(n, "for (int l = 0; l < %d; l++) w%d_%d[l] = node%d_%d(tree%d, 0, %s)[%s + l];",
                    f->lanes, number, k, number, k, number, states.at, at.at);
            rd_text_free(&states);
        }
        rd_text_free(&line);
        rd_text_add(&line, "halves%d(", number);
        rd_add_states(&line, n, f, "w", "0");
        rd_line(n, "%s);", line.at);
    } else {
        rd_text_add(&line, "lanes%d(", number);
        rd_add_states(&line, n, f, "s", at.at);
        rd_text_add(&line, ", ");
        rd_add_states(&line, n, f, "w", "0");
        rd_line(n, "%s);", line.at);
    }
    rd_text_free(&line);
    add_finish(n, &line, f, dst, "w", "0");
    rd_line(n, "%s", line.at + 1);
    rd_text_free(&line);
    rd_text_free(&at);
    n->indent--;
    rd_line(n, "}");
}

void rd_codegen_close(rd_codegen *n, int32_t i)
{
    const rd_inst         *inst = &n->p->inst[i];
    const rd_codegen_fold *f    = &n->fold[inst->arg];

    if (f->fold->out != f->fold->type && !f->user &&
        strcmp(rd_result_type(f->fold), "int64_t") != 0)
        n->why = "a result of another type than its fold's";
    if (f->inner)
        close_inner(n, f, inst->dst);
    else if (n->here && n->varies[inst->dst])
        close_cells(n, f, inst->dst);
    else
        close_lanes(n, f, inst->dst);
}
