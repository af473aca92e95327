/* fake_memory.cpp - the memory of fake devices.
 *
 * Addresses come from one large reserved range, each used once, so that those of freed memory stay
 * invalid.  Pages can be used (mprotect) only while a kernel or a copy runs: a host program that
 * follows a device's pointer, or one that it has freed, faults as it would with a GPU.  This needs
 * no second address for the same memory, and a kernel finds pointers in its arguments as they are.
 * Threads of the host meanwhile could look unnoticed; calls are serialised, and tests wait.
 *
 *     page: FRONT bytes, at the end of which data begins | data | at least BACK bytes | a page that
 *     is never used
 *
 * Data begins at a multiple of 256 bytes, and of no more, as the driver promises no more. */
#include "fake.h"
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sys/mman.h>

namespace
{
enum { PAGE = 4096, FRONT = PAGE + 256, BACK = 1024, BESIDE = 0xFB, FRESH = 0xFF };
const size_t RANGE = size_t(1) << 38;
/* Where it begins to be used: what counts from far before an array is no address of the host's. */
const size_t BEFORE = RANGE / 4;

struct allocation {
    unsigned char *pages;
    size_t         n_pages, bytes; /* pages: in bytes */
    int            device;
};
std::map<unsigned long long, allocation> live; /* by the address of the data */

unsigned char *reserve()
{
    void *range =
        mmap(nullptr, RANGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return range == MAP_FAILED ? nullptr : (unsigned char *)range;
}
unsigned char *const range = reserve();
size_t               used  = BEFORE;

void protect(const allocation &a, int how)
{
    mprotect(a.pages, a.n_pages, how);
}

/* First byte that is not as it was; -1: none. */
long changed(const unsigned char *at, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (at[i] != BESIDE)
            return (long)i;
    return -1;
}

/* The address sanitizer sees what reads there, too; its own message comes first, then. */
void guard(const allocation &a, bool on)
{
    unsigned char *const data = a.pages + FRONT, *const back = data + a.bytes;
    const size_t n_back = a.n_pages - FRONT - a.bytes;

    if (on) {
        ASAN_POISON_MEMORY_REGION(a.pages, FRONT);
        ASAN_POISON_MEMORY_REGION(back, n_back);
    } else {
        ASAN_UNPOISON_MEMORY_REGION(a.pages, FRONT);
        ASAN_UNPOISON_MEMORY_REGION(back, n_back);
    }
    (void)data, (void)back, (void)n_back;
}

std::string describe(const allocation &a)
{
    return "an allocation of " + std::to_string(a.bytes) + " bytes";
}

std::string check(const allocation &a)
{
    unsigned char *const back   = a.pages + FRONT + a.bytes;
    const size_t         n_back = a.n_pages - FRONT - a.bytes;
    std::string          text;

    guard(a, false);
    const long before = changed(a.pages, FRONT), after = changed(back, n_back);
    if (before >= 0)
        text = std::to_string(FRONT - before) + " bytes before " + describe(a);
    if (after >= 0)
        text = std::to_string(after) + " bytes after the end of " + describe(a);
    if (before >= 0)
        memset(a.pages, BESIDE, FRONT);
    if (after >= 0)
        memset(back, BESIDE, n_back);
    guard(a, true);
    return text;
}

bool belongs(const allocation &a, int device)
{
    return device < 0 || a.device == device;
}
} // namespace

long fake::memory_limit()
{
    const char *text = getenv("RDIM_FAKE_MEMORY");

    return text ? atol(text) : 16L << 30;
}

int fake::memory_get(int device, size_t bytes, unsigned long long *at)
{
    const size_t n = (FRONT + bytes + BACK + PAGE - 1) / PAGE * PAGE;
    allocation   a = { range + used, n, bytes, device };

    if (bytes == 0)
        return INVALID;
    if (!range || bytes > RANGE || used + n + PAGE > RANGE ||
        (long)bytes > memory_limit() - memory_bytes(device) ||
        mprotect(a.pages, n, PROT_READ | PROT_WRITE) != 0)
        return OUT_OF_MEMORY;
    memset(a.pages, BESIDE, n);
    memset(a.pages + FRONT, FRESH, bytes);
    guard(a, true);
    protect(a, PROT_NONE);
    used += n + PAGE;
    *at       = (unsigned long long)(uintptr_t)(a.pages + FRONT);
    live[*at] = a;
    return 0;
}

int fake::memory_put(unsigned long long at)
{
    const auto found = live.find(at);

    if (found == live.end())
        return INVALID;
    ASAN_POISON_MEMORY_REGION(found->second.pages, found->second.n_pages);
    madvise(found->second.pages, found->second.n_pages, MADV_DONTNEED);
    live.erase(found);
    return 0;
}

long fake::memory_bytes(int device)
{
    long n = 0;

    for (const auto &entry : live)
        if (belongs(entry.second, device))
            n += (long)entry.second.bytes;
    return n;
}

long fake::memory_count()
{
    return (long)live.size();
}

bool fake::memory_has(int device, unsigned long long at, size_t bytes)
{
    auto next = live.upper_bound(at);

    if (next == live.begin())
        return false;
    --next;
    const unsigned long long inside = at - next->first;
    return belongs(next->second, device) && inside <= next->second.bytes &&
           bytes <= next->second.bytes - inside;
}

bool fake::memory_is_ours(unsigned long long at)
{
    return at - (uintptr_t)range < used;
}

std::string fake::memory_near(unsigned long long at)
{
    for (const auto &entry : live) {
        const unsigned long long pages = (uintptr_t)entry.second.pages;

        if (at >= pages && at < pages + entry.second.n_pages + PAGE)
            return "beside " + describe(entry.second) + " of device " +
                   std::to_string(entry.second.device);
    }
    return memory_is_ours(at) ? "in freed memory" : "no memory of a device";
}

void fake::memory_open(int device)
{
    for (const auto &entry : live)
        if (belongs(entry.second, device))
            protect(entry.second, PROT_READ | PROT_WRITE);
}

void fake::memory_close(int device)
{
    for (const auto &entry : live)
        if (belongs(entry.second, device))
            protect(entry.second, PROT_NONE);
}

static void protect_at(const void *address, int how)
{
    const unsigned long long at   = (uintptr_t)address;
    auto                     next = live.upper_bound(at);

    if (next != live.begin() && at - (--next)->first <= next->second.bytes)
        protect(next->second, how);
}

void fake::memory_open_at(const void *at)
{
    protect_at(at, PROT_READ | PROT_WRITE);
}

void fake::memory_close_at(const void *at)
{
    protect_at(at, PROT_NONE);
}

std::string fake::memory_check(int device)
{
    std::string text;

    for (const auto &entry : live)
        if (belongs(entry.second, device) && text.empty())
            text = check(entry.second);
    return text;
}
