/* auto.c - decides whether AUTO takes a GPU for data in host memory.
 *
 * It compares two predicted times, by measured rates of both sides:
 *
 *     here  = sum over stages of max(bytes / memory, operations / speed)
 *     there = the same by the GPU's rates, and START for each stage,
 *             + bytes of leaves / bus + bytes of results / bus
 *
 * GPU kernels visit elements that a mask leaves out; loops on the CPU do not.  Copies and
 * kernels do not overlap, as in a run.  A sum over an array stays on the CPU, because the bus is
 * slower than memory.  A sum over pairs of points copies n and computes n^2, so it goes to the
 * GPU from some thousand points on.  Both sides are estimates within a factor of two, so the GPU
 * must be twice as fast.
 *
 * Work stays on the CPU if it takes less than LEAST, does not fit on the GPU, or has users'
 * functions or reducers of unknown cost.  Products by a library stay, too, as their last bits
 * would change. */
#include "eval/auto.h"

static const double LEAST = 2e-3;  /* seconds; less is not worth the driver's calls */
static const double START = 20e-6; /* seconds: one to three kernels, and waiting for them */
/* how many times faster the GPU must be, as these are estimates */
static const double MARGIN = 2;
static const double ROOM   = 0.5; /* share of the GPU's memory that data may take */
/* Share of peak speed that a kernel's inner loop reaches, beside loads and addresses. */
static const double SHARE = 0.5;

/* The greater of two times. */
static double greater(double a, double b)
{
    return a > b ? a : b;
}

/* True if operations or steps of reductions compute with elements of 8 bytes, which run at half
 * the speed. Merges in combine trees alone do not count. */
static bool is_wide(const rd_program *p)
{
    bool wide = false;

    for (int32_t i = 0; i < p->n_inst; i++)
        wide |= (p->inst[i].kind == RD_I_MAP || p->inst[i].kind == RD_I_STEP) &&
                rd_dtype_size(p->inst[i].type) == 8;
    return wide;
}

/* Predicted seconds of a program on this processor (roofline): of its bytes or of its operations,
 * whichever takes longer. */
static double seconds_here(const rd_rates *r, const rd_program *p, const rd_work *cost)
{
    const double speed = is_wide(p) ? r->operations / 2 : r->operations;

    return greater((cost->read + cost->written) / r->memory, cost->additions / speed);
}

/* Predicted seconds of a program on the GPU: its start (kernel launches), then its bytes or
 * operations, whichever takes longer. */
static double seconds_there(const rd_rates *r, const rd_program *p, const rd_work *cost)
{
    const double speed = SHARE * (is_wide(p) ? r->device.doubles : r->device.floats);

    return START +
           greater((cost->read + cost->written) / r->device.memory, cost->additions / speed);
}

/* True if there is a user's reducer. It may call C functions, which a GPU has in a version of its
 * own, so its time there is not known. */
static bool has_user(const rd_program *p)
{
    bool found = false;

    for (int32_t k = 0; k < p->n_fold; k++)
        found |= p->fold[k].user != NULL;
    return found;
}

/* True if a program's time is not predicted: it has a user's function or reducer, or a library
 * computes it. */
static bool is_unknown(const rd_program *p, const rd_work *cost)
{
    return cost->calls > 0 || has_user(p) || rd_backend_cpu.library(p);
}

/* Compares the predicted times of n programs on both sides, copies of leaves and results included,
 * and decides whether AUTO takes the GPU: only if it is twice as fast (MARGIN) and its memory
 * suffices. `cost` leaves out what masks bound, as loops here do; `all` counts it, as GPU
 * kernels do. Sizes of slots are of what programs touch; arrays between stages are not copied. */
rd_auto_choice rd_auto_verdict(const rd_rates *rates, int n, const rd_program *p, int n_slot,
                               const rd_slot *slot)
{
    rd_auto_choice v     = { .here = 0 };
    double         bytes = 0;
    bool           stays = false; /* on this processor in any case */

    for (int s = 0; s < n; s++) {
        const rd_work cost = rd_program_work(&p[s], /*bounded=*/true),
                      all  = rd_program_work(&p[s], /*bounded=*/false);

        v.here += seconds_here(rates, &p[s], &cost);
        v.there += seconds_there(rates, &p[s], &all);
        stays |= is_unknown(&p[s], &cost);
    }
    for (int s = 0; s < n_slot; s++) {
        const double span = (double)rd_slot_span(n, p, s, &slot[s]);

        bytes += span;
        if (slot[s].kind == RD_SLOT_OUTPUT)
            v.copies += span / rates->device.down;
        else if (slot[s].kind != RD_SLOT_ARRAY)
            v.copies += span / rates->device.up;
    }
    v.there += v.copies;
    v.takes =
        !stays && v.here > LEAST && v.here > MARGIN * v.there && bytes < ROOM * rates->device.room;
    return v;
}

/* True if the programs are predicted to take longer than LEAST on this processor, so that
 * measuring the GPU's rates may pay off. Programs whose time is not predicted count as 0. */
bool rd_auto_is_worth_asking(int n, const rd_program *p)
{
    double seconds = 0;

    for (int s = 0; s < n; s++) {
        const rd_work cost = rd_program_work(&p[s], /*bounded=*/true);

        seconds += is_unknown(&p[s], &cost)
                       ? 0
                       : rd_backend_cpu.seconds(&p[s], &cost, RD_FORM_TILES, NULL, /*threads=*/1);
    }
    return seconds > LEAST;
}

/* Writes a time: "1.2 ms". */
static void time_text(rd_text *text, double seconds)
{
    rd_text_add(text, "%.3g ms", 1e3 * seconds);
}

/* Writes an estimate: "about 1.2 ms there, 0.9 ms of it copies; 3.4 ms here". */
void rd_verdict_text(rd_text *text, const rd_auto_choice *verdict)
{
    rd_text_add(text, "about ");
    time_text(text, verdict->there);
    rd_text_add(text, " there, ");
    time_text(text, verdict->copies);
    rd_text_add(text, " of it copies; ");
    time_text(text, verdict->here);
    rd_text_add(text, " here");
}
