/* choice.c - what measurements found: a sorted list, and its text. */
#include "eval/choice.h"
#include "expr/expr.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SHIFT = 8 };

static const char *const traversals[] = { "auto", "greedy", "lazy" };

/* ---- The list -------------------------------------------------------------------------------- */
/* The first whose key is not less. */
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

const rd_found *rd_findings_get(const rd_findings *f, uint64_t key)
{
    const int32_t k = place_of(f, key);

    return k < f->n && f->at[k].key == key ? &f->at[k] : NULL;
}

static bool room_for_one(rd_ctx *ctx, rd_findings *f)
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

bool rd_findings_put(rd_ctx *ctx, rd_findings *f, const rd_found *found)
{
    const int32_t k = place_of(f, found->key);

    if (k == f->n || f->at[k].key != found->key) {
        if (!room_for_one(ctx, f))
            return false;
        memmove(&f->at[k + 1], &f->at[k], (size_t)(f->n++ - k) * sizeof *f->at);
    }
    f->at[k] = *found;
    return true;
}

void rd_findings_free(rd_ctx *ctx, rd_findings *f)
{
    rd_free(ctx, f->at);
    *f = (rd_findings){ 0 };
}

/* ---- Text ------------------------------------------------------------------------------------ */
void rd_findings_text(rd_text *text, const rd_findings *f)
{
    for (int32_t k = 0; k < f->n; k++) {
        const rd_found *v = &f->at[k];

        rd_text_add(text, "%016" PRIx64 " %s panel %d tile %d threads %s seconds %.3g\n", v->key,
                    traversals[v->choice.traversal], v->choice.panel, v->choice.tile,
                    v->choice.alone ? "1" : "any", v->seconds);
    }
}

/* A number up to the end of the word, within bounds. */
static bool read_int(const char *word, int *value)
{
    char      *end;
    const long n = strtol(word, &end, 10);

    *value = (int)n;
    return end != word && !*end && n >= -MOST_SHIFT && n <= MOST_SHIFT;
}

static bool read_line(const char *line, rd_found *v)
{
    char  key[20], traversal[8], panel[8], tile[8], threads[8], seconds[32];
    char *key_end, *seconds_end;
    int   panel_shift, tile_shift, end = 0;

    if (sscanf(line, "%19s %7s panel %7s tile %7s threads %7s seconds %31s%n", key, traversal,
               panel, tile, threads, seconds, &end) != 6 ||
        (line[end] != '\n' && line[end] != '\0') || !read_int(panel, &panel_shift) ||
        !read_int(tile, &tile_shift) || (strcmp(threads, "1") != 0 && strcmp(threads, "any") != 0))
        return false;
    v->key     = strtoull(key, &key_end, 16);
    v->seconds = strtod(seconds, &seconds_end);
    v->choice  = (rd_choice){ .panel    = (int8_t)panel_shift,
                              .tile     = (int8_t)tile_shift,
                              .alone    = strcmp(threads, "1") == 0,
                              .measured = true };
    if (*key_end || *seconds_end)
        return false;
    for (size_t t = 0; t < sizeof traversals / sizeof *traversals; t++)
        if (strcmp(traversal, traversals[t]) == 0) {
            v->choice.traversal = (rd_traversal)t;
            return true;
        }
    return false;
}

int rd_findings_read(rd_ctx *ctx, rd_findings *f, const char *text)
{
    rd_found found;

    for (int n = 1; *text; n++) {
        const char *end = strchr(text, '\n');

        if (*text != '\n' && (!read_line(text, &found) || !rd_findings_put(ctx, f, &found)))
            return n;
        text = end ? end + 1 : text + strlen(text);
    }
    return 0;
}

static void scale_text(rd_text *text, const char *what, int shift)
{
    if (shift)
        rd_text_add(text, shift > 0 ? ", %s x%d" : ", %s x1/%d", what,
                    1 << (shift > 0 ? shift : -shift));
}

void rd_choice_text(rd_text *text, const rd_choice *choice)
{
    rd_text_add(text, "%s", traversals[choice->traversal]);
    scale_text(text, "panels", choice->panel);
    scale_text(text, "tiles", choice->tile);
    rd_text_add(text, "%s", choice->alone ? ", 1 thread" : "");
}
