import t from 'tap';
import { type ConfigError, diagnosticDetail, placedMessage, syntaxError } from '../../../src/shared/config/errors.js';
import { argPosition, type Node } from '../../../src/shared/config/language/ast.js';
import { parseConfig } from '../../../src/shared/config/language/parser.js';

const source = `
user  nobody;   # who
events { worker_connections 1024; }
http {
    map "$http_upgrade\\t" $c { default ''; "~^a\\ b{2}" "x;{}"; }
    log_format main '$remote_addr - "$request" '
                    '\${status}';
    server {
        listen 80 default_server;
        if ($host ~ "^(a)") { return 301 https://$host\${request_uri}; }
        location ~ \\.php$ { fastcgi_pass unix:/run/x.sock; }
    }
}
`;
const pieces = ['{', '}', ';', '"', "'", '\\', '$', '${', '#', '\n', '\r', ' ', ')', '\0', '\xff', 'x'.repeat(5000), '{{{{', '}}}}', '";'];

let state = 20_240_131;
/** The same sequence on every run. */
function random(below: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
}

function mutated(): string {
  let text = source;
  for (let i = random(6); i >= 0; i--) {
    const at = random(text.length);
    text = text.slice(0, at) + (random(3) === 0 ? '' : pieces[random(pieces.length)]) + text.slice(at + random(8));
  }
  return text;
}

/** Checks the promises of the tree and returns its syntax error, if it has one. */
function check(nodes: readonly Node[], lines: number): ConfigError | undefined {
  let line = 1;
  for (const [i, node] of nodes.entries()) {
    if ('syntaxError' in node) {
      if (i !== nodes.length - 1 || node.pos.line < 1 || node.pos.line > lines) {
        throw new Error('misplaced syntax error');
      }
      return syntaxError(node);
    }
    if (
      node.pos.line < line ||
      node.endLine < node.pos.line ||
      node.pos.column < 1 ||
      node.args.some((_, i) => !(argPosition(node, i)![0] >= node.pos.line))
    ) {
      throw new Error(`misplaced directive ${node.name}`);
    }
    const inside = node.block && check(node.block, lines);
    if (inside !== undefined) {
      if (i !== nodes.length - 1) {
        throw new Error('a directive after a syntax error');
      }
      return inside;
    }
    line = node.closeLine ?? node.endLine;
  }
  return undefined;
}

t.test('whatever the text, there is a tree', async (t) => {
  let errors = 0;
  for (let i = 0; i < 3000; i++) {
    const text = mutated();
    const error = check(parseConfig(text, '/f'), text.split('\n').length);
    if (error !== undefined) {
      errors++;
      const message = placedMessage(error);
      if (!message.startsWith(`${error.message} in /f:`)) {
        t.fail(message);
      }
      diagnosticDetail(error, () => text);
    }
  }
  t.ok(errors > 500 && errors < 3000, `${errors} of 3000 are syntax errors`);
  t.equal(check(parseConfig(source, '/f'), 15), undefined, 'the text itself is none');
});

t.test('binary garbage', async (t) => {
  for (let i = 0; i < 300; i++) {
    const text = Buffer.from(Array.from({ length: 2000 }, () => random(256))).toString('latin1');
    check(parseConfig(text, '/f'), text.split('\n').length);
  }
  t.pass();
});
