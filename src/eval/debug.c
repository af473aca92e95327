/* debug.c - RD_DEBUG, and the checks of debug builds. */
#include "eval/debug.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef RD_CHECK
#define RD_CHECK 0
#endif

static bool wanted(const char *stage)
{
    const char *list = getenv("RD_DEBUG");
    size_t      n    = strlen(stage);

    for (const char *at = list; at && *at; at++)
        if ((at == list || at[-1] == ',') && strncmp(at, stage, n) == 0 && (at[n] == 0 || at[n] == ','))
            return true;
    return false;
}

static void print(const char *stage, rd_text *text)
{
    fprintf(stderr, "-- %s\n%s", stage, text->at ? text->at : "");
    rd_text_free(text);
}

/* A stage that hands on something wrong is our own mistake: stop where it was made. */
static void must_hold(const char *stage, const char *wrong)
{
    if (wrong)
        fprintf(stderr, "rdim: internal error after %s: %s\n", stage, wrong);
    assert(!wrong);
}

void rd_debug_graph(const rd_graph *graph)
{
    rd_text text = { 0 };

    if (wanted("graph")) {
        rd_graph_text(&text, graph);
        print("graph", &text);
    }
    if (RD_CHECK)
        must_hold("collect", rd_check_graph(graph));
}

void rd_debug_tree(const rd_tree *tree)
{
    rd_text text = { 0 };

    if (wanted("tree")) {
        rd_tree_text(&text, tree);
        print("tree", &text);
    }
    if (RD_CHECK)
        must_hold("place", rd_check_tree(tree));
}

void rd_debug_nest(const rd_nest *nest)
{
    rd_text text = { 0 };

    if (wanted("nest")) {
        rd_nest_text(&text, nest);
        print("nest", &text);
    }
    if (RD_CHECK)
        must_hold("order", rd_check_tree(nest->tree));
}

void rd_debug_programs(int n, const rd_program *program)
{
    for (int s = 0; s < n; s++) {
        rd_text text = { 0 };

        if (wanted("program")) {
            rd_program_text(&text, &program[s]);
            print("program", &text);
        }
        if (RD_CHECK)
            must_hold("lower", rd_check_program(&program[s]));
    }
}
