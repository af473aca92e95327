/* fake_clock.cpp - a clock for each device, which goes on as work is done there.
 *
 * A kernel takes 2 us, and a thousandth of what this processor took for it; copies go at the rates of
 * a bus and of a memory.  Tests that want other times, and the same ones each time, say so. */
#include "fake_driver.h"
#include <chrono>

namespace
{
double        now[fake::MAX_DEVICES];
double        bus = 25e9, memory = 1e12; /* bytes a second */
fake_seconds *asked;                     /* of a kernel */
const double  START = 2e-6, AS_FAST = 1000;
} // namespace

void fake_clock(fake_seconds *kernel, double bus_rate, double memory_rate)
{
    const std::lock_guard<std::recursive_mutex> lock(fake::guard);

    asked  = kernel;
    bus    = bus_rate;
    memory = memory_rate;
}

double fake::clock_now(int device)
{
    return now[device];
}

double fake::processor_now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

void fake::clock_kernel(int device, const launch &l, double processor)
{
    const unsigned blocks  = l.blocks.x * l.blocks.y * l.blocks.z,
                   threads = l.threads.x * l.threads.y * l.threads.z;

    now[device] += asked ? asked(l.name, blocks, threads) : START + processor / AS_FAST;
}

void fake::clock_copy(int device, size_t bytes, bool by_bus)
{
    now[device] += START + (double)bytes / (by_bus ? bus : memory);
}
