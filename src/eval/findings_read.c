/* findings_read.c - reads the text of a file of measurements.
 *
 * The text may be long and unsorted. sscanf() scans to the end of its whole argument, and sorted
 * insertion moves all that follows.  So each line becomes a string of its own, and the list is
 * sorted once at the end. */
#include "eval/choice.h"
#include "expr/expr.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Largest log2 of the factor on the bytes of panels or tiles. */
enum { MOST_SHIFT = 8 };

/* Reads a whole word as an int of at most MOST_SHIFT, positive or negative; false: it is none. */
static bool read_int(const char *word, int *value)
{
    char      *end;
    const long n = strtol(word, &end, 10);

    *value = (int)n;
    return end != word && !*end && n >= -MOST_SHIFT && n <= MOST_SHIFT;
}

/* Reads the line of a plan: "KEY greedy panel 2 tile 0 threads any seconds 0.01". %n gives where
 * the line's text ended, which must be all of it. panel and tile are log2 of factors. */
static bool read_line(const char *line, rd_found *v)
{
    char  key[20], traversal[8], panel[8], tile[8], threads[8], seconds[32];
    char *key_end, *seconds_end;
    int   panel_shift, tile_shift, end = 0;

    if (sscanf(line, "%19s %7s panel %7s tile %7s threads %7s seconds %31s%n", key, traversal,
               panel, tile, threads, seconds, &end) != 6 ||
        line[end] != '\0' || !read_int(panel, &panel_shift) || !read_int(tile, &tile_shift) ||
        (strcmp(threads, "1") != 0 && strcmp(threads, "any") != 0))
        return false;
    *v         = (rd_found){ .key = strtoull(key, &key_end, 16) };
    v->seconds = strtod(seconds, &seconds_end);
    v->choice  = (rd_choice){ .panel      = (int8_t)panel_shift,
                              .tile       = (int8_t)tile_shift,
                              .one_thread = strcmp(threads, "1") == 0,
                              .measured   = true };
    if (*key_end || *seconds_end)
        return false;
    return rd_traversal_read(traversal, &v->choice.traversal);
}

/* Reads a whole word as a number above 0; false: it is none. */
static bool read_number(const char *word, double *value)
{
    char *end;

    *value = strtod(word, &end);
    return end != word && !*end && *value > 0;
}

/* Reads the line of a measured kernel: "KEY kernels vector=8,ahead=4 seconds 1.2e-05 by rule
 * 1.5e-05"; false: it is none. `end` must be the line's end. v->of.tuning are the kernel's
 * numbers; "rule" stands for those of the rule. */
static bool read_kernels(const char *line, rd_found *v)
{
    char  key[20], numbers[160], seconds[32], rule[32], why[RD_DEVICE_TEXT];
    char *key_end;
    int   end = 0;

    *v = (rd_found){ .stage = true };
    if (sscanf(line, "%19s kernels %159s seconds %31s by rule %31s%n", key, numbers, seconds, rule,
               &end) != 4 ||
        line[end] != '\0')
        return false;
    v->key = strtoull(key, &key_end, 16);
    return !*key_end && read_number(seconds, &v->of.seconds) && read_number(rule, &v->of.by_rule) &&
           (strcmp(numbers, "rule") == 0 ||
            rd_backend_cuda.device->tuning_read(numbers, &v->of.tuning, why));
}

/* Reads the line of measured rates: "KEY rates up 5e+10 down ... room 1e+11 here memory 4e+10
 * operations 3e+10"; false: it is none. `number` says where each of the 8 goes; the key is
 * hexadecimal, not 0. */
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
        line[end] != '\0')
        return false;
    r->key = strtoull(key, &key_end, 16);
    for (int k = 0; k < 8; k++)
        if (!read_number(word[k], number[k]))
            return false;
    return !*key_end && r->key;
}

/* Reads a line of any kind; false: it is none, or no memory. */
static bool take_line(rd_ctx *ctx, rd_findings *f, const char *line)
{
    rd_found found;
    rd_rates rates;

    if (read_line(line, &found) || read_kernels(line, &found))
        return rd_findings_add(ctx, f, &found);
    if (!read_rates(line, &rates))
        return false;
    f->rates = rates;
    return true;
}

/* Reads all lines of a file of measurements and sorts the list.  Returns the number of the first
 * bad line; 0: none; RD_NOT_SORTED: no memory.  `before` counts the entries that were there,
 * which stay if there is no memory. */
int rd_findings_read(rd_ctx *ctx, rd_findings *f, char *text)
{
    const int32_t before = f->n;
    int           bad    = 0;

    for (int n = 1; *text && !bad; n++) {
        char *const end = text + strcspn(text, "\n"), *const next = end + (*end == '\n');

        *end = '\0';
        if (*text && !take_line(ctx, f, text))
            bad = n;
        text = next;
    }
    return rd_findings_sort(ctx, f, before) ? bad : RD_NOT_SORTED;
}
