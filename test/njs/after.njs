# What goes on behind an answer, and what is said behind a decision.
http> r.return(200, 'a'); setTimeout(function () { r.warn('later'); }, 5);
= 200 Content-Type: text/plain | Content-Length: 1 "a" [warn] js: later
http> r.return(200, 'a'); ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x').then(function (s) { return s.text(); }).then(function (t) { r.warn('got ' + t); });
= 200 Content-Type: text/plain | Content-Length: 1 "a" [warn] js: got x
http> r.return(200, 'a'); await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x'); r.warn('fetched');
= 200 Content-Type: text/plain | Content-Length: 1 "a" [warn] js: fetched
http> r.return(200, 'a'); await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x'); await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=y'); r.warn('twice');
= 200 Content-Type: text/plain | Content-Length: 1 "a" [warn] js: twice
http> r.return(200, 'a'); setTimeout(function () { setTimeout(function () { r.warn('nested'); }, 2); }, 2);
= 200 Content-Type: text/plain | Content-Length: 1 "a" [warn] js: nested
http> r.return(200, 'a'); var s = await r.subrequest('/echo'); r.warn(s.status + s.responseText);
= 200 Content-Type: text/plain | Content-Length: 1 "a" [warn] js: 200["GET","/echo",null,null,true,"object"]
http> r.return(200, 'a'); r.subrequest('/echo', function (s) { r.warn('called ' + s.status); });
= 200 Content-Type: text/plain | Content-Length: 1 "a" [warn] js: called 200
http> r.return(200, 'a'); setTimeout(function () { r.warn([r.status, r.uri, r.variables.uri, r.headersOut['Content-Type'], r.headersIn.host].join()); }, 5);
= 200 Content-Type: text/plain | Content-Length: 1 "a" [warn] js: 200,/after/7,/after/7,text/plain,localhost
http> r.return(200, 'a'); setTimeout(function () { r.headersOut.a = 'b'; r.status = 500; r.warn('set'); }, 5);
= 200 Content-Type: text/plain | Content-Length: 1 "a" [warn] js: set
http> r.return(200, 'a'); setTimeout(function () { r.send('b'); }, 5);
= 200 Content-Type: text/plain | Content-Length: 1 "a"
http> r.return(200, 'a'); setTimeout(function () { r.internalRedirect('/where'); r.warn('redirected'); }, 5);
= 200 Content-Type: text/plain | Content-Length: 1 "a" [warn] js: redirected
http> r.status = 200; r.sendHeader(); r.send('a'); r.finish(); setTimeout(function () { r.warn('later'); }, 5);
= 200 Content-Type: text/plain | Transfer-Encoding: chunked "a" [warn] js: later
http> r.status = 200; r.sendHeader(); r.send('a'); r.finish(); await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x'); r.warn('fetched');
= 200 Content-Type: text/plain | Transfer-Encoding: chunked "a" [warn] js: fetched
http> r.return(404); setTimeout(function () { r.warn('later'); }, 5);
= 404 Content-Type: text/html "page 404 Not Found" [warn] js: later
http> r.return(404); await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x'); r.warn('fetched');
= 404 Content-Type: text/html "page 404 Not Found" [warn] js: fetched
http> setTimeout(function () { r.return(200, 'a'); setTimeout(function () { r.warn('later'); }, 2); }, 2);
= 200 Content-Type: text/plain | Content-Length: 1 "a" [warn] js: later
http> await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x'); r.return(200, 'a'); await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x'); r.warn('fetched');
= 200 Content-Type: text/plain | Content-Length: 1 "a" [warn] js: fetched
http> r.return(404); throw new Error('after');
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: Error: after
http> r.return(302, '/x'); throw new Error('after');
= 500 Content-Type: text/html | Location: http://localhost:N/x "page 500 Internal Server Error" [error] js exception: Error: after
http> r.return(200, 'a'); throw new Error('after');
= 200 Content-Type: text/plain | Content-Length: 1 "a" [error] js exception: Error: after
http> r.return(200, 'a'); await null; throw new Error('after');
= 200 Content-Type: text/plain | Content-Length: 1 "a" [error] js unhandled rejection: Error: after
http> r.return(404); await null; throw new Error('after');
= 404 Content-Type: text/html "page 404 Not Found" [error] js unhandled rejection: Error: after
http> r.return(200, 'a'); Promise.reject(new Error('after'));
= 200 Content-Type: text/plain | Content-Length: 1 "a" [error] js unhandled rejection: Error: after
http> r.return(200, 'a'); setTimeout(function () { throw new Error('timer'); }, 1);
= no answer: waited in vain for: the end of the conne
~ 200 Content-Type: text/plain | Content-Length: 1 "a" [error] js exception: Error: timer
http> r.return(200, 'a'); setTimeout(async function () { await null; throw new Error('timer'); }, 1);
= 200 Content-Type: text/plain | Content-Length: 1 "a" [error] js unhandled rejection: Error: timer
http> r.status = 200; r.sendHeader(); r.send('a'); r.finish(); throw new Error('after');
= 200 Content-Type: text/plain | Transfer-Encoding: chunked "a" [error] js exception: Error: after
http> setTimeout(function () { r.return(200, 'a'); throw new Error('after'); }, 1);
= no answer: waited in vain for: the end of the conne
~ 200 Content-Type: text/plain | Content-Length: 1 "a" [error] js exception: Error: after
http> r.internalRedirect('/where'); setTimeout(function () { r.warn('later'); }, 1);
= 200 Content-Type: text/plain | Content-Length: 16 "/where undefined" [warn] js: later
http> r.internalRedirect('/where'); await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x'); r.internalRedirect('/echo');
= 200 Content-Type: text/plain | Content-Length: 42 "[\"GET\",\"/echo\",null,null,true,\"undefined\"]"
http> r.internalRedirect('/where'); await null; r.internalRedirect('/echo');
= 200 Content-Type: text/plain | Content-Length: 42 "[\"GET\",\"/echo\",null,null,true,\"undefined\"]"
http> r.internalRedirect('/where'); setTimeout(function () { r.internalRedirect('/echo'); }, 1);
= 200 Content-Type: text/plain | Content-Length: 42 "[\"GET\",\"/echo\",null,null,true,\"undefined\"]"
http> r.internalRedirect('/where'); throw new Error('after');
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: Error: after
http> r.internalRedirect('/where'); await null; throw new Error('after');
= 200 Content-Type: text/plain | Content-Length: 16 "/where undefined" [error] js unhandled rejection: Error: after
~ 500 Content-Type: text/html "page 500 Internal Server Error" [error] js unhandled rejection: Error: after
http> r.internalRedirect('/where'); r.internalRedirect('/echo');
= 200 Content-Type: text/plain | Content-Length: 42 "[\"GET\",\"/echo\",null,null,true,\"undefined\"]"
http> r.internalRedirect('/where'); await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x'); r.return(200, 'own');
= 200 Content-Type: text/plain | Content-Length: 3 "own"
http> r.internalRedirect('/where'); r.return(200, 'own');
= 200 Content-Type: text/plain | Content-Length: 3 "own"
http> r.return(200, 'own'); r.internalRedirect('/where');
= 200 Content-Type: text/plain | Content-Length: 3 "own"
access> r.return(403, 'x'); setTimeout(function () { r.warn('later'); }, 5);
= 403 Content-Type: text/plain | Content-Length: 1 "x" [warn] js: later
access> r.return(403); setTimeout(function () { r.warn('later'); }, 5);
= 403 Content-Type: text/html "page 403 Forbidden" [warn] js: later
access> r.return(403); await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x'); r.warn('fetched');
= 403 Content-Type: text/html "page 403 Forbidden" [warn] js: fetched
access> r.decline(); await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x'); r.return(403);
= 403 Content-Type: text/html "page 403 Forbidden"
access> r.decline(); setTimeout(function () { r.return(403); }, 1);
= 403 Content-Type: text/html "page 403 Forbidden"
access> r.decline(); await null; r.return(403);
= 403 Content-Type: text/html "page 403 Forbidden"
access> r.decline(); var s = await r.subrequest('/status'); r.return(s.status);
= 404 Content-Type: text/html "page 404 Not Found"
access> setTimeout(function () { r.decline(); }, 1);
= 200 Content-Type: text/plain | Content-Length: 6 "passed"
access> setTimeout(function () { r.decline(); setTimeout(function () { r.return(403); }, 1); }, 1);
= 403 Content-Type: text/html "page 403 Forbidden"
access> await null; r.decline(); await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x'); r.return(401);
= 401 Content-Type: text/html "page 401 Authorization Required"
access> r.decline(); throw new Error('after');
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: Error: after
access> r.decline(); await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x'); r.warn('fetched');
+ satisfy any; deny all;
= 403 Content-Type: text/html "page 403 Forbidden" [warn] js: fetched
access> r.internalRedirect('/where'); await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x'); r.return(403);
= 200 Content-Type: text/plain | Content-Length: 16 "/where undefined"
~ 403 Content-Type: text/html "page 403 Forbidden"
access> r.internalRedirect('/where'); setTimeout(function () { r.return(403); }, 1);
= 200 Content-Type: text/plain | Content-Length: 16 "/where undefined"
~ 403 Content-Type: text/html "page 403 Forbidden"
access> r.internalRedirect('/where'); await null;
= 200 Content-Type: text/plain | Content-Length: 16 "/where undefined"
access> r.return(403); throw new Error('after');
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: Error: after
access> r.return(200, 'x'); throw new Error('after');
= 200 Content-Type: text/plain | Content-Length: 1 "x" [error] js exception: Error: after
access> r.return(200, 'x'); await null; throw new Error('after');
= 200 Content-Type: text/plain | Content-Length: 1 "x" [error] js unhandled rejection: Error: after
stream access> s.allow(); await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x'); s.deny();
= ""
stream access> s.decline(); setTimeout(function () { s.warn('later'); }, 2);
= "passed" [warn] js: later
stream access> s.decline(); await null; s.deny();
= ""
stream preread> s.done(); await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x'); s.warn('fetched');
= "passed" [warn] js: fetched
# How much a line of the log has.
http> ngx.log(ngx.ERR, 'a', 5, {b: 1}); ngx.log(ngx.ERR); r.return(200);
= 200 Content-Type: text/plain | Content-Length: 0 "" [error] js: a [error] js: 5 [error] js: {b:1}
http> r.log('a', 'b'); r.warn('a', null, undefined); r.error(); r.error([1], {a: 1}); r.return(200);
= 200 Content-Type: text/plain | Content-Length: 0 "" [info] js: a [info] js: b [warn] js: a [warn] js: null [warn] js: undefined [error] js: [1] [error] js: {a:1}
http> console.log(); console.log('a', 'b'); console.error(undefined); r.return(200);
= 200 Content-Type: text/plain | Content-Length: 0 "" [info] js: a [info] js: b [error] js: undefined
stream set> s.log('a', 'b'); s.warn('a', null); s.error(); return 'v';
= "[v]" [info] js: a [info] js: b [warn] js: a [warn] js: null
http> r.error(Symbol('x')); r.return(200);
= 200 Content-Type: text/plain | Content-Length: 0 "" [error] js: Symbol(x)
> /^Error: x\n +at .*row\d+.*after\.js:\d+/.test(njs.dump(new Error('x')))
= true
> /^\[TypeError: x\n +at .*row\d+.*after\.js:\d+/.test(njs.dump([new TypeError('x')]))
= true
> /^\{e:Error: x\n +at /.test(njs.dump({e: new Error('x')}))
= true
# A subrequest that begins before the answer does not end with it.
http> r.subrequest('/echo', function (s) { r.warn('called ' + s.status); }); r.return(200, 'a');
= 200 Content-Type: text/plain | Content-Length: 1 "a" [warn] js: called 200
http> r.subrequest('/echo').then(function (s) { r.warn('resolved ' + s.status); }); r.return(200, 'a');
= 200 Content-Type: text/plain | Content-Length: 1 "a" [warn] js: resolved 200
http> r.subrequest('/echo', function (s) { r.warn('called ' + s.status); }); r.return(404);
= 404 Content-Type: text/html "page 404 Not Found" [warn] js: called 200
http> r.subrequest('/status', function (s) { r.warn('called ' + s.status); }); r.status = 200; r.sendHeader(); r.send('a'); r.finish();
= 200 Content-Type: text/plain | Transfer-Encoding: chunked "a" [warn] js: called 404
http> r.subrequest('/backend', {method: 'POST', body: 'b'}, function (s) { r.warn('called ' + s.responseText); }); r.return(302, '/x');
= 302 Content-Type: text/html | Location: http://localhost:N/x "page 302 Found" [warn] js: called ["POST","/backend","127.0.0.1:N",[["Content-Length","1"]],"b"]
# What declines to answer leaves the answer to the handlers behind it.
http> r.decline();
+ alias %%DIR%%/html/file.txt;
= 200 Content-Type: text/plain | Content-Length: 4 | Last-Modified: DATE | ETag: TAG | Accept-Ranges: bytes "file"
http> await r.subrequest('/echo'); r.decline();
+ alias %%DIR%%/html/file.txt;
= 200 Content-Type: text/plain | Content-Length: 4 | Last-Modified: DATE | ETag: TAG | Accept-Ranges: bytes "file"
http> r.decline(); r.return(200, 'x');
+ alias %%DIR%%/html/file.txt;
= 200 Content-Type: text/plain | Content-Length: 1 "x"
