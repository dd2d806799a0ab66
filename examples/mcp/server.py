"""An MCP server with two tools; settings.toml includes only one of them. It needs the package `mcp`."""

from mcp.server import MCPServer

server = MCPServer("roman")
NUMERALS = {1000: "M", 900: "CM", 500: "D", 400: "CD", 100: "C", 90: "XC", 50: "L", 40: "XL", 10: "X"} | {
    9: "IX", 5: "V", 4: "IV", 1: "I"
}  # fmt: skip


@server.tool()
def to_roman(number: int) -> str:
    """Writes a number from 1 to 3999 in Roman numerals."""
    if not 0 < number < 4000:
        raise ValueError("the number must be between 1 and 3999")
    text = ""
    for value, numeral in NUMERALS.items():
        text += numeral * (number // value)
        number %= value
    return text


@server.tool()
def history() -> str:
    """Tells a fact about Roman numerals."""
    return "They have no zero."


if __name__ == "__main__":
    server.run()
