/* fake_overlap.cpp - how long the work would take a GPU whose engines each do one thing at a time, beside
 * each other: one copies up, one down, and one runs kernels.
 *
 * A byte is copied in a unit of time, and a kernel takes RDIM_FAKE_KERNEL of them, 0 if it is not
 * set.  What the host does takes no time.  So tests see what runs beside what, and no more. */
#include "fake_driver.h"
#include <algorithm>
using namespace fake;

static long host, busy, engines[MAX_DEVICES][ENGINES];

/* Behind what the stream and the engine have to do already; not before it is asked for. */
void fake::overlap_work(CUstream stream, engine by, long time)
{
    long &free = engines[stream->device][by];

    stream->due = free = std::max({ host, stream->due, free }) + time;
    busy += time;
}

void fake::overlap_wait(long due)
{
    host = std::max(host, due);
}

fake_times fake_overlap(void)
{
    const std::lock_guard<std::recursive_mutex> lock(fake::guard);

    return { host, busy };
}
