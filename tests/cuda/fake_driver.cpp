/* driver.cpp - the driver's functions, run by this processor: a GPU for tests.
 *
 * What a caller may not do is an error here even if a GPU would let it pass: a call without a
 * context, a handle that is not (or no longer) one, a copy beyond an allocation.  What a kernel
 * does wrong is said on stderr and by fake_report(), and every later call fails, as after a fault
 * of a GPU.  Calls are serialised. */
#include "fake_driver.h"
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

const char *const fake::functions[] = {
#define RD_DRIVER(name, parameters)   #name,
#define RD_OPTIONAL(name, parameters) RD_DRIVER(name, parameters)
#include "kernels/cuda/api.def"
    nullptr
};
/* A function that is missing does not link. */
[[maybe_unused]] static void *const defined[] = {
#define RD_DRIVER(name, parameters)   (void *)name,
#define RD_OPTIONAL(name, parameters) RD_DRIVER(name, parameters)
#include "kernels/cuda/api.def"
};

namespace fake
{
std::recursive_mutex                guard;
CUctx_st                            contexts[MAX_DEVICES];
std::set<CUmodule>                  modules;
long                                launches;
thread_local std::vector<CUcontext> current;
} // namespace fake
using namespace fake;

static pid_t       owner; /* who called cuInit; a GPU does not survive fork() */
static std::string reports;
static long        handles; /* of cuBLAS */

int fake::number(const char *variable, int otherwise)
{
    const char *text = getenv(variable);

    return text ? atoi(text) : otherwise;
}

int fake::device()
{
    return current.back()->device;
}

int fake::n_devices()
{
    const int n = number("RDIM_FAKE_DEVICES", 1);

    return n < MAX_DEVICES ? n : MAX_DEVICES;
}

/* ---- How each call begins ---------------------------------------------------------------------- */
static CUresult unusable(needs what)
{
    if (what >= INITIALISED && owner != getpid())
        return CUDA_ERROR_NOT_INITIALIZED;
    return what == CONTEXT && current.empty() ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
}

/* Errors after which a context is of no more use. */
static bool lasts(CUresult error)
{
    return error >= CUDA_ERROR_ILLEGAL_ADDRESS && error <= CUDA_ERROR_LAUNCH_FAILED &&
           error != CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
}

call::call(const char *function, needs what) : lock(fake::guard), no(fault(function))
{
    const CUresult bad = unusable(what);

    may_release = bad == CUDA_SUCCESS;
    no          = no ? no : bad;
    if (!may_release || what != CONTEXT)
        return;
    if (lasts(no))
        current.back()->dead = no;
    no = no ? no : current.back()->dead;
}

/* ---- What is said ------------------------------------------------------------------------------ */
void fake::report(const std::string &text)
{
    reports += text + "\n";
    fprintf(stderr, "fake driver: %s\n", text.c_str());
}

const char *fake_report(void)
{
    return reports.c_str();
}

long fake_bytes(void)
{
    const std::lock_guard<std::recursive_mutex> lock(fake::guard);

    return fake::memory_bytes(-1);
}

/* ---- For the fake cuBLAS ----------------------------------------------------------------------- */
int fake_context(void)
{
    return current.empty() ? -1 : fake::device();
}

int fake_has(unsigned long long at, size_t bytes)
{
    const std::lock_guard<std::recursive_mutex> lock(fake::guard);

    return !current.empty() && memory_has(fake::device(), at, bytes);
}

CUresult fake_enqueue(CUstream stream, void (*work)(void *), void *data)
{
    const std::lock_guard<std::recursive_mutex> lock(fake::guard);
    const int                                   device = fake::device();

    if (contexts[device].dead)
        return contexts[device].dead;
    return enqueue(stream, KERNELS, number("RDIM_FAKE_KERNEL", 0), [=] {
        memory_open(device);
        work(data);
        memory_close(device);
    });
}

void fake_tell(const char *text)
{
    const std::lock_guard<std::recursive_mutex> lock(fake::guard);

    fake::report(text);
}

void fake_hold(int n)
{
    const std::lock_guard<std::recursive_mutex> lock(fake::guard);

    handles += n;
}

/* A line, whole beside those of other processes. */
static void note_launches()
{
    const char *const file = getenv("RDIM_FAKE_LAUNCHES");
    FILE *const       to   = file && launches ? fopen(file, "a") : nullptr;

    if (to) {
        fprintf(to, "%ld\n", launches);
        fclose(to);
    }
}

/* What was not given back.  After all that the program itself does at its end. */
__attribute__((destructor)) static void last(void)
{
    std::string left;
    int         retained = 0;
    const auto  add      = [&](size_t n, const char *name) {
        if (n)
            left += (left.empty() ? " " : ", ") + std::to_string(n) + " " + name;
    };

    if (owner != getpid())
        return;
    note_launches();
    for (const CUctx_st &context : contexts)
        retained += context.retained;
    add((size_t)fake::memory_count(), "allocations");
    add(pinned.size(), "pinned allocations");
    add(modules.size(), "modules");
    add(streams.size(), "streams");
    add(events.size(), "events");
    add((size_t)handles, "handles of cuBLAS");
    add(graphs.size(), "graphs");
    add(execs.size(), "graphs to launch");
    add((size_t)retained, "contexts");
    if (!left.empty())
        fake::report("left at exit:" + left);
    if (!reports.empty() && number("RDIM_FAKE_STRICT", 0)) {
        fflush(nullptr);
        _exit(1);
    }
}

/* ---- The first call, and errors -------------------------------------------------------------------- */
CUresult cuInit(unsigned flags)
{
    const call c(__func__, NOTHING);

    if (c.no)
        return c.no;
    if (owner && owner != getpid())
        return CUDA_ERROR_NOT_INITIALIZED;
    owner = getpid();
    for (int i = 0; i < MAX_DEVICES; i++)
        contexts[i].device = i;
    return flags ? CUDA_ERROR_INVALID_VALUE : n_devices() ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

struct error_text {
    CUresult    error;
    const char *name, *text;
};
static const error_text error_texts[] = {
#define ERROR(name, text) \
    {                     \
        name, #name, text \
    }
    { CUDA_SUCCESS, "CUDA_SUCCESS", "no error" },
    ERROR(CUDA_ERROR_INVALID_VALUE, "invalid argument"),
    ERROR(CUDA_ERROR_OUT_OF_MEMORY, "out of memory"),
    ERROR(CUDA_ERROR_NOT_INITIALIZED, "initialization error"),
    ERROR(CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"),
    ERROR(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"),
    ERROR(CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid"),
    ERROR(CUDA_ERROR_INVALID_CONTEXT, "invalid device context"),
    ERROR(CUDA_ERROR_NO_BINARY_FOR_GPU, "no kernel image is available for execution on the device"),
    ERROR(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"),
    ERROR(CUDA_ERROR_NOT_FOUND, "named symbol not found"),
    ERROR(CUDA_ERROR_NOT_READY, "device not ready"),
    ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"),
    ERROR(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch"),
    ERROR(CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"),
    ERROR(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "operation not permitted when stream is capturing"),
    ERROR(CUDA_ERROR_UNKNOWN, "unknown error"),
};

static const error_text *find_error(CUresult error)
{
    for (const error_text &row : error_texts)
        if (row.error == error)
            return &row;
    return nullptr;
}

CUresult cuGetErrorName(CUresult error, const char **name)
{
    const call              c(__func__, NOTHING);
    const error_text *const row = find_error(error);

    *name = row && !c.no ? row->name : nullptr;
    return c.no ? c.no : row ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char **text)
{
    const call              c(__func__, NOTHING);
    const error_text *const row = find_error(error);

    *text = row && !c.no ? row->text : nullptr;
    return c.no ? c.no : row ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
