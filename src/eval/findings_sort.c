/* findings_sort.c - sorts measurements by key and keeps the last of equal keys.
 *
 * A merge sort, because it is stable, and because qsort() may allocate memory outside the
 * context's hooks. */
#include "eval/choice.h"
#include "expr/expr.h"
#include <string.h>

/* Merges the sorted ranges from..middle and middle..to into `into`. */
static void merge(rd_found *into, const rd_found *at, int32_t from, int32_t middle, int32_t to)
{
    int32_t left = from, right = middle;

    for (int32_t k = from; k < to; k++) {
        const bool second = left == middle || (right < to && at[right].key < at[left].key);

        into[k] = at[second ? right++ : left++];
    }
}

/* The lesser of n and `most`. */
static int32_t at_most(int64_t n, int32_t most)
{
    return n < most ? (int32_t)n : most;
}

/* Merge sort from the bottom up: merges ranges of 1, 2, 4 ... entries to and fro between two
 * buffers; returns the one that holds the result. */
static rd_found *sorted(rd_found *at, rd_found *other, int32_t n)
{
    for (int64_t width = 1; width < n; width *= 2) {
        rd_found *const from = at;

        for (int64_t k = 0; k < n; k += 2 * width)
            merge(other, from, (int32_t)k, at_most(k + width, n), at_most(k + 2 * width, n));
        at    = other;
        other = from;
    }
    return at;
}

/* True if keys ascend and none occurs twice. */
static bool is_sorted(const rd_findings *f)
{
    for (int32_t k = 1; k < f->n; k++)
        if (f->at[k - 1].key >= f->at[k].key)
            return false;
    return true;
}

/* Sorts the list by key, and keeps the last of equal keys, which was measured or read last.
 * Without memory it keeps only the first `before` entries, which are sorted, and returns false.
 * sorted() is a merge sort, which returns the memory, f->at or `other`, in which the list ends
 * up. */
bool rd_findings_sort(rd_ctx *ctx, rd_findings *f, int32_t before)
{
    rd_found *other, *from;
    int32_t   n = 0;

    if (is_sorted(f))
        return true;
    other = rd_alloc_quiet(ctx, f->n * (int64_t)sizeof *other);
    if (!other) {
        f->n = before;
        return false;
    }
    from = sorted(f->at, other, f->n);
    for (int32_t k = 0; k < f->n; k++)
        if (k + 1 == f->n || from[k].key != from[k + 1].key)
            f->at[n++] = from[k];
    f->n = n;
    rd_free(ctx, other);
    return true;
}
