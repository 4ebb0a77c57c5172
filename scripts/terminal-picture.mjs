// Draws what a command prints on a terminal as an SVG, for the guides: text with the colours of SGR sequences, on a dark ground.
//
//   sluice explain --color ... | node scripts/terminal-picture.mjs 'sluice explain ...' > docs/guides/images/explain.svg
import { readFileSync } from 'node:fs';

const [command = ''] = process.argv.slice(2);
const lines = readFileSync(0, 'utf8').replace(/\n$/, '').split('\n');
const LINE = 18;
const CHAR = 7.8;
const PAD = 14;
const COLOURS = { 1: 'b', 2: 'd', 31: 'r', 32: 'g', 36: 'c' };

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** A line as spans; the width of each is fixed, whatever font there is. */
function spans(line) {
  let out = '';
  let column = 0;
  const classes = new Set();
  for (const part of line.split(/(\x1b\[\d+m)/)) {
    const code = /^\x1b\[(\d+)m$/.exec(part)?.[1];
    if (code === '0') {
      classes.clear();
    } else if (code !== undefined) {
      classes.add(COLOURS[code] ?? '');
    } else if (part !== '') {
      const indent = part.length - part.trimStart().length;
      const text = part.trim();
      if (text !== '') {
        const name = classes.size === 0 ? '' : ` class="${[...classes].join(' ')}"`;
        out += `<tspan x="${(PAD + (column + indent) * CHAR).toFixed(1)}" textLength="${(text.length * CHAR).toFixed(1)}"${name}>${escaped(text)}</tspan>`;
      }
      column += part.length;
    }
  }
  return out;
}

const shown = command === '' ? lines : [`\x1b[2m$\x1b[0m ${command}`, ...lines];
const plain = shown.map((line) => line.replace(/\x1b\[\d+m/g, ''));
const width = Math.ceil(PAD * 2 + Math.max(...plain.map((line) => line.length)) * CHAR);
const height = PAD * 2 + shown.length * LINE;
const rows = shown.map((line, i) => `<text y="${PAD + (i + 1) * LINE - 5}">${spans(line)}</text>`);
process.stdout.write(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
<title>${escaped(command)}</title>
<style>text{font:13px ui-monospace,Menlo,Consolas,monospace;fill:#d7dce2;white-space:pre}.b{font-weight:700}.d{fill:#8b949e}.r{fill:#ff7b72}.g{fill:#7ee787}.c{fill:#79c0ff}</style>
<rect width="100%" height="100%" rx="8" fill="#161b22"/>
${rows.join('\n')}
</svg>
`);
