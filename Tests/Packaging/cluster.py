#!/usr/bin/env python3
"""Checks packaging/compose/cluster.yml without a container engine: its nodes are those of HAProxy's configuration, their
environment is right, and what they are given is what the database and the object store have.

usage: PROGRAM=.build/debug/richpush cluster.py
"""

import os
import re
import subprocess
import tempfile
import urllib.parse

import yaml

SOURCE = os.path.abspath(os.path.dirname(__file__) + "/../..")


def load(path):
    with open(f"{SOURCE}/packaging/{path}") as file:
        return file.read()


compose = yaml.safe_load(load("compose/cluster.yml"))
services, single = compose["services"], yaml.safe_load(load("image/compose.yml"))["services"]["richpush"]
nodes = {name: services[name] for name in services if name.startswith("node")}
assert len(nodes) == 3

proxy = load("cluster/haproxy.cfg")
addresses = [service["networks"]["default"]["ipv4_address"] for service in nodes.values()]
assert re.findall(r"server node\d (\S+):8080", proxy) == addresses * 2, proxy
balancer = services["balancer"]
assert balancer["networks"]["default"]["ipv4_address"] == nodes["node1"]["environment"]["RICHPUSH_TRUSTED_PROXY"]
mounted = balancer["volumes"][0].split(":")[0]
assert os.path.samefile(f"{SOURCE}/packaging/compose/{mounted}", f"{SOURCE}/packaging/cluster/haproxy.cfg")
inner = re.search(r"(?m)^  bind :(\d+)", proxy)[1]
assert balancer["ports"][0].endswith(":" + inner)
checked = subprocess.run(["/usr/sbin/haproxy", "-c", "-f", f"{SOURCE}/packaging/cluster/haproxy.cfg"],
                         capture_output=True, text=True)
assert checked.returncode == 0 and "WARNING" not in checked.stderr, checked.stderr

volumes = [volume.split(":")[0] for service in nodes.values() for volume in service["volumes"]]
assert set(volumes) - {"./assets"} == {"data1", "data2", "data3"} <= set(compose["volumes"])
for service in nodes.values():
    for name in "image", "read_only", "cap_drop", "security_opt", "tmpfs", "healthcheck", "stop_grace_period", "restart":
        assert service[name] == single[name], name

environment = nodes["node1"]["environment"]
database = urllib.parse.urlsplit(environment["RICHPUSH_DATABASE"])
given = services["database"]["environment"]
assert (database.username, database.password, database.path[1:], database.hostname) == (
    given["POSTGRES_USER"], given["POSTGRES_PASSWORD"], given["POSTGRES_DB"], "database")
given = services["store"]["environment"]
assert given["MINIO_ROOT_USER"] == environment["RICHPUSH_OBJECTS_ACCESS_KEY"]
assert given["MINIO_ROOT_PASSWORD"] == environment["RICHPUSH_OBJECTS_SECRET_KEY"]
objects = urllib.parse.urlsplit(environment["RICHPUSH_OBJECTS"])
assert "endpoint=http://store:9000" in objects.query
assert f"store/{objects.netloc}" in services["bucket"]["command"][0]

with tempfile.NamedTemporaryFile("w", suffix=".env") as file:
    file.write("".join(f"{name}={value}\n" for name, value in environment.items()))
    file.flush()
    result = subprocess.run([os.environ["PROGRAM"], "config", "check", "--offline", file.name],
                            capture_output=True, text=True)
    assert result.returncode == 0 and not result.stderr, result.stderr
