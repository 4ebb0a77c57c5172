// biome-ignore-all lint/suspicious/noTemplateCurlyInString: log formats have variables in braces
import t from 'tap';
import { escapeDefault, escapeJson } from '../../../src/shared/log/escape.js';
import { compileFormat, type FormatVariable, type LogEscape, parseFormat } from '../../../src/shared/log/format.js';

const everyByte = Array.from({ length: 256 }, (_, i) => String.fromCharCode(i)).join('');
const utf8 = (latin1: string) => new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(latin1, 'latin1'));

t.test('default escaping', async (t) => {
  t.equal(escapeDefault('GET /a?b=c&d=~ HTTP/1.1'), 'GET /a?b=c&d=~ HTTP/1.1');
  t.equal(escapeDefault('"\\\x00\n\x1f\x7f\x80\xff'), '\\x22\\x5C\\x00\\x0A\\x1F\\x7F\\x80\\xFF');
  t.equal(escapeDefault('\u010a'), '\\x0A', 'the byte that the file would have got');
  for (const char of everyByte) {
    const code = char.charCodeAt(0);
    const verbatim = code >= 32 && code <= 126 && char !== '"' && char !== '\\';
    t.equal(escapeDefault(char), verbatim ? char : `\\x${code.toString(16).toUpperCase().padStart(2, '0')}`);
  }
});

t.test('JSON escaping', async (t) => {
  t.equal(escapeJson('plain/\x7f'), 'plain/\x7f');
  t.equal(escapeJson('"\\\n\r\t\b\f\x00\x1f'), '\\"\\\\\\n\\r\\t\\b\\f\\u0000\\u001F');
  t.equal(escapeJson('\xc3\xa9 \xf0\x9f\x98\x80'), '\xc3\xa9 \xf0\x9f\x98\x80', 'UTF-8 is left alone');
  t.equal(escapeJson('\xc3\xa9\xc3("\xff'), '\xc3\xa9\\u00C3(\\"\\u00FF', 'bytes that are no UTF-8');
  t.equal(escapeJson('\xed\xa0\x80\xc0\xaf\xf4\x90\x80\x80'), '\\u00ED\\u00A0\\u0080\\u00C0\\u00AF\\u00F4\\u0090\\u0080\\u0080');
  for (let a = 0; a < 256; a++) {
    for (const b of ['', 'x', '\x80', '\xa0', '\xbf', '"', '\\']) {
      for (const c of ['', '\x80', '\xc3']) {
        JSON.parse(utf8(`"${escapeJson(String.fromCharCode(a) + b + c)}"`));
      }
    }
  }
});

interface R {
  readonly [name: string]: string | undefined;
}

const fail = (message: string): never => {
  throw new Error(message);
};
const verbatim = new Set(['status']);
const lookup = (name: string): FormatVariable<R> => ({ get: (r) => r[name], verbatim: verbatim.has(name) });
const compile = (template: string, escaping: LogEscape = 'default') => compileFormat(parseFormat(template, fail), escaping, lookup);

t.test('formats', async (t) => {
  t.equal(compile('')({}), '');
  t.equal(compile('no variables')({}), 'no variables');
  t.equal(compile('$a')({ a: 'x' }), 'x');
  t.equal(compile('<$a$b> ${a}b "$status"')({ a: '1', b: '2', status: '200' }), '<12> 1b "200"');
  t.equal(compile('$a-$b')({ a: '' }), '--', 'empty is empty, missing is a dash');
  t.equal(compile('{"a":"$a","b":"$b"}', 'json')({ a: '"' }), '{"a":"\\"","b":""}');
  t.equal(compile('$a $b', 'none')({ a: '"\n' }), '"\n ');
  t.equal(compile('$a')({ a: '"\n' }), '\\x22\\x0A');
  t.equal(compile('$status')({ status: '"' }), '"', 'a plain variable is not searched');
  t.equal(compile('"$request"')({ request: undefined }), '"-"');
});

t.test('errors of formats', async (t) => {
  t.throws(() => compile('a$'), { message: 'invalid parameter "$"' });
  t.throws(() => compile('a$-b'), { message: 'invalid parameter "$-b"' });
  t.throws(() => compile('${'), { message: 'invalid parameter "${"' });
  t.throws(() => compile('${}x'), { message: 'invalid parameter "${}x"' });
  t.throws(() => compile('${ab'), { message: 'the closing bracket in "ab" variable is missing' });
  t.throws(() => compile('${ab-}'), { message: 'the closing bracket in "ab" variable is missing' });
});
