"""Text in columns. Pure."""

from collections.abc import Sequence


def table(rows: Sequence[Sequence[object]], indent: str = "") -> str:
    """Rows with their columns in line; the last one may be as long as it likes."""
    texts = [["-" if cell in (None, "") else str(cell) for cell in row] for row in rows]
    widths = [max(len(row[n]) for row in texts) for n in range(len(texts[0]))] if texts else []
    lines = (
        indent + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in texts
    )
    return "".join(line.rstrip() + "\n" for line in lines)
