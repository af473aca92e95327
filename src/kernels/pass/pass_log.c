/* pass_log.c - Prints the tree after each pass; debug builds check it. */
#include "kernels/pass/pass_log.h"
#include "kernels/loop/check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef RD_CHECK
#define RD_CHECK 0
#endif

/* Continues an FNV-1a hash by n bytes; the factor is the prime of its 64-bit form.  Padding
 * between members must keep its value. */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;

    for (size_t k = 0; k < n; k++)
        hash = (hash ^ at[k]) * UINT64_C(0x100000001b3);
    return hash;
}

/* Returns a hash of all arrays of the tree, from FNV's 64-bit start value on. */
static uint64_t hash_of(const rd_schedule *t)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    hash = hash_bytes(hash, t->stmt, (size_t)t->n_stmt * sizeof *t->stmt);
    hash = hash_bytes(hash, t->let, (size_t)t->n_let * sizeof *t->let);
    hash = hash_bytes(hash, t->loop, (size_t)t->n_for * sizeof *t->loop);
    hash = hash_bytes(hash, t->store, (size_t)t->n_store * sizeof *t->store);
    hash = hash_bytes(hash, t->term, (size_t)t->n_term * sizeof *t->term);
    return hash_bytes(hash, t->operand, (size_t)t->n_operand * sizeof *t->operand);
}

/* True if the tree differs, by its hash, from the one that was checked last; notes the new hash. */
static bool has_changed(const rd_schedule *t, rd_pass_log *log)
{
    const uint64_t before = log->checked;

    log->checked = hash_of(t);
    return log->checked != before;
}

/* Checks the tree by a shadow run of few statements. If it no longer means its program, prints why
 * with the tree, and aborts. Only debug builds call it. */
static void abort_if_wrong(const char *name, const rd_schedule *t)
{
    rd_text why = { 0 };

    if (rd_schedule_check(t, RD_FEW_VISITS, &why) == RD_TREE_FAILS) {
        rd_text_add(&why, "\n");
        rd_schedule_text(&why, t);
        fprintf(stderr, "rdim: the loop tree is wrong after %s: %s", name,
                why.at ? why.at : "no memory\n");
        abort();
    }
    rd_text_free(&why);
}

/* Adds "after hoist:" and the tree to the log, or that the tree is as before, as most passes
 * change nothing. */
static void print_tree(const char *name, const rd_schedule *t, rd_pass_log *log)
{
    rd_text tree = { 0 };

    rd_schedule_text(&tree, t);
    if (tree.at && log->last.at && strcmp(tree.at, log->last.at) == 0)
        rd_text_add(log->to, "after %s: as before\n", name);
    else
        rd_text_add(log->to, "after %s:\n%s", name, tree.at ? tree.at : "");
    log->to->failed |= tree.failed;
    rd_text_free(&log->last);
    log->last = tree;
}

/* Called after each pass: prints the tree if asked to (log->to), and checks it in debug builds.
 * `open`: loops still read values that other loops make (scalar_expand makes arrays of these
 * later), so the tree is not checked. */
void rd_pass_finished(const char *name, bool open, const rd_schedule *t, rd_pass_log *log)
{
    if (t->failed)
        return;
    if (log->to)
        print_tree(name, t, log);
    if (RD_CHECK && !open && has_changed(t, log))
        abort_if_wrong(name, t);
}
