"""A certificate authority for one test run, and a certificate for localhost signed by it."""

import datetime
import ipaddress
import os
import ssl

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


def name(text):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def certificate(subject, key, issuer, issuer_key, extensions):
    now = datetime.datetime.utcnow()
    builder = (
        x509.CertificateBuilder()
        .subject_name(name(subject))
        .issuer_name(name(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
    )
    for extension, critical in extensions:
        builder = builder.add_extension(extension, critical)
    return builder.sign(issuer_key, hashes.SHA256())


def server_context(folder, protocols):
    """Writes ca.pem into the folder and gives a TLS context whose certificate it vouches for."""
    authority_key = ec.generate_private_key(ec.SECP256R1())
    issuer = f"Stand-in CA {x509.random_serial_number():x}"
    authority = certificate(
        issuer, authority_key, issuer, authority_key,
        [(x509.BasicConstraints(ca=True, path_length=None), True)])
    key = ec.generate_private_key(ec.SECP256R1())
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    leaf = certificate(
        "localhost", key, issuer, authority_key,
        [(x509.SubjectAlternativeName(names), False)])
    paths = {}
    for file, data in [
        ("ca.pem", authority.public_bytes(serialization.Encoding.PEM)),
        ("leaf.pem", leaf.public_bytes(serialization.Encoding.PEM)),
        ("leaf.key", key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption())),
    ]:
        paths[file] = os.path.join(folder, file)
        with open(paths[file], "wb") as out:
            out.write(data)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(paths["leaf.pem"], paths["leaf.key"])
    context.set_alpn_protocols(protocols)
    return context
