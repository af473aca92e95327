/* fake_graphs.cpp - what streams are asked while they are captured, and launched later.
 *
 * Kernels, copies and clearing, of one stream.  Events are refused, as is waiting.  So are streams that
 * the default one waits for: a driver would refuse the process that one meanwhile. */
#include "fake_driver.h"

namespace fake
{
std::set<CUgraph>     graphs;
std::set<CUgraphExec> execs;
} // namespace fake
using namespace fake;

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode)
{
    const call c(__func__, CONTEXT);

    if (c.no)
        return c.no;
    if (!streams.count(stream) || stream->device != device())
        return CUDA_ERROR_INVALID_HANDLE;
    if (mode != CU_STREAM_CAPTURE_MODE_RELAXED || stream->capture || !stream->apart)
        return CUDA_ERROR_INVALID_VALUE;
    stream->capture = new CUgraph_st{ device(), {} };
    graphs.insert(stream->capture);
    return CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
    const call c(__func__, CONTEXT);

    *graph = nullptr;
    if (!c.may_release)
        return c.no;
    if (!streams.count(stream))
        return CUDA_ERROR_INVALID_HANDLE;
    if (!stream->capture)
        return CUDA_ERROR_INVALID_VALUE;
    if (c.no) {
        graphs.erase(stream->capture);
        delete stream->capture;
    } else
        *graph = stream->capture;
    stream->capture = nullptr;
    return c.no;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    const call c(__func__, CONTEXT);

    if (c.no)
        return c.no;
    if (!graphs.count(graph) || flags)
        return CUDA_ERROR_INVALID_VALUE;
    *exec = new CUgraphExec_st{ *graph };
    execs.insert(*exec);
    return CUDA_SUCCESS;
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
    const call c(__func__, CONTEXT);
    CUresult   done = c.no;

    if (c.no)
        return c.no;
    if (!execs.count(exec) || exec->graph.device != device())
        return CUDA_ERROR_INVALID_HANDLE;
    for (const fake_piece &piece : exec->graph.pieces)
        done = done ? done : enqueue(stream, (engine)piece.by, piece.time, piece.work);
    return done;
}

CUresult cuGraphExecDestroy(CUgraphExec exec)
{
    const call c(__func__, CONTEXT);

    if (!c.may_release)
        return c.no;
    if (!execs.erase(exec))
        return CUDA_ERROR_INVALID_HANDLE;
    delete exec;
    return c.no;
}

CUresult cuGraphDestroy(CUgraph graph)
{
    const call c(__func__, CONTEXT);

    if (!c.may_release)
        return c.no;
    if (!graphs.erase(graph))
        return CUDA_ERROR_INVALID_HANDLE;
    delete graph;
    return c.no;
}
