#include "cpostgres.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

typedef cpostgres_connection connection;
typedef cpostgres_result result;

/* libpq's PGnotify. */
struct notification {
  char *channel;
  int sender;
  char *payload;
  struct notification *next;
};

/* The functions of libpq that are used, by their names there. */
#define FUNCTIONS(F) \
  F(connection *, PQconnectStartParams, (const char *const *, const char *const *, int)) \
  F(int, PQconnectPoll, (connection *)) \
  F(int, PQstatus, (const connection *)) \
  F(int, PQsocket, (const connection *)) \
  F(int, PQtransactionStatus, (const connection *)) \
  F(char *, PQerrorMessage, (const connection *)) \
  F(char *, PQpass, (const connection *)) \
  F(const char *, PQparameterStatus, (const connection *, const char *)) \
  F(void *, PQsetNoticeProcessor, (connection *, void (*)(void *, const char *), void *)) \
  F(void, PQfinish, (connection *)) \
  F(int, PQsetnonblocking, (connection *, int)) \
  F(int, PQsendQuery, (connection *, const char *)) \
  F(int, PQsendPrepare, (connection *, const char *, const char *, int, const unsigned *)) \
  F(int, PQsendQueryPrepared, (connection *, const char *, int, const char *const *, const int *, const int *, int)) \
  F(int, PQputCopyData, (connection *, const char *, int)) \
  F(int, PQputCopyEnd, (connection *, const char *)) \
  F(int, PQgetCopyData, (connection *, char **, int)) \
  F(int, PQenterPipelineMode, (connection *)) \
  F(int, PQexitPipelineMode, (connection *)) \
  F(int, PQpipelineSync, (connection *)) \
  F(int, PQflush, (connection *)) \
  F(int, PQconsumeInput, (connection *)) \
  F(int, PQisBusy, (connection *)) \
  F(result *, PQgetResult, (connection *)) \
  F(struct notification *, PQnotifies, (connection *)) \
  F(void, PQfreemem, (void *)) \
  F(int, PQresultStatus, (const result *)) \
  F(char *, PQresultErrorField, (const result *, int)) \
  F(int, PQntuples, (const result *)) \
  F(int, PQgetisnull, (const result *, int, int)) \
  F(char *, PQgetvalue, (const result *, int, int)) \
  F(int, PQgetlength, (const result *, int, int)) \
  F(char *, PQcmdStatus, (result *)) \
  F(char *, PQcmdTuples, (result *)) \
  F(void, PQclear, (result *))

static struct {
#define MEMBER(type, name, parameters) type(*name) parameters;
  FUNCTIONS(MEMBER)
} pq;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *problem;

static void load(void) {
  void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    problem = "libpq.so.5 can't be loaded; install the package libpq5";
    return;
  }
  /* POSIX lets an object pointer be copied to a function pointer, which ISO C does not. */
#define LOAD(type, name, parameters) \
  do { \
    void *function = dlsym(library, #name); \
    if (!function) problem = "libpq.so.5 is too old: it has no " #name; \
    memcpy(&pq.name, &function, sizeof function); \
  } while (0);
  FUNCTIONS(LOAD)
}

const char *cpostgres_load(void) {
  pthread_once(&once, load);
  return problem;
}

connection *cpostgres_connect_start(const char *const *keywords, const char *const *values) {
  return pq.PQconnectStartParams(keywords, values, 1);
}

static void ignore(void *context, const char *message) {
  (void)context;
  (void)message;
}

int cpostgres_connect_poll(connection *c) { return pq.PQconnectPoll(c); }
int cpostgres_status(const connection *c) { return pq.PQstatus(c); }
int cpostgres_socket(const connection *c) { return pq.PQsocket(c); }
int cpostgres_transaction_status(const connection *c) { return pq.PQtransactionStatus(c); }
const char *cpostgres_error_message(const connection *c) { return pq.PQerrorMessage(c); }
const char *cpostgres_parameter_status(const connection *c, const char *name) { return pq.PQparameterStatus(c, name); }
const char *cpostgres_password(const connection *c) { return pq.PQpass(c); }
void cpostgres_configure(connection *c) {
  pq.PQsetNoticeProcessor(c, ignore, NULL);
  pq.PQsetnonblocking(c, 1);
}
void cpostgres_finish(connection *c) { pq.PQfinish(c); }

int cpostgres_send_query(connection *c, const char *sql) { return pq.PQsendQuery(c, sql); }
int cpostgres_send_prepare(connection *c, const char *name, const char *sql) { return pq.PQsendPrepare(c, name, sql, 0, NULL); }
int cpostgres_send_query_prepared(connection *c, const char *name, int count, const char *const *values) {
  return pq.PQsendQueryPrepared(c, name, count, values, NULL, NULL, 0);
}
int cpostgres_put_copy_data(connection *c, const char *bytes, int count) { return pq.PQputCopyData(c, bytes, count); }
int cpostgres_put_copy_end(connection *c, const char *error) { return pq.PQputCopyEnd(c, error); }
int cpostgres_get_copy_data(connection *c, char **line) { return pq.PQgetCopyData(c, line, 1); }
void cpostgres_free(char *memory) { pq.PQfreemem(memory); }
int cpostgres_enter_pipeline_mode(connection *c) { return pq.PQenterPipelineMode(c); }
int cpostgres_exit_pipeline_mode(connection *c) { return pq.PQexitPipelineMode(c); }
int cpostgres_pipeline_sync(connection *c) { return pq.PQpipelineSync(c); }
int cpostgres_flush(connection *c) { return pq.PQflush(c); }
int cpostgres_consume_input(connection *c) { return pq.PQconsumeInput(c); }
int cpostgres_is_busy(connection *c) { return pq.PQisBusy(c); }
result *cpostgres_get_result(connection *c) { return pq.PQgetResult(c); }

char *cpostgres_next_notification(connection *c) {
  struct notification *next = pq.PQnotifies(c);
  if (!next) return NULL;
  char *payload = strdup(next->payload);
  pq.PQfreemem(next);
  return payload;
}

int cpostgres_result_status(const result *r) { return pq.PQresultStatus(r); }
/* PG_DIAG_SQLSTATE and PG_DIAG_MESSAGE_PRIMARY. */
const char *cpostgres_result_state(const result *r) { return pq.PQresultErrorField(r, 'C'); }
const char *cpostgres_result_message(const result *r) { return pq.PQresultErrorField(r, 'M'); }
int cpostgres_row_count(const result *r) { return pq.PQntuples(r); }
int cpostgres_is_null(const result *r, int row, int column) { return pq.PQgetisnull(r, row, column); }
const char *cpostgres_value(const result *r, int row, int column) { return pq.PQgetvalue(r, row, column); }
int cpostgres_length(const result *r, int row, int column) { return pq.PQgetlength(r, row, column); }
const char *cpostgres_command(result *r) { return pq.PQcmdStatus(r); }
const char *cpostgres_changed_rows(result *r) { return pq.PQcmdTuples(r); }
void cpostgres_clear(result *r) { pq.PQclear(r); }
