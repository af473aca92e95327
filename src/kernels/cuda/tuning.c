/* tuning.c - the numbers of tuning.def as text, "vector=8,ahead=4", and back. */
#include "kernels/cuda/kernel_choice.h"
#include "kernels/cuda/api.h"
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VALUES = 4 };

/* A row of tuning.def. */
typedef struct tuned {
    const char *name;                /* the field's name */
    size_t      field;               /* offset in rd_cuda_choice */
    int16_t     values[MOST_VALUES]; /* in rising order; 0 ends a shorter list */
} tuned;

static const tuned rows[] = {
#define RD_TUNING(field, ...) { #field, offsetof(rd_cuda_choice, field), { __VA_ARGS__ } },
#include "kernels/cuda/tuning.def"
};
_Static_assert((int)RD_N_TUNED <= (int)RD_MOST_TUNING, "a tuning has room for all rows");

/* Returns the address of the field of *choice that a row of tuning.def names. */
int32_t *rd_cuda_tuned_field(rd_cuda_choice *choice, rd_cuda_tuned row)
{
    return (int32_t *)(void *)((char *)choice + rows[row].field);
}

/* Returns how many values a row of tuning.def may have, and the list of them, which 0 ends if it
 * is short. */
int32_t rd_cuda_tuned_values(rd_cuda_tuned row, const int16_t **values)
{
    int32_t n = 0;

    *values = rows[row].values;
    while (n < MOST_VALUES && rows[row].values[n])
        n++;
    return n;
}

/* ---- Text ------------------------------------------------------------------------------------ */
/* Adds all parameters that can be tuned: "block=128, vector=8 (by rule 16)". The value that the
 * rule gives is shown if it differs. (rule: the parameters for 0 threads, as none of these rows
 * depends on the threads.) */
void rd_cuda_choice_text(rd_text *text, const rd_cuda_choice *choice)
{
    const rd_tuning none  = { { 0 } };
    rd_cuda_choice  rule  = rd_cuda_choose(0, &none);
    rd_cuda_choice  taken = *choice;

    for (rd_cuda_tuned k = 0; k < RD_N_TUNED; k++) {
        const int32_t taken_value = *rd_cuda_tuned_field(&taken, k),
                      rule_value  = *rd_cuda_tuned_field(&rule, k);

        rd_text_add(text, "%s%s=%" PRId32, k ? ", " : "", rows[k].name, taken_value);
        if (taken_value != rule_value)
            rd_text_add(text, " (by rule %" PRId32 ")", rule_value);
    }
}

/* Adds the parameters that a tuning sets, "vector=8,ahead=4"; 0 means that the rule decides. */
void rd_cuda_tuning_text(rd_text *text, const rd_tuning *tuning)
{
    bool first = true;

    for (int k = 0; k < RD_N_TUNED; k++)
        if (tuning->at[k]) {
            rd_text_add(text, "%s%s=%d", first ? "" : ",", rows[k].name, tuning->at[k]);
            first = false;
        }
}

/* ---- Reading --------------------------------------------------------------------------------- */
/* Adds the values that a parameter may have: "2, 4, 8, 16". */
static void values_text(rd_text *text, rd_cuda_tuned row)
{
    const int16_t *values;
    const int32_t  n = rd_cuda_tuned_values(row, &values);

    for (int32_t k = 0; k < n; k++)
        rd_text_add(text, "%s%d", k ? ", " : "", values[k]);
}

/* Writes the error for a word of n characters with an unknown name, with a list of all names.
 * Returns false. */
static bool no_such_name(const char *word, int n, char *why)
{
    rd_text names = { 0 };

    for (int k = 0; k < RD_N_TUNED; k++)
        rd_text_add(&names, "%s%s", k ? ", " : "", rows[k].name);
    snprintf(why, RD_CUDA_TEXT, "\"%.*s\" is no name=number of %s", n < 40 ? n : 40, word,
             names.at ? names.at : "tuning.def");
    rd_text_free(&names);
    return false;
}

/* Writes the error for a word of n characters with a value that its parameter may not have.
 * Returns false. */
static bool no_such_value(rd_cuda_tuned row, const char *word, int n, char *why)
{
    rd_text values = { 0 };

    values_text(&values, row);
    snprintf(why, RD_CUDA_TEXT, "\"%.*s\": %s may be %s", n < 40 ? n : 40, word, rows[row].name,
             values.at ? values.at : "what tuning.def says");
    rd_text_free(&values);
    return false;
}

/* Returns the row of tuning.def that a word such as "ahead=4" names; the word has n characters.
 * RD_N_TUNED: there is none. */
static rd_cuda_tuned row_of(const char *word, int n)
{
    const char *const equals = memchr(word, '=', (size_t)n);
    rd_cuda_tuned     k      = 0;

    while (k < RD_N_TUNED && !(equals && strlen(rows[k].name) == (size_t)(equals - word) &&
                               memcmp(rows[k].name, word, (size_t)(equals - word)) == 0))
        k++;
    return k;
}

/* Reads one word "name=number" of n characters into the tuning.  False: `why` has the error. */
static bool read_word(const char *word, int n, rd_tuning *tuning, char *why)
{
    const rd_cuda_tuned k = row_of(word, n);
    const int16_t      *values;
    char               *end;

    if (k == RD_N_TUNED)
        return no_such_name(word, n, why);
    const int32_t n_value = rd_cuda_tuned_values(k, &values);
    const char   *number  = word + strlen(rows[k].name) + 1;
    const long    asked   = strtol(number, &end, 10);

    for (int32_t v = 0; v < n_value; v++)
        if (asked == values[v] && end == word + n) {
            tuning->at[k] = values[v];
            return true;
        }
    return no_such_value(k, word, n, why);
}

/* Reads a tuning such as "vector=8,ahead=4"; empty words are skipped.  False: `why` has the
 * error. */
bool rd_cuda_tuning_read(const char *text, rd_tuning *tuning, char *why)
{
    *tuning = (rd_tuning){ { 0 } };
    for (const char *at = text; *at; at += *at == ',') {
        const int n = (int)strcspn(at, ",");

        if (n > 0 && !read_word(at, n, tuning, why))
            return false;
        at += n;
    }
    return true;
}
