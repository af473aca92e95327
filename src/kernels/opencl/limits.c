/* limits.c - refuses programs whose kernels would need too much private memory, or too many
 * arguments.
 *
 * An item is one unit of work, done by one thread.  A fold is a reduction or scan; its states
 * are what it has accumulated so far.
 *
 * Words. Scratch is temporary memory of a task. */
#include "core/bytes.h"
#include "kernels/opencl/write_kernels.h"
#include "kernels/print/gpu/kernel.h"
#include <inttypes.h>
#include <stdio.h>

/* Private memory of an item, for which compilers use a stack. */
static const int64_t MOST_PRIVATE = 1 << 17;
/* Numbers and addresses that a kernel takes: every device allows 1024 bytes of arguments. */
enum { MOST_NUMBERS = 120 };

/* Returns the bytes of all states (accumulators) and nodes of the combine tree that an item has
 * in variables. A reduction has its states and node_rows rows of nodes. A scan has its state,
 * its prefix and a result, nodes of `levels`, and the words of a float sum. */
static int64_t variables_of(const rd_schedule *t)
{
    int64_t bytes = 0;

    for (int32_t k = 0; k < t->p->n_fold; k++) {
        const rd_loop_fold *f = &t->fold[k];
        /* states and nodes of a lane */
        const int64_t copies = f->emit.fold->scan ? 3 + f->levels : 1 + t->store[k].node_rows;

        bytes += rd_bytes_times(t->store[k].extent * f->emit.n_state, f->emit.bytes * copies) +
                 rd_bytes_times(t->store[k].extent, f->n_words * (int64_t)sizeof(double));
    }
    return bytes;
}

/* Returns the bytes of an item's states (accumulators) and scratch (temporary memory). Without
 * kernel functions (group-bys) the states are in one block of memory, of which the printer knows
 * the size. */
static int64_t private_bytes(const rd_cl_text *t)
{
    const rd_program *p     = t->print.t->p;
    int64_t           bytes = t->print.kernel ? variables_of(t->print.t) : t->print.state;

    for (int32_t k = 0; k < p->n_scratch; k++)
        bytes += p->scratch_bytes[k];
    return bytes;
}

/* True if an item's states (accumulators) and scratch (temporary memory) fit in private memory. */
bool rd_cl_fits(const rd_cl_text *t)
{
    return private_bytes(t) <= MOST_PRIVATE;
}

/* Writes the reason why a program has no kernels; nothing is written if it may have them. A
 * kernel takes n_number numbers, and for each slot (buffer) a place and the buffer itself. */
void rd_cl_say_why(rd_cl_text *t)
{
    const int64_t bytes = private_bytes(t);

    if (t->print.why)
        snprintf(t->why, sizeof t->why, "%s", t->print.why);
    else if (bytes > MOST_PRIVATE)
        snprintf(t->why, sizeof t->why,
                 "an item would have %" PRId64
                 " bytes of states and scratch, and may have %" PRId64,
                 bytes, MOST_PRIVATE);
    else if (t->print.n_number + 2 * t->print.n_slot > MOST_NUMBERS)
        snprintf(t->why, sizeof t->why, "it has too many different extents and strides");
}
