#pragma once
#include <stdbool.h>

/* libpq, the client of PostgreSQL, loaded when it is first needed: a server without PostgreSQL needs neither
   the library nor what it depends on. The functions are those of libpq(3) without the prefix PQ; none may be
   called before cpostgres_load() has returned NULL. */

#pragma clang assume_nonnull begin

typedef struct pg_conn cpostgres_connection;
typedef struct pg_result cpostgres_result;

/* Values of libpq's enumerations, which are part of its ABI. */
enum { CPOSTGRES_OK = 0, CPOSTGRES_BAD = 1 };
enum { CPOSTGRES_POLLING_FAILED = 0, CPOSTGRES_POLLING_READING = 1, CPOSTGRES_POLLING_WRITING = 2, CPOSTGRES_POLLING_OK = 3 };
enum { CPOSTGRES_COMMAND_OK = 1, CPOSTGRES_TUPLES_OK = 2, CPOSTGRES_COPY_OUT = 3, CPOSTGRES_COPY_IN = 4 };
enum { CPOSTGRES_PIPELINE_SYNC = 10, CPOSTGRES_PIPELINE_ABORTED = 11 };
enum { CPOSTGRES_IN_ERROR = 3 };

/* Loads the library; the reason if it can't be loaded. */
const char *_Nullable cpostgres_load(void);

/* A connection to be polled; its address in text form (a URL, or words with =) is expanded. */
cpostgres_connection *_Nullable cpostgres_connect_start(const char *_Nullable const *_Nonnull keywords, const char *_Nullable const *_Nonnull values);
int cpostgres_connect_poll(cpostgres_connection *connection);
int cpostgres_status(const cpostgres_connection *connection);
int cpostgres_socket(const cpostgres_connection *connection);
int cpostgres_transaction_status(const cpostgres_connection *connection);
const char *cpostgres_error_message(const cpostgres_connection *connection);
const char *_Nullable cpostgres_parameter_status(const cpostgres_connection *connection, const char *name);
/* The password that was used; empty if there was none. */
const char *cpostgres_password(const cpostgres_connection *connection);
/* No function waits any more, and the server's notices are ignored, which libpq prints to standard error. */
void cpostgres_configure(cpostgres_connection *connection);
void cpostgres_finish(cpostgres_connection *connection);

int cpostgres_send_query(cpostgres_connection *connection, const char *sql);
int cpostgres_send_prepare(cpostgres_connection *connection, const char *name, const char *sql);
/* Parameters and results are in text form. */
int cpostgres_send_query_prepared(cpostgres_connection *connection, const char *name, int count, const char *_Nullable const *_Nullable values);
/* After COPY … FROM STDIN; with an error, the server undoes the statement. */
int cpostgres_put_copy_data(cpostgres_connection *connection, const char *bytes, int count);
int cpostgres_put_copy_end(cpostgres_connection *connection, const char *_Nullable error);
/* After COPY … TO STDOUT, without waiting: the length of a line, to be freed; 0 if none has arrived, -1 at the end, -2 for an error. */
int cpostgres_get_copy_data(cpostgres_connection *connection, char *_Nullable *_Nonnull line);
void cpostgres_free(char *memory);
/* Several statements may be sent before their results are read: those of each end with NULL, and all of them with one
   of status CPOSTGRES_PIPELINE_SYNC. */
int cpostgres_enter_pipeline_mode(cpostgres_connection *connection);
int cpostgres_exit_pipeline_mode(cpostgres_connection *connection);
int cpostgres_pipeline_sync(cpostgres_connection *connection);
int cpostgres_flush(cpostgres_connection *connection);
int cpostgres_consume_input(cpostgres_connection *connection);
int cpostgres_is_busy(cpostgres_connection *connection);
cpostgres_result *_Nullable cpostgres_get_result(cpostgres_connection *connection);
/* The payload of the next notification, to be freed by the caller; NULL if there is none. */
char *_Nullable cpostgres_next_notification(cpostgres_connection *connection);

int cpostgres_result_status(const cpostgres_result *result);
/* The SQLSTATE of an error. */
const char *_Nullable cpostgres_result_state(const cpostgres_result *result);
const char *_Nullable cpostgres_result_message(const cpostgres_result *result);
int cpostgres_row_count(const cpostgres_result *result);
int cpostgres_is_null(const cpostgres_result *result, int row, int column);
const char *cpostgres_value(const cpostgres_result *result, int row, int column);
int cpostgres_length(const cpostgres_result *result, int row, int column);
/* The command and the rows it changed, such as "UPDATE 3". */
const char *cpostgres_command(cpostgres_result *result);
const char *cpostgres_changed_rows(cpostgres_result *result);
void cpostgres_clear(cpostgres_result *result);

#pragma clang assume_nonnull end
