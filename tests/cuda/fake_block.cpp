/* fake_block.cpp - threads of a kernel's blocks, one after the other on the thread that launches.
 *
 * A fibre runs one thread of the kernel after the other until one waits; that one keeps the fibre,
 * and another goes on with those that have not begun.  So a kernel without barriers is a plain
 * loop, on one stack.  Threads that wait go on when all are there that they wait for.
 *
 * Several blocks may be at work, each in a slot: one goes on until all of its threads wait. */
#include "fake_fibres.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace
{
enum phase { READY, WAITS_WARP, WAITS_BLOCK, WAITS_WORD, DONE };

typedef const volatile unsigned long long *word_at;

struct thread {
    phase         state;
    fake::fibre  *on; /* while it waits */
    unsigned      mask;
    bool          orders; /* memory, too: __syncwarp() */
    int           line;
    unsigned char value[EMU_VALUE];
    word_at       word; /* until that is not 0 */
};

struct block {
    emu_host              host;
    std::vector<thread>   threads;
    std::vector<unsigned> order;
    size_t                begun;                             /* of `order` */
    bool                  moved;                             /* since somebody looked */
    unsigned char         given[EMU_MAX_THREADS][EMU_VALUE]; /* values of those that met */
    unsigned              arrived[EMU_MAX_THREADS];          /* the mask of those        */
};

const fake::launch *what;
block               blocks[EMU_SLOTS];
block              *now; /* the one whose threads run */

void select(unsigned t)
{
    emu_host     &host = now->host;
    const emu_dim n    = host.n_threads;

    host.linear  = t;
    host.thread  = { t % n.x, t / n.x % n.y, t / n.x / n.y };
    host.given   = &now->given[t / EMU_WARP * EMU_WARP];
    host.arrived = now->arrived[t];
}

[[noreturn]] void run_threads()
{
    fake::fibre_arrive();
    for (;;) {
        while (now->begun < now->order.size() && fake::block_failure.empty()) {
            const unsigned t = now->order[now->begun++];
            select(t);
            what->kernel->run(what->arguments);
            now->threads[t].state = DONE;
            now->moved            = true;
        }
        fake::fibre_rest();
    }
}

/* ---- What a thread asks ------------------------------------------------------------------------ */
std::string where()
{
    const emu_host &host = now->host;
    char            text[200];

    snprintf(text, sizeof text, "%s, block (%u, %u, %u), thread (%u, %u, %u)", what->name,
             host.block.x, host.block.y, host.block.z, host.thread.x, host.thread.y, host.thread.z);
    return text;
}

void wait(phase how, int line)
{
    const unsigned t = now->host.linear;

    now->threads[t].state = how;
    now->threads[t].on    = fake::current_fibre;
    now->threads[t].line  = line;
    fake::fibre_leave();
    select(t);
}

void wait_block(int line)
{
    wait(WAITS_BLOCK, line);
}

void wait_warp(unsigned mask, const void *value, unsigned bytes, bool orders, int line)
{
    thread &self = now->threads[now->host.linear];

    self.mask   = mask;
    self.orders = orders;
    if (value)
        memcpy(self.value, value, bytes);
    wait(WAITS_WARP, line);
}

/* Another block's thread will have written it. */
void wait_word(word_at word, int line)
{
    if (*word)
        return;
    now->threads[now->host.linear].word = word;
    wait(WAITS_WORD, line);
}

void race(const char *array, unsigned index, const char *how, unsigned other)
{
    enum { ENOUGH = 3 };

    if (fake::block_races++ < ENOUGH)
        fake::report("race: " + where() + " " + how + " thread " + std::to_string(other) + ": " +
                     array + "[" + std::to_string(index) + "], no barrier in between");
}

[[noreturn]] void outside(const char *array, long long index, unsigned n)
{
    static char why[200];

    snprintf(why, sizeof why, "index %lld of %s[%u]", index, array, n);
    fake::block_give_up(why);
}

/* For those who wait for another thread by looking: all others go first. */
void yield()
{
    wait(READY, 0);
}

/* ---- One block --------------------------------------------------------------------------------- */
void fail(const std::string &why)
{
    const emu_host &host = now->host;

    if (fake::block_failure.empty())
        fake::block_failure = std::string(what->name) + ", block (" + std::to_string(host.block.x) +
                              ", " + std::to_string(host.block.y) + ", " +
                              std::to_string(host.block.z) + "): " + why;
}

std::string meet(unsigned a, unsigned b)
{
    return "threads " + std::to_string(a) + " and " + std::to_string(b) + " wait at lines " +
           std::to_string(now->threads[a].line) + " and " + std::to_string(now->threads[b].line);
}

/* Those of one mask, if they are all there. */
void release_group(unsigned first, unsigned end, unsigned mask)
{
    std::vector<thread> &threads = now->threads;
    emu_host            &host    = now->host;
    unsigned             here = 0, epoch = 0;
    int                  some = -1;

    for (unsigned t = first; t < end; t++)
        if (threads[t].state == WAITS_WARP && threads[t].mask == mask) {
            here |= 1u << (t - first);
            epoch = epoch > host.warp_epoch[t] ? epoch : host.warp_epoch[t];
            if (some >= 0 && threads[t].line != threads[(unsigned)some].line)
                return fail(meet((unsigned)some, t) + " of one warp");
            some = (int)t;
        }
    const unsigned all = end - first < 32 ? (1u << (end - first)) - 1 : ~0u;
    if ((here & mask) != (mask & all))
        return;
    if (here & ~mask)
        return fail("a thread waits by a mask that it is not in, line " +
                    std::to_string(threads[(unsigned)some].line));
    for (unsigned t = first; t < end; t++)
        if (here >> (t - first) & 1) {
            threads[t].state = READY;
            now->arrived[t]  = here;
            memcpy(now->given[t], threads[t].value, EMU_VALUE);
            host.warp_epoch[t] = threads[t].orders ? epoch + 1 : host.warp_epoch[t];
            now->moved         = true;
        }
}

void release_warps()
{
    const std::vector<thread> &threads = now->threads;
    const unsigned             n       = (unsigned)threads.size();

    for (unsigned first = 0; first < n; first += EMU_WARP) {
        const unsigned end = first + EMU_WARP < n ? first + EMU_WARP : n;
        for (unsigned t = first; t < end; t++)
            if (threads[t].state == WAITS_WARP)
                release_group(first, end, threads[t].mask);
    }
}

void release_words()
{
    for (thread &t : now->threads)
        if (t.state == WAITS_WORD && *t.word) {
            t.state    = READY;
            now->moved = true;
        }
}

/* All or none, and all at the same barrier. */
void release_block()
{
    std::vector<thread> &threads = now->threads;

    for (thread &t : threads)
        if (t.state != WAITS_BLOCK)
            return;
    for (unsigned t = 1; t < threads.size(); t++)
        if (threads[t].line != threads[0].line)
            return fail(meet(0, t));
    for (thread &t : threads)
        t.state = READY;
    now->host.epoch++;
    now->moved = true;
}

bool all_done()
{
    for (const thread &t : now->threads)
        if (t.state != DONE)
            return false;
    return true;
}

/* The line at which a thread waits for a word; 0: none does. */
int waits_for_word()
{
    for (const thread &t : now->threads)
        if (t.state == WAITS_WORD)
            return t.line;
    return 0;
}

void fail_stuck()
{
    const std::vector<thread> &threads = now->threads;
    std::string                why     = "threads wait for each other:";
    int                        n       = 0;

    for (unsigned t = 0; t < threads.size() && n < 3; t++)
        if (threads[t].state != DONE && ++n)
            why += " " + std::to_string(t) + " at line " + std::to_string(threads[t].line);
    for (unsigned t = 0; t < threads.size(); t++)
        if (threads[t].state == DONE)
            return fail(why + ", and thread " + std::to_string(t) + " has ended");
    fail(why);
}

/* Those that have not begun, then those that were let go on. */
void advance()
{
    while (now->begun < now->order.size() && fake::block_failure.empty())
        fake::fibre_enter(fake::fibre_take(run_threads));
    for (size_t i = 0; i < now->order.size() && fake::block_failure.empty(); i++) {
        thread &t = now->threads[now->order[i]];
        if (t.state == READY && t.on) {
            fake::fibre *const on = t.on;
            t.on                  = nullptr;
            now->moved            = true;
            fake::fibre_enter(on);
        }
    }
}

void go_to(unsigned slot)
{
    now        = &blocks[slot];
    *what->now = &now->host;
}
} // namespace

std::string fake::block_failure;
int         fake::block_races;

void fake::block_give_up(const char *why)
{
    if (block_failure.empty())
        block_failure = where() + ": " + why;
    fibre_leave();
    abort();
}

void fake::block_begin(const launch &l)
{
    const emu_dim n = l.threads;

    what = &l;
    for (unsigned slot = 0; slot < EMU_SLOTS; slot++) {
        emu_host &host = blocks[slot].host;

        host            = {};
        host.slot       = slot;
        host.n_threads  = n;
        host.n_blocks   = l.blocks;
        host.shared     = l.shared;
        host.wait_block = wait_block;
        host.wait_warp  = wait_warp;
        host.wait_word  = wait_word;
        host.race       = race;
        host.outside    = outside;
        host.give_up    = fake::block_give_up;
        host.yield      = yield;
        blocks[slot].threads.assign((size_t)n.x * n.y * n.z, {});
    }
    go_to(0);
    block_failure = "";
    block_races   = 0;
}

void fake::block_start(unsigned slot, unsigned index, const std::vector<unsigned> &order)
{
    static unsigned serial;

    go_to(slot);
    emu_host     &host = now->host;
    const emu_dim n    = host.n_blocks;

    host.block        = { index % n.x, index / n.x % n.y, index / n.x / n.y };
    host.block_serial = ++serial;
    host.epoch        = 1;
    now->order        = order;
    now->begun        = 0;
    for (thread &t : now->threads)
        t.state = READY, t.on = nullptr;
}

fake::progress fake::block_go_on(unsigned slot)
{
    go_to(slot);
    now->moved = false;
    release_words();
    advance();
    if (all_done() || !block_failure.empty())
        return ENDED;
    release_warps();
    release_block();
    if (now->moved)
        return MOVED;
    if (!waits_for_word()) {
        fail_stuck();
        return ENDED;
    }
    return WAITS;
}

void fake::block_waits_for_ever(unsigned slot)
{
    go_to(slot);
    fail("it waits for a word that no block leaves, line " + std::to_string(waits_for_word()));
}
