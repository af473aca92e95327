/* loop_tree.c - the kernels of a strategy, by a loop tree.  Passes and print/ make and print the
 * tree; this backend adds the text around an item. */
#include "kernels/cuda/loop_tree.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Memory of one text ---------------------------------------------------------------------- */
/* A piece of the memory that lasts while one text is written. */
typedef struct text_memory {
    struct text_memory *next;
    int64_t             room; /* aligns the memory behind it */
} text_memory;

/* Gives memory that give_back() frees; `pool` is the list of pieces. */
static void *take(void *pool, size_t bytes)
{
    text_memory **const list = pool;
    text_memory *const  made = calloc(1, sizeof *made + bytes);

    if (!made)
        return NULL;
    made->next = *list;
    *list      = made;
    return made + 1;
}

/* Frees all memory of a text. */
static void give_back(text_memory *list)
{
    for (text_memory *next; list; list = next) {
        next = list->next;
        free(list);
    }
}

/* ---- The tree -------------------------------------------------------------------------------- */
/* Builds the loop tree and runs the passes for GPUs on it.  NULL: there is no tree; *why may have
 * the reason. */
static rd_schedule *tree_of(const rd_cuda_strategy *s, rd_gpu_plan *plan, text_memory **list,
                            rd_text *log, const char **why)
{
    const rd_loop_fold *fold = NULL;
    rd_schedule        *t    = NULL;

    if (rd_cuda_plan_of(s, plan, take, list, why))
        fold = rd_gpu_folds_of(s->p, take, list, why);
    if (fold && !*why)
        t = rd_schedule_build(s->p, fold, true);
    if (t)
        rd_schedule_for_gpu(t, plan, log);
    if (t && t->failed) {
        rd_schedule_free(t);
        t = NULL;
    }
    return t;
}

/* Builds the tree again, only to print it. */
void rd_cuda_tree_text(rd_text *to, const rd_cuda_strategy *s)
{
    const char  *why  = NULL;
    text_memory *list = NULL;
    rd_gpu_plan  plan;
    rd_schedule *t = tree_of(s, &plan, &list, NULL, &why);

    if (t)
        rd_schedule_text(to, t);
    else
        rd_text_add(to, "no tree: %s\n", why ? why : "no memory");
    rd_schedule_free(t);
    give_back(list);
}

/* The axis of one of the two loops of a block tile, -1. */
static int32_t axis_of_tile(const rd_cuda_strategy *s, int which)
{
    return s->tile_loop[which] >= 0 ? s->p->loop[s->tile_loop[which]].axis : -1;
}

/* ---- The text -------------------------------------------------------------------------------- */
/* Adds the text: functions and kernels first, to a text of their own, as only then the numbers of
 * the call are known. */
static bool write_text(rd_cuda_text *t, const rd_schedule *tree, text_memory **list, rd_text *to)
{
    const rd_kernel_combine ranges  = rd_cuda_range_callbacks(t);
    rd_kernel               kernel  = { .team        = t->s->team,
                                        .width       = t->s->width,
                                        .unrolled    = t->s->choice.unrolled,
                                        .transposes  = t->s->transpose[0] >= 0,
                                        .pairs       = t->s->pairs >= 0,
                                        .look_back   = t->s->is_lookback,
                                        .row_word    = t->s->row_word,
                                        .block_tiles = t->s->tile_loop[0] >= 0,
                                        .tile_axis = { axis_of_tile(t->s, 0), axis_of_tile(t->s, 1) },
                                        .rounds    = -1,
                                        .combine   = &ranges };
    rd_text                 kernels = { 0 };

    t->print  = (rd_printing){ .t = tree, .dialect = &rd_dialect_cuda, .kernel = &kernel };
    bool done = rd_print_kernel_functions(&t->print, &kernels, take, list);

    t->print.to = &kernels;
    if (done)
        rd_cuda_write_kernels(t);
    t->why = t->print.why;
    done   = done && !t->why;
    if (done) {
        t->packed |= kernel.vector_slots;
        rd_cuda_write_call(t, to);
        rd_text_add(to, "%s", kernels.at ? kernels.at : "");
        to->failed |= kernels.failed;
    }
    rd_text_free(&kernels);
    return done;
}

/* Adds an empty kernel: a program without instructions has one kernel to launch, too. */
static void write_nothing(rd_cuda_text *t, rd_text *to)
{
    t->print = (rd_printing){ .dialect = &rd_dialect_cuda, .to = to };
    rd_cuda_write_call(t, to);
    rd_cuda_kernel_head(t, "run", -1);
    rd_print_line(&t->print, "{\n}");
}

/* Keeps the numbers of a text, and drops all pointers to memory that is given back. */
static void keep_numbers(rd_printing *n)
{
    rd_printing kept = { .n_number = n->n_number };

    memcpy(kept.number, n->number, sizeof *kept.number * (size_t)n->n_number);
    *n = kept;
}

/* Writes the text of a strategy, and frees the tree.  The text's numbers stay in t->print. */
void rd_cuda_write(rd_cuda_text *t, rd_text *to)
{
    const char  *why  = NULL;
    text_memory *list = NULL;
    rd_gpu_plan  plan;
    rd_schedule *tree = NULL;

    if (t->s->p->n_inst == 0) {
        write_nothing(t, to);
        keep_numbers(&t->print);
        return;
    }
    tree = tree_of(t->s, &plan, &list, NULL, &why);
    if (!tree || !write_text(t, tree, &list, to))
        t->why = t->why ? t->why : why ? why : "out of memory";
    keep_numbers(&t->print);
    rd_schedule_free(tree);
    give_back(list);
}
