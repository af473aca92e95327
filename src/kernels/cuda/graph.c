/* graph.c - see graph.h. */
#include "kernels/cuda/graph.h"
#include <stdio.h>
#include <stdlib.h>

/* A CUDA graph with all that it uses. */
struct rd_recording {
    rd_gpu        *gpu;
    CUstream       stream;
    bool           captures; /* the stream is being captured */
    rd_queue      *queue;    /* a queue of that stream */
    rd_submission *submission;
    CUgraphExec    graph; /* NULL until the capture has ended */
};

/* True if the driver has all of its optional functions, which are those of CUDA graphs. The loop
 * over api.def is made by the preprocessor. */
static bool has_graphs(char why[RD_CUDA_TEXT])
{
    const rd_cuda *const cuda = rd_cuda_api(/*why=*/NULL);
    bool                 has  = true;

#define RD_OPTIONAL(name, parameters) has &= cuda->name != NULL;
#include "kernels/cuda/api.def"

    if (!has)
        snprintf(why, RD_CUDA_TEXT, "the driver has no graphs");
    return has;
}

/* ---- Capture --------------------------------------------------------------------------------- */
/* Makes the stream that is captured.  It does not synchronise with the default stream.  Else the
 * driver would refuse other threads' work in the default stream, and end the capture. */
static bool open_stream(rd_recording *r, char why[RD_CUDA_TEXT])
{
    bool full, done;

    if (!rd_gpu_enter(r->gpu, why))
        return false;
    done = RD_GPU_TAKE(r->gpu, &full, why, cuStreamCreate, &r->stream, CU_STREAM_NON_BLOCKING);
    rd_gpu_leave(r->gpu);
    return done;
}

/* Makes a queue on the captured stream, and a submission (the memory and reports of a run). Work
 * that it gets is recorded, not done. */
static bool open_queue(rd_recording *r, char why[RD_CUDA_TEXT])
{
    bool full;

    r->queue      = rd_queue_new(r->gpu, r->stream, &full, why);
    r->submission = r->queue ? rd_submission_new(r->queue, &full, why) : NULL;
    return r->submission;
}

/* Begins the capture of the stream, in relaxed mode: meanwhile memory may be taken, which is not
 * recorded, and other streams may be waited for. */
static bool begin_capture(rd_recording *r, char why[RD_CUDA_TEXT])
{
    if (!rd_gpu_enter(r->gpu, why))
        return false;
    r->captures = RD_GPU_CALL(r->gpu, why, cuStreamBeginCapture_v2, r->stream,
                              CU_STREAM_CAPTURE_MODE_RELAXED);
    rd_gpu_leave(r->gpu);
    return r->captures;
}

/* Begins a recording on a stream and a queue of its own; *s gets the submission that records.
 * NULL: there is none, and `why` has the reason. */
rd_recording *rd_recording_begin(rd_gpu *gpu, rd_submission **s, char why[RD_CUDA_TEXT])
{
    rd_recording *r = has_graphs(why) ? calloc(1, sizeof *r) : NULL;

    if (!r)
        return NULL;
    r->gpu = gpu;
    if (open_stream(r, why) && open_queue(r, why) && begin_capture(r, why)) {
        *s = r->submission;
        return r;
    }
    rd_recording_drop(r);
    return NULL;
}

/* Ends the capture and returns its graph; NULL: what was captured makes no graph. */
static CUgraph end_capture(rd_recording *r, char why[RD_CUDA_TEXT])
{
    CUgraph    graph = NULL;
    const bool done  = RD_GPU_CALL(r->gpu, why, cuStreamEndCapture, r->stream, &graph);

    r->captures = false;
    return done ? graph : NULL;
}

/* Ends the capture and makes an executable graph of it, which r->graph keeps. */
static bool make_graph(rd_recording *r, char why[RD_CUDA_TEXT])
{
    CUgraph graph;
    bool    full, done;

    if (!rd_gpu_enter(r->gpu, why))
        return false;
    graph = end_capture(r, why);
    done =
        graph && RD_GPU_TAKE(r->gpu, &full, why, cuGraphInstantiateWithFlags, &r->graph, graph, 0);
    if (graph)
        (void)rd_cuda_api(/*why=*/NULL)->cuGraphDestroy(graph);
    rd_gpu_leave(r->gpu);
    return done;
}

/* True if the recorded stages (passes over memory) take at most 1/512 of the GPU's memory. The
 * 64 plans of a context, with two graphs each, then hold a quarter of it. Stages that need more
 * work so long that a launch costs nothing. */
static bool is_small(const rd_recording *r, char why[RD_CUDA_TEXT])
{
    enum { PART = 512 };
    const bool small = rd_submission_bytes(r->submission) <= rd_gpu_facts_of(r->gpu)->memory / PART;

    if (!small)
        snprintf(why, RD_CUDA_TEXT, "its stages need too much memory to be recorded");
    return small;
}

/* Ends a recording.  False: it cannot be replayed, as it needs too much memory or the driver
 * made no graph of it. */
bool rd_recording_end(rd_recording *r, char why[RD_CUDA_TEXT])
{
    return is_small(r, why) && make_graph(r, why);
}

/* Launches the recorded graph in the queue's stream: all launches of a run by one call. */
bool rd_recording_replay(rd_recording *r, rd_queue *queue, char why[RD_CUDA_TEXT])
{
    bool full, done;

    if (!rd_gpu_enter(r->gpu, why))
        return false;
    done = RD_GPU_TAKE(r->gpu, &full, why, cuGraphLaunch, r->graph, rd_queue_stream(queue));
    rd_gpu_leave(r->gpu);
    return done;
}

/* ---- Freeing --------------------------------------------------------------------------------- */
/* Destroys the executable graph, and a capture that has not ended. */
static void drop_graph(rd_recording *r)
{
    char    ignored[RD_CUDA_TEXT];
    CUgraph graph;

    if (!rd_gpu_enter(r->gpu, ignored))
        return;
    if (r->captures && (graph = end_capture(r, ignored)))
        (void)RD_GPU_CALL(r->gpu, ignored, cuGraphDestroy, graph);
    if (r->graph)
        (void)RD_GPU_CALL(r->gpu, ignored, cuGraphExecDestroy, r->graph);
    rd_gpu_leave(r->gpu);
}

/* Destroys the stream of the capture, if there is one. */
static void close_stream(rd_recording *r)
{
    char ignored[RD_CUDA_TEXT];

    if (!r->stream || !rd_gpu_enter(r->gpu, ignored))
        return;
    (void)RD_GPU_CALL(r->gpu, ignored, cuStreamDestroy_v2, r->stream);
    rd_gpu_leave(r->gpu);
}

/* Frees a recording, its memory on the GPU, its queue and its stream.  No work may still use
 * them.  NULL is allowed. */
void rd_recording_drop(rd_recording *r)
{
    rd_task ignored = { 0 };
    char    why[RD_CUDA_TEXT];

    if (!r)
        return;
    drop_graph(r);
    if (r->submission)
        (void)rd_submission_end(r->submission, &ignored, why);
    rd_queue_free(r->queue);
    close_stream(r);
    free(r);
}
