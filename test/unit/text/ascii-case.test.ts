import t from 'tap';
import { lowerAscii } from '../../../src/worker/text/ascii-case.js';

t.equal(lowerAscii(''), '');
t.equal(lowerAscii('example.com'), 'example.com');
t.equal(lowerAscii('WWW.Example.COM'), 'www.example.com');
t.equal(lowerAscii('@[`{AZ'), '@[`{az', 'only A-Z change');
t.equal(lowerAscii('\xc3\x89T\xc3\x80'), '\xc3\x89t\xc3\x80', 'bytes of UTF-8 sequences stay');
