"""A FastCGI responder for applications in Python (WSGI, PEP 3333), without other packages.

serve(application) answers one call after the other on the socket that the server passes as descriptor 0. The
application can be a function, or one of Flask, Django and the like. Copy this file into the folder of your plugin.
"""
import io
import socket
import struct
import sys
import traceback

HEADER = struct.Struct(">BBHHBx")  # version, type, request, length of the content, length of the padding
BEGIN_REQUEST, ABORT_REQUEST, END_REQUEST, PARAMS, STDIN, STDOUT, STDERR = range(1, 8)
KEEP_CONNECTION = 1
LONGEST_CONTENT = 65528


def serve(application):
    """Answers calls until the server ends the process."""
    listener = socket.socket(fileno=0)
    while True:
        connection, _ = listener.accept()
        with connection, connection.makefile("rb") as stream:
            try:
                while answer(application, stream, connection):
                    pass
            except (EOFError, ConnectionError):
                pass  # the server has closed the connection


def answer(application, stream, connection):
    """Answers one call; whether the connection stays open for the next one."""
    request, keeps, params, body = 0, False, b"", b""
    while True:
        kind, number, content = read_record(stream)
        if kind == BEGIN_REQUEST:
            request, keeps, params, body = number, bool(content[2] & KEEP_CONNECTION), b"", b""
        elif kind == ABORT_REQUEST:
            break
        elif kind == PARAMS:
            params += content
        elif kind == STDIN and content:
            body += content
        elif kind == STDIN:
            run(application, dict(read_params(params)), body, lambda kind, data: send(connection, kind, request, data))
            break
    send(connection, STDOUT, request, b"")
    send(connection, END_REQUEST, request, bytes(8))
    return keeps


def run(application, environ, body, write):
    """Calls a WSGI application, and writes its response as a CGI program does."""
    errors = io.StringIO()
    environ.update({
        "wsgi.version": (1, 0), "wsgi.url_scheme": "http", "wsgi.input": io.BytesIO(body), "wsgi.errors": errors,
        "wsgi.multithread": False, "wsgi.multiprocess": True, "wsgi.run_once": False})
    head = []

    def start_response(status, fields, error=None):
        head[:] = ["Status: " + status] + [f"{name}: {value}" for name, value in fields]
        return parts.append

    parts = []
    try:
        result = application(environ, start_response)
        try:
            parts.extend(result)
        finally:
            getattr(result, "close", lambda: None)()
        response = "\r\n".join(head + ["", ""]).encode("latin-1") + b"".join(parts)
    except Exception:
        errors.write(traceback.format_exc())
        response = b"Status: 500\r\nContent-Type: text/plain\r\n\r\n"
    for kind, data in (STDERR, errors.getvalue().encode("utf-8", "replace")), (STDOUT, response):
        for start in range(0, len(data), LONGEST_CONTENT):
            write(kind, data[start:start + LONGEST_CONTENT])


def read_exactly(stream, count):
    data = stream.read(count)
    if len(data) < count:
        raise EOFError
    return data


def read_record(stream):
    _, kind, request, length, padding = HEADER.unpack(read_exactly(stream, HEADER.size))
    content = read_exactly(stream, length)
    read_exactly(stream, padding)
    return kind, request, content


def read_params(data):
    """Names and values, as WSGI has them: each byte is a character."""
    stream = io.BytesIO(data)

    def read_length():
        first = read_exactly(stream, 1)
        if first[0] < 128:
            return first[0]
        return struct.unpack(">I", first + read_exactly(stream, 3))[0] & 0x7FFFFFFF

    while stream.tell() < len(data):
        name, value = read_length(), read_length()
        yield read_exactly(stream, name).decode("latin-1"), read_exactly(stream, value).decode("latin-1")


def send(connection, kind, request, data):
    connection.sendall(HEADER.pack(1, kind, request, len(data), 0) + data)


if __name__ == "__main__":
    sys.exit("This file is for other programs to import.")
