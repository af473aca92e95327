/* env_snapshot.h - what the environment says to who compiles.
 *
 * A program may call setenv() while no other thread of its own reads the environment, and does not
 * know of our thread: so that is read where a plan is made, on the caller's thread, and the thread
 * that compiles has a copy.  The copy is the compiler's whole environment, too: variables such as
 * CPATH, GCC_COMPARE_DEBUG and CCC_OVERRIDE_OPTIONS would change what it makes of a text. */
#ifndef RD_KERNELS_CPU_JIT_ENV_SNAPSHOT_H
#define RD_KERNELS_CPU_JIT_ENV_SNAPSHOT_H

typedef struct rd_env_snapshot rd_env_snapshot;

/* As they are now.  They stay for the life of the process, and are the same ones until something in
 * them changes.  NULL: no memory. */
const rd_env_snapshot *rd_env_snapshot_now(void);
/* RDIM_CC, PATH, HOME and so on, see the file; NULL: not set, not of those, or no surroundings. */
const char *rd_env_snapshot_get(const rd_env_snapshot *s, const char *name);
/* All of them as an environment; ends with NULL. */
char *const *rd_env_snapshot_all(const rd_env_snapshot *s);
#endif
