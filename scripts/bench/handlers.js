// What the rows about JavaScript run, here and in njs.
import { createHmac } from 'crypto';

const large = JSON.stringify({
  items: Array.from({ length: 1000 }, (_, id) => ({
    id,
    name: `item ${id}`,
    tags: ['one', 'two'],
    price: id * 1.5,
    text: 'some text of it',
  })),
});
const words = Array.from({ length: 200 }, (_, i) => `word <${i}> & more`);

const coded = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
const signature = (text) => createHmac('sha256', 'a secret of at least 32 characters').update(text).digest('base64url');
const signed = `${coded({ alg: 'HS256' })}.${coded({ sub: 'me', exp: 4000000000 })}`;
const token = `${signed}.${signature(signed)}`;

function small(r) {
  r.return(200, 'ok');
}

function json(r) {
  const { items } = JSON.parse(large);
  r.return(200, JSON.stringify({ count: items.length, sum: items.reduce((sum, item) => sum + item.price, 0) }));
}

function jwt(r) {
  const [head, body, given] = token.split('.');
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString());
  r.return(signature(`${head}.${body}`) === given && claims.exp * 1000 > Date.now() ? 200 : 401, claims.sub);
}

const escapes = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

function template(r) {
  const items = words.map((word) => `<li>${word.replace(/[&<>]/g, (found) => escapes[found])}</li>`);
  r.return(200, `<!DOCTYPE html><title>words</title><ul>${items.join('\n')}</ul>`);
}

function value(r) {
  return r.uri;
}

export default { small, json, jwt, template, value };
