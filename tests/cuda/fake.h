/* fake.h - the parts of the fake driver, and what it shares with the fake NVRTC.
 *
 * Environment, beside RDIM_LIBCUDA, RDIM_LIBNVRTC and RDIM_LIBCUBLAS, by which the library finds the
 * files:
 *     RDIM_FAKE_ORDER    of threads and blocks: forward, backward, random, random:SEED
 *     RDIM_FAKE_LAZY     1: work of streams is done when somebody waits or asks; more, a seed: some at
 *                        random before that
 *     RDIM_FAKE_KERNEL   what a kernel takes by fake_overlap(), in bytes that are copied meanwhile; 0
 *     RDIM_FAKE_STRICT   1: the process fails if something was reported, or left at exit
 *     RDIM_FAKE_LAUNCHES a file, to which each process appends how many kernels it has launched, if any
 *     RDIM_FAKE_FAIL     cuMemAlloc_v2:3=2,...: the third call returns 2
 *     RDIM_FAKE_MEMORY   bytes of each device; 16 GiB
 *     RDIM_FAKE_DEVICES  1 to 8; 1.  0: none
 *     RDIM_FAKE_OTHER    which of these has half as many multiprocessors; none
 *     RDIM_FAKE_VERSION  of the CUDA that the driver is for; 13000
 *     RDIM_FAKE_CUBLAS   of the CUDA that the fake cuBLAS is of; 13
 *     RDIM_FAKE_ARCH     what cuDeviceGetAttribute says; 90
 *     RDIM_FAKE_DIR      where compiled kernels are kept; else for the process, below TMPDIR
 *     RDIM_FAKE_CXX      the compiler; the one that compiled the fakes */
#ifndef RD_TESTS_CUDA_FAKE_H
#define RD_TESTS_CUDA_FAKE_H
#include "emu_host.h"
#include <cstddef>
#include <string>

#if defined __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, n)   ((void)0)
#define ASAN_UNPOISON_MEMORY_REGION(at, n) ((void)0)
#endif

#define FAKE_API __attribute__((visibility("default")))

/* What tests call; each of the files has its own. */
extern "C" {
/* Call number `call` from now of a function returns `error`; 1 is the next.  Call 0 takes all such
 * orders back.  -1: no such function here. */
FAKE_API int fake_fail(const char *function, int call, int error);
/* How often it was called; -1: no such function here. */
FAKE_API int fake_calls(const char *function);
}

namespace fake
{
/* ---- fake_faults.cpp ---- */
extern const char *const functions[]; /* those of the file; NULL ends them */
/* Counts a call; the error that it has to return, or 0. */
int fault(const char *function);

/* ---- fake_memory.cpp ---- */
enum { INVALID = 1, OUT_OF_MEMORY = 2 };
/* An address that only kernels and copies may use, while they have opened it. */
int  memory_get(int device, size_t bytes, unsigned long long *at);
int  memory_put(unsigned long long at);
long memory_bytes(int device); /* -1: of all */
long memory_count();
long memory_limit();
/* Is all of it in one allocation of the device?  -1: of any. */
bool memory_has(int device, unsigned long long at, size_t bytes);
/* Is it an address that this file gave out? */
bool memory_is_ours(unsigned long long at);
/* The allocation that an address lies in or beside, as text. */
std::string memory_near(unsigned long long at);
/* All allocations of a device may be used until they are closed. */
void memory_open(int device);
void memory_close(int device);
/* The same of the one allocation that has this address, if one has. */
void memory_open_at(const void *at);
void memory_close_at(const void *at);
/* Of the device's, which are open: "", or where somebody has written beside an allocation; that is
 * repaired. */
std::string memory_check(int device);

/* ---- fake_launch.cpp ---- */
struct launch {
    const emu_kernel *kernel;
    const char       *name;
    emu_host        **now; /* the object's variable emu_now */
    emu_dim           blocks, threads;
    unsigned          shared; /* bytes */
    void *const      *arguments;
};
enum { ILLEGAL_ADDRESS = 700, LAUNCH_FAILED = 719 };
/* Runs all threads.  0, or the error, which has been reported. */
int run(const launch &what);

/* ---- fake_driver.cpp ---- */
/* Says it on stderr and keeps it for fake_report(). */
void report(const std::string &text);
} // namespace fake
#endif
