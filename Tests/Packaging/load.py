"""A steady load of requests through Debian's nginx, and how many of them failed."""

import base64
import http.client
import json
import socket
import subprocess
import threading
import time

CONFIGURATION = """
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 512; }}
http {{
  access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/1; uwsgi_temp_path {folder}/2; scgi_temp_path {folder}/3;
  upstream richpush {{ server 127.0.0.1:{upstream}; keepalive 64; }}
  server {{
    listen 127.0.0.1:{port};
    proxy_http_version 1.1; proxy_request_buffering off; proxy_set_header Connection "";
    location / {{ proxy_pass http://richpush; }}
  }}
}}
"""


class Load:
    """Clients that fetch a picture and send notifications until the load is ended."""

    def __init__(self, folder, upstream, port, identity, clients=4):
        self.port, self.identity, self.over, self.counts, self.failures = port, identity, False, [0] * clients, []
        self.longest, self.errors = 0, folder + "/error.log"
        with open(folder + "/nginx.conf", "w") as file:
            file.write(CONFIGURATION.format(folder=folder, upstream=upstream, port=port))
        self.proxy = subprocess.Popen(["nginx", "-e", folder + "/error.log", "-c", folder + "/nginx.conf"])
        self.threads = [threading.Thread(target=self.work, args=(number,)) for number in range(clients)]
        self.await_proxy()
        for thread in self.threads:
            thread.start()

    def await_proxy(self):
        deadline = time.monotonic() + 30
        while True:
            try:
                return socket.create_connection(("127.0.0.1", self.port)).close()
            except ConnectionRefusedError:
                assert time.monotonic() < deadline and self.proxy.poll() is None, open(self.errors).read()
                time.sleep(0.05)

    def work(self, number):
        fields = {"Authorization": "Basic " + base64.b64encode(b"alice:open sesame").decode()}
        note = json.dumps({"message": "Hello", "richType": "img", "payload": "logo.png", "to": "username:alice"})
        connection = None
        while not self.over:
            posts = self.counts[number] % 4 == 3
            start = time.monotonic()
            try:
                connection = connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
                if posts:
                    connection.request("POST", "/api/notifications", note, fields)
                else:
                    connection.request("GET", f"/api/notifications/{self.identity}?width=96", headers=fields)
                response = connection.getresponse()
                text = response.read()
                if response.status not in (200, 201):
                    self.failures.append(f"{'POST' if posts else 'GET'}: {response.status} {text[:300]}")
            except (OSError, http.client.HTTPException) as error:
                self.failures.append(f"{'POST' if posts else 'GET'}: {error!r}")
                connection = None
            self.longest = max(self.longest, time.monotonic() - start)
            self.counts[number] += 1
            time.sleep(0.01)

    def end(self):
        """The number of requests; fails if one of them did."""
        self.over = True
        for thread in self.threads:
            thread.join()
        self.proxy.terminate()
        self.proxy.wait()
        assert not self.failures, (
            f"{len(self.failures)} of {sum(self.counts)} requests: {self.failures[:10]}\n" + open(self.errors).read()[:3000])
        return sum(self.counts)
