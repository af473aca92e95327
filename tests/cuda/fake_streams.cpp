/* fake_streams.cpp - streams and events.
 *
 * Work is done when it is asked for; by RDIM_FAKE_LAZY=1 not before somebody waits, or as an event
 * is asked about, piece by piece: a result that is used without waiting is then not there, nor is
 * one of another stream, whose event nobody follows.  By a larger number, a seed, streams go on at
 * random whenever something is asked for: one that should have followed another overtakes it. */
#include "fake_driver.h"
#include <algorithm>
#include <random>

namespace fake
{
std::set<CUstream> streams;
std::set<CUevent>  events;
} // namespace fake
using namespace fake;

static CUstream stream_of(CUstream stream)
{
    static CUstream_st defaults[MAX_DEVICES];

    if (!stream) {
        stream         = &defaults[device()];
        stream->device = device();
        return stream;
    }
    return streams.count(stream) && stream->device == device() ? stream : nullptr;
}

/* Nothing runs any more where a kernel has failed. */
static void do_first(CUstream stream)
{
    const task first = std::move(stream->work.front());

    stream->work.pop_front();
    if (!contexts[stream->device].dead)
        first.work();
}

static bool may_go_on(CUstream stream)
{
    return !stream->work.empty() &&
           !(stream->work.front().after && !stream->work.front().after->reached);
}

/* Now and then a stream does a piece of its work; one of them is ahead for a while, so that others
 * fall behind. */
static void go_on_at_random(int seed)
{
    enum { A_WHILE = 24 };
    static std::mt19937   dice((unsigned)seed);
    static unsigned       calls, ahead;
    std::vector<CUstream> ready;

    if (calls++ % A_WHILE == 0)
        ahead = dice();
    for (CUstream stream : streams)
        if (may_go_on(stream))
            ready.push_back(stream);
    if (!ready.empty() && dice() % 2)
        do_first(ready[ahead % ready.size()]);
}

void fake::finish(CUstream stream)
{
    while (!stream->work.empty())
        do_first(stream);
}

void fake::finish_all(int device)
{
    for (CUstream stream : streams)
        if (stream->device == device)
            finish(stream);
}

static void finish_others(int device)
{
    for (CUstream stream : streams)
        if (stream->device == device && !stream->apart)
            finish(stream);
}

/* The default stream waits for all others but those apart; its own work is done at once. */
static CUresult add(CUstream stream, task what)
{
    const CUstream s    = stream_of(stream);
    const int      lazy = number("RDIM_FAKE_LAZY", 0);

    if (!s)
        return CUDA_ERROR_INVALID_HANDLE;
    if (s->capture)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (!stream)
        finish_others(s->device);
    s->work.push_back(std::move(what));
    if (!stream || !lazy)
        finish(s);
    else if (lazy > 1)
        go_on_at_random(lazy);
    return CUDA_SUCCESS;
}

CUresult fake::enqueue(CUstream stream, engine by, long time, std::function<void()> work)
{
    const CUstream s = stream_of(stream);

    if (s && s->capture) {
        s->capture->pieces.push_back({ by, time, std::move(work) });
        return CUDA_SUCCESS;
    }
    if (s)
        overlap_work(s, by, time);
    return add(stream, { std::move(work), nullptr });
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
    const call c(__func__, CONTEXT);

    if (c.no)
        return c.no;
    if (flags > CU_STREAM_NON_BLOCKING)
        return CUDA_ERROR_INVALID_VALUE;
    *stream = new CUstream_st{ device(), flags == CU_STREAM_NON_BLOCKING, {}, 0 };
    streams.insert(*stream);
    return CUDA_SUCCESS;
}

CUresult cuStreamDestroy_v2(CUstream stream)
{
    const call c(__func__, CONTEXT);

    if (!c.may_release)
        return c.no;
    if (!streams.count(stream))
        return CUDA_ERROR_INVALID_HANDLE;
    finish(stream);
    for (CUevent event : events)
        if (event->stream == stream)
            event->stream = nullptr;
    streams.erase(stream);
    delete stream;
    return c.no;
}

CUresult cuStreamSynchronize(CUstream stream)
{
    const call c(__func__, CONTEXT);

    if (c.no)
        return c.no;
    if (!stream_of(stream))
        return CUDA_ERROR_INVALID_HANDLE;
    if (stream_of(stream)->capture)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (stream)
        finish(stream);
    else
        finish_others(device());
    overlap_wait(stream_of(stream)->due);
    return current.back()->dead;
}

/* Until what was recorded is reached. */
static void reach(const std::shared_ptr<fake_mark> &mark, CUstream stream)
{
    while (mark && !mark->reached && streams.count(stream) && !stream->work.empty())
        do_first(stream);
}

/* Of an event that was recorded again later, the stream follows the record that it was at now. */
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
    const call c(__func__, CONTEXT);

    if (c.no)
        return c.no;
    if (!events.count(event))
        return CUDA_ERROR_INVALID_HANDLE;
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    const std::shared_ptr<fake_mark> mark = event->mark;
    const CUstream                   from = event->stream;
    if (stream)
        stream->due = std::max(stream->due, event->due);
    return add(stream, { [=] { reach(mark, from); }, mark });
}

CUresult cuEventCreate(CUevent *event, unsigned flags)
{
    const call c(__func__, CONTEXT);

    if (c.no)
        return c.no;
    *event = new CUevent_st{ nullptr, !(flags & CU_EVENT_DISABLE_TIMING), nullptr, 0 };
    events.insert(*event);
    return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent event)
{
    const call c(__func__, CONTEXT);

    if (!c.may_release)
        return c.no;
    if (!events.erase(event))
        return CUDA_ERROR_INVALID_HANDLE;
    delete event;
    return c.no;
}

/* An event is where it was recorded last; it may be destroyed before it is reached. */
CUresult cuEventRecord(CUevent event, CUstream stream)
{
    const call c(__func__, CONTEXT);
    const auto mark = std::make_shared<fake_mark>();

    if (c.no)
        return c.no;
    if (!events.count(event))
        return CUDA_ERROR_INVALID_HANDLE;
    event->mark   = mark;
    event->stream = stream_of(stream);
    event->due    = event->stream ? event->stream->due : 0;
    return add(stream, { [mark, at = device()] { *mark = { true, clock_now(at) }; }, nullptr });
}

static bool is_pending(CUevent event)
{
    return event->mark && !event->mark->reached;
}

CUresult cuEventSynchronize(CUevent event)
{
    const call c(__func__, CONTEXT);

    if (c.no)
        return c.no;
    if (!events.count(event))
        return CUDA_ERROR_INVALID_HANDLE;
    reach(event->mark, event->stream);
    overlap_wait(event->due);
    return current.back()->dead;
}

CUresult cuEventQuery(CUevent event)
{
    const call c(__func__, CONTEXT);

    if (c.no)
        return c.no;
    if (!events.count(event))
        return CUDA_ERROR_INVALID_HANDLE;
    const bool ready = !is_pending(event);
    if (!ready && event->stream && !event->stream->work.empty())
        do_first(event->stream);
    if (current.back()->dead)
        return current.back()->dead;
    return ready ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

/* By events that were recorded, are reached, and may be timed; as fine as a GPU's clock is. */
CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
    const call c(__func__, CONTEXT);

    if (c.no)
        return c.no;
    if (!events.count(start) || !events.count(end) || !start->timed || !end->timed ||
        !start->mark || !end->mark)
        return CUDA_ERROR_INVALID_HANDLE;
    if (current.back()->dead)
        return current.back()->dead;
    if (is_pending(start) || is_pending(end))
        return CUDA_ERROR_NOT_READY;
    *milliseconds = (float)(1e3 * (end->mark->seconds - start->mark->seconds));
    return CUDA_SUCCESS;
}
