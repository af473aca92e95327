/* alternatives.h - a choice between schedules that give the same bits: the one with the least
 * price is taken.
 *
 * Where prices are not good enough yet, or where asking would take longer than it saves, a rule
 * chooses.  The rule is noted here, too, so that explain tells all choices in one way. */
#ifndef RD_KERNELS_LOOP_ALTERNATIVES_H
#define RD_KERNELS_LOOP_ALTERNATIVES_H
#include "core/text_buffer.h"
#include <stdint.h>

/* One alternative.  `what` is for the caller: an axis, a number of threads. */
typedef struct rd_alternative {
    const char *name; /* "strips along axis"; a number follows if `numbered` */
    double      ns;   /* its price; NAN: it has none                          */
    int32_t     what;
    bool        numbered;
} rd_alternative;

enum { RD_MOST_ALTERNATIVES = 8 };
typedef struct rd_alternatives {
    const char    *rule; /* that took one; NULL: prices did */
    int32_t        n, taken;
    rd_alternative at[RD_MOST_ALTERNATIVES];
} rd_alternatives;

/* Adds an alternative.  When there is no room, the most expensive one is dropped. */
void rd_offer(rd_alternatives *a, rd_alternative one);
/* Takes the cheapest alternative; the first one of equal prices, or of those without a price. */
const rd_alternative *rd_take_cheapest(rd_alternatives *a);
/* Takes alternative k by a rule, whatever the prices; rd_take_unless_dear() takes the cheapest
 * if it is so many times cheaper. */
const rd_alternative *rd_take_by_rule(rd_alternatives *a, int32_t k, const char *rule);
const rd_alternative *rd_take_unless_dear(rd_alternatives *a, int32_t k, const char *rule,
                                          double times);

/* "strips along axis 1, 12 us; not strips along axis 0, 30 us; not element by element, 77 us" */
void rd_alternatives_text(rd_text *text, const rd_alternatives *a);
#endif
