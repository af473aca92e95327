/* fake_driver.h - what the fake driver's functions share: its objects, and how each call begins. */
#ifndef RD_TESTS_CUDA_FAKE_DRIVER_H
#define RD_TESTS_CUDA_FAKE_DRIVER_H
#include "fake.h"
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>
extern "C" {
#include "kernels/cuda/api.h"
/* Definitions that differ from api.def do not compile. */
#define RD_DRIVER(name, parameters)   FAKE_API CUresult name parameters;
#define RD_OPTIONAL(name, parameters) RD_DRIVER(name, parameters)
#include "kernels/cuda/api.def"
/* All that was reported so far, a line each. */
FAKE_API const char *fake_report(void);
/* Allocated on all devices. */
FAKE_API long fake_bytes(void);
/* What the work so far would have taken, and would have taken if nothing ran beside anything. */
struct fake_times {
    long taken, busy;
};
FAKE_API fake_times fake_overlap(void);

/* For the fake cuBLAS, a file of its own, which finds them by name. */
FAKE_API int fake_context(void); /* whose: of which device; -1: none is current */
/* Is it in an allocation of that device? */
FAKE_API int fake_has(unsigned long long at, size_t bytes);
/* Work on that device's memory, in a stream of it. */
FAKE_API CUresult fake_enqueue(CUstream stream, void (*work)(void *), void *data);
FAKE_API void     fake_tell(const char *text); /* reports it */
/* So many more, or fewer, of its handles are there. */
FAKE_API void fake_hold(int n);

/* What devices' clocks say of a kernel (NULL: as ever), and bytes a second of copies from and to
 * the host, and on a device. */
typedef double fake_seconds(const char *kernel, unsigned blocks, unsigned threads);
FAKE_API void  fake_clock(fake_seconds *kernel, double bus, double memory);
}

struct CUctx_st {
    int      device, retained;
    CUresult dead; /* after a fault */
};
/* A place in a stream, which work has reached, at some time, or not. */
struct fake_mark {
    bool   reached;
    double seconds;
};
namespace fake
{
struct task {
    std::function<void()>      work;
    std::shared_ptr<fake_mark> after; /* that must be reached before; none: no matter */
};
} // namespace fake
/* What a stream was asked while it was captured. */
struct fake_piece {
    int                   by; /* an engine */
    long                  time;
    std::function<void()> work;
};
struct CUgraph_st {
    int                     device;
    std::vector<fake_piece> pieces;
};
struct CUgraphExec_st {
    CUgraph_st graph;
};
struct CUstream_st {
    int                    device;
    bool                   apart; /* the default stream does not wait for it */
    std::deque<fake::task> work;  /* by RDIM_FAKE_LAZY: asked for, not done */
    long                   due;   /* when all that was asked for would be done, by fake_overlap() */
    CUgraph                capture = nullptr; /* it is captured: what it is asked goes there */
};
struct CUevent_st {
    CUstream                   stream;
    bool                       timed;
    std::shared_ptr<fake_mark> mark; /* where it was recorded last; none: nowhere */
    long                       due;  /* when that would be reached, by fake_overlap() */
};
struct CUfunc_st {
    CUmodule          module;
    std::string       name;
    const emu_kernel *kernel;
    int               shared; /* bytes that a launch may ask for */
};
struct CUmod_st {
    int                              device, fd;
    void                            *file;
    emu_host                       **now;
    std::map<std::string, CUfunc_st> functions;
};

namespace fake
{
enum { MAX_DEVICES = 8, MULTIPROCESSORS = 4, SHARED = 48 << 10, SHARED_OPTIN = EMU_SHARED };

extern std::recursive_mutex                guard;
extern CUctx_st                            contexts[MAX_DEVICES];
extern std::set<CUstream>                  streams;
extern std::set<CUevent>                   events;
extern std::set<CUmodule>                  modules;
extern std::set<CUgraph>                   graphs;
extern std::set<CUgraphExec>               execs;
extern std::map<const void *, size_t>      pinned; /* and their bytes */
extern long                                launches;
extern thread_local std::vector<CUcontext> current;

/* The variable's value. */
int number(const char *variable, int otherwise);
int n_devices();
int device(); /* the current one */

enum needs { NOTHING, INITIALISED, CONTEXT };

/* `no` is what the call has to return at once, if it is not 0.  What releases something does it
 * nevertheless if `may_release`: a caller that was told of a failure has no more to do. */
struct call {
    const std::lock_guard<std::recursive_mutex> lock;
    CUresult                                    no;
    bool                                        may_release;

    call(const char *function, needs what);
};

/* What does the work of a device, each one piece of work at a time. */
enum engine { UP, DOWN, KERNELS, ENGINES };
/* ---- fake_overlap.cpp ---- */
void overlap_work(CUstream stream, engine by, long time);
/* The host has waited so long. */
void overlap_wait(long due);

/* Work for a stream of the current device, in order; so long it takes an engine. */
CUresult enqueue(CUstream stream, engine by, long time, std::function<void()> work);
void     finish(CUstream stream);
/* All streams of a device. */
void finish_all(int device);

/* ---- fake_clock.cpp: seconds ---- */
double clock_now(int device);
double processor_now();
/* A kernel that took this processor so long, or a copy, has been done. */
void clock_kernel(int device, const launch &l, double processor);
void clock_copy(int device, size_t bytes, bool by_bus);
} // namespace fake
#endif
