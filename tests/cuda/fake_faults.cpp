/* fake_faults.cpp - functions that fail on demand: RDIM_FAKE_FAIL, fake_fail().  A part of all files,
 * which are not linked with each other. */
#include "fake.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

namespace
{
struct counter {
    int                calls = 0;
    std::map<int, int> errors; /* by number of the call */
};
std::mutex                     guard;
std::map<std::string, counter> counters;

bool is_ours(const std::string &function)
{
    for (int i = 0; fake::functions[i]; i++)
        if (function == fake::functions[i])
            return true;
    return false;
}

/* RDIM_FAKE_FAIL="cuMemAlloc_v2:3=2,nvrtcCompileProgram:1=6"; what is of no function here is for
 * another file. */
bool read_orders()
{
    const char *text = getenv("RDIM_FAKE_FAIL");
    char        name[80];
    int         call, error, n;

    while (text && sscanf(text, "%79[^:]:%d=%d%n", name, &call, &error, &n) == 3) {
        if (is_ours(name))
            counters[name].errors[call] = error;
        text += n;
        text += *text == ',';
    }
    return true;
}

void read_orders_once()
{
    static const bool done = read_orders();
    (void)done;
}
} // namespace

int fake::fault(const char *function)
{
    const std::lock_guard<std::mutex> lock(guard);

    read_orders_once();
    counter &c = counters[function];
    c.calls++;
    const auto order = c.errors.find(c.calls);
    return order == c.errors.end() ? 0 : order->second;
}

int fake_fail(const char *function, int call, int error)
{
    const std::lock_guard<std::mutex> lock(guard);

    read_orders_once();
    if (call == 0)
        for (auto &c : counters)
            c.second.errors.clear();
    if (call == 0)
        return 0;
    if (!is_ours(function))
        return -1;
    counter &c               = counters[function];
    c.errors[c.calls + call] = error;
    return 0;
}

int fake_calls(const char *function)
{
    const std::lock_guard<std::mutex> lock(guard);

    return is_ours(function) ? counters[function].calls : -1;
}
