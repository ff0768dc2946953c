"""Who may ask for what: names, paths, texts and queries that are not ours get nothing."""

import http.client
import json
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest

from daybreak.errors import RequestError
from daybreak.explorer import Workspace, explorer, listen
from tests.lab import made

OUTSIDE = "what lies outside"
_TEXTS = ("study", "title", "scale", "command")  # of claims.json


@pytest.fixture(scope="module")
def around(lab: Path, results: Path) -> Path:
    """A secret beside the lab and the results, with links to it from where the explorer reads."""
    secret = lab.parent / "secret.txt"
    secret.write_text(OUTSIDE)
    folder = results / "emergence" / "linked" / "laptop"
    folder.mkdir(parents=True)
    (folder / "claims.json").write_text(json.dumps({"claims": [], "laws": {}} | dict.fromkeys(_TEXTS, "linked")))
    (folder / "figure.png").symlink_to(secret)
    (folder / "table.parquet").symlink_to(secret)
    damaged = lab / "damaged" / "0123.1"
    damaged.mkdir(parents=True)
    (damaged / "why.txt").symlink_to(secret)
    outside = lab.parent / "outside"
    outside.mkdir()
    (outside / "run.json").write_text(f'{{"task": "{OUTSIDE}"}}')
    (lab / "runs" / "00000000deadbeef").symlink_to(outside)
    return secret


def _ask(url: str, path: str, **headers: str) -> tuple[int, str]:
    """Exactly this path: no client of ours tidies it up."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    connection.putrequest("GET", path, skip_host="Host" in headers, skip_accept_encoding=True)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    said = answer.read().decode(errors="replace")
    connection.close()
    return answer.status, said


def test_only_our_own_name_is_answered(url: str) -> None:
    port = urlsplit(url).port
    for name in ("127.0.0.1", "localhost", "LOCALHOST", "[::1]"):
        assert _ask(url, "/", Host=f"{name}:{port}")[0] == 200
    for name in (
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "127.0.0.1@evil.example",
        "",
        "[x",
    ):
        status, said = _ask(url, "/data/runs/runs.csv", Host=f"{name}:{port}")
        assert status in (400, 403), name
        assert made.run(0).id not in said
    assert _ask(url, "/", Origin="http://evil.example")[0] == 403
    assert _ask(url, "/", Origin=url)[0] == 200


def test_other_addresses_only_if_asked(workspace: Workspace) -> None:
    local, everywhere = (explorer(workspace, host).server.test_client() for host in ("127.0.0.1", "0.0.0.0"))  # noqa: S104
    for client, host, status in (
        (local, "192.168.1.7:8050", 403),
        (everywhere, "192.168.1.7:8050", 200),
        (everywhere, "evil.example", 403),
    ):
        assert client.get("/", headers={"Host": host}).status_code == status


PATHS = [
    "/../secret.txt",
    "/../../../../etc/passwd",
    "/%2e%2e/secret.txt",
    "/assets/../secret.txt",
    "/assets/..%2fsecret.txt",
    "/assets/%2e%2e%2f%2e%2e%2fapp.py",
    "/assets//etc/passwd",
    "/figure/../secret.png",
    "/figure/..%2f..%2fsecret.txt%00.png",
    "/figure/%2fetc%2fpasswd.png",
    "/figure//etc/passwd.png",
    "/figure/emergence/linked/laptop.png",
    "/figure/emergence/fig1c/laptop/../../linked/laptop.png",
    "/data/runs/../secret.csv",
    "/data/..%2f..%2fsecret/x.csv",
    "/data/runs/%2e%2e%2fsecret.csv",
    "/data/laws/points.csv?source=../../secret",
    "/data/laws/points.csv?source=/etc/passwd",
    "/data/laws/points.csv?source=emergence/linked/laptop/table",
    "/data/forecast/curve.csv?run=../../secret",
    "/data/forecast/curve.csv?run=00000000deadbeef",
    "/data/runs/curves.csv?runs=..%2f..&runs=/etc/passwd&runs=00000000deadbeef",
    "/_dash-component-suites/dash/../../../secret.txt",
    "/_dash-component-suites/daybreak/explorer/app.py",
]


@pytest.mark.parametrize("path", PATHS)
def test_nothing_outside_is_read(url: str, around: Path, path: str) -> None:
    status, said = _ask(url, path)
    assert OUTSIDE not in said
    assert "root:" not in said
    assert "def explorer" not in said
    # What the server does not know it answers with the empty page, which then says that there is no such view.
    assert status in (200, 400, 404, 500) if not path.startswith(("/figure", "/data")) else status in (200, 400, 404)


def test_links_that_lead_out_are_not_followed(workspace: Workspace, around: Path) -> None:
    assert OUTSIDE not in str([x.why for x in workspace.damaged()])
    found = workspace.studies()["emergence/linked/laptop"]
    assert (found.picture, found.tables) == (None, {})
    assert "00000000deadbeef" not in Workspace(workspace.lab.path, workspace.results).runs()["id"].to_pylist()
    with pytest.raises(RequestError, match="is not in lab"):
        workspace.run_curves("00000000deadbeef")


@pytest.mark.parametrize(
    "text", ["1 = 1", "T = 1); drop table runs; --", "id in (select 1)", "__import__('os').system('id') = 0"]
)
def test_no_query_reaches_sql_or_python(url: str, lab: Path, text: str) -> None:
    before = sorted(x.name for x in (lab / "runs").iterdir())
    for view, panel, name in (("runs", "runs", "where"), ("laws", "points", "where"), ("laws", "points", "law")):
        status, said = _ask(url, f"/data/{view}/{panel}.csv?{name}={quote(text)}")
        assert said.startswith(("filter", "law")) if status == 400 else said.count("\n") == 1, "words, or no row"
    assert sorted(x.name for x in (lab / "runs").iterdir()) == before


def test_what_a_callback_gets_may_be_anything(url: str) -> None:
    """Values of the wrong kind are answered with a sentence or a refusal, not with a traceback."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    for body in (b"", b"{}", b"[1", json.dumps({"output": "x", "inputs": "y"}).encode()):
        connection.request("POST", "/_dash-update-component", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        said = answer.read().decode()
        assert answer.status >= 400
        assert "Traceback" not in said
    connection.close()


def test_browsers_are_told_to_load_nothing_from_elsewhere(workspace: Workspace) -> None:
    answer = explorer(workspace).server.test_client().get("/", headers={"Host": "localhost"})
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "unsafe-eval" not in policy
    assert "http" not in policy
    assert "frame-ancestors 'none'" in policy
    assert b"cdn" not in answer.data


def test_a_port_that_is_taken_is_refused_in_words() -> None:
    with listen("127.0.0.1", 0) as taken, pytest.raises(RequestError, match="is in use"):
        listen("127.0.0.1", taken.getsockname()[1])
    with pytest.raises(RequestError, match="no address of this machine"):
        listen("no.such.host.invalid", 0)
