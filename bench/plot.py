# SPDX-License-Identifier: Apache-2.0
"""A bar chart as SVG text, for documents: no library, the same bytes for the same numbers."""
import math
from xml.sax.saxutils import escape

COLOURS = ("#1d5fd6", "#b8410b", "#0b7568", "#7a3fd0", "#b01e67", "#55700a", "#0d6f96")
LABELS, WIDTH, RIGHT, BAR, GAP, TOP = 240, 620, 70, 15, 10, 64


def ticks(high):
    """Powers of ten, with 2 and 5 between them where they are few, from 1 up to `high`."""
    marks = (1, 2, 5) if high < 200 else (1,)
    out = [m * 10**e for e in range(0, 7) for m in marks]
    return [t for t in out if t <= high * 1.0001]


def number(value):
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def bars(title, groups):
    """`groups`: (label, [(name, value), ...]); values over 0, on a logarithmic axis on which 1 is a line. Names get
    colours in the order in which they first come."""
    names = list(dict.fromkeys(name for _, rows in groups for name, _ in rows))
    values = [value for _, rows in groups for _, value in rows]
    low, high = min(1, *values), max(2, *values)
    begin, span = math.log10(low), math.log10(high) - math.log10(low)
    place = lambda v: LABELS + (math.log10(v) - begin) / span * WIDTH  # noqa: E731
    body, y = [], TOP
    for label, rows in groups:
        middle = y + len(rows) * BAR / 2 + 4
        body.append(f'<text x="{LABELS - 12}" y="{middle:.1f}" text-anchor="end">{escape(label)}</text>')
        for name, value in rows:
            left, right = sorted((place(1), place(value)))
            body.append(f'<rect x="{left:.1f}" y="{y + 1}" width="{max(right - left, 1):.1f}" height="{BAR - 2}" '
                        f'fill="{COLOURS[names.index(name) % len(COLOURS)]}"/>')
            body.append(f'<text class="n" x="{max(right, place(1)) + 5:.1f}" y="{y + BAR - 4}">{number(value)}</text>')
            y += BAR
        y += GAP
    grid = "".join(f'<path class="{"one" if t == 1 else "grid"}" d="M{place(t):.1f} {TOP - 6}V{y}"/>'
                   f'<text class="n" x="{place(t):.1f}" y="{y + 14}" text-anchor="middle">{number(t)}</text>'
                   for t in ticks(high))
    key, x = [], LABELS
    for i, name in enumerate(names):
        key.append(f'<rect x="{x}" y="34" width="10" height="10" fill="{COLOURS[i % len(COLOURS)]}"/>'
                   f'<text class="n" x="{x + 15}" y="43">{escape(name)}</text>')
        x += 34 + 7 * len(name)
    width, height = max(LABELS + WIDTH + RIGHT, x), y + 24
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'role="img" aria-label="{escape(title)}">\n<style>text{{font:13px system-ui,sans-serif;fill:#16181d}}'
            f'.n{{font-size:11px;fill:#59606c}}.t{{font-size:15px;font-weight:600}}.grid{{stroke:#e2e5ea}}.one{{stroke:#59606c}}'
            f'</style>\n<rect width="100%" height="100%" fill="#fff"/>\n<text class="t" x="12" y="22">{escape(title)}</text>\n'
            + "".join(key) + "\n" + grid + "\n" + "\n".join(body) + "\n</svg>\n")
