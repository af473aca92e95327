/* threads.h - how many threads of OpenMP's may be asked for, without harm to the program. */
#ifndef RD_CORE_THREADS_H
#define RD_CORE_THREADS_H
#include <stdbool.h>

/* More than processors have, and few enough for the records of their tasks. */
enum { RD_MOST_THREADS = 1024 };

/* How many of that number of threads can start, 1 or more.  It is 1 in the child of a fork whose parent
 * may have had a team. */
int rd_threads_startable(int threads);
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
