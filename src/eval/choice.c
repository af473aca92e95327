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
/* "0123456789abcdef kernels vector=8,ahead=4 seconds 1.2e-05 by rule 1.5e-05"; "rule": no other numbers. */
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

static void rates_text(rd_text *text, const rd_rates *r)
{
    if (r->key)
        rd_text_add(text,
                    "%016" PRIx64 " rates up %.3g down %.3g memory %.3g floats %.3g doubles %.3g "
                    "room %.3g here memory %.3g operations %.3g\n",
                    r->key, r->device.up, r->device.down, r->device.memory, r->device.floats,
                    r->device.doubles, r->device.room, r->memory, r->operations);
}

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
    *v         = (rd_found){ .key = strtoull(key, &key_end, 16) };
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

static bool read_number(const char *word, double *value)
{
    char *end;

    *value = strtod(word, &end);
    return end != word && !*end && *value > 0;
}

/* A line of kernels_text(). */
static bool read_kernels(const char *line, rd_found *v)
{
    char  key[20], numbers[160], seconds[32], rule[32], why[RD_DEVICE_TEXT];
    char *key_end;
    int   end = 0;

    *v = (rd_found){ .stage = true };
    if (sscanf(line, "%19s kernels %159s seconds %31s by rule %31s%n", key, numbers, seconds, rule,
               &end) != 4 ||
        (line[end] != '\n' && line[end] != '\0'))
        return false;
    v->key = strtoull(key, &key_end, 16);
    return !*key_end && read_number(seconds, &v->of.seconds) && read_number(rule, &v->of.by_rule) &&
           (strcmp(numbers, "rule") == 0 ||
            rd_backend_cuda.device->tuning_read(numbers, &v->of.tuning, why));
}

/* A line of rates_text(). */
static bool read_rates(const char *line, rd_rates *r)
{
    double *const number[] = { &r->device.up,     &r->device.down,    &r->device.memory,
                               &r->device.floats, &r->device.doubles, &r->device.room,
                               &r->memory,        &r->operations };
    char          key[20], word[8][32];
    char         *key_end;
    int           end = 0;

    if (sscanf(line,
               "%19s rates up %31s down %31s memory %31s floats %31s doubles %31s room %31s "
               "here memory %31s operations %31s%n",
               key, word[0], word[1], word[2], word[3], word[4], word[5], word[6], word[7],
               &end) != 9 ||
        (line[end] != '\n' && line[end] != '\0'))
        return false;
    r->key = strtoull(key, &key_end, 16);
    for (int k = 0; k < 8; k++)
        if (!read_number(word[k], number[k]))
            return false;
    return !*key_end && r->key;
}

static bool take_line(rd_ctx *ctx, rd_findings *f, const char *line)
{
    rd_found found;
    rd_rates rates;

    if (read_line(line, &found) || read_kernels(line, &found))
        return rd_findings_put(ctx, f, &found);
    if (!read_rates(line, &rates))
        return false;
    f->rates = rates;
    return true;
}

int rd_findings_read(rd_ctx *ctx, rd_findings *f, const char *text)
{
    for (int n = 1; *text; n++) {
        const char *end = strchr(text, '\n');

        if (*text != '\n' && !take_line(ctx, f, text))
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
