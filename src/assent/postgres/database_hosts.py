"""The hosts in the URL of a database: `postgresql://a,b:5433/name` and `postgresql:///name?host=a,b&port=1,2`."""

from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit


def one_url_per_host(url: str) -> list[str]:
    """In the order in which they are named. What is not in the URL, such as PGHOST, is left to the driver."""
    parts = urlsplit(url)
    user, at, hosts = parts.netloc.rpartition("@")
    if "," in hosts:
        return [urlunsplit(parts._replace(netloc=f"{user}{at}{host}")) for host in hosts.split(",")]
    query = dict(parse_qsl(parts.query))
    named = query.get("host", "").split(",")
    if len(named) == 1:
        return [url]
    ports = query.get("port", "").split(",")
    return [
        urlunsplit(parts._replace(query=urlencode(query | _place(host, ports[number % len(ports)]))))
        for number, host in enumerate(named)
    ]


def _place(host: str, port: str) -> dict[str, str]:
    return {"host": host, **({"port": port} if port else {})}
