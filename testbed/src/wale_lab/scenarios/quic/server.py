# SPDX-License-Identifier: GPL-2.0
"""An HTTP/3 server on aioquic: the path of a request is the number of bytes that it gets.

    server.py PORT FOLDER

FOLDER gets its certificate, made as it starts and valid by its own clock, and its qlog.
"""

import asyncio
import datetime
import sys
from pathlib import Path

from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.asyncio.server import serve
from aioquic.h3.connection import H3_ALPN, H3Connection
from aioquic.h3.events import HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ProtocolNegotiated, QuicEvent
from aioquic.quic.logger import QuicFileLogger
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


class Server(QuicConnectionProtocol):
    """One connection of a client."""

    http: H3Connection | None = None

    def quic_event_received(self, event: QuicEvent) -> None:
        """Answer each request."""
        if isinstance(event, ProtocolNegotiated):
            self.http = H3Connection(self._quic)
        if self.http:
            for one in self.http.handle_event(event):
                if isinstance(one, HeadersReceived):
                    self.answer(self.http, one)
        self.transmit()

    def answer(self, http: H3Connection, request: HeadersReceived) -> None:
        """As many bytes as the path says."""
        count = int(dict(request.headers)[b":path"].lstrip(b"/"))
        http.send_headers(request.stream_id, [(b":status", b"200")])
        http.send_data(request.stream_id, bytes(count), end_stream=True)


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for a day, and its key."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "server")])
    now = datetime.datetime.now(datetime.UTC)
    key = ec.generate_private_key(ec.SECP256R1())
    made = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    made = made.not_valid_before(now).not_valid_after(now + datetime.timedelta(days=1))
    made = made.add_extension(x509.SubjectAlternativeName([x509.DNSName("server")]), critical=False)
    files = folder / "certificate.pem", folder / "key.pem"
    pem = serialization.Encoding.PEM
    files[0].write_bytes(made.sign(key, hashes.SHA256()).public_bytes(pem))
    form = serialization.PrivateFormat.PKCS8
    files[1].write_bytes(key.private_bytes(pem, form, serialization.NoEncryption()))
    return files


async def main(port: int, folder: Path, logger: QuicFileLogger | None) -> None:
    """Serve until the end."""
    certificate, key = make_certificate(folder)
    configuration = QuicConfiguration(is_client=False, alpn_protocols=H3_ALPN, quic_logger=logger)
    configuration.load_cert_chain(certificate, key)
    await serve("0.0.0.0", port, configuration=configuration, create_protocol=Server)
    await asyncio.Future()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), Path(sys.argv[2]), QuicFileLogger(sys.argv[2])))
