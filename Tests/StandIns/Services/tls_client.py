"""A client of Python's ssl, which trusts every certificate and keeps sessions for as long as it runs.

usage: tls_client.py FOLDER
Standard output: one JSON object per line, first {"port": 0}, then an answer per command. Standard input, one command per line:
  {"do": "reset"}                   forgets the sessions
  {"do": "fetch", "port": n, "version": "1.2|1.3", "offer": "…", "keep": "…"}
                                    asks for /healthz on a connection of its own, offers the session that was kept by that
                                    name, if there is one, and keeps its own; answers with {"reused": true, "version": "…",
                                    "protocol": "http/1.1", "status": 200}
"""

import json
import shutil
import socket
import ssl
import sys

VERSIONS = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}


def context(version):
    made = ssl.create_default_context()
    made.check_hostname, made.verify_mode = False, ssl.CERT_NONE
    made.minimum_version = made.maximum_version = version
    made.set_alpn_protocols(["http/1.1"])
    return made


# A session belongs to its context.
CONTEXTS = {name: context(version) for name, version in VERSIONS.items()}
sessions = {}


def fetch(command):
    with socket.create_connection(("127.0.0.1", command["port"]), timeout=60) as plain:
        offered = sessions.get(command.get("offer"))
        with CONTEXTS[command["version"]].wrap_socket(plain, server_hostname="localhost", session=offered) as connection:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            answer = b""
            while piece := connection.recv(4096):
                answer += piece
            if "keep" in command:
                sessions[command["keep"]] = connection.session
            return {"reused": connection.session_reused, "version": connection.version(),
                    "protocol": connection.selected_alpn_protocol(), "status": int(answer.split()[1])}


def main():
    print(json.dumps({"port": 0}), flush=True)
    for line in sys.stdin:
        command = json.loads(line)
        if command["do"] == "reset":
            sessions.clear()
            answer = {}
        else:
            try:
                answer = fetch(command)
            except (OSError, IndexError, ValueError) as problem:
                answer = {"error": f"{type(problem).__name__}: {problem}"}
        print(json.dumps(answer), flush=True)
    shutil.rmtree(sys.argv[1])


main()
