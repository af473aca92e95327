/* Loops for the programs of fields_more.py, as an expert would write them for these types. */
#include "fields_audio.h"
#include "fields_graphs.h"
#include "fields_inference.h"
#include "fields_physics.h"
#include "fields_statistics.h"
