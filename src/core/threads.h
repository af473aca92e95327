/* threads.h - how many threads of OpenMP's may be asked for, without harm to the program. */
#ifndef RD_CORE_THREADS_H
#define RD_CORE_THREADS_H
#include <stdbool.h>

/* More than processors have, and few enough for the records of their tasks. */
enum { RD_MOST_THREADS = 1024 };

/* How many of that number of threads can start, 1 or more.  It is 1 in the child of a fork whose parent
 * may have had a team. */
int rd_threads_startable(int threads);
/* Is it time to start a team of so many for a run of so many operations?  Starting one takes about a
 * millisecond.  So a thread first works alone for as long; a team that is there is used at once. */
bool rd_threads_are_due(int threads, double operations);
/* A compiler or the like begins to work beside evaluations, or ends: for half a second at most one
 * processor is left to it, and fewer threads than were wanted do the rest. */
void rd_threads_leave_one(bool leave);
int  rd_threads_left(int threads);
/* The most that OpenMP gives to this process (OMP_THREAD_LIMIT), and this release to an evaluation. */
int rd_threads_allowed(void);

/* The calling thread's record of the threads that it has started. */
typedef struct rd_threads {
    int  started; /* the most that were there at the same time, itself too  */
    bool few;     /* more were asked for                                    */
    bool alone;   /* it is a fork's, and may have had some before           */
} rd_threads;
rd_threads rd_threads_seen(void);
#endif
