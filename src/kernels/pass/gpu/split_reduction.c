/* split_reduction.c - splits long loops of few items into ranges, each of which is an item of its
 * own.  A range stores the partial results of its folds, and the range that ends last combines all
 * partials (split reduction, "split-K").  Ranges begin at whole blocks of all folds, so bits do
 * not depend on the split:
 *
 *     items i0 to 4                      items i0 to 4
 *       begin f0                           items i1 to 100000 by 4096, starts m0, stops m1
 *       serial i1 to 100000                  begin f0
 *         step f0 .., lane i1                serial i1 from m0 to m1
 *       r1 = finish f0                         step f0 .., lane i1
 *       s1[i0] = r1                          store partials f0 to a1
 *                                            if last of ranges of i1
 *                                              combine partials f0 from a1
 *                                              r1 = finish f0
 *                                              s1[i0] = r1
 *
 * Several loops over one axis, such as the phases of a softmax, become kernels one after the
 * other.  Each kernel repeats what stands before its loop, and reads the combined partials of the
 * loops before it.
 *
 * An item is a unit of work that a team of threads does.  A phase is one of several loops over an
 * axis, the later of which read what the earlier ones made.
 *
 * Fields. A load or store with `slot` >= 0 is of the program's memory, others are of arrays of the
 * tree.
 *
 * Words. Scratch is temporary memory of a task. */
#include "kernels/loop/facts.h"
#include "kernels/pass/gpu/gpu.h"

/* Loops of an item that are split, at most. */
enum { MOST_SPLIT = 8 };

/* The split of the loops of one item; a kernel for each loop. */
typedef struct splitting {
    rd_schedule       *t;
    const rd_gpu_plan *plan;
    int32_t            body;          /* the loop over ranges, whose body is an item         */
    int32_t            number, count; /* of the kernel, and kernels of the item      */
    bool               stores_behind; /* something is stored behind all of the loops       */
    int32_t           *partials;      /* per fold: the array of partials, -1               */
} splitting;

/* Lists the loops of a body that the plan splits into ranges, in order. Returns how many there
 * are, at most MOST_SPLIT. */
static int32_t find_split_loops(const splitting *c, int32_t body, int32_t split[MOST_SPLIT])
{
    int32_t n = 0;

    /* -1: the first one */
    for (int32_t s                   = rd_gpu_next_split_loop(c->t, c->plan, body, /*last=*/-1);
         s >= 0 && n < MOST_SPLIT; s = rd_gpu_next_split_loop(c->t, c->plan, body, s))
        split[n++] = s;
    return n;
}

/* ---- Folds ----------------------------------------------------------------------------------- */
/* True if the fold begins in the item's body and takes elements in the loop `split`. Such a fold
 * leaves partials; one that begins and ends inside the loop does not. */
static bool is_fold_of_loop(const splitting *c, int32_t fold, int32_t split)
{
    bool begins = false;

    for (int32_t s = c->t->stmt[c->body].first; s >= 0; s = c->t->stmt[s].next)
        begins |= c->t->stmt[s].kind == RD_S_BEGIN && c->t->stmt[s].fold == fold;
    for (int32_t s = split; s >= 0 && begins; s = rd_next_stmt(c->t, s, split))
        if (c->t->stmt[s].kind == RD_S_STEP && c->t->stmt[s].fold == fold)
            return true;
    return false;
}

/* Adds the array in global memory for the partials of a fold (what each range leaves of it),
 * unless an earlier kernel has added it. */
static void add_partials(const splitting *c, int32_t fold)
{
    if (c->partials[fold] < 0)
        c->partials[fold] = rd_gpu_add_partials(c->t, c->plan, fold);
}

/* Makes a statement about the partials (nodes that ranges leave) of a fold. STORE_PARTIALS
 * copies the states (accumulators) there (`arg`), COMBINE_PARTIALS reads them from there
 * (`store`). It stands nowhere yet. */
static int32_t add_fold_stmt(const splitting *c, rd_stmt_kind kind, int32_t fold)
{
    rd_stmt s = rd_stmt_of(kind);

    s.fold  = fold;
    s.store = kind == RD_S_COMBINE_PARTIALS ? c->partials[fold] : fold;
    s.arg   = kind == RD_S_STORE_PARTIALS ? c->partials[fold] : -1;
    return rd_add_stmt(c->t, &s);
}

/* Lets the statements that end the fold in a body (merge blocks, merge lanes, finish) read the
 * combined partials (nodes that ranges leave) in place of the states (accumulators). */
static void read_combined(const splitting *c, int32_t body, int32_t fold)
{
    for (int32_t s = body; s >= 0; s = rd_next_stmt(c->t, s, body)) {
        rd_stmt *of = &c->t->stmt[s];

        if (of->fold == fold && (of->kind == RD_S_MERGE_BLOCKS || of->kind == RD_S_MERGE_LANES ||
                                 of->kind == RD_S_FINISH))
            of->store = c->partials[fold];
    }
}

/* Replaces a loop that an earlier kernel has run by its result. Where its folds began, their
 * partials are combined instead, and their states (accumulators) need no declaration. */
static void combine_loop(const splitting *c, int32_t split)
{
    rd_schedule *t = c->t;

    for (int32_t k = 0; k < t->p->n_fold; k++) {
        if (!is_fold_of_loop(c, k, split))
            continue;
        add_partials(c, k);
        for (int32_t s = t->stmt[c->body].first, next; s >= 0 && !t->failed; s = next) {
            next = t->stmt[s].next;
            if (t->stmt[s].kind == RD_S_ARRAY && t->stmt[s].store == k)
                rd_take_out(t, s);
            else if (t->stmt[s].kind == RD_S_BEGIN && t->stmt[s].fold == k) {
                rd_put_before(t, add_fold_stmt(c, RD_S_COMBINE_PARTIALS, k), s);
                rd_take_out(t, s);
            }
        }
        read_combined(c, c->body, k);
    }
    rd_take_out(t, split);
}

/* ---- The end of the ranges ------------------------------------------------------------------- */
/* Makes "if last of ranges ..": only the range (part of a split loop) of an item that finishes
 * last runs its body. It stands nowhere yet. */
static int32_t add_last(const splitting *c)
{
    rd_stmt s = rd_stmt_of(RD_S_IF_LAST);

    s.arg = c->body;
    return rd_add_stmt(c->t, &s);
}

/* True if the statement stores a result of the program, not scratch: slots (buffers) from
 * first_scratch on are scratch (temporary memory). */
static bool is_result(const splitting *c, int32_t stmt)
{
    return c->t->stmt[stmt].kind == RD_S_STORE && c->t->stmt[stmt].slot < c->t->p->first_scratch;
}

/* Moves stores of results before the loop, and all that stands behind it, into the body `last`,
 * which the last range runs. Otherwise each range would store a result again. Other statements
 * before the loop stay, as each range needs their values. */
static void move_behind(const splitting *c, int32_t split, int32_t last)
{
    rd_schedule *t = c->t;

    for (int32_t s = t->stmt[c->body].first, next; s >= 0 && s != split && !t->failed; s = next) {
        next = t->stmt[s].next;
        if (!is_result(c, s))
            continue;
        rd_take_out(t, s);
        rd_append(t, last, s);
    }
    for (int32_t s; (s = t->stmt[split].next) >= 0 && !t->failed;) {
        rd_take_out(t, s);
        rd_append(t, last, s);
    }
}

/* Lets each range of this kernel store its partials. In the item's last kernel, the last range
 * combines them and does what stood behind the loop; earlier kernels leave that out (`finishes` is
 * false). "If last" stays, even with an empty body, where there are partials: its text is also what
 * counts the ranges that have come and combines groups of them. move_behind() moves to `last` what
 * only the last range does. */
static void end_ranges(const splitting *c, int32_t split)
{
    rd_schedule  *t            = c->t;
    const bool    finishes     = c->number == c->count - 1 && c->stores_behind;
    const int32_t last         = add_last(c);
    bool          has_partials = false;

    if (t->failed)
        return;
    move_behind(c, split, last);
    if (!finishes)
        while (t->stmt[last].first >= 0)
            rd_take_out(t, t->stmt[last].first);
    for (int32_t k = 0; k < t->p->n_fold && !t->failed; k++) {
        if (!is_fold_of_loop(c, k, split))
            continue;
        add_partials(c, k);
        rd_append(t, c->body, add_fold_stmt(c, RD_S_STORE_PARTIALS, k));
        read_combined(c, last, k);
        if (finishes)
            rd_put_before(t, add_fold_stmt(c, RD_S_COMBINE_PARTIALS, k), t->stmt[last].first);
        has_partials = true;
    }
    if (has_partials || finishes)
        rd_append(t, c->body, last);
}

/* ---- Kernels --------------------------------------------------------------------------------- */
/* Makes the kernel of split loop `number`: the loops before it are replaced by their combined
 * partials (nodes that ranges leave), and it goes over one range. A copy that has not as many
 * split loops as the original stays as it is: the tree has failed then. */
static void split_kernel(splitting *c, int32_t kernel, int32_t number)
{
    int32_t split[MOST_SPLIT];

    c->body   = rd_innermost_item_loop(c->t, kernel);
    c->number = number;
    if (find_split_loops(c, c->body, split) != c->count)
        return;
    for (int32_t k = 0; k < number; k++)
        combine_loop(c, split[k]);
    rd_gpu_limit_to_range(c->t, c->body, split[number]);
    end_ranges(c, split[number]);
}

/* True if the body stores to the program's memory (slot >= 0) anywhere but in the loops that are
 * split. Then the last range has something to do when the loops are done. */
static bool stores_outside(const splitting *c, int32_t body)
{
    for (int32_t s     = c->t->stmt[body].first,
                 split = rd_gpu_next_split_loop(c->t, c->plan, body, /*last=*/-1);
         s >= 0; s     = c->t->stmt[s].next) {
        if (s == split) {
            split = rd_gpu_next_split_loop(c->t, c->plan, body, s);
            continue;
        }
        for (int32_t k = s; k >= 0; k = rd_next_stmt(c->t, k, s))
            if (c->t->stmt[k].kind == RD_S_STORE && c->t->stmt[k].slot >= 0)
                return true;
    }
    return false;
}

/* Makes one kernel for each split loop of an item, as copies of the item's kernel that run one
 * after the other. The loop over ranges is put around the body first, so that each copy has it. */
static void split_all(splitting *c, int32_t kernel, int32_t body)
{
    int32_t copy[MOST_SPLIT], split[MOST_SPLIT];

    c->count = find_split_loops(c, body, split);
    if (c->count == 0)
        return;
    c->stores_behind = stores_outside(c, body);
    rd_gpu_add_range_loop(c->t, c->plan, body, split[0]);
    copy[0] = kernel;
    for (int32_t k = 1; k < c->count && !c->t->failed; k++) {
        copy[k] = rd_stmt_copy(c->t, kernel);
        rd_put_behind(c->t, copy[k], copy[k - 1]);
    }
    for (int32_t k = 0; k < c->count && !c->t->failed; k++)
        split_kernel(c, copy[k], k);
}

/* The pass: splits the long loops of the first kernel to which the plan (the backend's decisions
 * about the kernel) gives the role RD_GPU_RANGES, so that more teams have work. Loops that scan
 * have passes of their own, so this one needs RD_GPU_SCANS_SERIAL. partials[k] -1: fold k has no
 * array of partials (nodes that ranges leave) yet. */
void rd_pass_gpu_split_reduction(rd_schedule *t, const rd_gpu_plan *plan)
{
    int32_t       partials[RD_GPU_MOST_FOLDS];
    const int32_t kernel = rd_next_kernel(t, /*last=*/-1);
    splitting     c      = { .t = t, .plan = plan, .partials = partials };

    for (int32_t k = 0; k < RD_GPU_MOST_FOLDS; k++)
        partials[k] = -1;
    if (kernel >= 0 && t->p->n_fold <= RD_GPU_MOST_FOLDS && plan->scans == RD_GPU_SCANS_SERIAL)
        split_all(&c, kernel, rd_innermost_item_loop(t, kernel));
}
