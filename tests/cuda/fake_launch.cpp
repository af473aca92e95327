/* fake_launch.cpp - all blocks of a launch, in the order that is asked for, and kernels that fault.
 *
 * Blocks go one after the other; where one waits for another, further ones begin.  In a random
 * order several are at work, and change at barriers. */
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

bool is_random()
{
    const char *text = getenv("RDIM_FAKE_ORDER");

    return text && text[0] == 'r';
}

void mix(std::vector<unsigned> &list)
{
    for (size_t i = list.size(); i > 1; i--)
        std::swap(list[i - 1], list[dice() % i]);
}

void arrange(std::vector<unsigned> &list, size_t n)
{
    const char *text = getenv("RDIM_FAKE_ORDER");
    const char  how  = text ? text[0] : 'f';

    list.resize(n);
    for (size_t i = 0; i < n; i++)
        list[i] = (unsigned)(how == 'b' ? n - 1 - i : i);
    if (is_random())
        mix(list);
}

/* "random:7" begins each launch with 7. */
void shake()
{
    const char *text = getenv("RDIM_FAKE_ORDER"), *seed = text ? strchr(text, ':') : nullptr;

    if (seed)
        dice.seed((unsigned)atoi(seed + 1));
}

/* ---- Blocks ------------------------------------------------------------------------------------ */
std::vector<unsigned> at_work, idle; /* slots  */
std::vector<unsigned> order;         /* blocks */
size_t                begun;         /* of `order` */

/* False: there is no more room, or no more blocks. */
bool begin_block(const fake::launch &l)
{
    std::vector<unsigned> threads;

    if (begun == order.size() || idle.empty())
        return false;
    arrange(threads, (size_t)l.threads.x * l.threads.y * l.threads.z);
    at_work.push_back(idle.back());
    idle.pop_back();
    fake::block_start(at_work.back(), order[begun++], threads);
    return true;
}

/* A block goes on that can; false: all wait. */
bool go_on()
{
    if (is_random())
        mix(at_work);
    for (size_t i = 0; i < at_work.size(); i++) {
        const fake::progress end = fake::block_go_on(at_work[i]);

        if (end == fake::ENDED) {
            idle.push_back(at_work[i]);
            at_work.erase(at_work.begin() + (ptrdiff_t)i);
        }
        if (end != fake::WAITS)
            return true;
    }
    return false;
}

void run_blocks(const fake::launch &l)
{
    const size_t width = is_random() ? EMU_SLOTS : 1;

    at_work.clear();
    idle.clear();
    for (unsigned slot = EMU_SLOTS; slot-- > 0;)
        idle.push_back(slot);
    arrange(order, (size_t)l.blocks.x * l.blocks.y * l.blocks.z);
    begun = 0;
    while (fake::block_failure.empty()) {
        while (at_work.size() < width && begin_block(l))
            ;
        if (at_work.empty())
            return;
        if (!go_on() && !begin_block(l))
            fake::block_waits_for_ever(at_work[0]);
    }
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
    block_begin(l);
    shake();
    watch_faults(true);
    is_inside = true;
    run_blocks(l);
    is_inside = false;
    watch_faults(false);
    if (block_failure.empty())
        return block_races ? LAUNCH_FAILED : 0;
    fibres_reset(); /* threads were left waiting */
    report(block_failure);
    return ILLEGAL_ADDRESS;
}
