/* closes.c - ends of folds: the states that are left become results. */
#include "kernels/cpu/codegen/parts.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- Results --------------------------------------------------------------------------------- */
void rd_declare_results(rd_text *to, const rd_codegen_fold *f, int32_t dst)
{
    for (int32_t k = 0; k < f->of.fold->n_out; k++)
        rd_text_add(to, " %s r%d;", rd_result_type(f->of.fold), dst + k);
}

/* " finish0(nodes, &r5, &r6);": of a strip, nodes may be arrays. */
static void add_finish(rd_codegen *n, rd_text *to, const rd_codegen_fold *f, int32_t dst,
                       const char *name, const char *at)
{
    rd_text_add(to, " finish%d(", rd_number_of(n, f));
    rd_add_states(to, n, f, name, at);
    for (int32_t k = 0; k < f->of.fold->n_out; k++)
        rd_text_add(to, ", &r%d", dst + k);
    rd_text_add(to, ");");
}

/* Registers of results that other loops over the strip read. */
void rd_keep_results(rd_codegen *n, rd_text *to, const rd_codegen_fold *f, int32_t dst)
{
    for (int32_t k = 0; k < f->of.fold->n_out; k++) {
        n->made_in[dst + k] = n->round;
        if (!n->crosses[dst + k] || n->unrolled)
            continue;
        rd_text_add(&n->before, "%*s%s a%d[%d] LINES;\n", 4 * n->indent, "",
                    rd_result_type(f->of.fold), dst + k, rd_strip_room(n));
        rd_text_add(to, " a%d[i] = r%d;", dst + k, dst + k);
        n->arrays = true;
    }
}

/* " block0(states);": they become nodes. */
static void add_block(rd_codegen *n, rd_text *to, const rd_codegen_fold *f, const char *name,
                      const char *at)
{
    rd_text_add(to, " block%d(", rd_number_of(n, f));
    rd_add_states(to, n, f, name, at);
    rd_text_add(to, ");");
}

/* ---- In one round of a loop over the strip --------------------------------------------------- */
/* Lane l merges lane l + h for h = lanes/2 .. 1: of lanes that are there. */
static void add_merges(rd_codegen *n, rd_text *to, const rd_codegen_fold *f)
{
    for (int32_t half = f->of.fold->lanes / 2; half > 0; half /= 2)
        for (int32_t l = 0; l < half && l + half < f->lanes; l++) {
            char a[20], b[20];

            snprintf(a, sizeof a, "%d", l);
            snprintf(b, sizeof b, "%d", l + half);
            rd_text_add(to, " merge%d(", rd_number_of(n, f));
            rd_add_states(to, n, f, "w", a);
            rd_text_add(to, ", ");
            rd_add_states(to, n, f, "w", b);
            rd_text_add(to, ");");
        }
}

static void close_inner(rd_codegen *n, const rd_codegen_fold *f, int32_t dst)
{
    rd_text  *to     = rd_strip_loop(n);
    const int number = rd_number_of(n, f);

    for (int k = 0; k < f->of.n_state; k++)
        rd_text_add(to, " %s w%d_%d[%d];", rd_node_type(&f->of, k), number, k, f->lanes);
    for (int32_t l = 0; l < f->lanes; l++) {
        char at[20];

        snprintf(at, sizeof at, "%d", l);
        add_block(n, to, f, "s", at);
        for (int k = 0; k < f->of.n_state; k++)
            rd_text_add(to, " w%d_%d[%d] = s%d_%d[%d];", number, k, l, number, k, l);
    }
    add_merges(n, to, f);
    rd_declare_results(to, f, dst);
    add_finish(n, to, f, dst, "w", "0");
    rd_keep_results(n, to, f, dst);
}

/* ---- Nodes that are left --------------------------------------------------------------------- */
/* All blocks of `count` states become one node. */
static void close_tree(rd_codegen *n, const rd_codegen_fold *f, const char *at, const char *count)
{
    const int number = rd_number_of(n, f);
    rd_text   line   = { 0 };

    rd_text_add(&line, "close%d(", number);
    rd_add_states(&line, n, f, "s", at);
    rd_add_tree_arguments(n, &line, f);
    rd_text_add(&line, ", %s, %s, ", at, count);
    if (f->split)
        rd_text_add(&line, "f%d[1], f%d[0]);", number, number);
    else {
        rd_number_text(n, &line, f->steps);
        rd_text_add(&line, ", 0);");
    }
    rd_line(n, "%s", line.at);
    rd_text_free(&line);
}

/* The row of the tree that it is in. */
static void add_last_row(rd_codegen *n, rd_text *to, const rd_codegen_fold *f, int k)
{
    const int number = rd_number_of(n, f);

    rd_text_add(to, "node%d_%d(tree%d, 0, ", number, k, number);
    rd_number_text(n, to, f->states);
    rd_text_add(to, ")");
}

static void declare_nodes(rd_codegen *n, const rd_codegen_fold *f, int64_t count)
{
    for (int k = 0; k < f->of.n_state; k++)
        rd_line(n, "%s w%d_%d[%" PRId64 "] LINES;", rd_node_type(&f->of, k), rd_number_of(n, f), k,
                count);
}

/* "lanes0(states, nodes" */
static void add_merged(rd_codegen *n, rd_text *to, const rd_codegen_fold *f, const char *function,
                       const char *at)
{
    rd_text_add(to, "%s%d(", function, rd_number_of(n, f));
    rd_add_states(to, n, f, "s", at);
    rd_text_add(to, ", ");
    rd_add_states(to, n, f, "w", "0");
}

/* ---- A cell for each element of the strip ---------------------------------------------------- */
static void nodes_of_cells(rd_codegen *n, const rd_codegen_fold *f, const char *at)
{
    rd_strip_loop_end(n);
    if (f->room) {
        close_tree(n, f, at, "n");
        for (int k = 0; k < f->of.n_state; k++) {
            rd_text row = { 0 };

            add_last_row(n, &row, f, k);
            rd_line(n, "const %s *const w%d_%d = %s + %s;", rd_node_type(&f->of, k),
                    rd_number_of(n, f), k, row.at, at);
            rd_text_free(&row);
        }
    } else {
        rd_text line = { 0 };

        declare_nodes(n, f, f->states);
        add_merged(n, &line, f, "cells", at);
        rd_line(n, "%s, %d, %d, n);", line.at, f->lanes, n->here->width);
        rd_text_free(&line);
    }
}

/* Of one block and one lane: its node is made and finished in one place. */
static void finish_cell(rd_codegen *n, rd_text *to, const rd_codegen_fold *f, int32_t dst,
                        const char *at)
{
    const int number = rd_number_of(n, f);

    rd_text_add(to, " {");
    for (int k = 0; k < f->of.n_state; k++)
        rd_text_add(to, " %s b%d_%d[1]; %s w%d_%d[1];", rd_state_type(&f->of, k), number, k,
                    rd_node_type(&f->of, k), number, k);
    for (int k = 0; k < f->of.n_state; k++)
        rd_text_add(to, " b%d_%d[0] = s%d_%d[%s + i];", number, k, number, k, at);
    add_block(n, to, f, "b", "0");
    for (int k = 0; k < f->of.n_state; k++)
        rd_text_add(to, " w%d_%d[0] = b%d_%d[0];", number, k, number, k);
    add_finish(n, to, f, dst, "w", "0");
    rd_text_add(to, " }");
}

static void close_cells(rd_codegen *n, const rd_codegen_fold *f, int32_t dst)
{
    const bool at_once = !f->room && f->lanes == 1;
    rd_text    at      = { 0 }, *to;

    rd_add_first_state(n, &at, f);
    if (!at_once)
        nodes_of_cells(n, f, at.at);
    to = rd_strip_loop(n);
    rd_declare_results(to, f, dst);
    if (at_once)
        finish_cell(n, to, f, dst, at.at);
    else
        add_finish(n, to, f, dst, "w", "i");
    rd_keep_results(n, to, f, dst);
    rd_text_free(&at);
}

/* ---- One cell, of all lanes ------------------------------------------------------------------ */
static void nodes_of_lanes(rd_codegen *n, const rd_codegen_fold *f, const char *at)
{
    const int number = rd_number_of(n, f);
    char      count[20];

    snprintf(count, sizeof count, "%d", f->lanes);
    close_tree(n, f, at, count);
    for (int k = 0; k < f->of.n_state; k++) {
        rd_text row = { 0 };

        add_last_row(n, &row, f, k);
        rd_line(n, "for (int l = 0; l < %d; l++) w%d_%d[l] = %s[%s + l];", f->lanes, number, k,
                row.at, at);
        rd_text_free(&row);
    }
}

static void close_lanes(rd_codegen *n, const rd_codegen_fold *f, int32_t dst)
{
    rd_text at = { 0 }, results = { 0 }, merged = { 0 }, finish = { 0 };

    rd_strip_loop_end(n);
    rd_add_first_state(n, &at, f);
    rd_declare_results(&results, f, dst);
    rd_line(n, "%s", results.at + 1);
    rd_line(n, "{");
    n->indent++;
    declare_nodes(n, f, f->lanes);
    if (f->room) {
        nodes_of_lanes(n, f, at.at);
        rd_text_add(&merged, "halves%d(", rd_number_of(n, f));
        rd_add_states(&merged, n, f, "w", "0");
    } else
        add_merged(n, &merged, f, "lanes", at.at);
    rd_line(n, "%s);", merged.at);
    add_finish(n, &finish, f, dst, "w", "0");
    rd_line(n, "%s", finish.at + 1);
    n->indent--;
    rd_line(n, "}");
    rd_text_free(&at);
    rd_text_free(&results);
    rd_text_free(&merged);
    rd_text_free(&finish);
}

void rd_codegen_close(rd_codegen *n, int32_t i)
{
    const rd_inst         *inst = &n->p->inst[i];
    const rd_codegen_fold *f    = &n->fold[inst->arg];

    if (f->of.fold->out != f->of.fold->type && !f->of.user &&
        strcmp(rd_result_type(f->of.fold), "int64_t") != 0)
        n->why = "a result of another type than its fold's";
    if (f->inner)
        close_inner(n, f, inst->dst);
    else if (n->here && n->varies[inst->dst])
        close_cells(n, f, inst->dst);
    else
        close_lanes(n, f, inst->dst);
}
