/* speed.c - a rough prediction of a program's time, the same on every machine. */
#include "kernels/cpu/speed.h"
#include "core/caches.h"
#include "kernels/cpu/cpu.h"

/* Returns the lesser of two numbers. */
static double minimum(double a, double b)
{
    return a < b ? a : b;
}

/* Returns the bytes of the widest type that the program computes with. */
static int widest_type(const rd_program *p)
{
    int widest = 4;

    for (int32_t i = 0; i < p->n_inst; i++)
        if (p->inst[i].kind == RD_I_MAP || p->inst[i].kind == RD_I_STEP)
            widest =
                rd_dtype_size(p->inst[i].type) > widest ? rd_dtype_size(p->inst[i].type) : widest;
    return widest;
}

/* Predicts the seconds of computing on one thread: operations of vectors, calls one by one, and the
 * slow part element by element. RD_VECTOR_SPEED is for f32 in vectors of 64 bytes, so wider types
 * and narrower vectors are slower in proportion. cost->additions counts all operations as so many
 * additions; RD_NS_... are nanoseconds of one element or instruction; `slow` is the slow part, NULL
 * or without a name: there is none. */
static double seconds_of_operations(const rd_program *p, const rd_work *cost, rd_form_kind kind,
                                    const rd_slow *slow)
{
    const double scale = (double)rd_cpu_vector() / 64 * 4 / widest_type(p);
    const double speed = (kind == RD_FORM_PRODUCT ? RD_PRODUCT_SPEED : RD_VECTOR_SPEED) * scale;
    const double calls = 1e-9 * RD_NS_CHAIN * cost->calls;

    if (kind == RD_FORM_REFERENCE)
        return 1e-9 *
               (RD_NS_INTERPRETED * cost->instructions + RD_NS_SCANNED_INTERPRETED * cost->scanned);
    return calls + cost->additions / speed +
           (slow && slow->what[0] ? 1e-9 * slow->each * slow->elements : 0);
}

/* Predicts the seconds of memory traffic of so many threads: from a cache if all of it fits there.
 * Threads share the memory's speed (RD_MEMORY_SPEED_ALL), but have caches of their own. */
static double seconds_of_memory(const rd_work *cost, int threads)
{
    const double bytes = cost->read + cost->written;

    return bytes / (bytes <= (double)RD_CACHED_BYTES
                        ? RD_CACHE_SPEED * threads
                        : minimum(RD_MEMORY_SPEED * threads, RD_MEMORY_SPEED_ALL));
}

/* Predicts the seconds of a program in a form of execution: the longer of computing and memory
 * traffic.  `slow` is its slow part; NULL: none. */
double rd_cpu_seconds(const rd_program *p, const rd_work *cost, rd_form_kind kind,
                      const rd_slow *slow, int threads)
{
    const double operations = seconds_of_operations(p, cost, kind, slow) / threads,
                 memory     = seconds_of_memory(cost, threads);

    return operations > memory ? operations : memory;
}

/* Returns the assumed speeds in words, for explain. */
const char *rd_cpu_speeds(void)
{
    return "memory 20 GB/s a thread and 40 in all, caches 60, vectors 16 additions/ns, "
           "element by element 1 to 50 ns each";
}
