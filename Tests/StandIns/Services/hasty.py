"""A server of HTTPS that reads some of each request and closes the connection, while the client still sends.

usage: hasty.py FOLDER
FOLDER receives ca.pem. The port is the first line of its output; it does nothing with commands but answer them.
"""

import json
import socket
import struct
import sys
import threading

from certificates import server_context

ENOUGH = 200_000


def serve(connection, context, resets):
    try:
        with context.wrap_socket(connection, server_side=True) as channel:
            count = 0
            while count < ENOUGH and (piece := channel.recv(65_536)):
                count += len(piece)
            if resets:  # else the client's next bytes are answered by a reset
                channel.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    except OSError:
        pass


def accept(listener, context):
    number = 0
    while True:
        connection, _ = listener.accept()
        number += 1
        threading.Thread(target=serve, args=(connection, context, number % 2 == 0), daemon=True).start()


def main():
    context = server_context(sys.argv[1], ["http/1.1"])
    listener = socket.create_server(("127.0.0.1", 0))
    print(json.dumps({"port": listener.getsockname()[1]}), flush=True)
    threading.Thread(target=accept, args=(listener, context), daemon=True).start()
    for _ in sys.stdin:
        print("{}", flush=True)


main()
