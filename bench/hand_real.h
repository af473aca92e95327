/* hand_real.h - the loops of one type. */
#include "hand_sums.h"
#include "hand_maps.h"
#include "hand_columns.h"
#include "hand_rows.h"
#include "hand_limits.h"
