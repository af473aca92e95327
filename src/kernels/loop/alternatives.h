/* alternatives.h - a choice between schedules: ways to do the same, with the same bits.  The one of the
 * least price is taken.
 *
 * Where no price is good enough yet, or asking would take longer than it saves, a rule takes one.  It
 * does so here too, so that all choices are told in one form. */
#ifndef RD_KERNELS_LOOP_ALTERNATIVES_H
#define RD_KERNELS_LOOP_ALTERNATIVES_H
#include "core/text_buffer.h"
#include <stdint.h>

/* One way.  `what` is for who asks: an axis, a number of threads. */
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

/* Adds one; of more than there is room for the dearest go. */
void rd_offer(rd_alternatives *a, rd_alternative one);
/* Takes the cheapest; of the same price, and of those without one, the first. */
const rd_alternative *rd_take_cheapest(rd_alternatives *a);
/* Takes what a rule says, whatever the prices; unless the cheapest is so many times cheaper. */
const rd_alternative *rd_take_by_rule(rd_alternatives *a, int32_t k, const char *rule);
const rd_alternative *rd_take_unless_dear(rd_alternatives *a, int32_t k, const char *rule,
                                          double times);

/* "strips along axis 1, 12 us; not strips along axis 0, 30 us; not element by element, 77 us" */
void rd_alternatives_text(rd_text *text, const rd_alternatives *a);
#endif
