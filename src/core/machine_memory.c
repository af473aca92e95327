/* machine_memory.c - reads the memory size of the system and the limits of control groups, both
 * versions. */
#define _POSIX_C_SOURCE 200809L /* sysconf() */
#include "core/machine_memory.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads a number of bytes from a file of the system; INT64_MAX if there is no such file, or it
 * holds no number above 0, such as "max". */
static int64_t limit_in_file(const char *path)
{
    FILE     *file     = fopen(path, "r");
    char      line[40] = "";
    long long bytes    = 0;

    if (file && fgets(line, sizeof line, file))
        bytes = strtoll(line, NULL, 10);
    if (file)
        fclose(file);
    return bytes > 0 ? bytes : INT64_MAX;
}

/* Returns the memory limit of a control group in bytes, from a line of /proc/self/cgroup:
 * "5:memory:/group" (version 1) or "0::/group" (version 2). INT64_MAX: the line is of another
 * kind, or there is no limit. The line is changed. `kinds` points behind the first colon,
 * `group` behind the second; in version 2 there is nothing between them. */
static int64_t limit_of_group(char *line)
{
    char *kinds = strchr(line, ':'), *group = kinds ? strchr(kinds + 1, ':') : NULL;
    char  path[600];
    bool  second;

    if (!group)
        return INT64_MAX;
    *group++                    = 0;
    group[strcspn(group, "\n")] = 0;
    second                      = !kinds[1];
    if (!second && strcmp(kinds + 1, "memory") != 0)
        return INT64_MAX;
    snprintf(path, sizeof path, "/sys/fs/cgroup%s%.500s/%s", second ? "" : "/memory", group,
             second ? "memory.max" : "memory.limit_in_bytes");
    return limit_in_file(path);
}

/* The smaller of two limits. */
static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Returns the least of the machine's memory and all limits of control groups, in bytes.
 * limit_of_group() is the limit that a line of /proc/self/cgroup leads to. */
static int64_t ask_system(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    int64_t    bytes = pages > 0 && page > 0 ? (int64_t)pages * page : INT64_MAX;
    FILE      *file  = fopen("/proc/self/cgroup", "r");
    char       line[600];

    while (file && fgets(line, sizeof line, file))
        bytes = least(bytes, limit_of_group(line));
    if (file)
        fclose(file);
    /* a container's view of its own group */
    bytes = least(bytes, limit_in_file("/sys/fs/cgroup/memory.max"));
    return least(bytes, limit_in_file("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
}

/* The answer, asked for once; 0: not asked yet. */
static _Atomic(int64_t) known;

/* For tests: sets the memory of the machine; 0: it is asked again. */
void rd_machine_memory_is(int64_t bytes)
{
    atomic_store(&known, bytes);
}

/* Bytes that this process may use, asked once; INT64_MAX: unknown. */
int64_t rd_machine_memory(void)
{
    int64_t bytes = atomic_load(&known);

    if (!bytes)
        atomic_store(&known, bytes = ask_system());
    return bytes;
}

/* True if so many bytes are more than half of the memory.  For less than 16 MB the system is not
 * asked, because reading the files takes longer than a small evaluation. */
bool rd_is_half_of_memory(double bytes)
{
    static const double LITTLE = 16e6;

    if (bytes < LITTLE && !atomic_load(&known))
        return false;
    return bytes > (double)rd_machine_memory() / 2;
}
