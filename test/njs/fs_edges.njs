# fs, with what it does not expect.
> fs.mkdirSync(ngx.prefix + 'fse')
= undefined
> fs.writeFileSync(ngx.prefix + 'fse/f', 'content')
= undefined
> fs.writeFileSync(ngx.prefix + 'fse/empty', '')
= undefined
> fs.symlinkSync(ngx.prefix + 'fse/f', ngx.prefix + 'fse/link')
= undefined
> fs.accessSync(Buffer.from(ngx.prefix + 'fse/f'))
= undefined
> fs.accessSync(ngx.prefix + 'fse/f', -1)
= throws Error: Invalid argument
~ throws RangeError
> fs.accessSync(ngx.prefix + 'fse/f', 8)
= throws Error: Invalid argument
~ throws RangeError
> fs.accessSync(ngx.prefix + 'fse/f', NaN)
= throws Error: Invalid argument
~ throws RangeError
> fs.accessSync(ngx.prefix + 'fse/f', null)
= throws TypeError: "mode" must be a number
~ undefined
> fs.accessSync(ngx.prefix + 'fse/f', {})
= throws TypeError: "mode" must be a number
~ throws TypeError
> fs.accessSync(ngx.prefix + 'fse/f', 1.5)
= throws Error: Permission denied
~ throws Error
> fs.accessSync('')
= throws Error: No such file or directory
~ throws Error
> fs.accessSync(Symbol('x'))
= throws TypeError: "path" must be a string or Buffer
~ throws TypeError
> fs.accessSync('a\0b')
= throws TypeError: "path" must be a Buffer without null bytes
~ throws TypeError
> fs.accessSync(new Uint8Array([47]))
= undefined
> fs.existsSync(Buffer.from(ngx.prefix + 'fse/f'))
= true
> fs.existsSync('a\0b')
= throws TypeError: "path" must be a Buffer without null bytes
~ false
> fs.existsSync({})
= throws TypeError: "path" must be a string or Buffer
~ false
> fs.existsSync(ngx.prefix + 'fse/link')
= true
> fs.appendFileSync(ngx.prefix + 'fse/a', '6162', 'hex')
= undefined
> fs.appendFileSync(ngx.prefix + 'fse/a', 'YWI=', {encoding: 'base64'})
= undefined
> fs.appendFileSync(ngx.prefix + 'fse/a', 'x', {flag: 'w'})
= undefined
> fs.readFileSync(ngx.prefix + 'fse/a', 'utf8')
= "x"
> fs.appendFileSync(ngx.prefix + 'fse/a', 'x', {flag: 'ax'})
= throws Error: File exists
~ throws Error
> fs.appendFileSync(ngx.prefix + 'fse/a', 'x', {flag: 'nope'})
= throws TypeError: Unknown file open flags: "nope"
~ throws TypeError
> fs.appendFileSync(ngx.prefix + 'fse/a', 'x', {flag: 5})
= throws TypeError: Unknown file open flags: "5"
~ undefined
> fs.appendFileSync(ngx.prefix + 'fse/a', 'x', {mode: 'x'})
= undefined
~ throws TypeError: The argument 'mode' must be a 32-bit unsigned integer or an octal string. Received 'x'
> fs.appendFileSync(ngx.prefix + 'fse/a', 'x', 5)
= throws TypeError: Unknown options type (a string or object required)
~ throws TypeError
> fs.appendFileSync(ngx.prefix + 'fse/a', 'x', null)
= throws TypeError: Unknown options type (a string or object required)
~ undefined
> fs.appendFileSync(ngx.prefix + 'fse/a', 'x', 'nope')
= throws TypeError: "nope" encoding is not supported
~ throws TypeError
> fs.appendFileSync(ngx.prefix + 'fse/a', Symbol('x'))
= throws TypeError: Cannot convert a Symbol value to a string
> fs.appendFileSync(ngx.prefix + 'fse/a', {toString: function () { throw new Error('str'); }})
= throws Error: str
> fs.appendFileSync(ngx.prefix + 'fse/a', new DataView(new ArrayBuffer(2)))
= undefined
> fs.appendFileSync(ngx.prefix + 'fse/a', new Uint8Array([65, 66, 67]).subarray(1))
= undefined
> fs.appendFileSync(Buffer.from(ngx.prefix + 'fse/a'), 'z')
= undefined
> fs.appendFileSync(5, 'x')
= throws TypeError: "path" must be a string or Buffer
~ throws Error
> fs.appendFileSync()
= throws TypeError: "path" must be a string or Buffer
~ throws TypeError
> fs.statSync(ngx.prefix + 'fse/a').size > 3
= true
> fs.writeFileSync(ngx.prefix + 'fse/w', 'a', {flag: 'wx'})
= undefined
> fs.writeFileSync(ngx.prefix + 'fse/w', 'b', {flag: 'wx'})
= throws Error: File exists
~ throws Error
> fs.writeFileSync(ngx.prefix + 'fse/w', 'b', {flag: 'xw'})
= throws TypeError: Unknown file open flags: "xw"
~ throws Error
> fs.writeFileSync(ngx.prefix + 'fse/w', 'c', {flag: 'r+'})
= undefined
> fs.writeFileSync(ngx.prefix + 'fse/w', 'd', {flag: 'a+'})
= undefined
> fs.readFileSync(ngx.prefix + 'fse/w', 'utf8')
= "d"
~ "cd"
> fs.writeFileSync(ngx.prefix + 'fse/w', 'e', {flag: 'w+'})
= undefined
> fs.readFileSync(ngx.prefix + 'fse/w', 'utf8')
= "e"
> fs.writeFileSync(ngx.prefix + 'fse/w', 'f', {flag: 'r'})
= throws Error: Bad file descriptor
~ throws Error
> fs.writeFileSync(ngx.prefix + 'fse/w', 'f', {flag: 'nope'})
= throws TypeError: Unknown file open flags: "nope"
~ throws TypeError
> fs.writeFileSync(ngx.prefix + 'fse/w', 'f', {encoding: 'nope'})
= throws TypeError: "nope" encoding is not supported
~ throws TypeError
> fs.writeFileSync(ngx.prefix + 'fse/w', 'zz', 'hex')
= undefined
> fs.writeFileSync(ngx.prefix + 'fse/w', '616', 'hex')
= undefined
> fs.readFileSync(ngx.prefix + 'fse/w', 'utf8')
= "a"
> fs.writeFileSync(ngx.prefix + 'fse/mode', 'x', {mode: 0o640}) === undefined && (fs.statSync(ngx.prefix + 'fse/mode').mode & 0o777)
= 416
> fs.writeFileSync(ngx.prefix + 'fse/mode2', 'x', {mode: '0640'})
= undefined
> fs.writeFileSync(ngx.prefix + 'fse/mode3', 'x', {mode: -1})
= throws undefined
~ throws RangeError
> fs.writeFileSync(ngx.prefix + 'fse/f\0x', 'x')
= throws TypeError: "path" must be a Buffer without null bytes
~ throws TypeError
> fs.writeFileSync(ngx.prefix + 'fse/w')
= undefined
> fs.writeFileSync()
= throws TypeError: "path" must be a string or Buffer
~ throws TypeError
> fs.writeFileSync(Symbol('x'), 'x')
= throws TypeError: "path" must be a string or Buffer
~ throws TypeError
> fs.writeFileSync(ngx.prefix + 'fse/w', true)
= undefined
> fs.readFileSync(ngx.prefix + 'fse/w', 'utf8')
= "true"
> fs.writeFileSync(ngx.prefix + 'fse/w', new Float64Array([1]))
= undefined
> fs.readFileSync(ngx.prefix + 'fse/w', 'hex')
= "000000000000f03f"
> fs.writeFileSync(ngx.prefix + 'fse/w', '\ud800x')
= undefined
> fs.readFileSync(ngx.prefix + 'fse/w', 'hex')
= "efbfbd78"
> fs.readFileSync(ngx.prefix + 'fse/empty')
= Buffer 
> fs.readFileSync(ngx.prefix + 'fse/empty', 'utf8')
= ""
> fs.readFileSync(ngx.prefix + 'fse/empty', 'hex')
= ""
> fs.readFileSync(ngx.prefix + 'fse/f', {encoding: undefined})
= Buffer 636f6e74656e74
> fs.readFileSync(ngx.prefix + 'fse/f', {encoding: null})
= throws TypeError: encoding must be a string
~ Buffer 636f6e74656e74
> fs.readFileSync(ngx.prefix + 'fse/f', {encoding: 5})
= throws TypeError: encoding must be a string
~ throws TypeError
> fs.readFileSync(ngx.prefix + 'fse/f', {flag: 'w+'})
= Buffer 
> fs.readFileSync(ngx.prefix + 'fse/f', 'utf8')
= ""
> fs.readFileSync(ngx.prefix + 'fse/f', {flag: 5})
= throws TypeError: Unknown file open flags: "5"
~ throws Error
> fs.readFileSync(ngx.prefix + 'fse/f', 'latin1')
= throws TypeError: "latin1" encoding is not supported
~ ""
> fs.readFileSync(ngx.prefix + 'fse/f', '')
= throws TypeError: "" encoding is not supported
~ Buffer 
> fs.readFileSync(ngx.prefix + 'fse/f', Symbol('x'))
= throws TypeError: Unknown options type (a string or object required)
~ throws TypeError
> fs.readFileSync(ngx.prefix + 'fse/f', [])
= Buffer 
> fs.readFileSync(ngx.prefix + 'fse/f', function () {})
= Buffer 
> fs.readFileSync('/dev/null')
= throws Error: File is not regular
~ Buffer 
> fs.readFileSync('/proc/self/comm').length > 0
= true
> fs.writeFileSync(ngx.prefix + 'fse/f', 'content')
= undefined
> fs.fstatSync('x')
= [object Stats]{atime:Date,atimeMs:1795213383238.58,birthtime:Date,birthtimeMs:1795213383238.58,ctime:Date,ctimeMs:1795213383238.58,blksize:4096,blocks:0,dev:6,gid:0,ino:3,mode:8630,mtime:Date,mtimeMs:1795213383238.58,nlink:1,rdev:259,size:0,uid:0}
~ throws TypeError: The "fd" argument must be of type number. Received type string ('x')
> fs.fstatSync(-1)
= throws Error: Bad file descriptor
~ throws RangeError
> fs.fstatSync(1.5)
= [object Stats]{atime:Date,atimeMs:0,birthtime:Date,birthtimeMs:0,ctime:Date,ctimeMs:0,blksize:4096,blocks:0,dev:9,gid:0,ino:8508389,mode:49663,mtime:Date,mtimeMs:0,nlink:1,rdev:0,size:0,uid:0}
~ throws RangeError: The value of "fd" is out of range. It must be an integer. Received 1.5
> fs.fstatSync(null)
= [object Stats]{atime:Date,atimeMs:1795213383238.58,birthtime:Date,birthtimeMs:1795213383238.58,ctime:Date,ctimeMs:1795213383238.58,blksize:4096,blocks:0,dev:6,gid:0,ino:3,mode:8630,mtime:Date,mtimeMs:1795213383238.58,nlink:1,rdev:259,size:0,uid:0}
~ throws TypeError: The "fd" argument must be of type number. Received null
> fs.fstatSync()
= closed
~ throws TypeError: The "fd" argument must be of type number. Received undefined
> (function () { var fd = fs.openSync(ngx.prefix + 'fse/f'); try { var s = fs.fstatSync(fd); return [s.size, s.isFile(), Object.prototype.toString.call(s.mtime)]; } finally { fs.closeSync(fd); } })()
= [7,true,"[object Date]"]
> fs.lstatSync(Buffer.from(ngx.prefix + 'fse/link')).isSymbolicLink()
= true
> fs.lstatSync(5)
= throws TypeError: "path" must be a string or Buffer
~ throws TypeError
> fs.lstatSync(ngx.prefix + 'fse/none')
= throws Error: No such file or directory
~ throws Error
> fs.lstatSync(ngx.prefix + 'fse/none', {throwIfNoEntry: true})
= throws Error: No such file or directory
~ throws Error
> fs.statSync(ngx.prefix + 'fse/none', {throwIfNoEntry: 0})
= undefined
> fs.statSync(ngx.prefix + 'fse/f/x', {throwIfNoEntry: false})
= throws Error: Not a directory
~ undefined
> fs.statSync(ngx.prefix + 'fse/f', null)
= throws TypeError: Unknown options type (an object required)
~ throws TypeError
> fs.statSync(ngx.prefix + 'fse/f', 'x').size
= throws TypeError: Unknown options type (an object required)
~ 7
> fs.statSync(ngx.prefix + 'fse/f', 5).size
= throws TypeError: Unknown options type (an object required)
~ 7
> typeof fs.statSync(ngx.prefix + 'fse/f', {bigint: true}).size
= throws TypeError: "bigint" is not supported
~ "bigint"
> fs.statSync(Buffer.from(ngx.prefix + 'fse/f')).size
= 7
> fs.statSync(Symbol('x'))
= throws TypeError: "path" must be a string or Buffer
~ throws TypeError
> (function (s) { return ['isFile', 'isDirectory', 'isSymbolicLink', 'isFIFO', 'isSocket', 'isBlockDevice', 'isCharacterDevice'].map(function (m) { return s[m](); }); })(fs.statSync('/dev/null'))
= [false,false,false,false,false,false,true]
> fs.statSync(ngx.prefix + 'fse/f').isFile.call({})
= function
~ throws TypeError: this._checkModeProperty is not a function
> fs.mkdirSync(ngx.prefix + 'fse/d1', 'x')
= throws TypeError: Unknown options type(a number or object required)
~ throws TypeError
> fs.mkdirSync(ngx.prefix + 'fse/d2', null)
= throws TypeError: Unknown options type(a number or object required)
~ undefined
> fs.mkdirSync(ngx.prefix + 'fse/d3', {mode: -1})
= throws undefined
~ throws RangeError
> fs.mkdirSync(ngx.prefix + 'fse/d4', {recursive: 'yes'})
= undefined
~ "DIR/fse/d4"
> fs.mkdirSync(ngx.prefix + 'fse/d5', {recursive: false})
= undefined
> fs.mkdirSync(ngx.prefix + 'fse/d6', 1.5)
= undefined
~ throws RangeError: The value of "mode" is out of range. It must be an integer. Received 1.5
> fs.mkdirSync(Buffer.from(ngx.prefix + 'fse/d7'))
= undefined
> fs.mkdirSync(ngx.prefix + 'fse/d8/', {recursive: true}) === undefined || true
= true
> fs.mkdirSync(ngx.prefix + 'fse//d9//e', {recursive: true}) === undefined || true
= true
> fs.mkdirSync(ngx.prefix + 'fse/f/x', {recursive: true})
= throws Error: Not a directory
~ throws Error
> fs.mkdirSync(ngx.prefix + 'fse/f', {recursive: true})
= throws Error: Not a directory
~ throws Error
> fs.mkdirSync(ngx.prefix + 'fse/d\0x')
= throws TypeError: "path" must be a Buffer without null bytes
~ throws TypeError
> fs.mkdirSync(Symbol('x'))
= throws TypeError: "path" must be a string or Buffer
~ throws TypeError
> ['r', 'r+', 'rs', 'rs+', 'sr', 'sr+', 'w', 'w+', 'a', 'a+', 'as', 'as+', 'sa', 'sa+'].map(function (flag) { try { fs.closeSync(fs.openSync(ngx.prefix + 'fse/flags', flag)); return flag; } catch (e) { return flag + ' ' + (e.code || e.name); } }).join()
= "r ENOENT,r+ ENOENT,rs TypeError,rs+ ENOENT,sr TypeError,sr+ TypeError,w,w+,a,a+,as,as+,sa TypeError,sa+ TypeError"
~ "r ENOENT,r+ ENOENT,rs ENOENT,rs+ ENOENT,sr ENOENT,sr+ ENOENT,w,w+,a,a+,as,as+,sa,sa+"
> ['wx', 'xw', 'wx+', 'xw+', 'ax', 'xa', 'ax+', 'xa+'].map(function (flag) { try { fs.closeSync(fs.openSync(ngx.prefix + 'fse/flag-' + flag.replace('+', 'p'), flag)); return flag; } catch (e) { return flag + ' ' + (e.code || e.name); } }).join()
= "wx,xw TypeError,wx+,xw+ TypeError,ax,xa TypeError,ax+,xa+ TypeError"
~ "wx,xw,wx+,xw+,ax,xa,ax+,xa+"
> ['wx', 'xw', 'wx+', 'xw+', 'ax', 'xa', 'ax+', 'xa+'].map(function (flag) { try { fs.closeSync(fs.openSync(ngx.prefix + 'fse/flag-' + flag.replace('+', 'p'), flag)); return flag; } catch (e) { return flag + ' ' + (e.code || e.name); } }).join()
= "wx EEXIST,xw TypeError,wx+ EEXIST,xw+ TypeError,ax EEXIST,xa TypeError,ax+ EEXIST,xa+ TypeError"
~ "wx EEXIST,xw EEXIST,wx+ EEXIST,xw+ EEXIST,ax EEXIST,xa EEXIST,ax+ EEXIST,xa+ EEXIST"
> ['rw', 'R', '', 'w ', 'x', '+', 'rx'].map(function (flag) { try { fs.closeSync(fs.openSync(ngx.prefix + 'fse/f', flag)); return flag; } catch (e) { return flag + ' ' + (e.code || e.name); } }).join()
= "rw TypeError,R TypeError, TypeError,w  TypeError,x TypeError,+ TypeError,rx TypeError"
~ "rw ERR_INVALID_ARG_VALUE,R ERR_INVALID_ARG_VALUE, ERR_INVALID_ARG_VALUE,w  ERR_INVALID_ARG_VALUE,x ERR_INVALID_ARG_VALUE,+ ERR_INVALID_ARG_VALUE,rx ERR_INVALID_ARG_VALUE"
> [null, undefined, {}, true, NaN].map(function (flag) { try { fs.closeSync(fs.openSync(ngx.prefix + 'fse/f', flag)); return String(flag); } catch (e) { return String(flag) + ' ' + (e.code || e.name); } }).join()
= "null TypeError,undefined,[object Object] TypeError,true TypeError,NaN TypeError"
~ "null,undefined,[object Object] ERR_INVALID_ARG_VALUE,true ERR_INVALID_ARG_VALUE,NaN ERR_OUT_OF_RANGE"
> (function () { fs.closeSync(fs.openSync(ngx.prefix + 'fse/om', 'w', 0o600)); return fs.statSync(ngx.prefix + 'fse/om').mode & 0o777; })()
= 384
> fs.openSync(ngx.prefix + 'fse/om2', 'w', 'x')
= 13
~ throws TypeError: The argument 'mode' must be a 32-bit unsigned integer or an octal string. Received 'x'
> fs.openSync(ngx.prefix + 'fse/om3', 'w', -1)
= throws undefined
~ throws RangeError
> fs.openSync(5)
= throws TypeError: "path" must be a string or Buffer
~ throws TypeError
> fs.openSync()
= throws TypeError: "path" must be a string or Buffer
~ throws TypeError
> fs.openSync(ngx.prefix + 'fse', 'w')
= throws Error: Is a directory
~ throws Error
> fs.closeSync()
= undefined
~ throws TypeError: The "fd" argument must be of type number. Received undefined
> fs.closeSync(null)
= closed
~ throws TypeError: The "fd" argument must be of type number. Received null
> fs.closeSync(-1)
= throws Error: Bad file descriptor
~ throws RangeError
> fs.closeSync(1.5)
= undefined
~ throws RangeError: The value of "fd" is out of range. It must be an integer. Received 1.5
> (function () { var fd = fs.openSync(ngx.prefix + 'fse/f'); fs.closeSync(fd); try { fs.closeSync(fd); } catch (e) { return e.code; } })()
= "EBADF"
> (function () { var fd = fs.openSync(ngx.prefix + 'fse/f'); function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(7); try { return [t(function () { return fs.readSync(fd); }), t(function () { return fs.readSync(fd, b, -1); }), t(function () { return fs.readSync(fd, b, 8); }), t(function () { return fs.readSync(fd, b, 7); }), t(function () { return fs.readSync(fd, b, 0, -1); }), t(function () { return fs.readSync(fd, b, 0, 8); }), t(function () { return fs.readSync(fd, b, 0, 0); }), t(function () { return fs.readSync(fd, b, 'x'); }), t(function () { return fs.readSync(fd, b, 0, 'x'); })]; } finally { fs.closeSync(fd); } })()
= ["TypeError","RangeError","RangeError",0,"RangeError","RangeError",0,7,0]
~ ["TypeError","RangeError","RangeError",0,"RangeError","RangeError",0,"TypeError",0]
> (function () { var fd = fs.openSync(ngx.prefix + 'fse/f'); function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(7); try { return [t(function () { return fs.readSync(fd, b, 0, 1, 100); }), t(function () { return fs.readSync(fd, b, 0, 1, 'x'); }), t(function () { return fs.readSync(fd, b, 0, 1, 1.5); }), t(function () { return fs.readSync(fd, b, 0, 1, undefined); }), t(function () { return fs.readSync(fd, b, 0, 1, null); }), b.toString()]; } finally { fs.closeSync(fd); } })()
= [0,1,1,1,1,"o\u0000\u0000\u0000\u0000\u0000\u0000"]
~ [0,"TypeError","RangeError",1,1,"o\u0000\u0000\u0000\u0000\u0000\u0000"]
> (function () { var fd = fs.openSync(ngx.prefix + 'fse/f'); function t(f) { try { return f(); } catch (e) { return e.name; } } try { return [t(function () { return fs.readSync(fd, new Uint16Array(2)); }), t(function () { return fs.readSync(fd, new DataView(new ArrayBuffer(2))); }), t(function () { return fs.readSync(fd, new ArrayBuffer(2)); }), t(function () { return fs.readSync(fd, [1, 2]); }), t(function () { return fs.readSync(fd, null); }), t(function () { return fs.readSync(fd, Buffer.alloc(0)); })]; } finally { fs.closeSync(fd); } })()
= [4,2,"TypeError","TypeError","TypeError",0]
> fs.readSync('x', Buffer.alloc(1))
= throws Error: Resource temporarily unavailable
~ throws TypeError
> fs.readSync(-1, Buffer.alloc(1))
= throws Error: Bad file descriptor
~ throws RangeError
> (function () { var fd = fs.openSync(ngx.prefix + 'fse/ws', 'w+'); function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from('abc'); try { return [t(function () { return fs.writeSync(fd, b); }), t(function () { return fs.writeSync(fd, b, 1); }), t(function () { return fs.writeSync(fd, b, 3); }), t(function () { return fs.writeSync(fd, b, 4); }), t(function () { return fs.writeSync(fd, b, -1); }), t(function () { return fs.writeSync(fd, b, 0, 4); }), t(function () { return fs.writeSync(fd, b, 0, -1); }), t(function () { return fs.writeSync(fd, b, 0, 1, 0); }), t(function () { return fs.writeSync(fd, b, 0, 1, 'x'); }), t(function () { return fs.writeSync(fd, b, 0, 1, null); }), fs.readFileSync(ngx.prefix + 'fse/ws', 'utf8')]; } finally { fs.closeSync(fd); } })()
= [3,2,0,"RangeError","RangeError","RangeError","RangeError",1,1,1,"abcbca"]
~ [3,2,0,"RangeError","RangeError","RangeError","RangeError",1,1,1,"abcbcaa"]
> (function () { var fd = fs.openSync(ngx.prefix + 'fse/ws', 'w+'); function t(f) { try { return f(); } catch (e) { return e.name; } } try { return [t(function () { return fs.writeSync(fd); }), t(function () { return fs.writeSync(fd, 5); }), t(function () { return fs.writeSync(fd, null); }), t(function () { return fs.writeSync(fd, {}); }), t(function () { return fs.writeSync(fd, 'x', 'y'); }), t(function () { return fs.writeSync(fd, 'x', null, 'nope'); }), t(function () { return fs.writeSync(fd, 'eA==', null, 'base64'); }), t(function () { return fs.writeSync(fd, ''); }), t(function () { return fs.writeSync(fd, new ArrayBuffer(1)); }), fs.readFileSync(ngx.prefix + 'fse/ws', 'utf8')]; } finally { fs.closeSync(fd); } })()
= [9,1,4,15,1,"TypeError",1,0,1,"xndefined5null[object Object]x\u0000"]
~ [9,1,4,15,1,1,1,0,1,"undefined5null[object Object]xxx\u0000"]
> fs.readdirSync(ngx.prefix + 'fse/d9')
= ["e"]
> fs.readdirSync(ngx.prefix + 'fse/d9', 'utf8')
= ["e"]
> fs.readdirSync(ngx.prefix + 'fse/d9', null)
= throws TypeError: Unknown options type (a string or object required)
~ ["e"]
> fs.readdirSync(ngx.prefix + 'fse/d9', 5)
= throws TypeError: Unknown options type (a string or object required)
~ throws TypeError
> fs.readdirSync(ngx.prefix + 'fse/d9', {encoding: 'hex'})
= ["65"]
> fs.readdirSync(ngx.prefix + 'fse/d9', {withFileTypes: 1}).length
= 1
> fs.readdirSync(ngx.prefix + 'fse/d9', {withFileTypes: true, encoding: 'buffer'})[0].name
= Buffer 65
> fs.readdirSync(Buffer.from(ngx.prefix + 'fse/d9'))
= ["e"]
> fs.readdirSync(5)
= throws TypeError: "path" must be a string or Buffer
~ throws TypeError
> fs.readdirSync(ngx.prefix + 'fse/d9', {withFileTypes: true})[0].isDirectory.call({})
= throws undefined
~ false
> fs.readlinkSync(ngx.prefix + 'fse/link', null).length > 0
= throws TypeError: Unknown options type (a string or object required)
~ true
> fs.readlinkSync(ngx.prefix + 'fse/link', 5)
= throws TypeError: Unknown options type (a string or object required)
~ throws TypeError
> fs.readlinkSync(ngx.prefix + 'fse/link', 'nope')
= throws TypeError: "nope" encoding is not supported
~ throws TypeError
> fs.readlinkSync(ngx.prefix + 'fse/link', 'base64url').length > 0
= true
> fs.readlinkSync()
= throws TypeError: "path" must be a string or Buffer
~ throws TypeError
> fs.realpathSync(ngx.prefix + 'fse/link', 'hex').length > 10
= true
> fs.realpathSync(ngx.prefix + 'fse/link', {encoding: 'nope'})
= throws TypeError: "nope" encoding is not supported
~ throws TypeError
> fs.realpathSync(ngx.prefix + 'fse/link', 5)
= throws TypeError: Unknown options type (a string or object required)
~ throws TypeError
> fs.realpathSync(5)
= throws TypeError: "path" must be a string or Buffer
~ throws Error
> fs.renameSync(5, 'x')
= throws TypeError: "oldPath" must be a string or Buffer
~ throws TypeError
> fs.renameSync('x', 5)
= throws TypeError: "newPath" must be a string or Buffer
~ throws TypeError
> fs.renameSync(Buffer.from(ngx.prefix + 'fse/ws'), Buffer.from(ngx.prefix + 'fse/ws2'))
= undefined
> fs.rmdirSync(5)
= throws TypeError: "path" must be a string or Buffer
~ throws TypeError
> fs.rmdirSync(ngx.prefix + 'fse/d9', null)
= throws TypeError: Unknown options type (an object required)
~ throws TypeError
> fs.rmdirSync(ngx.prefix + 'fse/d9', {recursive: 'yes'})
= undefined
> fs.rmdirSync(ngx.prefix + 'fse/d9')
= throws Error: No such file or directory
~ throws Error
> fs.rmdirSync(ngx.prefix + 'fse/f', {recursive: true})
= throws Error: Not a directory
~ throws Error
> fs.existsSync(ngx.prefix + 'fse/f')
= true
> fs.symlinkSync('a')
= throws TypeError: "path" must be a string or Buffer
~ throws TypeError
> fs.symlinkSync(5, ngx.prefix + 'fse/l5')
= throws TypeError: "target" must be a string or Buffer
~ throws TypeError
> fs.symlinkSync('x', ngx.prefix + 'fse/l6', 'file')
= undefined
> fs.symlinkSync('x', ngx.prefix + 'fse/l7', 'nope')
= undefined
~ throws TypeError: The argument 'type' must be one of: 'dir', 'file', 'junction', null, undefined. Received 'nope'
> fs.symlinkSync('', ngx.prefix + 'fse/l8')
= throws Error: No such file or directory
~ throws Error
> fs.unlinkSync(5)
= throws TypeError: "path" must be a string or Buffer
~ throws TypeError
> fs.unlinkSync(ngx.prefix + 'fse')
= throws Error: Is a directory
~ throws Error
> fs.unlinkSync(Buffer.from(ngx.prefix + 'fse/l6'))
= undefined
> fs.constants && Object.keys(fs.constants).filter(function (k) { return /_OK$/.test(k); }).sort()
= ["F_OK","R_OK","W_OK","X_OK"]
# Handles and promises.
> fs.writeFileSync(ngx.prefix + 'fse/h', 'handle')
= undefined
> (await (async function () { var h = await fs.promises.open(ngx.prefix + 'fse/h'); var out = []; async function t(f) { try { out.push(await f()); } catch (e) { out.push(e.name); } } var b = Buffer.alloc(6); await t(async function () { return (await h.read(b)).bytesRead; }); await t(async function () { return (await h.read(b, 7)).bytesRead; }); await t(async function () { return (await h.read(b, 0, 7)).bytesRead; }); await t(async function () { return (await h.read(b, -1)).bytesRead; }); await t(async function () { return (await h.read(b, 0, 1, 0)).buffer.toString(); }); await t(async function () { return (await h.read(b, 2, 2, 1)).buffer.toString(); }); await h.close(); return out; })())
= [6,"RangeError","RangeError","RangeError","handle","haanle"]
> (await (async function () { var h = await fs.promises.open(ngx.prefix + 'fse/h'); var out = []; async function t(f) { try { out.push(await f()); } catch (e) { out.push(e.name); } } await t(async function () { return (await h.read('x')).bytesRead; }); await t(async function () { return (await h.read(Buffer.alloc(1), 'x')).bytesRead; }); await t(async function () { return (await h.read(Buffer.alloc(1), 0, 1, 'x')).bytesRead; }); await t(async function () { return (await h.read(new ArrayBuffer(1))).bytesRead; }); await h.close(); return out; })())
= ["TypeError",1,1,"TypeError"]
~ ["TypeError","TypeError","TypeError",6]
> (await (async function () { var h = await fs.promises.open(ngx.prefix + 'fse/hw', 'w+'); var out = []; async function t(f) { try { out.push(await f()); } catch (e) { out.push(e.name); } } await t(async function () { return (await h.write('text')).bytesWritten; }); await t(async function () { return (await h.write('6162', 0, 'hex')).bytesWritten; }); await t(async function () { return (await h.write('x', null)).bytesWritten; }); await t(async function () { return (await h.write('x', 'y')).bytesWritten; }); await t(async function () { return (await h.write(Buffer.from('abc'), 1)).bytesWritten; }); await t(async function () { return (await h.write(Buffer.from('abc'), 4)).bytesWritten; }); await t(async function () { return (await h.write(Buffer.from('abc'), 0, 4)).bytesWritten; }); await t(async function () { return (await h.write(5)).bytesWritten; }); await t(async function () { return (await h.write(null)).bytesWritten; }); await t(async function () { return (await h.write({})).bytesWritten; }); await t(async function () { return (await h.write()).bytesWritten; }); await h.close(); return out.concat(fs.readFileSync(ngx.prefix + 'fse/hw', 'utf8')); })())
= [4,2,1,1,2,"RangeError","RangeError",1,4,15,9,"xbxtxbc5null[object Object]undefined"]
~ [4,2,1,1,2,"RangeError","RangeError",1,4,15,9,"abxtxxbc5null[object Object]undefined"]
> (await (async function () { var h = await fs.promises.open(ngx.prefix + 'fse/h'); await h.close(); var out = []; async function t(f) { try { out.push(await f()); } catch (e) { out.push(e.name); } } await t(function () { return h.read(Buffer.alloc(1)); }); await t(function () { return h.write('x'); }); await t(function () { return h.stat(); }); return out; })())
= ["Error","Error","Error"]
> (await (async function () { var h = await fs.promises.open(ngx.prefix + 'fse/h', 'r', 0o600); var s = await h.stat(); await h.close(); return [s.size, s.isFile()]; })())
= [6,true]
> fs.promises.open(ngx.prefix + 'fse/h', 'nope')
= throws TypeError: Unknown file open flags: "nope"
~ throws TypeError
> fs.promises.open(5)
= throws TypeError: "path" must be a string or Buffer
~ throws TypeError
> fs.promises.open()
= throws TypeError: "path" must be a string or Buffer
~ throws TypeError
> fs.promises.access(ngx.prefix + 'fse/h', fs.constants.R_OK)
= undefined
> fs.promises.access(5)
= throws TypeError: "path" must be a string or Buffer
~ throws TypeError
> fs.promises.access(ngx.prefix + 'fse/h', 'x')
= throws TypeError: "mode" must be a number
~ throws TypeError
> fs.promises.appendFile(ngx.prefix + 'fse/pa', 'a')
= undefined
> fs.promises.appendFile(5, 'a')
= throws TypeError: "path" must be a string or Buffer
~ throws TypeError
> fs.promises.writeFile(ngx.prefix + 'fse/pa', Buffer.from('b'), {flag: 'a'})
= undefined
> fs.promises.writeFile(5, 'a')
= throws TypeError: "path" must be a string or Buffer
~ throws TypeError
> fs.promises.writeFile(ngx.prefix + 'fse/pa', Symbol('x'))
= throws TypeError: Cannot convert a Symbol value to a string
> fs.promises.readFile(ngx.prefix + 'fse/pa', 'utf8')
= "b"
~ "ab"
> fs.promises.readFile(ngx.prefix + 'fse/pa', {encoding: 'hex'})
= "62"
~ "6162"
> fs.promises.readFile(ngx.prefix + 'fse/pa', 'nope')
= throws TypeError: "nope" encoding is not supported
~ throws TypeError
> fs.promises.readFile(ngx.prefix + 'fse')
= throws Error: File is not regular
~ throws Error
> fs.promises.readdir(ngx.prefix + 'fse/none')
= throws Error: No such file or directory
~ throws Error
> fs.promises.readdir(ngx.prefix + 'fse/d2', {withFileTypes: true})
= throws Error: No such file or directory
~ []
> fs.promises.stat(ngx.prefix + 'fse/none')
= throws Error: No such file or directory
~ throws Error
> fs.promises.stat(ngx.prefix + 'fse/none', {throwIfNoEntry: false})
= throws Error: No such file or directory
~ undefined
> fs.promises.lstat(5)
= throws TypeError: "path" must be a string or Buffer
~ throws TypeError
> fs.promises.mkdir(ngx.prefix + 'fse/h')
= throws Error: File exists
~ throws Error
> fs.promises.mkdir(5)
= throws TypeError: "path" must be a string or Buffer
~ throws TypeError
> fs.promises.rmdir(ngx.prefix + 'fse/none')
= throws Error: No such file or directory
~ throws Error
> fs.promises.rmdir(ngx.prefix + 'fse/d2')
= throws Error: No such file or directory
~ undefined
> fs.promises.rename(ngx.prefix + 'fse/none', ngx.prefix + 'fse/other')
= throws Error: No such file or directory
~ throws Error
> fs.promises.symlink('x', ngx.prefix + 'fse/h')
= throws Error: File exists
~ throws Error
> fs.promises.readlink(ngx.prefix + 'fse/h')
= throws Error: Invalid argument
~ throws Error
> fs.promises.realpath(ngx.prefix + 'fse/none')
= throws Error: No such file or directory
~ throws Error
> fs.promises.unlink(ngx.prefix + 'fse/none')
= throws Error: No such file or directory
~ throws Error
> fs.promises.unlink()
= throws TypeError: "path" must be a string or Buffer
~ throws TypeError
# Folders with what is in them.
> fs.mkdirSync(ngx.prefix + 'fse/t/u/v', {recursive: 1}) === undefined || true
= true
> fs.writeFileSync(ngx.prefix + 'fse/t/file', 'x')
= undefined
> fs.symlinkSync(ngx.prefix + 'fse/t/u', ngx.prefix + 'fse/t/to')
= undefined
> fs.rmdirSync(ngx.prefix + 'fse/t/file', {recursive: true})
= throws Error: Not a directory
~ throws Error
> fs.rmdirSync(ngx.prefix + 'fse/t/to', {recursive: true})
= throws Error: Not a directory
~ throws Error
> fs.promises.rmdir(ngx.prefix + 'fse/t/file', {recursive: true})
= throws Error: Not a directory
~ throws Error
> fs.promises.rmdir(ngx.prefix + 'fse/t/to', {recursive: 1})
= throws Error: Not a directory
~ throws Error
> fs.promises.rmdir(ngx.prefix + 'fse/t/none', {recursive: true})
= throws Error: No such file or directory
~ throws Error
> fs.existsSync(ngx.prefix + 'fse/t/file') + ' ' + fs.existsSync(ngx.prefix + 'fse/t/u/v')
= "true true"
> fs.promises.rmdir(ngx.prefix + 'fse/t/u', {recursive: true})
= undefined
> fs.existsSync(ngx.prefix + 'fse/t/u')
= false
> fs.rmdirSync(ngx.prefix + 'fse/t', {recursive: 1})
= undefined
> fs.existsSync(ngx.prefix + 'fse/t')
= false
> fs.promises.mkdir(ngx.prefix + 'fse/p/q', {recursive: 'yes'}) !== undefined
= true
> fs.lstatSync(ngx.prefix + 'fse/none', {throwIfNoEntry: ''})
= undefined
> fs.statSync(ngx.prefix + 'fse/none', {throwIfNoEntry: null})
= undefined
> (function () { var fd = fs.openSync(ngx.prefix + 'fse/any', 'w+'); try { return [fs.writeSync(fd, true), fs.writeSync(fd, ['a', 'b']), fs.writeSync(fd, new Uint8Array([67, 68]).buffer), fs.writeSync(fd, new Uint16Array([69])), fs.readFileSync(ngx.prefix + 'fse/any', 'utf8')]; } finally { fs.closeSync(fd); } })()
= [4,3,2,2,"truea,bCDE\u0000"]
