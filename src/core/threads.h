/* threads.h - how many OpenMP threads may be requested without harm to the program. */
#ifndef RD_CORE_THREADS_H
#define RD_CORE_THREADS_H
#include <stdbool.h>

/* More than processors have, and few enough for the records of their tasks. */
enum { RD_MOST_THREADS = 1024 };

/* How many of that number of threads can start, at least 1.  Always 1 in the child of a fork
 * that may have had a team. */
int rd_threads_startable(int threads);
/* True if it is time to start a team for a run of so many operations.  Starting takes about a
 * millisecond, so a thread first does as much work alone; an existing team is used at once. */
bool rd_threads_are_due(int threads, double operations);
/* rd_threads_leave_one(): a compiler or the like begins or ends to work beside evaluations.
 * rd_threads_left(): the threads that remain for an evaluation; for half a second at most, one
 * processor is left to the compiler. */
void rd_threads_leave_one(bool leave);
int  rd_threads_left(int threads);
/* The most threads of an evaluation: of OpenMP for this process (OMP_THREAD_LIMIT), and of this
 * release. */
int rd_threads_allowed(void);

/* The calling thread's record of threads that it started. */
typedef struct rd_threads {
    int  started; /* most that existed at once, itself included */
    bool few;     /* more were asked for */
    bool alone;   /* this is the child of a fork that may have had a team */
} rd_threads;
rd_threads rd_threads_seen(void);
#endif
