/* alternatives.c - the cheapest of several ways, and what was not taken.
 *
 * Words. A strip is a range of neighbouring indices of one axis, which vector loops visit. */
#include "kernels/loop/alternatives.h"
#include <math.h>

/* ---- Which ----------------------------------------------------------------------------------- */
/* True if `a` has a lower price (ns) than the other. An alternative without a price (NAN) counts
 * as the dearest. */
static bool is_cheaper(const rd_alternative *a, const rd_alternative *than)
{
    return isnan(than->ns) ? !isnan(a->ns) : a->ns < than->ns;
}

/* Returns the number of the dearest alternative; the last one of several that are equal. */
static int32_t most_expensive_of(const rd_alternatives *a)
{
    int32_t found = 0;

    for (int32_t k = 1; k < a->n; k++)
        if (!is_cheaper(&a->at[k], &a->at[found]))
            found = k;
    return found;
}

/* Adds an alternative to the list.  If the list is full, the alternative takes the place of the
 * dearest one, or is dropped if it is dearer itself. */
void rd_offer(rd_alternatives *a, rd_alternative one)
{
    if (a->n < RD_MOST_ALTERNATIVES) {
        a->at[a->n++] = one;
        return;
    }
    const int32_t most_expensive = most_expensive_of(a);

    if (is_cheaper(&one, &a->at[most_expensive]))
        a->at[most_expensive] = one;
}

/* Takes the cheapest alternative, the first one of equals, and notes that no rule chose it. */
const rd_alternative *rd_take_cheapest(rd_alternatives *a)
{
    a->taken = 0;
    for (int32_t k = 1; k < a->n; k++)
        if (is_cheaper(&a->at[k], &a->at[a->taken]))
            a->taken = k;
    a->rule = NULL;
    return &a->at[a->taken];
}

/* Takes alternative k, and notes the rule that chose it whatever the prices are. */
const rd_alternative *rd_take_by_rule(rd_alternatives *a, int32_t k, const char *rule)
{
    a->taken = k;
    a->rule  = rule;
    return &a->at[k];
}

/* Takes alternative k by the rule, unless its price (ns) is more than `times` the least price; then
 * takes the cheapest. Without a price (NAN) it is never too dear. */
const rd_alternative *rd_take_unless_dear(rd_alternatives *a, int32_t k, const char *rule,
                                          double times)
{
    return a->at[k].ns > times * rd_take_cheapest(a)->ns ? &a->at[a->taken]
                                                         : rd_take_by_rule(a, k, rule);
}

/* ---- In words -------------------------------------------------------------------------------- */
/* Writes one alternative with its price: "strips along axis 1, 12 us". `what` is a number to be
 * told if `numbered`, here the axis. Prices from 1e6 ns on are told in milliseconds. */
static void one_text(rd_text *text, const rd_alternative *one)
{
    rd_text_add(text, "%s", one->name);
    if (one->numbered)
        rd_text_add(text, " %d", (int)one->what);
    if (one->ns < 1e6)
        rd_text_add(text, ", %.3g us", 1e-3 * one->ns);
    else if (!isnan(one->ns))
        rd_text_add(text, ", %.3g ms", 1e-6 * one->ns);
}

/* Writes the choice first, then all that was not taken: "strips along axis 1, 12 us; not strips
 * along axis 0, 30 us; by a rule: ..". */
void rd_alternatives_text(rd_text *text, const rd_alternatives *a)
{
    one_text(text, &a->at[a->taken]);
    for (int32_t k = 0; k < a->n; k++)
        if (k != a->taken) {
            rd_text_add(text, "; not ");
            one_text(text, &a->at[k]);
        }
    if (a->rule)
        rd_text_add(text, "; by a rule: %s", a->rule);
}
