/* Development only: replaced by base.h and rdim.h before the merge. */
#define RD_ERR_CONVERGENCE ((rd_status)13)
#include "rdim/solves.h"
#include "rdim/eigenvalues.h"
