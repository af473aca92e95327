/* mapped.c - the list of large mapped files, one for the whole process. */
#define _DEFAULT_SOURCE /* madvise() */
#include "expr/mapped.h"
#include "core/machine_memory.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static rd_mapped      *files;

/* Takes the lock of the list of files. */
static void lock_list(void)
{
    pthread_mutex_lock(&lock);
}

/* Releases the lock of the list of files. */
static void unlock_list(void)
{
    pthread_mutex_unlock(&lock);
}

/* Lets fork() take the lock of the list, and both processes release it.  Otherwise a child might
 * inherit it from a thread that the child does not have. */
static void watch_forks(void)
{
    (void)pthread_atfork(lock_list, unlock_list, unlock_list);
}

/* True if a mapped file takes over a quarter of memory: only its pages are given back during a run.
 * Pages of smaller files stay, as the next evaluation may read them. */
static bool is_large(size_t bytes)
{
    return (int64_t)bytes > rd_machine_memory() / 4;
}

/* Fills in the entry of a mapped file; a large one is added to the list. */
void rd_mapped_add(rd_mapped *file, void *at, size_t bytes)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    *file = (rd_mapped){ .at = at, .bytes = bytes };
    if (!is_large(bytes))
        return;
    pthread_once(&once, watch_forks);
    lock_list();
    file->next = files;
    file->link = &files;
    if (files)
        files->link = &file->next;
    files = file;
    unlock_list();
}

/* Removes a file from the list before it is unmapped. link NULL: the file is small, and not in the
 * list. */
void rd_mapped_remove(rd_mapped *file)
{
    if (!file->link)
        return;
    lock_list();
    *file->link = file->next;
    if (file->next)
        file->next->link = file->link;
    unlock_list();
}

/* True if any of the addresses lies in the file; a difference below 0 becomes a large unsigned
 * number. */
static bool has_address(const rd_mapped *file, int n, void *const *address)
{
    for (int k = 0; k < n; k++)
        if ((uintptr_t)address[k] - (uintptr_t)file->at < file->bytes)
            return true;
    return false;
}

/* Gives back the pages of the large files that hold any of these addresses.  Other threads may read
 * them: the pages are then read again, from the page cache or the file. */
void rd_mapped_give_back(int n, void *const *address)
{
    lock_list();
    for (rd_mapped *file = files; file; file = file->next)
        if (has_address(file, n, address))
            (void)madvise(file->at, file->bytes, MADV_DONTNEED);
    unlock_list();
}
