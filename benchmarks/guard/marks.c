/* Tells callgrind where counting begins, and where it ends and under which name to write it down.
   Outside valgrind both do nothing. */
#include <valgrind/callgrind.h>

void begin(void) { CALLGRIND_START_INSTRUMENTATION; }

void end(const char *name) {
  CALLGRIND_STOP_INSTRUMENTATION;
  CALLGRIND_DUMP_STATS_AT(name);
}
