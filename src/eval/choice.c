/* choice.c - the sorted list of measured choices, and its text.
 *
 * A finding is one measurement: the best choice for a plan, or the best numbers of a device's
 * kernels, by key. */
#include "eval/choice.h"
#include "expr/expr.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const traversals[] = { "auto", "greedy", "lazy" };

/* ---- The list -------------------------------------------------------------------------------- */
/* Binary search: the first index with a key not less than `key`. */
static int32_t place_of(const rd_findings *f, uint64_t key)
{
    int32_t lo = 0, hi = f->n;

    while (lo < hi) {
        const int32_t mid = lo + (hi - lo) / 2;

        if (f->at[mid].key < key)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* The entry of a key in the sorted list; NULL: not measured. */
const rd_found *rd_findings_get(const rd_findings *f, uint64_t key)
{
    const int32_t k = place_of(f, key);

    return k < f->n && f->at[k].key == key ? &f->at[k] : NULL;
}

/* Makes room for one more entry; false: no memory, which is not recorded. f->n counts entries,
 * f->room those that f->at can hold. */
static bool reserve_entry(rd_ctx *ctx, rd_findings *f)
{
    const int32_t room = f->room ? 2 * f->room : 16;
    rd_found     *more;

    if (f->n < f->room)
        return true;
    more = rd_alloc_quiet(ctx, room * (int64_t)sizeof *more);
    if (!more)
        return false;
    if (f->n)
        memcpy(more, f->at, (size_t)f->n * sizeof *more);
    rd_free(ctx, f->at);
    f->at   = more;
    f->room = room;
    return true;
}

/* Appends an entry without order; false: no memory. */
bool rd_findings_add(rd_ctx *ctx, rd_findings *f, const rd_found *found)
{
    if (!reserve_entry(ctx, f))
        return false;
    f->at[f->n++] = *found;
    return true;
}

/* Inserts an entry in the order of keys, or replaces the one with its key; false: no memory.
 * place_of() is where the key stands, or would. */
bool rd_findings_put(rd_ctx *ctx, rd_findings *f, const rd_found *found)
{
    const int32_t k = place_of(f, found->key);

    if (k == f->n || f->at[k].key != found->key) {
        if (!reserve_entry(ctx, f))
            return false;
        memmove(&f->at[k + 1], &f->at[k], (size_t)(f->n++ - k) * sizeof *f->at);
    }
    f->at[k] = *found;
    return true;
}

/* Frees the list and empties it. */
void rd_findings_free(rd_ctx *ctx, rd_findings *f)
{
    rd_free(ctx, f->at);
    *f = (rd_findings){ 0 };
}

/* ---- Text ------------------------------------------------------------------------------------ */
/* Writes the line of a measured kernel, none if it could not be measured (0 seconds). "rule"
 * stands for the default tuning numbers:
 *
 *     0123456789abcdef kernels vector=8,ahead=4 seconds 1.2e-05 by rule 1.5e-05 */
static void kernels_text(rd_text *text, const rd_found *v)
{
    if (v->of.seconds <= 0)
        return;
    rd_text_add(text, "%016" PRIx64 " kernels ", v->key);
    const size_t numbers = text->n;

    rd_backend_cuda.device->tuning_text(text, &v->of.tuning);
    rd_text_add(text, "%s seconds %.3g by rule %.3g\n", text->n > numbers ? "" : "rule",
                v->of.seconds, v->of.by_rule);
}

/* Writes the line of measured rates, if there are any (key):
 *
 *     0123456789abcdef rates up 5e+10 down 5e+10 memory 3e+12 floats 6e+13 doubles 3e+13
 *     room 1e+11 here memory 4e+10 operations 3e+10 */
static void rates_text(rd_text *text, const rd_rates *r)
{
    if (r->key)
        rd_text_add(text,
                    "%016" PRIx64 " rates up %.3g down %.3g memory %.3g floats %.3g doubles %.3g "
                    "room %.3g here memory %.3g operations %.3g\n",
                    r->key, r->device.up, r->device.down, r->device.memory, r->device.floats,
                    r->device.doubles, r->device.room, r->memory, r->operations);
}

/* Writes all measurements, a line each: rates, kernels, and the fastest choices of plans as
 *
 *     0123456789abcdef greedy panel 2 tile 0 threads any seconds 0.01 */
void rd_findings_text(rd_text *text, const rd_findings *f)
{
    rates_text(text, &f->rates);
    for (int32_t k = 0; k < f->n; k++) {
        const rd_found *v = &f->at[k];

        if (v->stage) {
            kernels_text(text, v);
            continue;
        }
        rd_text_add(text, "%016" PRIx64 " %s panel %d tile %d threads %s seconds %.3g\n", v->key,
                    traversals[v->choice.traversal], v->choice.panel, v->choice.tile,
                    v->choice.one_thread ? "1" : "any", v->seconds);
    }
}

/* Reads the name of a traversal; false: unknown. */
bool rd_traversal_read(const char *word, rd_traversal *traversal)
{
    for (size_t t = 0; t < sizeof traversals / sizeof *traversals; t++)
        if (strcmp(word, traversals[t]) == 0) {
            *traversal = (rd_traversal)t;
            return true;
        }
    return false;
}

/* Writes that a size has the factor 2^shift: ", panels x4", ", tiles x1/2"; nothing for 1. */
static void scale_text(rd_text *text, const char *what, int shift)
{
    if (shift)
        rd_text_add(text, shift > 0 ? ", %s x%d" : ", %s x1/%d", what,
                    1 << (shift > 0 ? shift : -shift));
}

/* Writes a choice: "greedy, panels x4, tiles x1/2, 1 thread". */
void rd_choice_text(rd_text *text, const rd_choice *choice)
{
    rd_text_add(text, "%s", traversals[choice->traversal]);
    scale_text(text, "panels", choice->panel);
    scale_text(text, "tiles", choice->tile);
    rd_text_add(text, "%s", choice->one_thread ? ", 1 thread" : "");
}
