# Functions of js_set.
set> return 'a';
= 200 Content-Type: text/plain | Content-Length: 3 "[a]"
set> return;
= 200 Content-Type: text/plain | Content-Length: 2 "[]"
set> return null;
= 200 Content-Type: text/plain | Content-Length: 2 "[]"
set> return 5;
= 200 Content-Type: text/plain | Content-Length: 3 "[5]"
set> return true;
= 200 Content-Type: text/plain | Content-Length: 6 "[true]"
set> return {a: 1};
= 200 Content-Type: text/plain | Content-Length: 17 "[[object Object]]"
set> return [1, 2];
= 200 Content-Type: text/plain | Content-Length: 5 "[1,2]"
set> return '';
= 200 Content-Type: text/plain | Content-Length: 2 "[]"
set> return 'é€';
= 200 Content-Type: text/plain | Content-Length: 7 "[é€]"
set> return Buffer.from('buf');
= 200 Content-Type: text/plain | Content-Length: 5 "[buf]"
set> return new Uint8Array([65, 66]);
= 200 Content-Type: text/plain | Content-Length: 4 "[AB]"
set> return Symbol('x');
= 200 Content-Type: text/plain | Content-Length: 2 "[]"
~ 200 Content-Type: text/plain | Content-Length: 2 "[]" [error] js exception: TypeError: Cannot convert a Symbol value to a string
set> return new Error('e');
= 200 Content-Type: text/plain | Content-Length: 10 "[Error: e]"
set> return function f() {};
= 200 Content-Type: text/plain | Content-Length: 19 "[[object Function]]"
~ 200 Content-Type: text/plain | Content-Length: 17 "[function f() {}]"
set> return NaN;
= 200 Content-Type: text/plain | Content-Length: 5 "[NaN]"
set> return -0;
= 200 Content-Type: text/plain | Content-Length: 3 "[0]"
set> r.setReturnValue('s');
= 200 Content-Type: text/plain | Content-Length: 2 "[]"
set> r.setReturnValue('s'); return 'a';
= 200 Content-Type: text/plain | Content-Length: 3 "[a]"
set> r.setReturnValue('s'); r.setReturnValue('t');
= 200 Content-Type: text/plain | Content-Length: 2 "[]"
set> r.setReturnValue(); return 'a';
= 200 Content-Type: text/plain | Content-Length: 3 "[a]"
set> r.setReturnValue(null); return 'a';
= 200 Content-Type: text/plain | Content-Length: 3 "[a]"
set> r.setReturnValue(undefined);
= 200 Content-Type: text/plain | Content-Length: 2 "[]"
set> r.setReturnValue(Symbol('x'));
= 200 Content-Type: text/plain | Content-Length: 2 "[]"
set> throw new Error('x');
= 200 Content-Type: text/plain | Content-Length: 2 "[]" [error] js exception: Error: x
set> throw 'text';
= 200 Content-Type: text/plain | Content-Length: 2 "[]" [error] js exception: text
set> return Promise.resolve('p');
= 200 Content-Type: text/plain | Content-Length: 3 "[p]"
set> return Promise.reject(new Error('p'));
= 200 Content-Type: text/plain | Content-Length: 18 "[[object Promise]]" [error] js unhandled rejection: Error: p
set> return new Promise(function () {});
= 200 Content-Type: text/plain | Content-Length: 18 "[[object Promise]]"
~ 200 Content-Type: text/plain | Content-Length: 2 "[]"
set> Promise.resolve().then(function () { r.setReturnValue('later'); });
= 200 Content-Type: text/plain | Content-Length: 7 "[later]"
set> Promise.resolve().then(function () { r.setReturnValue('later'); }); return 'now';
= 200 Content-Type: text/plain | Content-Length: 7 "[later]"
~ 200 Content-Type: text/plain | Content-Length: 5 "[now]"
set> await null; r.setReturnValue('awaited');
= 200 Content-Type: text/plain | Content-Length: 9 "[awaited]"
set> await null; return 'awaited';
= 200 Content-Type: text/plain | Content-Length: 9 "[awaited]"
set> r.setReturnValue('before'); await null; r.setReturnValue('after');
= 200 Content-Type: text/plain | Content-Length: 7 "[after]"
set> for (var i = 0; i < 20; i++) { await i; } r.setReturnValue('twenty');
= 200 Content-Type: text/plain | Content-Length: 8 "[twenty]"
set> await null; throw new Error('after');
= 200 Content-Type: text/plain | Content-Length: 18 "[[object Promise]]" [error] js unhandled rejection: Error: after
set> r.setReturnValue('set'); await null; throw new Error('after');
= 200 Content-Type: text/plain | Content-Length: 18 "[[object Promise]]" [error] js unhandled rejection: Error: after
set> Promise.reject(new Error('nobody')); return 'a';
= 200 Content-Type: text/plain | Content-Length: 3 "[a]" [error] js unhandled rejection: Error: nobody
set> Promise.reject(new Error('nobody')).catch(function () {}); return 'a';
= 200 Content-Type: text/plain | Content-Length: 3 "[a]"
set> var d = await crypto.subtle.digest('SHA-256', 'abc'); r.setReturnValue(Buffer.from(d).toString('hex'));
= 200 Content-Type: text/plain | Content-Length: 66 "[ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad]"
set> crypto.subtle.digest('SHA-1', 'abc').then(function (d) { r.setReturnValue(Buffer.from(d).toString('hex')); });
= 200 Content-Type: text/plain | Content-Length: 42 "[a9993e364706816aba3e25717850c26c9cd0d89d]"
set> var k = await crypto.subtle.importKey('raw', Buffer.from('k'), {name: 'HMAC', hash: 'SHA-256'}, false, ['sign']); var s = await crypto.subtle.sign('HMAC', k, Buffer.from('abc')); r.setReturnValue(Buffer.from(s).toString('base64'));
= 200 Content-Type: text/plain | Content-Length: 46 "[NC5RnOCtbAOja5jus/HRMNtIE7nfTRFg7aSI1xLceO4=]"
set> var d = await Promise.all([crypto.subtle.digest('SHA-256', 'a'), crypto.subtle.digest('SHA-256', 'b')]); r.setReturnValue(Buffer.from(d[1]).toString('hex').slice(0, 8));
= 200 Content-Type: text/plain | Content-Length: 10 "[3e23e816]"
set> var d = await crypto.subtle.digest('SHA-256', 'abc'); await null; throw new Error('after digest');
= 200 Content-Type: text/plain | Content-Length: 18 "[[object Promise]]" [error] js unhandled rejection: Error: after digest
set> setTimeout(function () { r.setReturnValue('timer'); }, 1); return 'v';
= 200 Content-Type: text/plain | Content-Length: 2 "[]"
set> setTimeout(function () { r.setReturnValue('timer'); }, 1);
= 200 Content-Type: text/plain | Content-Length: 2 "[]"
set> await new Promise(function (done) { setTimeout(done, 1); }); r.setReturnValue('waited');
= 200 Content-Type: text/plain | Content-Length: 2 "[]"
set> r.subrequest('/echo'); return 'v';
= 200 Content-Type: text/plain | Content-Length: 2 "[]"
set> var s = await r.subrequest('/echo'); r.setReturnValue(s.responseText);
= 200 Content-Type: text/plain | Content-Length: 2 "[]"
set> r.subrequest('/echo', {detached: true}); return 'v';
= 200 Content-Type: text/plain | Content-Length: 3 "[v]"
set> r.subrequest('/echo', function () {}); return 'v';
= 200 Content-Type: text/plain | Content-Length: 2 "[]"
set> var s = await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x'); r.setReturnValue(await s.text());
= 200 Content-Type: text/plain | Content-Length: 2 "[]"
set> ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x').then(function (s) { r.setReturnValue('fetched'); }); return 'v';
= 200 Content-Type: text/plain | Content-Length: 2 "[]"
set> ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x').then(function (s) { throw new Error('late'); }); return 'v';
= 200 Content-Type: text/plain | Content-Length: 2 "[]"
~ 200 Content-Type: text/plain | Content-Length: 2 "[]" [error] js unhandled rejection: Error: late
set> r.return(200, 'x'); return 'v';
= 200 Content-Type: text/plain | Content-Length: 1 "x"
~ 200 Content-Type: text/plain | Content-Length: 2 "[]" [error] js exception: TypeError: a response cannot be sent in this handler
set> r.sendHeader(); return 'v';
= closed
set> r.internalRedirect('/where'); return 'v';
= 200 Content-Type: text/plain | Content-Length: 3 "[v]"
set> r.finish(); return 'v';
= 200 Content-Type: text/plain | Content-Length: 3 "[v]"
set> r.done(); return 'v';
= 200 Content-Type: text/plain | Content-Length: 2 "[]" [error] js exception: TypeError: cannot set done
set> r.decline(); return 'v';
= 200 Content-Type: text/plain | Content-Length: 3 "[v]"
set> r.headersOut.a = 'b'; return 'v';
= 200 Content-Type: text/plain | Content-Length: 3 | a: b "[v]"
set> r.status = 404; return 'v';
= 404 Content-Type: text/plain | Content-Length: 3 "[v]"
set> r.variables.jsv = 'w'; return r.variables.jsv;
= 200 Content-Type: text/plain | Content-Length: 3 "[w]"
set> return r.variables.js_set_0;
= 200 Content-Type: text/plain | Content-Length: 2 "[]"
set> return r.uri + r.method + r.headersIn.host;
= 200 Content-Type: text/plain | Content-Length: 24 "[/js_set/63GETlocalhost]"
set> return r.requestText;
@ {"method": "POST", "body": "abc"}
= 200 Content-Type: text/plain | Content-Length: 2 "[]"
set> return await r.readRequestText();
@ {"method": "POST", "body": "abc"}
= 200 Content-Type: text/plain | Content-Length: 2 "[]"
~ 200 Content-Type: text/plain | Content-Length: 18 "[[object Promise]]" [error] js unhandled rejection: Error: the request body cannot be read in this handler
set> var s = await fs.promises.readFile('/dev/null'); r.setReturnValue('read' + s.length);
= 200 Content-Type: text/plain | Content-Length: 18 "[[object Promise]]" [error] js unhandled rejection: Error: File is not regular
~ 200 Content-Type: text/plain | Content-Length: 7 "[read0]"
set> return fs.readFileSync('/dev/null').length + 'x';
= 200 Content-Type: text/plain | Content-Length: 2 "[]" [error] js exception: Error: File is not regular
~ 200 Content-Type: text/plain | Content-Length: 4 "[0x]"
set> return pre.text;
= 200 Content-Type: text/plain | Content-Length: 3 "[x]"
set> return typeof this;
= 200 Content-Type: text/plain | Content-Length: 11 "[undefined]"
set> return arguments.length + '';
= 200 Content-Type: text/plain | Content-Length: 3 "[1]"
set> return String(arguments[0] === r);
= 200 Content-Type: text/plain | Content-Length: 6 "[true]"
set> r.setReturnValue('before'); await null;
= 200 Content-Type: text/plain | Content-Length: 2 "[]"
set> await null; await r.subrequest('/echo', {detached: true}); r.setReturnValue('x');
= 200 Content-Type: text/plain | Content-Length: 3 "[x]"
set> return crypto.subtle.digest('SHA-256', 'abc');
= 200 Content-Type: text/plain | Content-Length: 34 "[�x\u0016��\u0001��AA@�]�\"#�\u0003a��\u0017z��\u0010�a�\u0000\u0015�]"
http> await null; r.return(200, r.variables.v_js_set_31);
= 200 Content-Type: text/plain | Content-Length: 7 "awaited"
~ 200 Content-Type: text/plain | Content-Length: 0 ""
http> r.return(200, r.variables.v_js_set_31 + r.variables.v_js_set_38.slice(0, 4));
= 200 Content-Type: text/plain | Content-Length: 11 "awaitedba78"
http> r.return(200, Buffer.from(await crypto.subtle.digest('SHA-1', 'abc')).toString('hex'));
= 200 Content-Type: text/plain | Content-Length: 40 "a9993e364706816aba3e25717850c26c9cd0d89d"
# A variable's function runs while a promise of the handler's is rejected, and the handler comes to it later.
set> ;
= 200 Content-Type: text/plain | Content-Length: 2 "[]"
http> var p = Promise.reject(new Error('x')); var v = r.variables.v_js_set_78; p.catch(function (e) { r.return(200, e.message + v); });
= 200 Content-Type: text/plain | Content-Length: 1 "x"
http> await null; var p = Promise.reject(new Error('x')); var v = r.variables.v_js_set_78; await p.catch(function (e) { r.return(200, e.message); });
= 200 Content-Type: text/plain | Content-Length: 1 "x"
http> await null; var p = Promise.reject(new Error('y')); r.headersOut.a = r.variables.v_js_set_78; try { await p; } catch (e) { r.return(200, e.message); }
= 200 Content-Type: text/plain | Content-Length: 1 "y"
http> await null; Promise.reject(new Error('z')); r.variables.v_js_set_78; await null; r.error('still'); await new Promise(function (done) { setTimeout(done, 20); }); r.return(200, 'x');
= 200 Content-Type: text/plain | Content-Length: 1 "x" [error] js: still [error] js unhandled rejection: Error: z
# What fs promises is there at once.
set> await fs.promises.writeFile(ngx.prefix + 'set-file', 'text'); await fs.promises.appendFile(ngx.prefix + 'set-file', 5); r.setReturnValue(await fs.promises.readFile(ngx.prefix + 'set-file', 'utf8'));
= 200 Content-Type: text/plain | Content-Length: 7 "[text5]"
set> await fs.promises.mkdir(ngx.prefix + 'set-dir'); await fs.promises.symlink('x', ngx.prefix + 'set-dir/l'); await fs.promises.rename(ngx.prefix + 'set-file', ngx.prefix + 'set-dir/f'); var s = await fs.promises.stat(ngx.prefix + 'set-dir/f'); var l = await fs.promises.lstat(ngx.prefix + 'set-dir/l'); r.setReturnValue([(await fs.promises.readdir(ngx.prefix + 'set-dir')).sort(), s.size, l.isSymbolicLink(), await fs.promises.readlink(ngx.prefix + 'set-dir/l')].join());
= 200 Content-Type: text/plain | Content-Length: 14 "[f,l,5,true,x]"
set> await fs.promises.unlink(ngx.prefix + 'set-dir/l'); await fs.promises.access(ngx.prefix + 'set-dir/f'); await fs.promises.rmdir(ngx.prefix + 'set-dir', {recursive: true}); r.setReturnValue(String(fs.existsSync(ngx.prefix + 'set-dir')));
= 200 Content-Type: text/plain | Content-Length: 7 "[false]"
set> try { await fs.promises.readFile(ngx.prefix + 'none'); } catch (e) { r.setReturnValue(e.code); }
= 200 Content-Type: text/plain | Content-Length: 8 "[ENOENT]"
set> return await fs.promises.readFile(ngx.prefix + 'none');
= 200 Content-Type: text/plain | Content-Length: 18 "[[object Promise]]" [error] js unhandled rejection: Error: No such file or directory
~ 200 Content-Type: text/plain | Content-Length: 18 "[[object Promise]]" [error] js unhandled rejection: Error: ENOENT: no such file or directory, open 'DIR/none'
head> r.headersOut.a = (await fs.promises.readFile(ngx.prefix + 'html/file.txt')).toString();
= 200 Content-Type: text/plain | Content-Length: 4 | a: file "text"
# What a handler finds in a variable without a value.
set> return null;
= 200 Content-Type: text/plain | Content-Length: 2 "[]"
set> throw new Error('x');
= 200 Content-Type: text/plain | Content-Length: 2 "[]" [error] js exception: Error: x
set> await new Promise(function (done) { setTimeout(done, 1); }); return 'late';
= 200 Content-Type: text/plain | Content-Length: 2 "[]"
set> nope();
= 200 Content-Type: text/plain | Content-Length: 2 "[]" [error] js exception: ReferenceError: "nope" is not defined
~ 200 Content-Type: text/plain | Content-Length: 2 "[]" [error] js exception: ReferenceError: nope is not defined
http> r.return(200, [r.variables.v_js_set_78, r.variables.v_js_set_89, r.variables.v_js_set_90, r.variables.v_js_set_91].map(function (v) { return typeof v; }).join());
= 200 Content-Type: text/plain | Content-Length: 33 "string,string,undefined,undefined" [error] js exception: Error: x
> typeof r.rawVariables.v_js_set_78 + typeof r.rawVariables.v_js_set_90
= "objectundefined"
stream set> ;
= "[]"
stream set> throw new Error('x');
= "[]" [error] js exception: Error: x
stream set> return [typeof s.variables.v_js_set_95, typeof s.variables.v_js_set_96].join();
= "[string,undefined]" [error] js exception: Error: x
