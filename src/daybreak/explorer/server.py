"""Which requests are answered, and what a browser may load: pages of this machine only, nothing from elsewhere."""

import errno
import ipaddress
import logging
import socket
from urllib.parse import urlsplit

from dash import Dash
from flask import Response, abort, request
from waitress.server import create_server

from daybreak.errors import RequestError

_THREADS = 4
_HERE = frozenset({"localhost", "127.0.0.1", "::1"})


def listen(host: str, port: int) -> socket.socket:
    """A socket at which the page will be; port 0 takes any that is free."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError:
        raise RequestError(f"host = {host!r} is not allowed: it is no address of this machine.") from None
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen()
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise RequestError(f"port {port} is in use: choose another with --port.") from None
        raise RequestError(f"{host}:{port} cannot be used: {error.strerror}.") from None
    return listener


def guard(app: Dash, host: str) -> None:
    """Refuse requests that are not for this page, and make browsers load nothing from elsewhere.

    A page of another site can have its name resolve to 127.0.0.1 and then send us requests as if we were that
    site (DNS rebinding): so the name that a request is for must be ours. Where all addresses of the machine are listened at, any
    address in digits is, since only names can be made to resolve to us.
    """
    names = _HERE | {host.lower()}

    @app.server.before_request
    def _refuse() -> None:
        asked = _host(request.host)
        if asked not in names and not (host in ("0.0.0.0", "::") and _digits(asked)):  # noqa: S104
            abort(Response("The explorer is not served under this name.\n", 403, mimetype="text/plain"))
        origin = request.headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc != request.host:
            abort(Response("Requests from other sites are refused.\n", 403, mimetype="text/plain"))

    @app.server.after_request
    def _seal(response: Response) -> Response:
        scripts = " ".join(f"'{x.strip(chr(39))}'" for x in app.csp_hashes())
        response.headers["Content-Security-Policy"] = (
            f"default-src 'self'; script-src 'self' {scripts}; style-src 'self' 'unsafe-inline'; "
            "img-src 'self' data: blob:; connect-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'"
        )
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
        return response


def serve(app: Dash, at: socket.socket) -> None:
    """Answer until interrupted."""
    logging.getLogger("waitress.queue").setLevel(
        logging.ERROR
    )  # a moving slider sends requests faster than they are drawn
    server = create_server(app.server, sockets=[at], threads=_THREADS, ident=None)
    try:
        server.run()
    finally:
        server.close()


def _host(given: str) -> str:
    """The name in a Host header, without the port."""
    try:
        return (urlsplit(f"//{given}").hostname or "").lower()
    except ValueError:
        return ""


def _digits(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
