/* loop_tree.c - the kernels of a strategy, by a loop tree.  Passes and print/ make and print the
 * tree; this backend adds the text around an item.
 *
 * Fields. s->pairs is the loop over points that all results read, -1: none. s->tile_loop has the
 * two loops of a block tile, -1: there are no block tiles. s->transpose has the two loops of a
 * transpose in shared memory, -1: none. Scans of split loops run once (is_lookback) or twice
 * (is_two_pass). */
#include "kernels/cuda/loop_tree.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Memory of one text ---------------------------------------------------------------------- */
/* A piece of the memory that lasts while one text is written. */
typedef struct text_memory {
    struct text_memory *next; /* in the list of pieces */
    int64_t             room; /* aligns the memory behind it */
} text_memory;

/* Allocates zeroed memory that lasts until give_back(); `pool` is the address of the list of
 * such memory. It is an rd_get_fn. NULL: no memory. */
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

/* Frees all memory that take() has put on the list. */
static void give_back(text_memory *list)
{
    for (text_memory *next; list; list = next) {
        next = list->next;
        free(list);
    }
}

/* ---- The tree -------------------------------------------------------------------------------- */
/* Builds the loop tree of a program and runs the passes for GPUs on it; `log` gets the trees
 * between, or is NULL. NULL: there is no tree; *why has the reason, or is NULL without memory.
 * *list gets the memory that the tree refers to. */
static rd_schedule *tree_of(const rd_cuda_strategy *s, rd_gpu_plan *plan, text_memory **list,
                            rd_text *log, const char **why)
{
    const rd_loop_fold *fold = NULL;
    rd_schedule        *t    = NULL;

    if (rd_cuda_plan_of(s, plan, take, list, why))
        fold = rd_gpu_folds_of(s->p, take, list, why);
    if (fold && !*why)
        t = rd_schedule_build(s->p, fold, /*whole=*/true);
    if (t)
        rd_schedule_for_gpu(t, plan, log);
    if (t && t->failed) {
        rd_schedule_free(t);
        t = NULL;
    }
    return t;
}

/* Adds the loop tree of the kernels as text.  The tree is built again, as nobody keeps it. */
void rd_cuda_tree_text(rd_text *to, const rd_cuda_strategy *s)
{
    const char  *why  = NULL;
    text_memory *list = NULL;
    rd_gpu_plan  plan;
    rd_schedule *t = tree_of(s, &plan, &list, /*log=*/NULL, &why);

    if (t)
        rd_schedule_text(to, t);
    else
        rd_text_add(to, "no tree: %s\n", why ? why : "no memory");
    rd_schedule_free(t);
    give_back(list);
}

/* Returns the axis of one of the two loops of block tiles (reductions along both axes); -1: the
 * strategy has no block tiles. */
static int32_t axis_of_tile(const rd_cuda_strategy *s, int which)
{
    return s->tile_loop[which] >= 0 ? s->p->loop[s->tile_loop[which]].axis : -1;
}

/* ---- The text -------------------------------------------------------------------------------- */
/* Adds the text of all kernels. The constants and the argument's type come first in it, but are
 * known last: so functions and kernels are printed to a text of their own before. False: t->why
 * has the reason, or memory was short. rounds -1: no loop of rounds is printed yet. */
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

/* Adds an empty kernel "run": a program without instructions has a kernel to launch, too. */
static void write_nothing(rd_cuda_text *t, rd_text *to)
{
    t->print = (rd_printing){ .dialect = &rd_dialect_cuda, .to = to };
    rd_cuda_write_call(t, to);
    rd_cuda_kernel_head(t, "run", /*number=*/-1);
    rd_print_line(&t->print, "{\n}");
}

/* Keeps the numbers of a text that each run passes to the kernels (extents and strides), and
 * drops all pointers, as their memory is freed next. */
static void keep_numbers(rd_printing *n)
{
    rd_printing kept = { .n_number = n->n_number };

    memcpy(kept.number, n->number, sizeof *kept.number * (size_t)n->n_number);
    *n = kept;
}

/* Adds the text of a strategy's kernels, without the prelude (the code that all texts share).
 * The numbers that a run passes stay in t->print; if there is no text, t->why has the reason. */
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
    tree = tree_of(t->s, &plan, &list, /*log=*/NULL, &why);
    if (!tree || !write_text(t, tree, &list, to))
        t->why = t->why ? t->why : why ? why : "out of memory";
    keep_numbers(&t->print);
    rd_schedule_free(tree);
    give_back(list);
}
