/* emu_block.h - what threads of one block share: barriers, values passed in a warp, shared memory.
 * Part of emu.h. */
#define __syncthreads() emu_now->wait_block(__LINE__)
#define __syncwarp(...) emu::sync_warp(__LINE__, ##__VA_ARGS__)
#define __shfl_sync(mask, x, from, ...) \
    emu::shuffle<emu::TO>(mask, x, (int)(from), __LINE__, ##__VA_ARGS__)
#define __shfl_xor_sync(mask, x, lanes, ...) \
    emu::shuffle<emu::XOR>(mask, x, (int)(lanes), __LINE__, ##__VA_ARGS__)
#define __shfl_down_sync(mask, x, lanes, ...) \
    emu::shuffle<emu::DOWN>(mask, x, (int)(lanes), __LINE__, ##__VA_ARGS__)
#define __shfl_up_sync(mask, x, lanes, ...) \
    emu::shuffle<emu::UP>(mask, x, (int)(lanes), __LINE__, ##__VA_ARGS__)
#define __ballot_sync(mask, x) emu::ballot(mask, x, __LINE__)
#define __any_sync(mask, x)    (emu::ballot(mask, x, __LINE__) != 0)
#define __all_sync(mask, x)    (emu::ballot(mask, !(x), __LINE__) == 0)
/* Without a look at who reads what; a kernel's own arrays are RD_SHARED. */
#define __shared__             static
/* The cells lie apart, where they cost nothing in the file. */
#define RD_SHARED(type, name, n)                           \
    static emu::cell<type>  name##_cells[EMU_SLOTS * (n)]; \
    const emu::shared<type> name = { name##_cells, #name, (n), (n) }
/* What the launch asks for: `extern __shared__ type name[]`. */
#define RD_SHARED_DYNAMIC(type, name)                              \
    enum { name##_room = EMU_SHARED / sizeof(type) };              \
    static emu::cell<type>  name##_cells[EMU_SLOTS * name##_room]; \
    const emu::shared<type> name = { name##_cells, #name,          \
                                     emu_now->shared / (unsigned)sizeof(type), name##_room }
/* Several elements at once. */
#define RD_TAKE_SHARED(T, N, array, at)      emu::take<rd_pack<T, N>, N>(array, at)
#define RD_PUT_SHARED(T, N, array, at, pack) emu::put<N>(array, at, pack)

namespace emu
{
static inline void sync_warp(int line, unsigned mask = 0xffffffffu)
{
    emu_now->wait_warp(mask, nullptr, 0, true, line);
}

enum way { TO, XOR, DOWN, UP };

/* As the manual has it: lanes are counted in parts of `width`; who would leave its part keeps its
 * own value.  A value from a thread that is not there is undefined on a GPU: it is the poison. */
template <way W, class T>
static inline T shuffle(unsigned mask, T x, int by, int line, int width = EMU_WARP)
{
    static_assert(sizeof(T) <= EMU_VALUE, "shuffles pass 1 to 16 bytes");
    const int lane = (int)(emu_now->linear % EMU_WARP), first = lane / width * width;
    int       from = W == TO     ? first + by % width
                     : W == XOR  ? lane ^ by
                     : W == DOWN ? lane + by
                                 : lane - by;
    T         y;

    emu_now->wait_warp(mask, &x, sizeof x, false, line);
    if (W == UP ? from < first : from >= first + width)
        from = lane;
    if (emu_now->arrived >> from & 1)
        memcpy(&y, emu_now->given[from], sizeof y);
    else
        memset(&y, 0xFF, sizeof y);
    return y;
}

static inline unsigned ballot(unsigned mask, bool x, int line)
{
    unsigned bits = 0;

    emu_now->wait_warp(mask, &x, sizeof x, false, line);
    for (unsigned lane = 0; lane < EMU_WARP; lane++)
        if ((emu_now->arrived >> lane & 1) && emu_now->given[lane][0])
            bits |= 1u << lane;
    return bits;
}

/* ---- Shared memory ------------------------------------------------------------------------------
 * An access to an element and one before it, one of them a write, by two threads, need a barrier in
 * between: __syncthreads(), or __syncwarp() if both are of one warp.  (A shuffle orders no memory.)
 * Of accesses before, it is enough to know the last write and, of reads since the last
 * barrier of the block, the last one, whether several threads did since the warp's barrier, and
 * whether several warps did.  __syncwarp() of a part of a warp may hide a race from it. */
struct access {
    unsigned epoch, warp_epoch; /* when; epochs begin with 1 */
    unsigned thread;
};

template <class T> struct cell {
    T        value;
    unsigned block; /* the last that used it */
    access   write, read;
    bool     many_threads, many_warps;
};

static inline access here()
{
    return { emu_now->epoch, emu_now->warp_epoch[emu_now->linear], emu_now->linear };
}

static inline bool same_warp(const access &a, const access &b)
{
    return a.thread / EMU_WARP == b.thread / EMU_WARP;
}

/* Is `then`, of another thread or none, ordered before `now`? */
static inline bool ordered(const access &then, const access &now)
{
    return then.thread == now.thread || then.epoch != now.epoch ||
           (same_warp(then, now) && then.warp_epoch < now.warp_epoch);
}

template <class T> struct element {
    cell<T>    &at;
    const char *name;
    unsigned    index;

    operator T() const
    {
        const access now = here();

        if (!ordered(at.write, now))
            emu_now->race(name, index, "reads what was written by", at.write.thread);
        if (at.read.epoch != now.epoch) {
            at.many_threads = at.many_warps = false;
        } else {
            at.many_warps |= !same_warp(at.read, now);
            at.many_threads = at.read.warp_epoch == now.warp_epoch &&
                              (at.many_threads || at.read.thread != now.thread);
        }
        at.read = now;
        return at.value;
    }
    T operator=(T x) const
    {
        const access now = here();

        if (!ordered(at.write, now))
            emu_now->race(name, index, "writes over what was written by", at.write.thread);
        if (at.read.epoch == now.epoch &&
            (at.many_warps || !ordered(at.read, now) ||
             (at.many_threads && at.read.warp_epoch == now.warp_epoch)))
            emu_now->race(name, index, "writes over what is still read by", at.read.thread);
        at.write        = now;
        return at.value = x;
    }
    T operator=(const element &other) const
    {
        return *this = (T)other;
    }
    template <class U> T operator+=(U x) const
    {
        return *this = (T)(*this + x);
    }
    template <class U> T operator*=(U x) const
    {
        return *this = (T)(*this * x);
    }
};

/* Each block finds the array poisoned: floats are NaN, integers -1. */
template <class T> struct shared {
    cell<T>    *cells;
    const char *name;
    unsigned    n, room; /* of a block */

    element<T> operator[](long long i) const
    {
        if (i < 0 || i >= n)
            emu_now->outside(name, i, n);
        cell<T> &at = cells[(size_t)emu_now->slot * room + (size_t)i];
        if (at.block != emu_now->block_serial) {
            at       = {};
            at.block = emu_now->block_serial;
            memset((void *)&at.value, 0xFF, sizeof at.value);
        }
        return { at, name, (unsigned)i };
    }
};

/* Does such an access begin where it may? */
template <int N, class T> static inline void check_whole(const shared<T> &array, long long at)
{
    if (at * (long long)sizeof(T) % (long long)(N * sizeof(T) < 16 ? N * sizeof(T) : 16) != 0)
        emu_now->outside(array.name, at, array.n);
}

template <class P, int N, class T> static inline P take(const shared<T> &array, long long at)
{
    P x;

    check_whole<N>(array, at);
    for (int l = 0; l < N; l++)
        x.e[l] = array[at + l];
    return x;
}

template <int N, class T, class P>
static inline void put(const shared<T> &array, long long at, const P &x)
{
    check_whole<N>(array, at);
    for (int l = 0; l < N; l++)
        array[at + l] = x.e[l];
}

/* ---- Arguments ------------------------------------------------------------------------------- */
template <unsigned... I> struct list {
};
template <unsigned N, unsigned... I> struct count : count<N - 1, N - 1, I...> {
};
template <unsigned... I> struct count<0, I...> {
    typedef list<I...> type;
};

/* Of __launch_bounds__, which may say more. */
static constexpr int first(int threads, int = 0, int = 0)
{
    return threads;
}

template <auto F> struct entry;
template <class... A, void (*F)(A...)> struct entry<F> {
    static constexpr unsigned sizes[] = { sizeof(A)..., 0 };

    template <unsigned... I> static void call(void *const *p, list<I...>)
    {
        F(*(A *)p[I]...);
    }
    static void run(void *const *p)
    {
        call(p, typename count<sizeof...(A)>::type());
    }
    static constexpr emu_kernel kernel(int max_threads)
    {
        return { run, sizes, sizeof...(A), max_threads };
    }
};
} // namespace emu
