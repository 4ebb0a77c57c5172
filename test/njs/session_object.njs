# s of the stream handlers.
stream set> return 'a';
= "[a]"
stream set> return null;
= "[]"
stream set> return 5;
= "[5]"
stream set> return Buffer.from('b');
= "[b]"
stream set> s.setReturnValue('s'); return 'a';
= "[a]"
stream set> throw new Error('x');
= "[]" [error] js exception: Error: x
stream set> await null; s.setReturnValue('awaited');
= "[awaited]"
stream set> await null; return 'awaited';
= "[awaited]"
stream set> await null; throw new Error('x');
= "[[object Promise]]" [error] js unhandled rejection: Error: x
stream set> Promise.reject(new Error('nobody')); return 'a';
= "[a]" [error] js unhandled rejection: Error: nobody
stream set> return Promise.resolve('p');
= "[p]"
stream set> Promise.resolve().then(function () { s.setReturnValue('later'); });
= "[later]"
stream set> var d = await crypto.subtle.digest('SHA-256', 'abc'); s.setReturnValue(Buffer.from(d).toString('hex'));
= "[ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad]"
stream set> setTimeout(function () { s.setReturnValue('timer'); }, 1); return 'v';
= "[]"
stream set> await new Promise(function (done) { setTimeout(done, 1); }); s.setReturnValue('waited');
= "[]"
stream set> ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x').then(function () { s.warn('fetched'); }); return 'v';
= "[]"
~ "[]" [warn] js: fetched
stream set> return Object.prototype.toString.call(s) + String(s);
= "[[object Stream Session][object Stream Session]]"
stream set> return Object.keys(s).sort().join();
= "[allow,decline,deny,done,error,jsVarNames,log,off,on,remoteAddress,send,sendDownstream,sendUpstream,setReturnValue,status,warn]"
~ "[allow,decline,deny,done,error,jsVarNames,log,off,on,send,sendDownstream,sendUpstream,setReturnValue,warn]"
stream set> return njs.dump(Object.keys(JSON.parse(JSON.stringify(s))).sort());
= "[['remoteAddress','status']]"
stream set> return [s.remoteAddress, s.status, typeof s.variables, typeof s.rawVariables].join('|');
= "[unix:|0|object|object]"
stream set> return tried(function () { s.status = 5; return s.status; });
= "[throws TypeError: Cannot assign to read-only property \"status\" of object]"
~ "[throws TypeError: Cannot set property status of #<SessionObject> which has only a getter]"
stream set> return tried(function () { s.nope = 5; return s.nope; });
= "[5]"
stream set> return tried(function () { s.remoteAddress = 5; return s.remoteAddress; });
= "[throws TypeError: Cannot assign to read-only property \"remoteAddress\" of object]"
~ "[throws TypeError: Cannot set property remoteAddress of #<SessionObject> which has only a getter]"
stream set> return JSON.stringify(Object.getOwnPropertyDescriptor(s, 'remoteAddress'));
= "[{\"value\":\"unix:\",\"writable\":false,\"enumerable\":true,\"configurable\":false}]"
~ "[]"
stream set> return tried(function () { s.allow(); });
= "[undefined]"
stream set> return tried(function () { s.done(1); });
= "[undefined]"
stream set> return tried(function () { s.on('upload', function () {}); });
= "[undefined]"
stream set> return tried(function () { s.on('nope', function () {}); });
= "[throws TypeError: unknown event \"nope\"]"
stream set> return tried(function () { s.on('upload'); });
= "[throws TypeError: callback is not a function]"
stream set> return tried(function () { s.on(); });
= "[throws TypeError: callback is not a function]"
stream set> return tried(function () { s.off(); });
= "[throws TypeError: unknown event \"\"]"
stream set> return tried(function () { s.off('nope'); });
= "[throws TypeError: unknown event \"nope\"]"
stream set> return tried(function () { return s.off('upload'); });
= "[undefined]"
stream set> return tried(function () { s.send('x'); });
= "[throws TypeError: cannot send buffer in this handler]"
stream set> return tried(function () { s.sendUpstream('x'); });
= "[throws TypeError: cannot send buffer in this handler]"
stream set> return tried(function () { s.sendDownstream('x'); });
= "[throws TypeError: cannot send buffer in this handler]"
stream set> return tried(function () { s.variables.nope = 1; });
= "[throws TypeError: variable not found]"
stream set> return tried(function () { s.variables.jsv = 'w'; return s.variables.jsv; });
= "[\"w\"]"
stream set> return tried(function () { s.variables.protocol = 'w'; return s.variables.protocol; });
= "[throws TypeError: variable is not writable]"
stream set> return tried(function () { return [s.variables.nope, s.variables.protocol, s.rawVariables.protocol]; });
= "[[undefined,\"TCP\",Buffer 544350]]"
stream set> return tried(function () { return s.jsVarNames(); });
= "[[\"jsv\",\"jsw\"]]"
stream set> return tried(function () { return s.jsVarNames(5); });
= "[throws TypeError: \"prefix\" must be a string]"
stream set> s.log('l'); s.warn('w'); s.error('e'); s.warn(); s.warn({}); s.warn(Buffer.from('b')); return 'v';
= "[v]" [info] js: l [warn] js: w [error] js: e [warn] js: {} [warn] js: Buffer [98]
stream set> return tried(function () { return ngx.shared.zs.set('a', 'b').get('a') + Object.keys(ngx.shared).length; });
= "[\"b6\"]"
stream set> return tried(function () { return s.log.call({}, 'x'); });
= "[throws TypeError: external is not set]"
~ "[throws TypeError: \"this\" is not an external]"
stream set> return tried(function () { return s.allow.call({}); });
= "[throws TypeError: \"this\" is not an external]"
stream access> ;
= ""
stream access> s.allow();
= "passed"
stream access> s.deny();
= ""
stream access> s.decline();
= "passed"
stream access> s.done();
= "passed"
stream access> s.done(0);
= "passed"
stream access> s.done(403);
= ""
stream access> s.done(-5);
= "passed"
stream access> s.done(-1);
= ""
stream access> s.done(-6);
= ""
stream access> s.done(-7);
= "" [error] js exception: RangeError: code is out of range
stream access> s.done(503);
= ""
stream access> s.done(504);
= "" [error] js exception: RangeError: code is out of range
stream access> s.done('x');
= "" [error] js exception: TypeError: invalid number
stream access> s.done('403');
= "" [error] js exception: TypeError: invalid number
stream access> s.done(null);
= "" [error] js exception: TypeError: invalid number
stream access> s.done({});
= "" [error] js exception: TypeError: invalid number
stream access> s.done(1.5);
= ""
stream access> s.deny(0);
= "passed"
stream access> s.allow(403);
= ""
stream access> s.deny(); s.allow();
= "passed"
stream access> s.allow(); s.deny();
= ""
stream access> s.allow(); s.warn('after');
= "passed" [warn] js: after
stream access> s.allow(); throw new Error('after');
= "" [error] js exception: Error: after
stream access> throw new Error('x');
= "" [error] js exception: Error: x
stream access> return 5;
= ""
stream access> await null; s.allow();
= "passed"
stream access> await null; throw new Error('x');
= "" [error] js unhandled rejection: Error: x
stream access> await null;
= ""
stream access> setTimeout(function () { s.allow(); }, 1);
= "passed"
stream access> setTimeout(function () { s.deny(); }, 1);
= ""
stream access> setTimeout(function () { throw new Error('timer'); }, 1);
= "" [error] js exception: Error: timer
stream access> setTimeout(function () {}, 1);
= ""
stream access> s.allow(); setTimeout(function () { s.deny(); }, 1);
= ""
stream access> Promise.reject(new Error('x')); s.allow();
= "passed" [error] js unhandled rejection: Error: x
stream access> var f = await ngx.fetch('http://127.0.0.1:%%PORT_1%%/?body=x'); s.warn(await f.text()); s.allow();
= "passed" [warn] js: x
stream access> ngx.fetch('http://127.0.0.1:1/').catch(function (e) { s.warn(e.message); s.deny(); });
= "" [warn] js: connect failed
stream access> s.on('upload', function (data) { s.warn(data); s.allow(); });
@ {"send": ""}
= "passed" [warn] js:
stream access> s.on('upload', function (data) { s.allow(); }); s.on('upload', function () {});
= "" [error] js exception: TypeError: event handler "upload" is already set
stream access> s.on('upload', function (data) { s.allow(); }); s.on('upstream', function () {});
= "" [error] js exception: TypeError: event handler "upstream" is already set
~ "" [error] js exception: TypeError: mixing string and buffer events is not allowed
stream access> s.on('upload', function (data) { s.allow(); }); s.on('downstream', function () {});
= "" [error] js exception: TypeError: mixing string and buffer events is not allowed
stream access> s.setReturnValue('x'); s.allow();
= "passed"
stream access> njs.on('exit', function () { s.warn('exit'); }); s.allow();
= "passed" [warn] js: exit
stream access> nope();
= "" [error] js exception: ReferenceError: "nope" is not defined
~ "" [error] js exception: ReferenceError: nope is not defined
stream preread> ;
= ""
stream preread> s.allow();
= "passed"
stream preread> s.done(403);
= ""
stream preread> s.on('upload', function (data, flags) { s.warn(data.length + JSON.stringify(flags)); if (data.length) { s.done(); } });
= "passed" [warn] js: 0{"from_upstream":false,"last":false} [warn] js: 3{"from_upstream":false,"last":false}
stream preread> s.on('upstream', function (data, flags) { s.warn(typeof data + Buffer.isBuffer(data) + JSON.stringify(flags)); if (data.length) { s.done(); } });
= "passed" [warn] js: objecttrue{"from_upstream":false,"last":false} [warn] js: objecttrue{"from_upstream":false,"last":false}
stream preread> s.on('upload', function (data) { if (data.length) { throw new Error('x'); } });
= "" [error] js exception: Error: x [error] js exception: TypeError: Cannot convert object to primitive value
~ "" [error] js exception: Error: x
stream preread> s.on('upload', function (data) { if (data.length) { s.off('upload'); s.done(); } });
= "passed"
stream preread> s.on('upload', function (data) { if (data.length) { s.off('upload'); } });
= ""
stream preread> s.on('upload', async function (data) { if (data.length) { await null; s.done(); } });
= "passed"
stream preread> s.on('upload', function (data) { if (data.length) { s.send('x'); } });
= "" [error] js exception: TypeError: cannot send buffer in this handler [error] js exception: TypeError: Cannot convert object to primitive value
~ "" [error] js exception: TypeError: cannot send buffer in this handler
stream preread> s.on('upload', function (data) { if (data.length) { s.deny(); } });
= ""
stream preread> s.on('upload', function (data) { if (data.length) { setTimeout(function () { s.allow(); }, 1); } });
= "passed"
stream preread> s.on('download', function (data) { }); s.done();
= "passed"
stream filter> ;
= "<hi\n>"
stream filter> s.on('upload', function (data, flags) { s.send(data.toUpperCase(), flags); });
= "<HI\n>"
stream filter> s.on('download', function (data, flags) { s.send(data.toUpperCase(), flags); });
= "<HI\n>"
stream filter> s.on('upstream', function (data, flags) { s.send(Buffer.concat([Buffer.from('+'), data]), flags); });
= "<+hi\n>"
stream filter> s.on('downstream', function (data, flags) { s.send(data.toString('hex'), flags); });
= "3c68690a3e"
stream filter> s.on('upload', function (data, flags) { s.warn(typeof data + data.length + JSON.stringify(flags)); s.send(data, flags); });
= "<hi\n>" [warn] js: string3{"from_upstream":false,"last":false}
stream filter> s.on('upload', function (data, flags) { s.send('a', flags); s.off('upload'); s.send('b\n', flags); });
= "<ab\n>"
stream filter> s.on('upload', function (data, flags) { s.send(data, flags); throw new Error('x'); });
= "" [error] js exception: Error: x [error] js exception: TypeError: Cannot convert object to primitive value
~ "" [error] js exception: Error: x
stream filter> s.on('upload', function (data, flags) { s.done(); });
= "" [error] js exception: TypeError: should not be called [error] js exception: TypeError: Cannot convert object to primitive value
~ "" [error] js exception: TypeError: should not be called
stream filter> s.on('upload', function (data, flags) { s.allow(); });
= "" [error] js exception: TypeError: should not be called [error] js exception: TypeError: Cannot convert object to primitive value
~ "" [error] js exception: TypeError: should not be called
stream filter> s.on('upload', function (data, flags) { s.send(); s.send(null); s.send(5); s.send(data, 5); });
= "<5hi\n>"
stream filter> s.on('upload', function (data, flags) { s.sendDownstream('down'); s.send(data, flags); });
= "down<hi\n>"
stream filter> s.on('download', function (data, flags) { s.send(data, flags); s.sendDownstream('!', flags); });
= "<hi\n>!!"
stream filter> s.on('upload', async function (data, flags) { await null; s.sendUpstream(data, flags); });
= "<hi\n>"
stream filter> s.on('upload', async function (data, flags) { await null; s.send(data, flags); });
= "<hi\n>"
stream filter> s.on('upload', async function (data, flags) { await null; s.send(data, {from_upstream: false, last: false}); });
= "<hi\n>"
stream filter> s.on('upload', function (data, flags) { setTimeout(function () { s.sendUpstream(data, flags); }, 1); });
= "<hi\n>"
stream filter> s.on('upload', function (data, flags) { Promise.reject(new Error('x')); s.send(data, flags); });
= "<hi\n>" [error] js unhandled rejection: Error: x
stream filter> s.on('upload', function () {}); s.on('upload', function () {});
= "" [error] js exception: TypeError: event handler "upload" is already set
stream filter> throw new Error('x');
= "" [error] js exception: Error: x
stream filter> s.send('x');
= "" [error] js exception: TypeError: cannot send buffer in this handler
stream filter> s.sendUpstream('pre'); s.on('download', function (d, f) { s.send(d, f); });
= "" [error] js exception: TypeError: cannot send buffer in this handler
stream filter> s.sendDownstream('pre');
= "" [error] js exception: TypeError: cannot send buffer in this handler
stream filter> s.deny();
= "<hi\n>"
stream filter> await null; s.on('download', function (d, f) { s.send(d + '!', f); });
= "<hi\n>!!"
