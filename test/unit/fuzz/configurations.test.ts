import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import t from 'tap';
import { ConfigErrors } from '../../../src/shared/config/configuration.js';
import { loadConfiguration } from '../../../src/tools/configuration.js';
import { Mutations, trials } from './mutations.js';

const conf = new URL('../../../conf/', import.meta.url);
const tests = new URL('../../modules/', import.meta.url);

/** Configurations that tests here write, as far as they are one text. */
function writtenInTests(): string[] {
  const texts: string[] = [];
  for (const name of readdirSync(tests)) {
    const source = readFileSync(new URL(name, tests), 'utf8');
    for (const [, text] of source.matchAll(/serverConf\(\s*`([^`$]+(?:\$[^`${][^`$]*)*)`/g)) {
      texts.push(`server {\nlisten 127.0.0.1:8080;\n${text}\n}`);
    }
  }
  return texts;
}

/** SLUICE_FUZZ_CONFIGS names a file of further ones: on each line JSON with the text in `conf`. */
function given(): string[] {
  const path = process.env['SLUICE_FUZZ_CONFIGS'];
  if (path === undefined) {
    return [];
  }
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [(JSON.parse(line) as { conf: string }).conf]));
}

const texts = [
  readFileSync(new URL('sluice.conf', conf), 'utf8'),
  ...writtenInTests().map((text) => `events {}\nhttp {\n${text.replace(/%%PORT_\d+%%/g, '8081')}\n}\n`),
  ...given(),
];
const words = texts.flatMap((text) => text.match(/\b[a-z_]{4,}\b/g) ?? []);

t.test('a mutated configuration is accepted or refused', async (t) => {
  const dir = mkdtempSync(`${tmpdir()}/sluice-fuzz-`);
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  const entry = `${dir}/sluice.conf`;
  const options = {
    entry,
    prefix: `${dir}/`,
    confPrefix: conf.pathname,
    errorLog: `${dir}/error.log`,
    globals: '',
    pid: 'pid',
    signalling: false,
  };
  const mutations = new Mutations(16, [
    ...[
      '{',
      '}',
      ';',
      '"',
      "'",
      '\\',
      '$',
      '${',
      '#',
      '\n',
      ' ',
      '\0',
      '\xff',
      ' -1',
      ' 0',
      ' 1000000000000000000000',
      ' on',
      ' off',
      ' 1g',
      ' 10s',
      ' $uri',
    ],
    ...[
      '(',
      ')',
      '[',
      '*',
      '+',
      '?',
      '~ ',
      '^',
      '|',
      '(?<a>',
      ':',
      '/',
      '..',
      '@',
      '=',
      ',',
      'unix:',
      '127.0.0.1',
      '[::1]',
      '{}',
      '${a}',
      '$1',
      'x'.repeat(5000),
    ],
    ...Array.from({ length: 40 }, (_, i) => words[Math.floor((i * words.length) / 40)]!),
  ]);
  let refused = 0;
  const count = trials(600);
  for (let i = 0; i < count; i++) {
    const text = mutations
      .mutated(texts, 2)
      // No names are looked up, and nothing is read outside.
      .replace(/\b(?:include|load_module|ssl_certificate\w*|resolver)\b/g, 'x$&');
    writeFileSync(entry, text, 'latin1');
    try {
      await loadConfiguration(options);
    } catch (error) {
      if (!(error instanceof ConfigErrors)) {
        t.fail(`${error instanceof Error ? error.stack : error}\n${JSON.stringify(text)}`);
      }
      refused++;
    }
  }
  t.ok(texts.length > 30 && refused > count / 4 && refused < count, `${refused} of ${count} refused, from ${texts.length} texts`);
});
