#!/usr/bin/env python3
"""An SPDX 2.3 document of the package in a folder: the programs, what is linked into them statically,
and the Debian packages of the libraries that they load.

usage: sbom.py FOLDER
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time

FOLDER = sys.argv[1]
ROOT = os.path.join(FOLDER, "usr/lib/richpush")


def output(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def programs():
    for folder, _, names in sorted(os.walk(ROOT)):
        for name in sorted(names):
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                if file.read(4) == b"\x7fELF":
                    yield path


def libraries(path):
    """The Debian packages of the libraries that a program names (DT_NEEDED)."""
    needed = re.findall(r"NEEDED.*\[(.*?)\]", output("readelf", "-d", path))
    paths = dict(re.findall(r"(\S+) => (/\S+)", output("ldd", path))) if needed else {}
    for name in needed:
        real = os.path.realpath(paths.get(name, "/lib64/" + name))
        for candidate in (real, real.replace("/usr/lib/", "/lib/", 1)):
            found = subprocess.run(["dpkg-query", "-S", candidate], capture_output=True, text=True)
            if found.returncode == 0:
                yield found.stdout.split(":")[0]
                break


def package(name, version, licence, supplier, **more):
    return {
        "SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name), "name": name, "versionInfo": version,
        "supplier": supplier, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
        "licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": "NOASSERTION", **more}


def main():
    version = re.search(r"\((.*?)\)", open("debian/changelog").readline())[1]
    found = list(programs())
    swift = re.search(r"version (\S+)", output("swift", "--version"))[1]
    toolchain = os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("swift"))))
    icu = re.search(r'U_ICU_VERSION "(.*?)"', open(toolchain + "/lib/swift/_foundation_unicode/uvernum.h").read())[1]
    ours = "Organization: the richpush authors"
    own = package("richpush", version, "MIT", ours)
    # What is linked statically, by the names of the programs; None stands for all that are in Swift.
    static = [
        (package("swift-runtime", swift, "Apache-2.0 WITH Swift-exception", "Organization: the Swift project"), None),
        (package("icu", icu, "Unicode-3.0", "Organization: Unicode"), {"richpush"}),
        (package("glibc", output("dpkg-query", "-W", "-f=${source:Version}", "libc6-dev"), "LGPL-2.1-or-later",
                 "Organization: Debian"), {"richpush-exec"})]
    in_c = {"richpush-exec", "img-decode"}
    linked = {path: sorted(set(libraries(path))) for path in found}
    shared = [
        package(name, output("dpkg-query", "-W", "-f=${Version}", name), "NOASSERTION", "Organization: Debian",
                externalRefs=[{
                    "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                    "referenceLocator": f"pkg:deb/debian/{name}@" + output("dpkg-query", "-W", "-f=${Version}", name)}])
        for name in sorted({name for names in linked.values() for name in names})]
    files = [{
        "SPDXID": f"SPDXRef-File-{number}", "fileName": "./" + os.path.relpath(path, FOLDER),
        "checksums": [{"algorithm": kind.upper(), "checksumValue": hashlib.new(kind, open(path, "rb").read()).hexdigest()}
                      for kind in ("sha1", "sha256")],
        "licenseConcluded": "NOASSERTION", "copyrightText": "NOASSERTION",
    } for number, path in enumerate(found)]

    def relation(first, kind, second):
        return {"spdxElementId": first, "relationshipType": kind, "relatedSpdxElement": second}

    links = []
    for path, file in zip(found, files):
        name = os.path.basename(path)
        for part, users in static:
            if name in users if users else name not in in_c:
                links.append(relation(file["SPDXID"], "STATIC_LINK", part["SPDXID"]))
        for part in shared:
            if part["name"] in linked[path]:
                links.append(relation(file["SPDXID"], "DYNAMIC_LINK", part["SPDXID"]))
    identity = own["SPDXID"]
    date = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())))
    json.dump({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"richpush-{version}",
        "documentNamespace": f"https://richpush.invalid/spdx/richpush-{version}",
        "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", date), "creators": [ours]},
        "packages": [own] + [part for part, _ in static] + shared, "files": files,
        "relationships": [relation("SPDXRef-DOCUMENT", "DESCRIBES", identity)]
        + [relation(identity, "CONTAINS", file["SPDXID"]) for file in files]
        + links,
    }, sys.stdout, indent=1, sort_keys=True)
    print()


main()
