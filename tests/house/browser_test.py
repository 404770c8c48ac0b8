#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens the pages of short runs in headless Chromium, on a phone and on a wide screen, light and dark: what the page is
made of, that nothing is wider than the screen, that no script fails, and that the screenshot shows it. Skipped (exit 77)
where there is no Chromium."""
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import png

PHONE, WIDE, DARK, LIGHT = (390, 844), (1280, 900), 0, 1
EVIL = "<script>document.title='hit'</script>"

JOB = """[data]
train = "train.csv"
inputs = {{ x = "x*" }}
target = {{ {target} }}
validation = 0.25
batch = 16
[model]
forward = "y = linear(tanh(linear(x, 8)), {outputs})"
[train]
epochs = {epochs}
loss = "{loss}"
optimizer = {{ name = "adam", lr = 0.02 }}
metrics = ["{metric}"]
"""

# In the page before its own script: collects errors. After it: writes what the page looks like into the document.
BEFORE = "<script>window.failures=[];addEventListener('error',e=>failures.push(e.message));</script>"
AFTER = """<script>
const box = e => { const r = e.getBoundingClientRect(); return [r.left, r.top + scrollY, r.right, r.bottom + scrollY]; };
for (const plot of document.querySelectorAll('.plot')) {
  const b = plot.getBoundingClientRect();
  plot.dispatchEvent(new PointerEvent('pointermove', {clientX: b.left + b.width / 2, clientY: b.top + 5}));
}
const tips = [...document.querySelectorAll('.tip')].filter(t => !t.hidden).map(t => t.textContent);
for (const plot of document.querySelectorAll('.plot')) plot.dispatchEvent(new PointerEvent('pointerleave'));
const seen = {
  width: innerWidth, scroll: document.documentElement.scrollWidth, height: document.documentElement.scrollHeight,
  failures, tips, title: document.title, sections: [...document.querySelectorAll('section')].map(s => [s.id, box(s)]),
  charts: [...document.querySelectorAll('figure.chart')].map(f => ({
    name: f.querySelector('svg').getAttribute('aria-label'), box: box(f.querySelector('svg')),
    polylines: f.querySelectorAll('polyline').length,
    colour: getComputedStyle(f.querySelector('.line, .points') || f).getPropertyValue(f.querySelector('.line') ? 'color' : 'stroke')})),
  unlabelled: document.querySelectorAll('svg:not([aria-label]), th:not([scope])').length,
  texts: [...document.querySelectorAll('p, small, dt, dd, th, td, span, li, figcaption')].filter(e => e.textContent.trim() && e.checkVisibility())
    .map(e => [e.tagName + '.' + e.className, getComputedStyle(e).color, getComputedStyle(document.body).backgroundColor, !e.closest('.matrix')])
};
const out = parent.document.createElement('script');
out.type = 'application/json', out.id = 'seen', out.textContent = JSON.stringify(seen).replaceAll('<', '\\\\u003c');
parent.document.body.append(out);
</script>"""
# A window has a least width, a frame has not.
FRAME = '<!doctype html><meta charset=utf-8><body style="margin:0"><iframe style="border:0;width:{}px;height:{}px" srcdoc="{}"></iframe>'


def chromium(size, scheme, *arguments):
    with tempfile.TemporaryDirectory() as profile:
        result = subprocess.run(
            [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
             "--no-first-run", "--enable-logging=stderr", f"--user-data-dir={profile}", f"--window-size={size[0]},{size[1]}",
             f"--blink-settings=preferredColorScheme={scheme}", "--virtual-time-budget=2000", *arguments],
            capture_output=True, text=True, timeout=120, check=True)
    complaints = [line for line in result.stderr.splitlines() if "CONSOLE" in line]
    assert not complaints, complaints
    return result.stdout


def look(page, size, scheme):
    """What the page says of itself when a browser shows it."""
    probe = page.with_suffix(".probe.html")
    text = page.read_text().replace("<head>", "<head>" + BEFORE, 1).replace("</body>", AFTER + "</body>", 1)
    probe.write_text(FRAME.format(*size, html.escape(text)))
    dom = chromium(size, scheme, "--dump-dom", probe.as_uri())
    found = re.search(r'<script type="application/json" id="seen">(.*?)</script>', dom, re.S)
    assert found, f"{page}: the probe did not run"
    return json.loads(found.group(1))


def rgb(text):
    return tuple(float(n) for n in re.findall(r"[\d.]+", text)[:3])


def contrast(a, b):
    """WCAG 2.1, 1.4.3."""
    def light(colour):
        c = [v / 255 / 12.92 if v / 255 <= 0.03928 else ((v / 255 + 0.055) / 1.055) ** 2.4 for v in colour]
        return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]
    high, low = sorted([light(a), light(b)], reverse=True)
    return (high + 0.05) / (low + 0.05)


def check_structure(page, seen, size, sections, lines):
    assert seen["width"] == size[0], seen["width"]
    assert seen["scroll"] <= size[0], f"{page}: {seen['scroll']} pixels wide on a screen of {size[0]}"
    assert not seen["failures"], seen["failures"]
    assert "hit" not in seen["title"], "a class name ran as a script"
    assert [name for name, _ in seen["sections"]] == sections, seen["sections"]
    tops = [box[1] for _, box in seen["sections"]]
    assert tops == sorted(tops) and all(b[3] > b[1] for _, b in seen["sections"]), seen["sections"]
    drawn = [c["polylines"] for c in seen["charts"] if c["polylines"]]
    assert drawn == lines, f"{page}: polylines of the charts {drawn}, expected {lines}"
    assert len(seen["tips"]) == len(lines), "each chart with lines shows values under the pointer"
    assert all("epoch" in tip or "seconds" in tip for tip in seen["tips"]), seen["tips"]
    assert seen["unlabelled"] == 0, "drawings and table heads that are not named"
    for chart in seen["charts"]:
        left, top, right, bottom = chart["box"]
        assert chart["name"] and right - left > 150 and bottom - top > 100 and left >= 0 and right <= size[0], chart
    for what, colour, behind, plain in seen["texts"]:
        assert not plain or contrast(rgb(colour), rgb(behind)) >= 4.5, f"{page}: {what}: {colour} on {behind}"


def is_blend(pixel, ground, colour):
    """A pixel of a line or of a point that lets the ground show through."""
    along = sum((p - g) * (c - g) for p, g, c in zip(pixel, ground, colour)) / sum((c - g) ** 2 for g, c in zip(ground, colour))
    return 0.25 < along < 1.1 and all(abs(g + along * (c - g) - p) < 25 for p, g, c in zip(pixel, ground, colour))


def check_picture(page, seen, size, scheme):
    """Each chart has pixels of its line's colour where the page says that it is."""
    picture = page.with_suffix(".png")
    tall = int(max(c["box"][3] for c in seen["charts"])) + 20
    chromium((size[0], tall), scheme, f"--screenshot={picture}", page.as_uri())
    width, height, rows = png.read(picture)
    assert (width, height) == (size[0], tall), (width, height)
    ground = rows[0][0]
    assert (sum(ground) < 200) == (scheme == DARK), f"{page}: the ground is {ground}"
    for chart in seen["charts"]:
        left, top, right, bottom = (int(v) for v in chart["box"])
        colour = rgb(chart["colour"])
        drawn = sum(is_blend(rows[y][x], ground, colour) for y in range(top, bottom) for x in range(left, right, 2)
                    if rows[y][x] != ground)
        assert drawn > 20, f"{page}: {chart['name']}: {drawn} pixels of {colour} in its place"


def check_page(page, sections, lines):
    assert page.stat().st_size < 200_000
    for size, scheme in ((PHONE, DARK), (WIDE, LIGHT)):
        seen = look(page, size, scheme)
        check_structure(page, seen, size, sections, lines)
        check_picture(page, seen, size, scheme)
    print(f"{page.name}: {page.stat().st_size} bytes, {len(seen['charts'])} charts, {seen['height']} pixels high on a wide screen")


def check_profile(page, sections):
    """The page of a profile: its drawings are boxes and dots instead of lines."""
    assert page.stat().st_size < 400_000
    for size, scheme in ((PHONE, DARK), (WIDE, LIGHT)):
        seen = look(page, size, scheme)
        assert seen["scroll"] <= size[0], f"{page}: {seen['scroll']} pixels wide on a screen of {size[0]}"
        assert not seen["failures"], seen["failures"]
        shown = [name for name, _ in seen["sections"] if name != "notes"]  # of a busy machine
        assert shown == sections, seen["sections"]
        assert seen["unlabelled"] == 0, "drawings and table heads that are not named"
        for what, colour, behind, plain in seen["texts"]:
            assert not plain or contrast(rgb(colour), rgb(behind)) >= 4.5, f"{page}: {what}: {colour} on {behind}"
        names = [c["name"] for c in seen["charts"]]
        assert len(names) >= 2 and names[0].startswith("Step ") and any(n.startswith("Roofline") for n in names), names
        picture = page.with_suffix(".png")
        tall = int(max(c["box"][3] for c in seen["charts"])) + 20
        chromium((size[0], tall), scheme, f"--screenshot={picture}", page.as_uri())
        _, _, rows = png.read(picture)
        for chart in seen["charts"]:
            left, top, right, bottom = (int(v) for v in chart["box"])
            assert right - left > 150 and bottom - top > 100 and left >= 0 and right <= size[0], chart
            inside = [rows[y][x] for y in range(top, bottom) for x in range(left, right, 2)]
            coloured = sum(max(p[:3]) - min(p[:3]) > 60 for p in inside)
            wanted = len(inside) * (0.2 if chart["name"].startswith("Step ") else 0.0002)
            assert coloured > wanted, f"{page}: {chart['name']}: {coloured} of {len(inside)} pixels have a colour"
    print(f"{page.name}: {page.stat().st_size} bytes, {len(seen['charts'])} charts, {seen['height']} pixels high on a wide screen")


def make_data(folder):
    names = [EVIL, "Größe 猫", "plain"]
    rows = ["x0,x1,y,kind"]
    for i in range(240):
        a, b = i * 37 % 41 / 20 - 1, i * 17 % 29 / 14 - 1
        rows.append(f'{a},{b},{a - 2 * b + 0.1 * (i % 7)},"{names[(a > 0) + (a + b > 0.5)]}"')
    (folder / "train.csv").write_text("\n".join(rows) + "\n")


def train(command, folder, name, **job):
    (folder / f"{name}.toml").write_text(JOB.format(**job))
    subprocess.run([command, "train", f"{name}.toml", "--quiet", "--out", name], cwd=folder, check=True, stdin=subprocess.DEVNULL)
    return folder / name / "report.html"


def main(command):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_data(folder)
        classes = train(command, folder, "classes", target='kind = "kind"', outputs=3, epochs=12, loss="cross_entropy", metric="accuracy")
        values = train(command, folder, "values", target='y = "y"', outputs=1, epochs=30, loss="mse", metric="mae")
        train(command, folder, "other", target='y = "y"', outputs=1, epochs=20, loss="l1", metric="mae")
        sections = ["result", "curves", "predictions", "model", "data", "time", "job"]
        check_page(classes, sections, [2, 1, 1, 1])
        check_page(values, sections, [2, 1, 1, 1])
        subprocess.run([command, "compare", "values", "other"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        subprocess.run([command, "profile", "values.toml", "--seconds", "0.1", "--no-trials"], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL)
        check_profile(folder / "profile" / "profile.html",
                      ["verdict", "shares", "timeline", "roofline", "kernels", "layers", "memory"])
        check_page(folder / "compare.html", ["results", "curves", "differences"], [2, 2, 2, 2, 2])


BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
if BROWSER is None:
    print("skipped: there is no Chromium")
    sys.exit(77)
main(str(pathlib.Path(sys.argv[1]).resolve()))
