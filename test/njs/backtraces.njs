# Backtraces name the file and the line.
http> throw new Error('x'); /* placed */
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: Error: x (placed)
http> await null; throw new Error('x'); /* placed */
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js unhandled rejection: Error: x (placed)
http> null.x; /* placed */
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: TypeError: cannot get property "x" of null (placed)
~ 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: TypeError: Cannot read properties of null (reading 'x') (placed)
http> await ngx.fetch('http://127.0.0.1:1/'); /* placed */
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js unhandled rejection: Error: connect failed (placed)
http> await new Promise(function (done) { setTimeout(done, 1); }); throw new Error('x'); /* placed */
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js unhandled rejection: Error: x (placed)
http> r.subrequest('/echo', function () { throw new Error('x'); }); /* placed */
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: Error: x (placed)
http> njs.on('exit', function () { throw new Error('x'); }); r.return(200); /* placed */
= 200 Content-Type: text/plain | Content-Length: 0 "" [error] js exit hook exception: Error: x (placed)
set> throw new Error('x'); /* placed */
= 200 Content-Type: text/plain | Content-Length: 2 "[]" [error] js exception: Error: x (placed)
set> await null; throw new Error('x'); /* placed */
= 200 Content-Type: text/plain | Content-Length: 18 "[[object Promise]]" [error] js unhandled rejection: Error: x (placed)
access> throw new Error('x'); /* placed */
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: Error: x (placed)
head> throw new Error('x'); /* placed */
= closed [error] js exception: Error: x (placed)
body> throw new Error('x'); /* placed */
= closed [error] js exception: Error: x (placed)
> (function () { try { throw new Error('x'); } catch (e) { return [/backtraces\.js:\d+/.test(e.stack), e.stack.split('\n')[0]]; } })()
= [true,"Error: x"]
> ngx.fetch('http://127.0.0.1:1/').catch(function (e) { return [/backtraces\.js:\d+/.test(e.stack), e.stack.split('\n')[0]]; })
= throws TypeError: cannot get property "split" of undefined
~ [true,"Error: connect failed"]
stream set> throw new Error('x'); /* placed */
= "[]" [error] js exception: Error: x (placed)
stream set> await null; throw new Error('x'); /* placed */
= "[[object Promise]]" [error] js unhandled rejection: Error: x (placed)
stream set> null.x; /* placed */
= "[]" [error] js exception: TypeError: cannot get property "x" of null (placed)
~ "[]" [error] js exception: TypeError: Cannot read properties of null (reading 'x') (placed)
stream set> Promise.reject(new Error('x')); return 'v'; /* placed */
= "[v]" [error] js unhandled rejection: Error: x (placed)
stream set> try { throw new Error('x'); } catch (e) { return [/backtraces\.js:\d+/.test(e.stack), e.stack.split('\n')[0]].join(); }
= "[true,Error: x]"
stream access> throw new Error('x'); /* placed */
= "" [error] js exception: Error: x (placed)
stream access> setTimeout(function () { throw new Error('x'); }, 1); /* placed */
= "" [error] js exception: Error: x (placed)
stream access> await new Promise(function (done) { setTimeout(done, 1); }); throw new Error('x'); /* placed */
= "" [error] js unhandled rejection: Error: x (placed)
stream access> await ngx.fetch('http://127.0.0.1:1/'); /* placed */
= "" [error] js unhandled rejection: Error: connect failed (placed)
stream preread> s.on('upload', function (data) { if (data.length) { throw new Error('x'); } }); /* placed */
= "" [error] js exception: Error: x (placed) [error] js exception: TypeError: Cannot convert object to primitive value
~ "" [error] js exception: Error: x (placed)
stream filter> s.on('upload', function (data) { throw new Error('x'); }); /* placed */
= "" [error] js exception: Error: x (placed) [error] js exception: TypeError: Cannot convert object to primitive value
~ "" [error] js exception: Error: x (placed)
