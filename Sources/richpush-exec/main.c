/* richpush-exec: starts plugins, keeps them within bounds and leaves nothing of them behind.
 *
 *   richpush-exec serve [WORD…]   takes orders from the socket that is its standard input (forker.h)
 *   richpush-exec sandbox         says what this machine has for a sandbox
 *   richpush-exec inside WORD…    is started by bubblewrap, and turns into the plugin (bubblewrap.h)
 *   richpush-exec WORD… [-- ENV…] carries out one order (order.h) on its own standard streams
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "forker.h"
#include "order.h"
#include "plugin.h"
#include "sandbox.h"
#include "supervise.h"

int main(int count, char **words) {
  if (count >= 2 && strcmp(words[1], "serve") == 0)
    return serve_orders(0, words + 2);
  if (count == 2 && strcmp(words[1], "sandbox") == 0) {
    char line[2048];
    sandbox_describe(line, sizeof line, true, 0, 0);
    return puts(line) < 0;
  }
  struct order order;
  bool is_inside = count > 2 && strcmp(words[1], "inside") == 0;
  if (!order_read(&order, words + 1 + is_inside)) {
    fputs("usage: richpush-exec program=/PATH [key=value …] [-- NAME=value …]\n", stderr);
    return 64;
  }
  if (is_inside) become_plugin_inside(&order);
  return supervise(&order, -1, (int[]){0, 1, 2});
}
