import t from 'tap';
import { configMessage } from '../support/config-message.js';
import { httpGet } from '../support/raw-client.js';
import { type Server, serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

/** Waits for a line of the error log; it may be written after the response. */
const logged = (s: Server, line: string) => waitFor(() => s.log().includes(line), { what: line });

t.test('flags', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      location /last { rewrite ^/last/(.*) /target/$1 last; return 200 kept; }
      location /break { rewrite ^/break/(.*) /target/$1 break; rewrite ^/target/(.*) /never/$1; return 200 "kept $uri"; }
      location /plain { rewrite ^/plain/(.*) /target/$1; rewrite ^/target/(.*) /target/again-$1; }
      location /stop { rewrite ^/stop/(.*) /target/$1; break; return 200 never; }
      location /redirect { rewrite ^/redirect/(.*) /r/$1 redirect; return 200 kept; }
      location /permanent { rewrite ^/permanent/(.*) /p/$1? permanent; }
      location /absolute { rewrite ^/absolute/(.*) http://example.com/$1; return 200 kept; }
      location /scheme { rewrite ^ $scheme://example.com$request_uri? permanent; }
      location /args { rewrite ^/args/(.*) /target/x?a=$1; }
      location /dropped { rewrite ^ /target/x?; }
      location /replaced { rewrite ^/replaced/(.*) /target/x?a=$1?; }
      location /twice { rewrite ^ /target/x?one; rewrite ^ /target/y?two; }
      location /unmatched { rewrite ^/other /target; return 200 "kept $uri"; }
      location /target { return 200 "target $uri $args"; }
      location /never { return 200 never; }`),
  });
  for (const [path, status, text] of [
    ['/last/a?q', 200, 'target /target/a q'],
    ['/plain/a', 200, 'target /target/again-a '],
    ['/break/a', 404, undefined],
    ['/unmatched', 200, 'kept /unmatched'],
    ['/args/1?q=2', 200, 'target /target/x a=1&q=2'],
    ['/args/a%26b%20c', 200, 'target /target/x a=a%26b%20c'],
    ['/dropped?q', 200, 'target /target/x '],
    ['/replaced/1?q', 200, 'target /target/x a=1'],
    ['/twice?q', 200, 'target /target/y two&one&q'],
  ] as const) {
    const response = await httpGet(s, path);
    t.equal(response.status, status, path);
    if (text !== undefined) {
      t.equal(response.text, text, path);
    }
  }
  const here = `http://localhost:${s.port(0)}`;
  for (const [path, status, location] of [
    ['/redirect/a?q=1', 302, `${here}/r/a?q=1`],
    ['/redirect/a%20b', 302, `${here}/r/a%20b`],
    ['/permanent/a?q=1', 301, `${here}/p/a`],
    ['/absolute/a?q', 302, 'http://example.com/a?q'],
    ['/scheme/x?q', 301, 'http://example.com/scheme/x?q'],
  ] as const) {
    const response = await httpGet(s, path);
    t.strictSame([response.status, response.header('Location')], [status, location], path);
  }
});

t.test('a rewritten URI finds another location ten times, then 500', async (t) => {
  const steps = (name: string, count: number): string =>
    Array.from({ length: count }, (_, i) => `location = /${name}/${i} { rewrite ^ /${name}/${i + 1}; }`).join('\n');
  const s = await startServer(t, {
    conf: serverConf(`
      ${steps('ten', 10)} location = /ten/10 { return 200 arrived; }
      ${steps('eleven', 11)} location = /eleven/11 { return 200 arrived; }
      location /circle { rewrite ^ /circle last; }
      location / { rewrite ^/in/(.*) /out/$1; }`),
  });
  t.equal((await httpGet(s, '/ten/0')).text, 'arrived');
  t.equal((await httpGet(s, '/eleven/0')).status, 500);
  t.equal((await httpGet(s, '/circle')).status, 500);
  await logged(s, 'rewrite or internal redirection cycle while processing "/circle"');
});

t.test('rewrite of a server', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      rewrite ^/a/(.*) /b/$1;
      rewrite ^/b/(.*)/stop /c/$1 last;
      rewrite ^/break /b/broken break;
      rewrite ^/b/(.*) /d/$1;
      set $server "set $uri";
      if ($arg_moved) { return 301 /moved; }
      if ($arg_x = 1) { set $x one; rewrite ^ /d/x; }
      location / { return 200 "$uri; $server; $x"; }
      uninitialized_variable_warn off;`),
  });
  for (const [path, text] of [
    ['/a/1', '/d/1; set /d/1; '],
    ['/a/1/stop', '/c/1; ; '],
    ['/break', '/b/broken; ; '],
    ['/z', '/z; set /z; '],
    ['/z?x=1', '/d/x; set /z; one'],
  ] as const) {
    t.equal((await httpGet(s, path)).text, text, path);
  }
  t.equal((await httpGet(s, '/z?moved=1')).status, 301);
});

t.test('captures', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      location ~ ^/location/(?<name>[^/]+)/(\\d+)$ { return 200 "$name,$1,$2"; }
      location /rewrite { rewrite ^/rewrite/(?<first>[a-z]+)(?:-(?<second>\\d+))? /show; }
      location /show { return 200 "$first,$second,$1,$2"; }
      location /if { if ($arg_x ~ "^(?<letter>[a-z])(.)?") { return 200 "$letter,$1,$2"; } return 200 "none"; }
      location /kept { if ($arg_x ~ (.)) { } return 200 "$1"; }
      location /unmatched { if ($arg_x ~ (.)) { } if ($arg_y ~ (.)) { } return 200 "$1"; }
      location /case { if ($arg_x ~* ^ABC$) { return 200 same; } return 200 other; }
      location /not { if ($arg_x !~ ^a) { return 200 "not a"; } if ($arg_x !~* ^ab) { return 200 "not ab"; } return 200 ab; }
      uninitialized_variable_warn off;`),
  });
  for (const [path, text] of [
    ['/location/a%20b/12', 'a b,a b,12'],
    ['/rewrite/abc-12', 'abc,12,abc,12'],
    ['/rewrite/abc', 'abc,,abc,'],
    ['/if?x=ab', 'a,a,b'],
    ['/if?x=1', 'none'],
    ['/kept?x=q', 'q'],
    // A condition that fails leaves no captures of those before it.
    ['/unmatched?x=q', ''],
    ['/case?x=aBc', 'same'],
    ['/case?x=aBcd', 'other'],
    ['/not?x=b', 'not a'],
    ['/not?x=ac', 'not ab'],
    ['/not?x=aB', 'ab'],
  ] as const) {
    t.equal((await httpGet(s, path)).text, text, path);
  }
});

t.test('if in a location is a location of its own', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      add_header X-Outer 1;
      location /last-wins {
        if ($arg_a) { add_header X-A 1; }
        if ($arg_b) { add_header X-B 1; }
        try_files /file =404;
      }
      location /headers { add_header X-In-Location 1; if ($arg_a) { add_header X-A 1; return 200 in; } return 200 out; }
      location /inherits { add_header X-In-Location 1; if ($arg_a) { return 200 in; } return 200 out; }
      location /break { set $x 0; if ($arg_a) { set $x 1; break; } set $x 2; return 200 "$x"; }
      location /goes-on { set $x 0; if ($arg_a) { set $x "$x 1"; } set $x "$x 2"; if ($x = "0 1 2") { return 200 "both"; } return 200 "$x"; }
      location /try { try_files /file =404; if ($arg_a) { set $x 1; } }
      location /root { root %%DIR%%/html; try_files /file =404; if ($arg_a) { root %%DIR%%/other; } }
      location /rewrite { if ($arg_a) { rewrite ^ /headers last; } return 200 kept; }`),
    files: { 'html/file': 'file', 'html/try': 'tried', 'other/root': 'other root', 'html/root': 'root' },
  });
  const seen = async (path: string): Promise<unknown[]> => {
    const response = await httpGet(s, path);
    const names = ['X-Outer', 'X-In-Location', 'X-A', 'X-B'].filter((name) => response.header(name) !== undefined);
    return [response.status, response.status === 200 ? response.text : '', names.join(' ')];
  };
  for (const [path, ...wanted] of [
    ['/last-wins', 200, 'file', 'X-Outer'],
    ['/headers', 200, 'out', 'X-In-Location'],
    ['/headers?a=1', 200, 'in', 'X-A'],
    ['/inherits?a=1', 200, 'in', 'X-In-Location'],
    // The rest of the outer location's program is left out; what answers is the `if`, which serves files.
    ['/break?a=1', 404, '', ''],
    ['/break', 200, '2', 'X-Outer'],
    ['/goes-on?a=1', 200, 'both', 'X-Outer'],
    ['/goes-on', 200, '0 2', 'X-Outer'],
    // try_files is not taken over.
    ['/try', 200, 'file', 'X-Outer'],
    ['/try?a=1', 200, 'tried', 'X-Outer'],
    ['/root?a=1', 200, 'other root', 'X-Outer'],
    ['/rewrite?a=1', 200, 'in', 'X-A'],
    ['/rewrite?a=0', 200, 'kept', 'X-Outer'],
  ] as const) {
    t.strictSame(await seen(path), wanted, path);
  }
});

t.test('conditions', async (t) => {
  const yes = (name: string, condition: string): string => `location /${name} { if (${condition}) { return 200 yes; } return 200 no; }`;
  const s = await startServer(t, {
    conf: serverConf(
      [
        yes('value', '$arg_x'),
        yes('equal', '$arg_x = "a b"'),
        yes('variable', '$arg_x = $arg_y'),
        yes('unequal', '$arg_x != a'),
        yes('file', '-f $document_root/$arg_x'),
        yes('no-file', '!-f $document_root/$arg_x'),
        yes('folder', '-d $document_root/$arg_x'),
        yes('exists', '-e $document_root/$arg_x'),
        yes('no-exists', '!-e $document_root/$arg_x'),
        yes('executable', '-x $document_root/$arg_x'),
        'set $spaced "a b"; location /spaced { if ( $spaced = "a b" ) { return 200 yes; } return 200 no; }',
      ].join('\n'),
    ),
    files: { 'html/f': 'text', 'html/d/f': '' },
  });
  for (const [path, text] of [
    ['/value?x=1', 'yes'],
    ['/value?x=0', 'no'],
    ['/value?x=00', 'yes'],
    ['/value?x=', 'no'],
    ['/value', 'no'],
    ['/equal?x=a%20b', 'no'],
    ['/spaced', 'yes'],
    ['/variable?x=1&y=1', 'yes'],
    ['/variable', 'yes'],
    ['/unequal?x=a', 'no'],
    ['/unequal?x=A', 'yes'],
    ['/file?x=f', 'yes'],
    ['/file?x=d', 'no'],
    ['/file?x=g', 'no'],
    ['/no-file?x=g', 'yes'],
    ['/no-file?x=f', 'no'],
    ['/folder?x=d', 'yes'],
    ['/folder?x=f', 'no'],
    ['/exists?x=d', 'yes'],
    ['/exists?x=g', 'no'],
    ['/no-exists?x=g', 'yes'],
    ['/executable?x=f', 'no'],
    ['/executable?x=d', 'yes'],
  ] as const) {
    t.equal((await httpGet(s, path)).text, text, path);
  }
});

t.test('set, and variables that were never set', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      location /set { set $a one; set $b "$a two"; set $a three; return 200 "$a, $b"; }
      location /warned { if ($arg_never) { set $never 1; } return 200 "<$never>"; }
      location /quiet { uninitialized_variable_warn off; if ($arg_never) { set $silent 1; } return 200 "<$silent>"; }
      location /args { set $args x=1; return 200 "$args $arg_x $query_string"; }
      location /limit { set $limit_rate 4k; return 200 $limit_rate; }`),
  });
  t.equal((await httpGet(s, '/set')).text, 'three, one two');
  t.equal((await httpGet(s, '/warned')).text, '<>');
  await logged(s, 'using uninitialized "never" variable');
  t.equal((await httpGet(s, '/quiet')).text, '<>');
  t.notMatch(s.log(), '"silent"');
  t.equal((await httpGet(s, '/args?y=2')).text, 'x=1 1 x=1');
  t.equal((await httpGet(s, '/limit')).text, '4096');
});

t.test('rewrite_log', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      error_log %%DIR%%/error.log notice;
      rewrite_log on;
      location /a { rewrite ^/b /c; rewrite ^/a /target?x=1; if ($arg_y ~ z) { } }
      location /r { rewrite ^/r /away redirect; }
      location /target { rewrite_log off; rewrite ^/quiet /q; return 200 ok; }`),
  });
  t.equal((await httpGet(s, '/a?y=1')).text, 'ok');
  t.equal((await httpGet(s, '/r')).status, 302);
  for (const line of [
    '"^/b" does not match "/a"',
    '"^/a" matches "/a"',
    'rewritten data: "/target", args: "x=1&y=1"',
    '"z" does not match "1"',
    'rewritten redirect: "/away"',
  ]) {
    await logged(s, line);
  }
  t.notMatch(s.log(), '^/quiet');
});

t.test('a URI that is rewritten to nothing', async (t) => {
  const s = await startServer(t, { conf: serverConf('location / { rewrite ^/(.*) $1; return 200 "$uri"; }') });
  t.equal((await httpGet(s, '/')).status, 500);
  await logged(s, 'the rewritten URI has a zero length');
});

t.test('messages', async (t) => {
  for (const [line, message] of [
    ['rewrite ^ "";', 'empty replacement'],
    ['rewrite ^ / never;', 'invalid parameter "never"'],
    ['rewrite ( /;', 'pcre2_compile() failed: missing closing parenthesis in "("'],
    ['rewrite ^;', 'invalid number of arguments in "rewrite" directive'],
    ['return x;', 'invalid return code "x"'],
    ['return 1000;', 'invalid return code "1000"'],
    ['return -1;', 'invalid return code "-1"'],
    ['set a b;', 'invalid variable name "a"'],
    ['set $ b;', 'invalid variable name "$"'],
    ['set $host b;', 'the duplicate "host" variable'],
    ['if a { }', 'invalid condition "a"'],
    ['if ($a { }', 'invalid condition "$a"'],
    ['if ($host < 1) { }', 'unexpected "<" in condition'],
    ['if ($host = a b) { }', 'invalid condition "$host"'],
    ['if (-z a) { }', 'invalid condition "-z"'],
  ] as const) {
    t.equal(await configMessage(t, serverConf(line)), `${message} in %%FILE%%:11`, line);
  }
  t.equal(await configMessage(t, serverConf('if ($nobodys) { }')), 'unknown "nobodys" variable');
});
