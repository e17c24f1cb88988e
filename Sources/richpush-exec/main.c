/* richpush-exec: starts plugins, keeps them within bounds and leaves nothing of them behind.
 *
 *   richpush-exec serve           takes orders from the socket that is its standard input (forker.h)
 *   richpush-exec sandbox         says what this kernel has for a sandbox
 *   richpush-exec WORD… [-- ENV…] carries out one order (order.h) on its own standard streams
 */
#include <stdio.h>
#include <string.h>

#include "forker.h"
#include "order.h"
#include "sandbox.h"
#include "supervise.h"

int main(int count, char **words) {
  if (count == 2 && strcmp(words[1], "serve") == 0) return serve_orders(0);
  if (count == 2 && strcmp(words[1], "sandbox") == 0) {
    char line[64];
    sandbox_describe(line, sizeof line);
    return puts(line) < 0;
  }
  struct order order;
  if (!order_read(&order, words + 1)) {
    fputs("usage: richpush-exec program=/PATH [key=value …] [-- NAME=value …]\n", stderr);
    return 64;
  }
  return supervise(&order, -1, (int[]){0, 1, 2});
}
