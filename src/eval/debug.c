/* debug.c - RDIM_DEBUG, and the checks of debug builds. */
#include "eval/debug.h"
#include "core/environment.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef RD_CHECK
#define RD_CHECK 0
#endif

/* What RDIM_DEBUG may ask for, in the order of `name`. */
typedef enum stage {
    FORMULA,
    GRAPH,
    TREE,
    NEST,
    PROGRAM,
    TILES,
    LOOPS,
    CODE,
    SCALAR,
    TRACE,
    STAGES
} stage;

static const char *const name[STAGES] = { "formula", "graph", "tree", "nest",   "program",
                                          "tiles",   "loops", "code", "scalar", "trace" };

/* The list in the environment: names separated by commas. */
static const char *list(void)
{
    const char *text = rd_environment(RD_ENV_RDIM_DEBUG);

    return text ? text : "";
}

/* The stage with the n bytes at `at` as its name; STAGES: none. */
static stage stage_of(const char *at, size_t n)
{
    stage s = FORMULA;

    while (s < STAGES && (strlen(name[s]) != n || memcmp(name[s], at, n) != 0))
        s++;
    return s;
}

/* True if the stage is in the list of RDIM_DEBUG. */
static bool is_wanted(stage s)
{
    for (const char *at = list(); *at; at += strcspn(at, ","), at += *at == ',')
        if (stage_of(at, strcspn(at, ",")) == s)
            return true;
    return false;
}

/* True if RDIM_DEBUG names only stages that exist.  False after recording an unknown name.
 * list() is the variable's text; `at` goes from name to name between commas, of n bytes; STAGES:
 * no stage has that name. */
bool rd_debug_is_known(rd_ctx *ctx)
{
    for (const char *at = list(); *at; at += strcspn(at, ","), at += *at == ',') {
        const size_t n = strcspn(at, ",");

        if (n > 0 && stage_of(at, n) == STAGES) {
            rd_fail(
                ctx, RD_ERR_ARGUMENT,
                "RDIM_DEBUG: no stage \"%.*s\"; there are formula, graph, tree, nest, program, tiles, "
                "loops, code, scalar and trace, with commas between",
                (int)(n < 64 ? n : 64), at);
            return false;
        }
    }
    return true;
}

/* Prints a text under a heading such as "-- graph", and frees the text. */
static void print(stage s, rd_text *text)
{
    fprintf(stderr, "-- %s\n%s", name[s], text->at ? text->at : "");
    rd_text_free(text);
}

/* Prints a text about a program under a heading such as "-- loops of program 2", and frees it.
 * Programs are numbered as stages are. */
static void print_of(stage s, int program, rd_text *text)
{
    fprintf(stderr, s == PROGRAM ? "-- %s %d\n%s" : "-- %s of program %d\n%s", name[s], program,
            text->at ? text->at : "");
    rd_text_free(text);
}

/* Stops with a message if a stage handed on wrong data, which is a bug of rdim. */
static void must_hold(const char *after, const char *wrong)
{
    if (wrong)
        fprintf(stderr, "rdim: internal error after %s: %s\n", after, wrong);
    assert(!wrong);
}

/* True if RDIM_DEBUG asks for the events of runs. */
bool rd_debug_wants_trace(void)
{
    return is_wanted(TRACE);
}

/* True if RDIM_DEBUG asks for formulas. */
bool rd_debug_wants_formula(void)
{
    return is_wanted(FORMULA);
}

/* True if RDIM_DEBUG asks for anything that a backend makes of programs. */
bool rd_debug_wants_prepared(void)
{
    return is_wanted(TILES) || is_wanted(LOOPS) || is_wanted(CODE) || is_wanted(SCALAR);
}

/* Prints the text of a formula and frees it. */
void rd_debug_formula(rd_text *text)
{
    print(FORMULA, text);
}

/* Prints and checks the graph after collect. */
void rd_debug_graph(const rd_graph *graph)
{
    rd_text text = { 0 };

    if (is_wanted(GRAPH)) {
        rd_graph_text(&text, graph);
        print(GRAPH, &text);
    }
    if (RD_CHECK)
        must_hold("collect", rd_check_graph(graph));
}

/* Prints and checks the tree after place. */
void rd_debug_tree(const rd_tree *tree)
{
    rd_text text = { 0 };

    if (is_wanted(TREE)) {
        rd_tree_text(&text, tree);
        print(TREE, &text);
    }
    if (RD_CHECK)
        must_hold("place", rd_check_tree(tree));
}

/* Prints and checks the nest after order. */
void rd_debug_nest(const rd_nest *nest)
{
    rd_text text = { 0 };

    if (is_wanted(NEST)) {
        rd_nest_text(&text, nest);
        print(NEST, &text);
    }
    if (RD_CHECK)
        must_hold("order", rd_check_tree(nest->tree));
}

/* Prints and checks the programs after lowering. */
void rd_debug_programs(int n, const rd_program *program)
{
    for (int s = 0; s < n; s++) {
        rd_text text = { 0 };

        if (is_wanted(PROGRAM)) {
            rd_program_text(&text, &program[s]);
            print_of(PROGRAM, s, &text);
        }
        if (RD_CHECK)
            must_hold("lower", rd_check_program(&program[s]));
    }
}

/* Prints what the backend made of program k, in the form that debug stage s stands for, if
 * RDIM_DEBUG asks for it. */
static void print_prepared(const rd_backend_table *backend, const rd_program *p, int k, stage s,
                           rd_get_fn *get, void *pool)
{
    rd_text text = { 0 };

    if (!is_wanted(s) || !backend->describe)
        return;
    backend->describe(&text, &p[k],
                      s == CODE     ? RD_DESCRIBE_CODE
                      : s == SCALAR ? RD_DESCRIBE_SCALAR
                      : s == LOOPS  ? RD_DESCRIBE_LOOPS
                                    : RD_DESCRIBE_FORM,
                      get, pool);
    if (text.at)
        print_of(s, k, &text);
}

/* Prints what a backend made of the programs, in every form that was asked for. */
void rd_debug_prepared(const rd_backend_table *backend, int n, const rd_program *program,
                       rd_get_fn *get, void *pool)
{
    for (int s = 0; s < n; s++) {
        print_prepared(backend, program, s, TILES, get, pool);
        print_prepared(backend, program, s, LOOPS, get, pool);
        print_prepared(backend, program, s, CODE, get, pool);
        print_prepared(backend, program, s, SCALAR, get, pool);
    }
}
