#pragma once
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>

/* A seccomp program, built call by call. The number of the system call is in the accumulator between
 * two rules. */
struct filter {
  struct sock_filter steps[1024];
  unsigned short count;
};

/* Refuses all calls of other architectures, and begins with the call's number loaded. */
void filter_begin(struct filter *filter);

/* Answers a call with an error, whatever its arguments; error 0 makes it succeed without effect. */
void filter_refuse(struct filter *filter, int call, int error);

/* Begins and ends a rule for one call that looks at arguments; calls that no `filter_error` between the
 * two applies to go on behind it. */
unsigned short filter_rule(struct filter *filter, int call);
void filter_end(struct filter *filter, unsigned short rule);

/* Loads the lower half of an argument, of which only `mask` counts. */
void filter_load(struct filter *filter, int argument, unsigned mask);

/* Inside a rule: the answer when the loaded value is (not) `value`. */
void filter_error_if(struct filter *filter, unsigned value, int error);
void filter_error_unless(struct filter *filter, unsigned value, int error);
void filter_error_unless_any(struct filter *filter, const unsigned *values, unsigned char count,
                             int error);

/* Puts the program in force for this process and its descendants, for good. Needs no_new_privs. */
bool filter_install(struct filter *filter);
