/* trees.c - what becomes of blocks, as functions of the text: nodes of the combine tree
 * (kernels/program.h), in rows of a task's state; the tasks' trees joined; lanes merged. */
#include "kernels/cpu/codegen/parts.h"
#include "core/bytes.h"
#include <inttypes.h>
#include <stdio.h>

/* Node arrays of a row: of `states` places each, in cache lines. */
static void add_rows(rd_text *to, const rd_codegen_fold *f, int number)
{
    for (int k = 0; k < f->of.n_state; k++)
        rd_text_add(
            to,
            "static inline %s *node%d_%d(char *tree, int64_t row, int64_t states)\n{\n"
            "    return (%s *)(tree + (row * %d + %d) * ((states * %d + 63) / 64 * 64));\n}\n",
            rd_node_type(&f->of, k), number, k, rd_node_type(&f->of, k), f->of.n_state, k,
            (int)f->of.bytes);
}

static void add_merge_rows(rd_text *to, const rd_codegen_fold *f, int number)
{
    rd_text_add(to,
                "static void merge_rows%d(char *tree, int64_t states, int64_t at, int64_t n, "
                "int64_t row)\n{\n",
                number);
    for (int k = 0; k < f->of.n_state; k++)
        rd_text_add(to,
                    "    %s *const a%d = node%d_%d(tree, row, states) + at, "
                    "*const b%d = node%d_%d(tree, row + 1, states) + at;\n",
                    rd_node_type(&f->of, k), k, number, k, k, number, k);
    rd_text_add(to, "    INDEPENDENT for (int64_t l = 0; l < n; l++) merge%d(", number);
    rd_add_each(to, &f->of, "&a%d[l]");
    rd_text_add(to, ", ");
    rd_add_each(to, &f->of, "&b%d[l]");
    rd_text_add(to, ");\n}\n");
    rd_text_add(
        to,
        "/* The node behind the last, of 2^level blocks from `start` on: it merges with siblings "
        "on its left. */\n"
        "static void append%d(char *tree, int64_t states, int64_t at, int64_t n, int64_t start, "
        "int level, int64_t from)\n{\n"
        "    for (int64_t row = rd_nodes(from, start); rd_right(start, level, from); level++) {\n"
        "        merge_rows%d(tree, states, at, n, --row);\n"
        "        start -= INT64_C(1) << level;\n    }\n}\n",
        number, number);
}

static void add_push(rd_text *to, const rd_codegen_fold *f, int number)
{
    rd_text_add(to, "static NOINLINE void push%d(", number);
    rd_add_parameters(to, &f->of, false, "", 's');
    rd_text_add(
        to, ", char *tree, int64_t states, int64_t at, int64_t n, int64_t block, int64_t from)\n{\n"
            "    const int64_t row = rd_nodes(from, block);\n");
    for (int k = 0; k < f->of.n_state; k++)
        rd_text_add(to, "    %s *const a%d = node%d_%d(tree, row, states) + at;\n",
                    rd_node_type(&f->of, k), k, number, k);
    rd_text_add(to, "    INDEPENDENT for (int64_t l = 0; l < n; l++) {\n        block%d(", number);
    rd_add_each(to, &f->of, "&s%d[l]");
    rd_text_add(to, ");\n");
    for (int k = 0; k < f->of.n_state; k++)
        rd_text_add(to, "        a%d[l] = s%d[l];\n", k, k);
    rd_text_add(to, "        begin%d(", number);
    rd_add_each(to, &f->of, "&s%d[l]");
    rd_text_add(to, ");\n    }\n    append%d(tree, states, at, n, block, 0, from);\n}\n", number);
}

/* Of all blocks there is one node then, in row 0. */
static void add_close(rd_text *to, const rd_codegen_fold *f, int number)
{
    rd_text_add(to, "static NOINLINE void close%d(", number);
    rd_add_parameters(to, &f->of, false, "", 's');
    rd_text_add(
        to,
        ", char *tree, int64_t states, int64_t at, int64_t n, int64_t steps, int64_t from)\n{\n"
        "    if (steps & %" PRId64 " || steps == 0)\n        push%d(",
        (INT64_C(1) << f->shift) - 1, number);
    rd_add_each(to, &f->of, "s%d");
    rd_text_add(to,
                ", tree, states, at, n, steps >> %d, from);\n"
                "    for (int64_t row = rd_nodes(from, (steps + %" PRId64
                ") >> %d) - 2; row >= 0; row--)\n"
                "        merge_rows%d(tree, states, at, n, row);\n}\n",
                f->shift, (INT64_C(1) << f->shift) - 1, f->shift, number);
}

static void add_merge(rd_text *to, const rd_codegen_fold *f, int number, const char *a,
                      const char *b)
{
    rd_text_add(to, "merge%d(", number);
    rd_add_each(to, &f->of, a);
    rd_text_add(to, ", ");
    rd_add_each(to, &f->of, b);
    rd_text_add(to, ");\n");
}

/* "merge0(&w0_0[l], &w0_1[l], &w0_0[l + 8], ...)" for h = lanes/2 .. 1, of lanes that are there. */
static void add_halving(rd_text *to, const rd_codegen_fold *f, int number, const char *function,
                        char name)
{
    for (int half = f->of.fold->lanes / 2, lanes = f->lanes; half > 0; half /= 2) {
        if (lanes <= half)
            continue;
        rd_text_add(to, "    INDEPENDENT for (int l = 0; l < %d; l++) %s%d(", lanes - half,
                    function, number);
        for (int k = 0; k < f->of.n_state; k++)
            rd_text_add(to, "&%c%d[l], ", name, k);
        for (int k = 0; k < f->of.n_state; k++)
            rd_text_add(to, "%s&%c%d[l + %d]", k ? ", " : "", name, k, half);
        rd_text_add(to, ");\n");
        lanes = half;
    }
}

/* Lanes that go by one of them, t: all are scaled to it, and add up. */
static void add_by_lane(rd_text *to, const rd_codegen_fold *f, int number)
{
    const int whole = (f->lanes + 15) / 16 * 16; /* of any vectors */

    for (int k = 0; k < f->of.n_state; k++)
        rd_text_add(to, "    %s t%d[%d] LINES;\n", rd_node_type(&f->of, k), k, f->lanes);
    rd_text_add(to, "    INDEPENDENT for (int l = 0; l < %d; l++) {", f->lanes);
    for (int k = 0; k < f->of.n_state; k++)
        rd_text_add(to, " t%d[l] = w%d[l];", k, k);
    rd_text_add(to, " }\n");
    add_halving(to, f, number, "pick", 't');
    rd_text_add(to,
                "    %s e[%d] LINES = { 0 };\n"
                "    INDEPENDENT for (int l = 0; l < %d; l++) e[l] = apart%d(",
                rd_node_type(&f->of, 0), whole, f->lanes, number);
    rd_add_each(to, &f->of, "&w%d[l]");
    rd_text_add(to, ", ");
    rd_add_each(to, &f->of, "t%d");
    rd_text_add(to, ");\n    rd_exp_strip_%s(e, %d);\n", rd_state_elem(&f->of), f->lanes);
    rd_text_add(to, "    INDEPENDENT for (int l = 0; l < %d; l++) align%d(", f->lanes, number);
    rd_add_each(to, &f->of, "&w%d[l]");
    rd_text_add(to, ", ");
    rd_add_each(to, &f->of, "t%d");
    rd_text_add(to, ", e[l]);\n");
    add_halving(to, f, number, "add", 'w');
}

/* The lanes of one cell become one. */
static void add_halves(rd_text *to, const rd_codegen_fold *f, int number)
{
    rd_text_add(to, "static inline void halves%d(", number);
    rd_add_parameters(to, &f->of, true, "", 'w');
    rd_text_add(to, ")\n{\n");
    if (rd_goes_by_lane(&f->of))
        add_by_lane(to, f, number);
    else
        add_halving(to, f, number, "merge", 'w');
    rd_text_add(to, "}\n");
}

/* Those of cells that lie beside each other, cell by cell: lanes that are not there are identities. */
static void add_cells_by_lane(rd_text *to, const rd_codegen_fold *f, int number)
{
    rd_text_add(to, "    for (int64_t c = 0; c < n; c++) {\n");
    for (int k = 0; k < f->of.n_state; k++)
        rd_text_add(to, "        %s t%d[%d] LINES;\n", rd_node_type(&f->of, k), k, f->lanes);
    rd_text_add(to, "        for (int l = 0; l < %d; l++) {\n            begin%d(", f->lanes,
                number);
    rd_add_each(to, &f->of, "&t%d[l]");
    rd_text_add(to, ");\n            if (l >= lanes) continue;\n");
    for (int k = 0; k < f->of.n_state; k++)
        rd_text_add(to, "            t%d[l] = w%d[l * stride + c];\n", k, k);
    rd_text_add(to, "        }\n        halves%d(", number);
    rd_add_each(to, &f->of, "t%d");
    rd_text_add(to, ");\n");
    for (int k = 0; k < f->of.n_state; k++)
        rd_text_add(to, "        w%d[c] = t%d[0];\n", k, k);
    rd_text_add(to, "    }\n");
}

static void add_block_loop(rd_text *to, const rd_codegen_fold *f, int number, const char *count)
{
    rd_text_add(to, "    INDEPENDENT for (int64_t l = 0; l < %s; l++) {\n        block%d(", count,
                number);
    rd_add_each(to, &f->of, "&s%d[l]");
    rd_text_add(to, ");\n");
    for (int k = 0; k < f->of.n_state; k++)
        rd_text_add(to, "        w%d[l] = s%d[l];\n", k, k);
    rd_text_add(to, "    }\n");
}

/* The lanes of a fold of one block become one: of one cell; of n neighbouring cells, lanes `stride`
 * apart. */
static void add_lanes(rd_text *to, const rd_codegen_fold *f, int number)
{
    char count[20];

    add_halves(to, f, number);
    rd_text_add(to, "static inline void lanes%d(", number);
    rd_add_parameters(to, &f->of, false, "", 's');
    rd_text_add(to, ", ");
    rd_add_parameters(to, &f->of, true, "", 'w');
    rd_text_add(to, ")\n{\n");
    snprintf(count, sizeof count, "%d", f->lanes);
    add_block_loop(to, f, number, count);
    rd_text_add(to, "    halves%d(", number);
    rd_add_each(to, &f->of, "w%d");
    rd_text_add(to, ");\n}\nstatic inline void cells%d(", number);
    rd_add_parameters(to, &f->of, false, "", 's');
    rd_text_add(to, ", ");
    rd_add_parameters(to, &f->of, true, "", 'w');
    rd_text_add(to, ", int lanes, int64_t stride, int64_t n)\n{\n");
    add_block_loop(to, f, number, "(lanes - 1) * stride + n");
    if (rd_goes_by_lane(&f->of)) {
        add_cells_by_lane(to, f, number);
        rd_text_add(to, "}\n");
        return;
    }
    rd_text_add(to,
                "    for (int half = %d; half > 0; half /= 2)\n"
                "        for (int lane = 0; lane < half && lane + half < lanes; lane++)\n"
                "            INDEPENDENT for (int64_t l = 0; l < n; l++) ",
                f->of.fold->lanes / 2);
    add_merge(to, f, number, "&w%d[lane * stride + l]", "&w%d[(lane + half) * stride + l]");
    rd_text_add(to, "}\n");
}

void rd_codegen_tree_functions(rd_codegen *n, rd_text *to, int32_t number)
{
    const rd_codegen_fold *f = &n->fold[number];

    if (f->inner)
        return;
    add_lanes(to, f, number);
    if (!f->room)
        return;
    add_rows(to, f, number);
    add_merge_rows(to, f, number);
    add_push(to, f, number);
    add_close(to, f, number);
}

/* Bytes from the first of a task's states to those of kind k. */
static int place_of(const rd_codegen_fold *f, int k)
{
    return (int)(k * rd_lines((f->states + f->nowhere) * f->of.bytes));
}

/* A fold of one block: state by state. */
static void add_join_states(rd_text *to, const rd_codegen_fold *f, int number)
{
    rd_text_add(to, "    for (int64_t l = 0; l < %d; l++) {\n", (int)f->states);
    for (int k = 0; k < f->of.n_state; k++)
        rd_text_add(to,
                    "        %s *const a%d = (%s *)(into + %d + %d) + l, *const b%d = (%s *)(next "
                    "+ %d + %d) + l;\n",
                    rd_state_type(&f->of, k), k, rd_state_type(&f->of, k), (int)f->current,
                    place_of(f, k), k, rd_state_type(&f->of, k), (int)f->current, place_of(f, k));
    rd_text_add(to, "        ");
    add_merge(to, f, number, "a%d", "b%d");
    rd_text_add(to, "    }\n");
}

/* What the next task has begun and not ended is its last block. */
static void add_last_block(rd_text *to, const rd_codegen_fold *f, int number)
{
    const int     states   = (int)f->states;
    const int64_t in_block = INT64_C(1) << f->shift;

    rd_text_add(to,
                "    {\n        int64_t *const a = (int64_t *)(into + %d), *const b = (int64_t "
                "*)(next + %d);\n",
                (int)f->facts, (int)f->facts);
    rd_text_add(to, "        char *const tree = into + %d, *const other = next + %d;\n",
                (int)f->tree, (int)f->tree);
    for (int k = 0; k < f->of.n_state; k++)
        rd_text_add(to, "        %s *const s%d = (%s *)(next + %d + %d);\n",
                    rd_state_type(&f->of, k), k, rd_state_type(&f->of, k), (int)f->current,
                    place_of(f, k));
    rd_text_add(to,
                "        const int64_t end = (b[1] + %" PRId64
                ") >> %d;\n        if (b[1] & %" PRId64 ")\n"
                "            push%d(",
                in_block - 1, f->shift, in_block - 1, number);
    rd_add_each(to, &f->of, "s%d");
    rd_text_add(to, ", other, %d, 0, %d, b[1] >> %d, b[0]);\n", states, states, f->shift);
}

/* Rows of the next task's tree follow those of the one before. */
static void add_join_rows(rd_text *to, const rd_codegen_fold *f, int number)
{
    const int states = (int)f->states;

    add_last_block(to, f, number);
    rd_text_add(to, "        for (int64_t start = b[0], row = 0; start < end; row++) {\n"
                    "            const int     level = rd_node_level(start, end);\n"
                    "            const int64_t to    = rd_nodes(a[0], start);\n");
    for (int k = 0; k < f->of.n_state; k++)
        rd_text_add(to,
                    "            for (int64_t l = 0; l < %d; l++) node%d_%d(tree, to, %d)[l] = "
                    "node%d_%d(other, row, %d)[l];\n",
                    states, number, k, states, number, k, states);
    rd_text_add(to,
                "            append%d(tree, %d, 0, %d, start, level, a[0]);\n"
                "            start += INT64_C(1) << level;\n        }\n        a[1] = end << %d;\n"
                "    }\n",
                number, states, states, f->shift);
}

void rd_codegen_join_function(rd_codegen *n, rd_text *to)
{
    for (int32_t k = 0; k < n->p->n_fold; k++)
        if (n->fold[k].split && n->fold[k].room)
            add_join_rows(to, &n->fold[k], k);
        else if (n->fold[k].split)
            add_join_states(to, &n->fold[k], k);
}
