/* fake_fibres.h - stacks for a kernel's threads, and the block of threads that runs on them. */
#ifndef RD_TESTS_CUDA_FAKE_FIBRES_H
#define RD_TESTS_CUDA_FAKE_FIBRES_H
#include "fake.h"
#include <vector>

namespace fake
{
/* ---- fake_fibres.cpp ---- */
struct fibre;
extern fibre *current_fibre;
/* One that rests; it runs `body`, which rests in turn and never returns. */
fibre *fibre_take(void (*body)());
/* From the launching thread to a fibre, until that leaves. */
void fibre_enter(fibre *to);
void fibre_leave();
/* The current one has no more to do, and is at a place of its body where it can begin again. */
void fibre_rest();
/* All rest, whatever they were at. */
void fibres_reset();
/* What a body does first. */
void fibre_arrive();

/* ---- fake_block.cpp ---- */
/* Up to EMU_SLOTS blocks of a launch are at work.  start(): the block number `index`, whose threads
 * begin and go on in this order.  go_on(): until all of them wait; ENDED: all have ended, or see
 * block_failure; WAITS: for other blocks. */
enum progress { ENDED, MOVED, WAITS };
void     block_begin(const launch &l);
void     block_start(unsigned slot, unsigned index, const std::vector<unsigned> &order);
progress block_go_on(unsigned slot);
void     block_waits_for_ever(unsigned slot);
/* Of the launch; "": none. */
extern std::string block_failure;
extern int         block_races;
/* The current thread ends where it is, and with it the launch; what is on its stack is lost: `why`
 * is not there, and kernels own nothing. */
[[noreturn]] void block_give_up(const char *why);
} // namespace fake
#endif
