/* emu_host.h - what a kernel compiled for this processor and the driver that runs it know of each
 * other.  Stands in front of kernels, so it includes nothing. */
#ifndef RD_TESTS_CUDA_EMU_HOST_H
#define RD_TESTS_CUDA_EMU_HOST_H

enum { EMU_MAX_THREADS = 1024, EMU_WARP = 32, EMU_VALUE = 16, EMU_SHARED = 227 << 10 };
/* Blocks that are at work at the same time. */
enum { EMU_SLOTS = 4 };

struct emu_dim {
    unsigned x, y, z;
};

/* The thread that runs, and what it may ask the driver. */
struct emu_host {
    emu_dim  thread, block, n_threads, n_blocks;
    unsigned shared;                      /* bytes that the launch asks for */
    unsigned slot;                        /* of the block, of EMU_SLOTS                   */
    unsigned linear;                      /* the thread's number in its block             */
    unsigned block_serial;                /* one of all blocks of all launches            */
    unsigned epoch;                       /* barriers that the block has passed, from 1   */
    unsigned warp_epoch[EMU_MAX_THREADS]; /* __syncwarp()s that each thread has passed    */
    void (*wait_block)(int line);
    /* Waits for all threads of the mask.  Each gives a value and finds everybody's in `given`,
     * which holds until it waits again. */
    void (*wait_warp)(unsigned mask, const void *value, unsigned bytes, bool orders, int line);
    unsigned char (*given)[EMU_VALUE]; /* of the warp's 32 threads */
    unsigned arrived;                  /* which of them            */
    /* Waits until another block has left a word, which is then not 0. */
    void (*wait_word)(const volatile unsigned long long *word, int line);
    void (*race)(const char *array, unsigned index, const char *what, unsigned other);
    void (*outside)(const char *array, long long index, unsigned n); /* does not return */
    void (*give_up)(const char *why);                                /* does not return */
    void (*yield)();
};

/* What an object exports as NAME__emu for each kernel NAME, beside the variable emu_now. */
struct emu_kernel {
    void (*run)(void *const *arguments);
    const unsigned *sizes; /* of the arguments */
    int             n;
    int             max_threads; /* __launch_bounds__; 0: none */
};
#endif
