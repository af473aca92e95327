// The header as C++ reads it: it compiles, twice over, and shapes can be written in place.
#include <rdim.h>
#include <rdim.h>

rd_shape shape();
rd_shape shape()
{
    return RD_SHAPE(2, 3);
}

rd_dims dims();
rd_dims dims()
{
    return RD_DIMS(0, -1);
}
