/* env_snapshot.h - a copy of the environment for threads that compile.
 *
 * A program may call setenv() while no other thread of its own reads the environment, and does
 * not know of our thread. So the environment is read where a plan is made, on the caller's
 * thread, and the thread that compiles has a copy. The copy is the compiler's whole environment,
 * too: variables such as CPATH, GCC_COMPARE_DEBUG and CCC_OVERRIDE_OPTIONS would change what it
 * makes of a text. */
#ifndef RD_KERNELS_CPU_JIT_ENV_SNAPSHOT_H
#define RD_KERNELS_CPU_JIT_ENV_SNAPSHOT_H

typedef struct rd_env_snapshot rd_env_snapshot;

/* Returns the variables as they are now. Snapshots live as long as the process; while no
 * variable changes it is the same one. NULL: no memory. */
const rd_env_snapshot *rd_env_snapshot_now(void);
/* Returns the value of RDIM_CC, PATH, HOME and so on: the list is in env_snapshot.c. NULL: it is
 * not set, not in the list, or there is no snapshot. */
const char *rd_env_snapshot_get(const rd_env_snapshot *s, const char *name);
/* Returns all of them as an environment that ends with NULL. */
char *const *rd_env_snapshot_all(const rd_env_snapshot *s);
#endif
