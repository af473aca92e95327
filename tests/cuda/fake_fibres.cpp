/* fake_fibres.cpp - stacks, and the switch from one to another. */
#include "fake_fibres.h"
#include <cstdlib>
#include <cstring>
#include <deque>
#include <sys/mman.h>
#if defined __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

#if defined __x86_64__
/* What a function must leave as it was goes on the stack, and the stack's address to *from.
 * swapcontext() would do, but asks the kernel for the mask of signals each time. */
extern "C" void fake_switch(void **from, void *to);
asm(".text\n.hidden fake_switch\n.globl fake_switch\n.type fake_switch,@function\nfake_switch:\n"
    "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\nmov %rsp,(%rdi)\n"
    "mov %rsi,%rsp\npop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n"
    ".size fake_switch,.-fake_switch\n");

/* As if `body` had been called, and had then called fake_switch. */
static void *prepare(char *stack, size_t size, void (*body)())
{
    enum { KEPT = 6 };
    void **top = (void **)(stack + size - 64);

    *--top = nullptr; /* where it would return to: functions find the stack aligned with that */
    *--top = (void *)body;
    top -= KEPT;
    memset((void *)top, 0, KEPT * sizeof *top);
    return (void *)top;
}
#else
#include <ucontext.h>
/* The suspended context is on the stack that it suspends. */
static void fake_switch(void **from, void *to)
{
    ucontext_t here;

    *from = &here;
    swapcontext(&here, (ucontext_t *)to);
}

static void *prepare(char *stack, size_t size, void (*body)())
{
    const size_t      room  = (sizeof(ucontext_t) + 63) / 64 * 64;
    ucontext_t *const begin = (ucontext_t *)(stack + size - room);

    getcontext(begin);
    begin->uc_stack.ss_sp   = stack;
    begin->uc_stack.ss_size = size - room;
    makecontext(begin, body, 0);
    return begin;
}
#endif

struct fake::fibre {
    char *stack;
    void (*body)();
    void *at;        /* where it goes on                */
    void *sanitizer; /* what a sanitizer keeps about it */
};
fake::fibre *fake::current_fibre;

namespace
{
const size_t STACK = 256 << 10, PAGE = 4096;

std::deque<fake::fibre>    fibres;
std::vector<fake::fibre *> resting;
void                      *home; /* where the launching thread goes on */

/* ---- What sanitizers want to know -------------------------------------------------------------- */
[[maybe_unused]] void       *home_sanitizer;
[[maybe_unused]] const void *home_stack;
[[maybe_unused]] size_t      home_size;

inline __attribute__((always_inline)) void say_new([[maybe_unused]] fake::fibre &f)
{
#if defined __SANITIZE_ADDRESS__
    ASAN_UNPOISON_MEMORY_REGION(f.stack + PAGE, STACK - PAGE);
    f.sanitizer = nullptr;
#elif defined __SANITIZE_THREAD__
    if (f.sanitizer)
        __tsan_destroy_fiber(f.sanitizer);
    f.sanitizer    = __tsan_create_fiber(0);
#endif
}

inline __attribute__((always_inline)) void say_entering([[maybe_unused]] fake::fibre *to)
{
#if defined __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(&home_sanitizer, to->stack, STACK);
#elif defined __SANITIZE_THREAD__
    home_sanitizer = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(to->sanitizer, 0);
#endif
}

inline __attribute__((always_inline)) void say_home()
{
#if defined __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(home_sanitizer, nullptr, nullptr);
#endif
}

inline __attribute__((always_inline)) void say_leaving([[maybe_unused]] fake::fibre *from)
{
#if defined __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(&from->sanitizer, home_stack, home_size);
#elif defined __SANITIZE_THREAD__
    __tsan_switch_to_fiber(home_sanitizer, 0);
#endif
}

inline __attribute__((always_inline)) void say_entered([[maybe_unused]] void *sanitizer)
{
#if defined __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(sanitizer, &home_stack, &home_size);
#endif
}

/* At its beginning, whatever was on its stack. */
void arm(fake::fibre &f)
{
    say_new(f);
    f.at = prepare(f.stack, STACK, f.body);
}

/* The page at its end faults. */
fake::fibre *make(void (*body)())
{
    void *const stack = mmap(nullptr, STACK, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (stack == MAP_FAILED || mprotect(stack, PAGE, PROT_NONE) != 0)
        abort();
    fibres.push_back({ (char *)stack, body, nullptr, nullptr });
    arm(fibres.back());
    return &fibres.back();
}
} // namespace

fake::fibre *fake::fibre_take(void (*body)())
{
    if (resting.empty())
        return make(body);
    fibre *const f = resting.back();
    resting.pop_back();
    return f;
}

void fake::fibre_enter(fibre *to)
{
    current_fibre = to;
    say_entering(to);
    fake_switch(&home, to->at);
    say_home();
}

void fake::fibre_arrive()
{
    say_entered(nullptr);
}

void fake::fibre_leave()
{
    fibre *const self = current_fibre;

    say_leaving(self);
    fake_switch(&self->at, home);
    say_entered(self->sanitizer);
}

void fake::fibre_rest()
{
    resting.push_back(current_fibre);
    fibre_leave();
}

void fake::fibres_reset()
{
    resting.clear();
    for (fibre &f : fibres) {
        arm(f);
        resting.push_back(&f);
    }
}
