import t from 'tap';
import { configMessage } from '../support/config-message.js';
import { httpGet } from '../support/raw-client.js';
import { httpConf, serverConf, startServer } from '../support/server.js';

t.test('a variable that is not closed', async (t) => {
  const message = (value: string): Promise<string | undefined> => configMessage(t, httpConf(`map $uri $m { default "${value}"; }`));
  t.equal(await message('${A:-off}'), 'the closing bracket in "A" variable is missing in %%FILE%%:6');
  t.equal(await message('${-}'), 'the closing bracket in "" variable is missing in %%FILE%%:6');
  t.equal(await message('${'), 'invalid variable name in %%FILE%%:6');
});

t.test('map', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      `
      location /plain { return 200 "$plain"; }
      location /host { return 200 "$host_name"; }
      location /regex { return 200 "$by_regex"; }
      location /none { return 200 "[$without_default]"; }
      location /chain { return 200 "$chain"; }
      location /pair { return 200 "$pair"; }
      location /set { set $plain own; return 200 "$plain"; }
      location /volatile { set $x a; set $first "$changing$kept"; set $x b; return 200 "$first $changing$kept"; }
      location /escaped { return 200 "$escaped"; }
      location /included { return 200 "$included"; }`,
      `
      map $arg_k $plain { default none; a 1; B 2; "" empty; "two words" 3; 'q' $arg_v; }
      map $arg_k $host_name {
        hostnames;
        default none;
        example.com exact;
        *.example.com leading;
        example.* trailing;
        .dot.example.com both;
        ~^re\\.org$ regex;
      }
      map $arg_k $by_regex {
        exact string;
        ~^(?<word>[a-z]+)-(\\d+)$ "$word/$2";
        ~*^CASE$ caseless;
        ~^case first;
        ~. rest;
      }
      map $arg_k $without_default { a 1; }
      map $plain $chain { 1 one; default "not one"; }
      map "$arg_k:$arg_v" $pair { a:b both; ~^a: first; }
      map $x $changing { volatile; a A; b B; }
      map $x $kept { a A; b B; }
      map $arg_k $escaped { default 0; \\default 1; \\hostnames 2; \\~x 3; include map.conf; \\include 4; }
      map $arg_k $included { include %%DIR%%/maps/*.conf; }`,
    ),
    files: { 'map.conf': 'from-file 5;', 'maps/a.conf': 'a 1;\n', 'maps/b.conf': '# nothing\nb 2; default 0;\n' },
  });
  for (const [path, expected] of [
    ['/plain?k=a', '1'],
    ['/plain?k=A', '1'],
    ['/plain?k=b', '2'],
    ['/plain', 'empty'],
    ['/plain?k=two%20words', 'none'],
    ['/plain?k=q&v=$arg_k', '$arg_k'],
    ['/plain?k=zz', 'none'],
    ['/host?k=example.com', 'exact'],
    ['/host?k=EXAMPLE.com.', 'exact'],
    ['/host?k=a.b.example.com', 'leading'],
    ['/host?k=example.org', 'trailing'],
    ['/host?k=dot.example.com', 'both'],
    ['/host?k=x.dot.example.com.', 'both'],
    ['/host?k=re.org', 'regex'],
    ['/host?k=.', 'none'],
    ['/host?k=org', 'none'],
    ['/regex?k=exact', 'string'],
    ['/regex?k=EXACT', 'string'],
    ['/regex?k=abc-12', 'abc/12'],
    ['/regex?k=cAsE', 'caseless'],
    ['/regex?k=case1', 'first'],
    ['/regex?k=other', 'rest'],
    ['/regex?k=', ''],
    ['/none?k=b', '[]'],
    ['/none?k=a', '[1]'],
    ['/chain?k=a', 'one'],
    ['/chain?k=b', 'not one'],
    ['/pair?k=a&v=b', 'both'],
    ['/pair?k=a&v=c', 'first'],
    ['/set?k=a', 'own'],
    ['/volatile', 'AA BA'],
    ['/escaped?k=default', '1'],
    ['/escaped?k=hostnames', '2'],
    ['/escaped?k=~x', '3'],
    ['/escaped?k=include', '4'],
    ['/escaped?k=from-file', '5'],
    ['/escaped?k=x', '0'],
    ['/included?k=a', '1'],
    ['/included?k=b', '2'],
    ['/included?k=c', '0'],
  ] as const) {
    t.equal((await httpGet(s, path)).text, expected, path);
  }
});

t.test('thousands of entries', async (t) => {
  const lines = Array.from({ length: 5000 }, (_, i) => `key${i} value${i}; *.wild${i}.example.com w${i};`).join('\n');
  const s = await startServer(t, {
    conf: serverConf(
      'location / { return 200 "$big"; }',
      `map_hash_max_size 65536; map_hash_bucket_size 128;\nmap $arg_k $big { hostnames;\n${lines}\n}`,
    ),
  });
  t.equal((await httpGet(s, '/?k=key4321')).text, 'value4321');
  t.equal((await httpGet(s, '/?k=a.wild4999.example.com')).text, 'w4999');
});

t.test('messages', async (t) => {
  for (const [lines, message] of [
    ['map $x y { }', 'invalid variable name "y" in %%FILE%%:6'],
    ['map $arg_x $uri { }', 'the duplicate "uri" variable in %%FILE%%:6'],
    ['map $arg_x $y { a; }', 'invalid number of the map parameters in %%FILE%%:6'],
    ['map $arg_x $y {\na b c;\n}', 'invalid number of the map parameters in %%FILE%%:7'],
    ['map $arg_x $y {\na 1;\nA 2;\n}', 'conflicting parameter "a" in %%FILE%%:8'],
    ['map $arg_x $y {\ndefault 1;\ndefault 2;\n}', 'duplicate default map parameter in %%FILE%%:8'],
    ['map $arg_x $y {\nhostnames;\n*.*.com 2;\n}', 'invalid hostname or wildcard "*.*.com" in %%FILE%%:8'],
    ['map $arg_x $y {\n~( 2;\n}', 'pcre2_compile() failed: missing closing parenthesis in "(" in %%FILE%%:7'],
    ['map $arg_x $y {\n~(?<uri>a) 2;\n}', 'the duplicate "uri" variable in %%FILE%%:7'],
    ['map $arg_x $y {\na $nowhere;\n}', 'unknown "nowhere" variable'],
    ['map $arg_x $y { a 1; }\nmap_hash_max_size 10;', '"map_hash_max_size" directive is duplicate in %%FILE%%:7'],
    ['map $arg_x $y;', 'directive "map" has no opening "{" in %%FILE%%:6'],
    ['map $arg_x $y { a 1; }\nmap $arg_x $y { a 2; }', undefined],
    ['map $arg_x $y { hostnames; .a.com 1; *.b.com 2; c.* 3; }', undefined],
  ] as const) {
    t.equal(await configMessage(t, httpConf(lines)), message, lines);
  }
});
