/* turns.h - two processes in turn: who started both asks one, then the other, for the time of the same
 * work.  So neighbouring times meet the same machine (bench/replay.py time). */
#ifndef TURNS_H
#define TURNS_H

/** Prints the name on a line of its own, then reads commands, a byte each.  't' runs the work some times
 *  and prints the seconds of one.
 *  @return at 'n'.  At the end of the input the process ends. */
void bench_turns(const char *name, void (*run)(void *self), void *self);
#endif
