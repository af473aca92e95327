/* fake_launch.cpp - all blocks of a launch, in the order that is asked for, and kernels that fault. */
#include "fake_fibres.h"
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

namespace
{
/* ---- Orders ------------------------------------------------------------------------------------ */
std::mt19937 dice;

void arrange(std::vector<unsigned> &list, size_t n)
{
    const char *text = getenv("RDIM_FAKE_ORDER");
    const char  how  = text ? text[0] : 'f';

    list.resize(n);
    for (size_t i = 0; i < n; i++)
        list[i] = (unsigned)(how == 'b' ? n - 1 - i : i);
    for (size_t i = n; how == 'r' && i > 1; i--)
        std::swap(list[i - 1], list[dice() % i]);
}

/* "random:7" begins each launch with 7. */
void shake()
{
    const char *text = getenv("RDIM_FAKE_ORDER"), *seed = text ? strchr(text, ':') : nullptr;

    if (seed)
        dice.seed((unsigned)atoi(seed + 1));
}

/* ---- Accesses that fault ----------------------------------------------------------------------- */
#if defined __SANITIZE_THREAD__
const bool  WATCHED = false; /* it wants handlers to return */
#else
const bool WATCHED = true;
#endif

/* The thread gives up, as a GPU's would, and the launch has failed; a fault of the driver's or the
 * host's own goes to who was there before. */
struct sigaction  before[2];
thread_local bool is_inside;  /* a launch of this thread's */
std::string       last_words; /* beyond the stack that is given up */

void on_fault(int signal, siginfo_t *facts, void *)
{
    if (!is_inside) {
        sigaction(signal, &before[signal == SIGBUS], nullptr);
        return;
    }
    const auto at = (unsigned long long)facts->si_addr;
    char       text[64];
    snprintf(text, sizeof text, "access to address 0x%llx, ", at);
    last_words = text + fake::memory_near(at);
    fake::block_give_up(last_words.c_str());
}

void watch_faults(bool on)
{
    struct sigaction ours = {};

    if (!WATCHED)
        return;
    ours.sa_sigaction = on_fault;
    ours.sa_flags     = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGSEGV, on ? &ours : &before[0], on ? &before[0] : nullptr);
    sigaction(SIGBUS, on ? &ours : &before[1], on ? &before[1] : nullptr);
}
} // namespace

int fake::run(const launch &l)
{
    std::vector<unsigned> blocks, threads;

    block_begin(l);
    shake();
    arrange(blocks, (size_t)l.blocks.x * l.blocks.y * l.blocks.z);
    watch_faults(true);
    is_inside = true;
    for (size_t i = 0; i < blocks.size() && block_failure.empty(); i++) {
        arrange(threads, (size_t)l.threads.x * l.threads.y * l.threads.z);
        block_run(blocks[i], threads);
    }
    is_inside = false;
    watch_faults(false);
    if (block_failure.empty())
        return block_races ? LAUNCH_FAILED : 0;
    fibres_reset(); /* threads were left waiting */
    report(block_failure);
    return ILLEGAL_ADDRESS;
}
