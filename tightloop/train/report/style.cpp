// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/report/style.h>

namespace tightloop::train::report {

std::string_view style() {
  return R"css(:root{--bg:#fff;--fg:#16181d;--dim:#59606c;--line:#e2e5ea;--soft:#f4f5f7;--heat:118 164 255;--miss:255 160 92;
--c0:#1d5fd6;--c1:#b8410b;--c2:#0b7568;--c3:#7a3fd0;--c4:#b01e67;--c5:#55700a;--c6:#0d6f96;--c7:#8a5a00}
@media (prefers-color-scheme:dark){:root{--bg:#101317;--fg:#e9ebef;--dim:#a2aab6;--line:#2b313a;--soft:#191d23;--heat:42 88 178;--miss:150 72 14;
--c0:#82adff;--c1:#ff9d66;--c2:#55d0be;--c3:#c0a1ff;--c4:#ff8fbd;--c5:#b9d162;--c6:#6cc7ec;--c7:#e5b75a}}
@media print{:root{--bg:#fff;--fg:#000;--dim:#444;--line:#ccc;--soft:#f4f5f7;--heat:118 164 255;--miss:255 160 92;
--c0:#1d5fd6;--c1:#b8410b;--c2:#0b7568;--c3:#7a3fd0;--c4:#b01e67;--c5:#55700a;--c6:#0d6f96;--c7:#8a5a00}
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}main{max-width:none;padding:0}
figure,tr,.tiles>div{break-inside:avoid}h2{break-after:avoid}details::details-content{content-visibility:visible}summary{list-style:none}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
main{max-width:1040px;margin:0 auto;padding:32px 20px 72px}
h1{font-size:26px;line-height:1.2;margin:0;font-weight:650;letter-spacing:-.01em;overflow-wrap:anywhere}
header p{margin:6px 0 0;color:var(--dim)}
h2{font-size:17px;font-weight:650;margin:0 0 14px}
section{margin-top:40px;padding-top:24px;border-top:1px solid var(--line)}
header+section{margin-top:24px;border:0;padding:0}
p{margin:0 0 12px;max-width:72ch}
.lead{font-size:18px;margin-bottom:18px}
.note,small{color:var(--dim);font-size:13px;font-weight:400}
a{color:var(--c0)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(128px,1fr));gap:18px 24px;margin:0}
.tiles dt{color:var(--dim);font-size:13px}
.tiles dd{margin:0;font-size:22px;line-height:1.3;font-weight:600;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,400px),1fr));gap:28px 32px}
.charts>.first{grid-column:1/-1}
.two{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,400px),1fr));gap:28px 32px;align-items:start;margin-bottom:20px}
figure{margin:0;min-width:0}
figcaption{font-size:14px;font-weight:600;margin-bottom:14px;overflow-wrap:anywhere}
figcaption small{margin-left:6px}
.plot{position:relative;margin:0 116px 30px 46px}
.scatter .plot{margin-right:8px}
.plot svg{position:absolute;inset:0;width:100%;height:100%;overflow:visible}
.plot path,.plot polyline{fill:none;vector-effect:non-scaling-stroke}
.grid{stroke:var(--line);stroke-width:1}
.line polyline{stroke:currentColor;stroke-width:2.2;stroke-linejoin:round;stroke-linecap:round}
.line.light polyline{stroke-width:1.2}
.line.d1 polyline{stroke-dasharray:7 4}
.line.d2 polyline{stroke-dasharray:2 4}
.mark{stroke:var(--dim);stroke-width:1;stroke-dasharray:3 3}
.dot{stroke:currentColor;stroke-width:8;stroke-linecap:round}
.points{stroke:var(--c0);stroke-width:4;stroke-linecap:round}
.p0{stroke-opacity:.35}.p1{stroke-opacity:.65}.p2{stroke-opacity:1}
.guide{stroke:var(--fg);stroke-width:1.2;stroke-dasharray:5 4}
.plot span{position:absolute;font-size:12px;line-height:16px;white-space:nowrap;font-variant-numeric:tabular-nums}
.yt{right:100%;margin:-8px 8px 0 0;color:var(--dim)}
.xt{top:100%;margin-top:7px;transform:translateX(-50%);color:var(--dim)}
.plot .xname{left:100%;top:100%;margin:7px 0 0 18px;color:var(--dim)}
.scatter .plot .xname{left:auto;right:0;margin:23px 0 0}
.scatter .plot{margin-bottom:44px}
.end{left:100%;width:112px;margin:-8px 0 0 8px;overflow:hidden;text-overflow:ellipsis}
.end b{font-weight:400;opacity:.85}
.marktext{top:-16px;margin-left:0;transform:translateX(-4px);color:var(--dim)}
.marktext.before{transform:translateX(calc(-100% + 4px))}
.c0{color:var(--c0)}.c1{color:var(--c1)}.c2{color:var(--c2)}.c3{color:var(--c3)}.c4{color:var(--c4)}.c5{color:var(--c5)}.c6{color:var(--c6)}.c7{color:var(--c7)}
.tip{position:absolute;top:4px;z-index:1;padding:6px 10px;border:1px solid var(--line);border-radius:6px;background:var(--bg);font-size:12px;line-height:17px;pointer-events:none;white-space:nowrap;font-variant-numeric:tabular-nums;box-shadow:0 2px 10px rgb(0 0 0/.14)}
.tip[hidden]{display:none}
.tip i{font-style:normal;color:var(--dim)}
.wide{overflow-x:auto;max-width:100%}
table{border-collapse:collapse;font-size:14px;font-variant-numeric:tabular-nums;min-width:min(100%,320px)}
caption{text-align:left;color:var(--dim);font-size:13px;padding-bottom:8px;caption-side:top}
th,td{padding:5px 0 5px 20px;text-align:right;border-bottom:1px solid var(--line);font-weight:400;white-space:nowrap;vertical-align:top}
th.l,td.l{text-align:left;white-space:pre-wrap;overflow-wrap:break-word;max-width:420px}
th:first-child,td:first-child{padding-left:0}
tbody th.l{min-width:7em}
tbody tr:last-child>*{border-bottom:0}
thead th{color:var(--dim);font-size:13px;white-space:nowrap}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:13px}
pre{margin:0;padding:14px 16px;background:var(--soft);border-radius:8px;white-space:pre-wrap;overflow-wrap:anywhere;line-height:1.5}
.deep{color:var(--dim)}
.matrix{font-size:12px;min-width:0}
.matrix th,.matrix td{border:1px solid var(--bg);padding:4px 3px;text-align:center;min-width:27px;vertical-align:middle}
.matrix tbody th{text-align:right;padding-right:8px;max-width:150px;overflow:hidden;text-overflow:ellipsis}
.matrix thead th{vertical-align:bottom;color:var(--fg);font-size:12px}
.matrix thead span{display:inline-block;writing-mode:vertical-rl;transform:rotate(180deg);max-height:130px;overflow:hidden}
.matrix td[style]{background:rgb(var(--miss)/var(--v))}
.matrix td.hit{background:rgb(var(--heat)/var(--v,0));font-weight:600}
.matrix i{color:var(--dim);font-style:normal}
.bar{display:flex;height:22px;border-radius:5px;overflow:hidden;margin-bottom:14px;gap:2px}
.bar span{background:currentColor;min-width:2px}
.key{display:inline-block;width:10px;height:10px;border-radius:3px;background:currentColor;margin-right:8px}
ul.notes{margin:0;padding-left:20px}
ul.notes li{margin-bottom:6px;overflow-wrap:anywhere;white-space:pre-line}
summary{cursor:pointer;color:var(--dim);margin-bottom:12px}
:focus-visible{outline:2px solid var(--c0);outline-offset:2px}
@media (max-width:600px){main{padding:20px 16px 48px}h1{font-size:22px}.plot{margin:0 74px 30px 42px}.end{width:70px;margin-left:6px}.end b{display:none}
.tiles{grid-template-columns:repeat(2,1fr);gap:14px 16px}.tiles dd{font-size:19px}th,td{padding-left:14px}table{font-size:13px}section{margin-top:32px;padding-top:20px}}
)css";
}

std::string_view script() {
  return R"js(for (const plot of document.querySelectorAll('.plot')) {
  const tip = plot.querySelector('.tip'), svg = plot.querySelector('svg');
  const numbers = (e, key) => e.dataset[key].split(' ').filter(Boolean).map(Number);
  const x0 = +plot.dataset.x0, x1 = +plot.dataset.x1, place = x => x1 > x0 ? (x - x0) / (x1 - x0) * 1000 : 500;
  const lines = [...plot.querySelectorAll('.line')].map(e => ({
    name: e.dataset.name, colour: getComputedStyle(e).color, x: numbers(e, 'x'), y: e.dataset.y.split(' ')
  })).filter(l => l.x.length);
  if (!tip || !lines.length) continue;
  const all = [...new Set(lines.flatMap(l => l.x))].sort((a, b) => a - b);
  const unit = plot.closest('figure').querySelector('.xname').textContent;
  const rule = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  rule.setAttribute('class', 'mark');
  const nearest = (places, at) => places.reduce((best, v, i) => Math.abs(v - at) < Math.abs(places[best] - at) ? i : best, 0);
  const hide = () => { tip.hidden = true; rule.remove(); };
  const show = event => {
    const box = svg.getBoundingClientRect(), at = (event.clientX - box.left) / box.width * 1000;
    const x = all[nearest(all.map(place), at)], left = place(x);
    rule.setAttribute('d', `M${left} 0V1000`);
    svg.append(rule);
    const head = document.createElement('i');
    head.textContent = unit + ' ' + x;
    tip.replaceChildren(head, ...lines.flatMap(l => {
      const i = nearest(l.x, x), row = document.createElement('div');
      row.style.color = l.colour;
      row.textContent = l.name + ' ' + l.y[i] + (l.x[i] === x ? '' : ' (' + l.x[i] + ')');
      return row;
    }));
    tip.hidden = false;
    const px = left / 1000 * box.width, right = px > box.width / 2;
    tip.style.left = right ? '' : px + 10 + 'px';
    tip.style.right = right ? box.width - px + 10 + 'px' : '';
  };
  plot.addEventListener('pointermove', show);
  plot.addEventListener('pointerdown', show);
  plot.addEventListener('pointerleave', hide);
}
)js";
}

}  // namespace tightloop::train::report
