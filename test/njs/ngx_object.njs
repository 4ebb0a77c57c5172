# ngx, njs, process, console and globals.
> Object.prototype.toString.call(ngx)
= "[object Object]"
> Object.keys(ngx).sort()
= ["build","conf_file_path","conf_prefix","engine_id","error_log_path","fetch","log","prefix","shared","version","version_number","worker_id"]
> typeof ngx.build
= "string"
> ngx.conf_prefix
= "DIR/"
> ngx.conf_file_path
= "DIR/sluice.conf"
> ngx.prefix
= "DIR/"
> ngx.error_log_path
= "error.log"
> ngx.version
= "1.31.5"
> ngx.version_number
= 1031005
> ngx.worker_id
= 0
> [ngx.INFO, ngx.WARN, ngx.ERR]
= [7,5,4]
> ngx.nope
= undefined
> (function () { ngx.INFO = 1; return ngx.INFO; })()
= throws TypeError: Cannot assign to read-only property "INFO" of object
~ throws TypeError
> ngx.log()
= throws TypeError: invalid number
> ngx.log(ngx.INFO)
= undefined
> ngx.log('x', 'y')
= throws TypeError: invalid number
> ngx.log({}, 'y')
= throws TypeError: invalid number
> ngx.log(NaN, 'y')
= throws TypeError: invalid number
> ngx.log(-1, 'y')
= undefined
> ngx.log(100, 'y')
= undefined
> ngx.log(ngx.INFO, Symbol('a'))
= undefined
http> ngx.log(ngx.INFO, 'info'); ngx.log(ngx.WARN, 'warn'); ngx.log(ngx.ERR, 'err'); r.return(200);
= 200 Content-Type: text/plain | Content-Length: 0 "" [info] js: info [warn] js: warn [error] js: err
http> ngx.log(ngx.ERR, Buffer.from('buf')); ngx.log(ngx.ERR, {a: 1}); ngx.log(ngx.ERR, null); ngx.log(ngx.ERR, undefined); ngx.log(ngx.ERR, 5); ngx.log(ngx.ERR); r.return(200);
= 200 Content-Type: text/plain | Content-Length: 0 "" [error] js: Buffer [98,117,102] [error] js: {a:1} [error] js: null [error] js: undefined [error] js: 5
http> ngx.log(1, 'one'); ngx.log(2, 'two'); ngx.log(3, 'three'); ngx.log('4', 'four'); ngx.log(5.5, 'five'); r.return(200);
= 500 Content-Type: text/html "page 500 Internal Server Error" [emerg] js: one [alert] js: two [crit] js: three [error] js exception: TypeError: invalid number
http> r.log('log'); r.warn('warn'); r.error('error'); r.log(); r.warn({a: 1}); r.error(Buffer.from('x')); r.error(null); r.return(200);
= 200 Content-Type: text/plain | Content-Length: 0 "" [info] js: log [warn] js: warn [error] js: error [warn] js: {a:1} [error] js: Buffer [120] [error] js: null
http> r.error('a\nb'); r.return(200);
= 200 Content-Type: text/plain | Content-Length: 0 "" [error] js: a
http> console.log('log'); console.info('info'); console.warn('warn'); console.error('error'); r.return(200);
= 200 Content-Type: text/plain | Content-Length: 0 "" [info] js: log [info] js: info [warn] js: warn [error] js: error
http> console.log('a', 1, {b: 'c', d: [1, 'e']}); console.warn(); console.log(null, undefined, true); console.log([1, 'x']); console.error(new Error('boom')); r.return(200);
= 200 Content-Type: text/plain | Content-Length: 0 "" [info] js: a [info] js: 1 [info] js: {b:'c',d:[1,'e']} [info] js: null [info] js: undefined [info] js: true [info] js: [1,'x'] [error] js: Error: boom
http> console.warn('a %s', 'b'); console.warn(Symbol('x')); console.warn(function f() {}); console.warn(new Headers({a: 'b'})); console.warn(Buffer.from('ab')); r.return(200);
= 200 Content-Type: text/plain | Content-Length: 0 "" [warn] js: a %s [warn] js: b [warn] js: Symbol(x) [warn] js: [Function: f] [warn] js: Headers {a:'b'} [warn] js: Buffer [97,98]
http> console.time(); console.time(); console.timeEnd('nope'); r.return(200);
= 200 Content-Type: text/plain | Content-Length: 0 "" [info] js: Timer "default" already exists. [info] js: Timer "nope" doesn't exist.
> console.time(5)
= undefined
> console.timeEnd()
= undefined
> Object.prototype.toString.call(console)
= "[object Console]"
> Object.keys(console).sort()
= ["dump","error","info","log","time","timeEnd","warn"]
~ ["debug","dump","error","info","log","time","timeEnd","warn"]
> typeof console.dump
= "function"
> typeof console.debug
= "undefined"
~ "function"
> Object.prototype.toString.call(njs)
= "[object njs]"
> njs.engine.length > 0
= true
> typeof njs.version
= "string"
> typeof njs.version_number
= "number"
> njs.dump(1)
= "1"
> njs.dump('a')
= "a"
> njs.dump(['a', {b: 'c'}])
= "['a',{b:'c'}]"
> njs.dump({a: 1, b: {c: [1, 2, undefined, null]}, 'd-e': true})
= "{a:1,b:{c:[1,2,undefined,null]},d-e:true}"
> njs.dump(undefined)
= "undefined"
> njs.dump(null)
= "null"
> njs.dump(new Date(0))
= "1970-01-01T00:00:00.000Z"
> njs.dump(/a/g)
= "/a/g"
> njs.dump(function f() {})
= "[Function: f]"
> njs.dump(Symbol('a'))
= "Symbol(a)"
> njs.dump(-0)
= "-0"
> njs.dump([,1])
= "[<empty>,1]"
> njs.dump(new Uint8Array([1, 2]))
= "Uint8Array [1,2]"
> njs.dump(Buffer.from('ab'))
= "Buffer [97,98]"
> njs.dump(new ArrayBuffer(2))
= "ArrayBuffer {}"
~ "ArrayBuffer [0,0]"
> njs.dump({a: 1}, 1)
= "{\n a: 1\n}"
> njs.dump([1, [2]], 2)
= "[\n  1,\n  [\n    2\n  ]\n]"
> njs.dump(new Map([[1, 2]]))
= throws ReferenceError: "Map" is not defined
~ "Map {}"
> njs.dump(Promise.resolve(1))
= "Promise {}"
> njs.dump({get a() { return 1; }})
= "{a:'[Getter]'}"
> njs.dump(Object.create(null))
= "{}"
> njs.dump(new String('a'))
= "[String: 'a']"
> njs.dump(new Number(1))
= "[Number: 1]"
> njs.dump("it's")
= "it's"
> njs.dump(["it's", 'a"b', 'c\n'])
= "['it's','a\"b','c\\n']"
> njs.dump(Object.create({a: 1}))
= "{}"
> (function (o) { o.o = o; return njs.dump(o); })({a: 1})
= "{a:1,o:[Circular]}"
> njs.dump(r.args)
= "{}"
> njs.on('x', function () {})
= throws TypeError: unknown hook type "x"
> njs.on('exit')
= throws TypeError: callback is not a function or null
> njs.on('exit', 5)
= throws TypeError: callback is not a function or null
> njs.on('exit', function () {})
= function
~ undefined
http> njs.on('exit', function () { ngx.log(ngx.WARN, 'exit'); }); r.return(200, 'x');
= 200 Content-Type: text/plain | Content-Length: 1 "x" [warn] js: exit
http> njs.on('exit', function () { r.log('exit'); throw new Error('in exit'); }); r.return(200, 'x');
= 200 Content-Type: text/plain | Content-Length: 1 "x" [info] js: exit [error] js exit hook exception: Error: in exit
set> njs.on('exit', function () { ngx.log(ngx.WARN, 'exit ' + r.uri.length); }); return 'x';
= 200 Content-Type: text/plain | Content-Length: 3 "[x]" [warn] js: exit 14
> typeof process.pid
= "number"
> typeof process.ppid
= "number"
> Array.isArray(process.argv)
= true
> typeof process.env
= "object"
> process.env.NOPE
= undefined
> Object.prototype.toString.call(process)
= "[object process]"
> process.kill(process.pid, 0)
= true
> process.kill()
= throws TypeError: "pid" is not a number
> process.kill('x')
= throws TypeError: "pid" is not a number
> process.kill(process.pid, 'NOPE')
= throws TypeError: "signal" unknown value: "NOPE"
> process.kill(process.pid, 'SIGNOPE')
= throws TypeError: "signal" unknown value
~ throws TypeError
> process.kill(process.pid, {})
= throws TypeError: "signal" invalid type
> process.kill(99999999, 0)
= throws Error: kill failed with (3:No such process)
> Object.keys(process).filter(function (k) { return k === 'pid' || k === 'argv'; })
= []
~ ["argv","pid"]
> typeof setTimeout(function () {}, 1)
= "number"
~ "object"
> setTimeout()
= throws TypeError: too few arguments
> setTimeout(5)
= throws TypeError: first arg must be a function
> setTimeout('x')
= throws TypeError: first arg must be a function
> clearTimeout()
= undefined
> clearTimeout(undefined)
= undefined
> clearTimeout(5)
= throws InternalError: failed to find timer
~ undefined
> clearTimeout('x')
= undefined
> new Promise(function (done) { setTimeout(done, 1, 'a', 'b'); })
= "a"
> new Promise(function (done) { setTimeout(function () { done([].slice.call(arguments)); }, 0, 'a', 'b'); })
= ["a","b"]
> new Promise(function (done) { setTimeout(done, -5, 'neg'); })
= "neg"
> new Promise(function (done) { setTimeout(done, 'x', 'str'); })
= "str"
> new Promise(function (done) { setTimeout(done, NaN, 'nan'); })
= "nan"
> new Promise(function (done) { setTimeout(done, undefined, 'u'); })
= "u"
> new Promise(function (done) { setTimeout(done, 1.5, 'u'); })
= "u"
> (function (id) { clearTimeout(id); return 'cleared'; })(setTimeout(function () { r.return(500); }, 5))
= "cleared"
> typeof setImmediate
= "function"
> new Promise(function (done) { setImmediate(done, 'a'); })
= "a"
> setImmediate()
= throws TypeError: too few arguments
~ throws TypeError
> typeof setInterval
= "undefined"
~ "function"
> typeof queueMicrotask
= "undefined"
~ "function"
> typeof globalThis.structuredClone
= "undefined"
~ "function"
> btoa('a')
= "YQ=="
> btoa('é')
= "6Q=="
> btoa('€')
= throws TypeError: invalid character (> U+00FF)
~ throws InvalidCharacterError
> btoa()
= "dW5kZWZpbmVk"
~ throws TypeError: The "input" argument must be specified
> btoa('')
= ""
> atob('YQ==')
= "a"
> atob('YQ')
= "a"
> atob('Y Q = =')
= "a"
> atob('!')
= throws TypeError: the string to be decoded is not correctly encoded
~ throws InvalidCharacterError
> atob('Y')
= throws TypeError: the string to be decoded is not correctly encoded
~ throws InvalidCharacterError
> atob()
= throws TypeError: the string to be decoded is not correctly encoded
~ throws TypeError
> atob('4pyT').length
= 3
> typeof global
= "object"
> typeof require
= "function"
> typeof module
= "undefined"
~ "object"
> typeof exports
= "undefined"
~ "object"
> typeof __dirname
= "undefined"
~ "string"
> typeof globalThis.ngx
= "object"
> Object.prototype.toString.call(globalThis)
= "[object global]"
> (function () { return this === undefined; })()
= true
http> r.return(200, String(this === undefined));
= 200 Content-Type: text/plain | Content-Length: 4 "true"
http> setTimeout(function () { r.return(200, 'late'); }, 1);
= 200 Content-Type: text/plain | Content-Length: 4 "late"
http> setTimeout(function () { r.return(200, 'a'); }, 1); setTimeout(function () { r.error('second'); }, 5);
= 200 Content-Type: text/plain | Content-Length: 1 "a" [error] js: second
http> Promise.reject(new Error('nobody')); r.return(200, 'x');
= 200 Content-Type: text/plain | Content-Length: 1 "x" [error] js unhandled rejection: Error: nobody
http> Promise.reject('text'); r.return(200, 'x');
= 200 Content-Type: text/plain | Content-Length: 1 "x" [error] js unhandled rejection: text
http> Promise.reject(new Error('nobody'));
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js unhandled rejection: Error: nobody
http> Promise.reject(new Error('caught')).catch(function () { r.return(200, 'caught'); });
= 200 Content-Type: text/plain | Content-Length: 6 "caught"
http> new Promise(function () { throw new TypeError('inside'); });
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js unhandled rejection: TypeError: inside
http> Promise.resolve().then(function () { throw new Error('then'); });
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js unhandled rejection: Error: then
http> var p = Promise.reject(new Error('late')); setTimeout(function () { p.catch(function () {}); r.return(200, 'x'); }, 1);
= 200 Content-Type: text/plain | Content-Length: 1 "x"
http> throw new Error('boom');
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: Error: boom
http> throw 'text';
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: text
http> throw {a: 1};
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: [object Object]
http> throw null;
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: null
http> throw undefined;
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: undefined
http> nope();
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: ReferenceError: "nope" is not defined
~ 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: ReferenceError: nope is not defined
http> null.x;
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: TypeError: cannot get property "x" of null
~ 500 Content-Type: text/html "page 500 Internal Server Error" [error] js exception: TypeError: Cannot read properties of null (reading 'x')
http> await null; throw new Error('boom');
= 500 Content-Type: text/html "page 500 Internal Server Error" [error] js unhandled rejection: Error: boom
http> await new Promise(function (done) { setTimeout(done, 1); }); r.return(200, 'x');
= 200 Content-Type: text/plain | Content-Length: 1 "x"
http> return 'x';
= 500 Content-Type: text/html "page 500 Internal Server Error"
http> ;
= 500 Content-Type: text/html "page 500 Internal Server Error"
