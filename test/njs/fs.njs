# The module fs.
> ['accessSync', 'appendFileSync', 'closeSync', 'existsSync', 'fstatSync', 'lstatSync', 'mkdirSync', 'openSync', 'readSync', 'readdirSync', 'readFileSync', 'readlinkSync', 'realpathSync', 'renameSync', 'rmdirSync', 'statSync', 'symlinkSync', 'unlinkSync', 'writeSync', 'writeFileSync'].map(function (n) { return typeof fs[n]; }).join()
= "function,function,function,function,function,function,function,function,function,function,function,function,function,function,function,function,function,function,function,function"
> ['access', 'appendFile', 'lstat', 'mkdir', 'open', 'readdir', 'readFile', 'readlink', 'realpath', 'rename', 'rmdir', 'stat', 'symlink', 'unlink', 'writeFile'].map(function (n) { return typeof fs.promises[n]; }).join()
= "function,function,function,function,function,function,function,function,function,function,function,function,function,function,function"
> fs.constants.F_OK + ' ' + fs.constants.R_OK + ' ' + fs.constants.W_OK + ' ' + fs.constants.X_OK
= "0 4 2 1"
> fs.mkdirSync(ngx.prefix + 'fsd')
= undefined
> fs.mkdirSync(ngx.prefix + 'fsd')
= throws Error: File exists
~ throws Error
> fs.mkdirSync(ngx.prefix + 'fsd/a/b/c', {recursive: true})
= undefined
~ "DIR/fsd/a"
> fs.mkdirSync(ngx.prefix + 'fsd/a/b/c', {recursive: true})
= undefined
> fs.mkdirSync(ngx.prefix + 'fsd/x/y')
= throws Error: No such file or directory
~ throws Error
> fs.mkdirSync(ngx.prefix + 'fsd/m', 448)
= undefined
> fs.mkdirSync(ngx.prefix + 'fsd/m2', {mode: 448})
= undefined
> fs.mkdirSync(ngx.prefix + 'fsd/m3', {mode: '0700'})
= undefined
> (fs.statSync(ngx.prefix + 'fsd/m').mode & 511) + ' ' + (fs.statSync(ngx.prefix + 'fsd/m2').mode & 511)
= "448 448"
> fs.mkdirSync()
= throws TypeError: "path" must be a string or Buffer
~ throws TypeError
> fs.mkdirSync(5)
= throws TypeError: "path" must be a string or Buffer
~ throws TypeError
> fs.mkdirSync('')
= throws Error: No such file or directory
~ throws Error
> fs.writeFileSync(ngx.prefix + 'fsd/f', 'text é')
= undefined
> fs.readFileSync(ngx.prefix + 'fsd/f')
= Buffer 7465787420c3a9
> fs.readFileSync(ngx.prefix + 'fsd/f', 'utf8')
= "text é"
> fs.readFileSync(ngx.prefix + 'fsd/f', {encoding: 'utf8'})
= "text é"
> fs.readFileSync(ngx.prefix + 'fsd/f', {})
= Buffer 7465787420c3a9
> fs.readFileSync(ngx.prefix + 'fsd/f', undefined)
= Buffer 7465787420c3a9
> fs.readFileSync(ngx.prefix + 'fsd/f', null)
= throws TypeError: Unknown options type (a string or object required)
~ Buffer 7465787420c3a9
> fs.readFileSync(ngx.prefix + 'fsd/f', 'hex')
= "7465787420c3a9"
> fs.readFileSync(ngx.prefix + 'fsd/f', 'base64')
= "dGV4dCDDqQ=="
> fs.readFileSync(ngx.prefix + 'fsd/f', 'base64url')
= "dGV4dCDDqQ"
> fs.readFileSync(ngx.prefix + 'fsd/f', 'utf-8')
= "text é"
> fs.readFileSync(ngx.prefix + 'fsd/f', 'nope')
= throws TypeError: "nope" encoding is not supported
~ throws TypeError
> fs.readFileSync(ngx.prefix + 'fsd/f', {encoding: 'nope'})
= throws TypeError: "nope" encoding is not supported
~ throws TypeError
> fs.readFileSync(ngx.prefix + 'fsd/f', {flag: 'r+'})
= Buffer 7465787420c3a9
> fs.readFileSync(ngx.prefix + 'fsd/f', {flag: 'xx'})
= throws TypeError: Unknown file open flags: "xx"
~ throws TypeError
> fs.readFileSync(ngx.prefix + 'fsd/f', 5)
= throws TypeError: Unknown options type (a string or object required)
~ throws TypeError
> fs.readFileSync(ngx.prefix + 'fsd/f', true)
= throws TypeError: Unknown options type (a string or object required)
~ throws TypeError
> fs.readFileSync(Buffer.from(ngx.prefix + 'fsd/f'), 'utf8')
= "text é"
> fs.readFileSync()
= throws TypeError: "path" must be a string or Buffer
~ throws TypeError
> fs.readFileSync(null)
= throws TypeError: "path" must be a string or Buffer
~ throws TypeError
> fs.readFileSync({})
= throws TypeError: "path" must be a string or Buffer
~ throws TypeError
> fs.readFileSync(ngx.prefix + 'fsd/f\0x')
= throws TypeError: "path" must be a Buffer without null bytes
~ throws TypeError
> fs.readFileSync(ngx.prefix + 'fsd/none')
= throws Error: No such file or directory
~ throws Error
> (function () { try { fs.readFileSync(ngx.prefix + 'fsd/none'); } catch (e) { return [e.name, e.message, e.code, e.errno, e.syscall, e.path, Object.keys(e).sort().join(), JSON.stringify(e)]; } })()
= ["Error","No such file or directory","ENOENT",2,"open","DIR/fsd/none","0,1,10,100,101,102,103,104,105,106,107,108,109,11,110,111,112,113,114,12,13,14,15,16,17,18,19,2,20,21,22,23,24,25,26,27,28,29,3,30,31,32,33,34,35,36,37,38,39,4,40,41,42,43,44,45,46,47,48,49,5,50,51,52,53,54,55,56,57,58,59,6,60,61,62,63,64,65,66,67,68,69,7,70,71,72,73,74,75,76,77,78,79,8,80,81,82,83,84,85,86,87,88,89,9,90,91,92,93,94,95,96,97,98,99,code,errno,path,syscall","{\"errno\":2,\"code\":\"ENOENT\",\"path\":\"DIR/fsd/none\",\"syscall\":\"open\"}"]
~ ["Error","ENOENT: no such file or directory, open 'DIR/fsd/none'","ENOENT",-2,"open","DIR/fsd/none","code,errno,path,syscall","{\"errno\":-2,\"code\":\"ENOENT\",\"syscall\":\"open\",\"path\":\"DIR/fsd/none\"}"]
> fs.readFileSync(ngx.prefix + 'fsd')
= throws Error: File is not regular
~ throws Error
> fs.readFileSync(ngx.prefix + 'fsd/f/x')
= throws Error: Not a directory
~ throws Error
> fs.writeFileSync(ngx.prefix + 'fsd/f', Buffer.from([255, 0, 254]))
= undefined
> fs.readFileSync(ngx.prefix + 'fsd/f')
= Buffer ff00fe
> fs.readFileSync(ngx.prefix + 'fsd/f', 'utf8')
= "�\u0000�"
> fs.writeFileSync(ngx.prefix + 'fsd/f', new Uint16Array([1, 2]))
= undefined
> fs.readFileSync(ngx.prefix + 'fsd/f').toString('hex')
= "01000200"
> fs.writeFileSync(ngx.prefix + 'fsd/f', new Uint8Array([1, 2]).buffer)
= undefined
> fs.readFileSync(ngx.prefix + 'fsd/f').toString('hex')
= "5b6f626a6563742041727261794275666665725d"
~ "0102"
> fs.writeFileSync(ngx.prefix + 'fsd/f', new DataView(new ArrayBuffer(3)))
= undefined
> fs.readFileSync(ngx.prefix + 'fsd/f').toString('hex')
= "000000"
> fs.writeFileSync(ngx.prefix + 'fsd/f', 5)
= undefined
> fs.readFileSync(ngx.prefix + 'fsd/f').toString()
= "5"
> fs.writeFileSync(ngx.prefix + 'fsd/f', null)
= undefined
> fs.readFileSync(ngx.prefix + 'fsd/f').toString()
= "null"
> fs.writeFileSync(ngx.prefix + 'fsd/f')
= undefined
> fs.readFileSync(ngx.prefix + 'fsd/f').toString()
= "undefined"
> fs.writeFileSync(ngx.prefix + 'fsd/f', {toString: function () { return 'own'; }})
= undefined
> fs.readFileSync(ngx.prefix + 'fsd/f').toString()
= "own"
> fs.writeFileSync(ngx.prefix + 'fsd/f', ['a', 'b'])
= undefined
> fs.readFileSync(ngx.prefix + 'fsd/f').toString()
= "a,b"
> fs.writeFileSync(ngx.prefix + 'fsd/f', Symbol('a'))
= throws TypeError: Cannot convert a Symbol value to a string
> fs.writeFileSync(ngx.prefix + 'fsd/f', 'aGk=', 'base64')
= undefined
> fs.readFileSync(ngx.prefix + 'fsd/f').toString()
= "hi"
> fs.writeFileSync(ngx.prefix + 'fsd/f', '6869', {encoding: 'hex'})
= undefined
> fs.readFileSync(ngx.prefix + 'fsd/f').toString()
= "hi"
> fs.writeFileSync(ngx.prefix + 'fsd/f', '', {mode: 384})
= undefined
> fs.readFileSync(ngx.prefix + 'fsd/f').toString()
= ""
> fs.writeFileSync(ngx.prefix + 'fsd/w', 'x', {mode: 384})
= undefined
> fs.statSync(ngx.prefix + 'fsd/w').mode.toString(8)
= "100600"
> fs.writeFileSync(ngx.prefix + 'fsd/w', 'x', {flag: 'wx'})
= throws Error: File exists
~ throws Error
> fs.writeFileSync(ngx.prefix + 'fsd/w', 'y', {flag: 'a'})
= undefined
> fs.readFileSync(ngx.prefix + 'fsd/w').toString()
= "y"
~ "xy"
> fs.appendFileSync(ngx.prefix + 'fsd/w', 'z')
= undefined
> fs.appendFileSync(ngx.prefix + 'fsd/w', Buffer.from('B'))
= undefined
> fs.appendFileSync(ngx.prefix + 'fsd/w', 5)
= undefined
> fs.readFileSync(ngx.prefix + 'fsd/w').toString()
= "yzB5"
~ "xyzB5"
> fs.appendFileSync(ngx.prefix + 'fsd/new', 'z', {mode: 256})
= undefined
> fs.statSync(ngx.prefix + 'fsd/new').mode.toString(8)
= "100400"
> fs.appendFileSync(ngx.prefix + 'fsd/none/x', 'z')
= throws Error: No such file or directory
~ throws Error
> fs.writeFileSync(ngx.prefix + 'fsd/none/x', 'z')
= throws Error: No such file or directory
~ throws Error
> fs.writeFileSync(ngx.prefix + 'fsd', 'z')
= throws Error: Is a directory
~ throws Error
> fs.existsSync(ngx.prefix + 'fsd/w')
= true
> fs.existsSync(ngx.prefix + 'fsd/none')
= false
> fs.existsSync()
= throws TypeError: "path" must be a string or Buffer
~ false
> fs.existsSync(5)
= throws TypeError: "path" must be a string or Buffer
~ false
> fs.existsSync(null)
= throws TypeError: "path" must be a string or Buffer
~ false
> fs.existsSync('')
= false
> fs.accessSync(ngx.prefix + 'fsd/w')
= undefined
> fs.accessSync(ngx.prefix + 'fsd/none')
= throws Error: No such file or directory
~ throws Error
> fs.accessSync(ngx.prefix + 'fsd/w', fs.constants.R_OK | fs.constants.W_OK)
= undefined
> fs.accessSync(ngx.prefix + 'fsd/w', fs.constants.X_OK)
= throws Error: Permission denied
~ throws Error
> fs.accessSync(ngx.prefix + 'fsd/w', 'x')
= throws TypeError: "mode" must be a number
~ throws TypeError
> fs.accessSync()
= throws TypeError: "path" must be a string or Buffer
~ throws TypeError
> fs.readdirSync(ngx.prefix + 'fsd').sort()
= ["a","f","m","m2","m3","new","w"]
> fs.readdirSync(ngx.prefix + 'fsd', 'buffer').map(function (b) { return Buffer.isBuffer(b); })
= [true,true,true,true,true,true,true]
> fs.readdirSync(ngx.prefix + 'fsd', {encoding: 'buffer'}).length
= 7
> fs.readdirSync(ngx.prefix + 'fsd', 'nope')
= throws TypeError: "nope" encoding is not supported
~ throws TypeError
> fs.readdirSync(ngx.prefix + 'fsd', {withFileTypes: true}).map(function (d) { return [d.name, d.isFile(), d.isDirectory(), d.isSymbolicLink(), d.isFIFO(), d.isSocket(), d.isBlockDevice(), d.isCharacterDevice()].join(); }).sort()
= ["a,false,true,false,false,false,false,false","f,true,false,false,false,false,false,false","m,false,true,false,false,false,false,false","m2,false,true,false,false,false,false,false","m3,false,true,false,false,false,false,false","new,true,false,false,false,false,false,false","w,true,false,false,false,false,false,false"]
> Object.prototype.toString.call(fs.readdirSync(ngx.prefix + 'fsd', {withFileTypes: true})[0])
= "[object Dirent]"
~ "[object Object]"
> fs.readdirSync(ngx.prefix + 'fsd/none')
= throws Error: No such file or directory
~ throws Error
> fs.readdirSync(ngx.prefix + 'fsd/w')
= throws Error: Not a directory
~ throws Error
> fs.readdirSync()
= throws TypeError: "path" must be a string or Buffer
~ throws TypeError
> fs.symlinkSync(ngx.prefix + 'fsd/w', ngx.prefix + 'fsd/link')
= undefined
> fs.symlinkSync(ngx.prefix + 'fsd/w', ngx.prefix + 'fsd/link')
= throws Error: File exists
~ throws Error
> fs.symlinkSync('relative', ngx.prefix + 'fsd/dangling')
= undefined
> fs.readlinkSync(ngx.prefix + 'fsd/dangling')
= "relative"
> fs.readlinkSync(ngx.prefix + 'fsd/dangling', 'hex')
= "72656c6174697665"
> fs.readlinkSync(ngx.prefix + 'fsd/dangling', {encoding: 'buffer'})
= Buffer 72656c6174697665
> fs.readlinkSync(ngx.prefix + 'fsd/w')
= throws Error: Invalid argument
~ throws Error
> fs.readlinkSync(ngx.prefix + 'fsd/none')
= throws Error: No such file or directory
~ throws Error
> fs.realpathSync(ngx.prefix + 'fsd/link').replace(/^.*fsd/, '')
= "/w"
> fs.realpathSync(ngx.prefix + 'fsd/../fsd/./link').replace(/^.*fsd/, '')
= "/w"
> fs.realpathSync(ngx.prefix + 'fsd/dangling')
= throws Error: No such file or directory
~ throws Error
> fs.realpathSync(ngx.prefix + 'fsd/none')
= throws Error: No such file or directory
~ throws Error
> Buffer.isBuffer(fs.realpathSync(ngx.prefix + 'fsd/link', 'buffer'))
= true
> fs.lstatSync(ngx.prefix + 'fsd/link').isSymbolicLink()
= true
> fs.statSync(ngx.prefix + 'fsd/link').isSymbolicLink()
= false
> (function (s) { return [s.isFile(), s.isDirectory(), s.isSymbolicLink(), s.isFIFO(), s.isSocket(), s.isBlockDevice(), s.isCharacterDevice()]; })(fs.statSync(ngx.prefix + 'fsd/w'))
= [true,false,false,false,false,false,false]
> (function (s) { return ['dev', 'ino', 'mode', 'nlink', 'uid', 'gid', 'rdev', 'size', 'blksize', 'blocks', 'atimeMs', 'mtimeMs', 'ctimeMs', 'birthtimeMs'].map(function (n) { return typeof s[n]; }).join(); })(fs.statSync(ngx.prefix + 'fsd/w'))
= "number,number,number,number,number,number,number,number,number,number,number,number,number,number"
> (function (s) { return ['atime', 'mtime', 'ctime', 'birthtime'].map(function (n) { return s[n] instanceof Date; }).join(); })(fs.statSync(ngx.prefix + 'fsd/w'))
= "true,true,true,true"
> Object.keys(fs.statSync(ngx.prefix + 'fsd/w')).sort()
= ["atime","atimeMs","birthtime","birthtimeMs","blksize","blocks","ctime","ctimeMs","dev","gid","ino","mode","mtime","mtimeMs","nlink","rdev","size","uid"]
~ ["atimeMs","birthtimeMs","blksize","blocks","ctimeMs","dev","gid","ino","mode","mtimeMs","nlink","rdev","size","uid"]
> Object.prototype.toString.call(fs.statSync(ngx.prefix + 'fsd/w'))
= "[object Stats]"
~ "[object Object]"
> fs.statSync(ngx.prefix + 'fsd/w').size
= 4
~ 5
> fs.statSync(ngx.prefix + 'fsd/none')
= throws Error: No such file or directory
~ throws Error
> fs.statSync(ngx.prefix + 'fsd/none', {throwIfNoEntry: false})
= undefined
> fs.lstatSync(ngx.prefix + 'fsd/none', {throwIfNoEntry: false})
= undefined
> fs.statSync()
= throws TypeError: "path" must be a string or Buffer
~ throws TypeError
> Math.abs(fs.statSync(ngx.prefix + 'fsd/w').mtimeMs - Date.now()) < 100000
= true
> fs.openSync.length
= 0
~ 3
> (function () { var fd = fs.openSync(ngx.prefix + 'fsd/o', 'w'); var r = [typeof fd, fs.writeSync(fd, 'hello'), fs.writeSync(fd, Buffer.from('world'), 1, 3), fs.writeSync(fd, 'X', 0), fs.fstatSync(fd).size, fs.closeSync(fd)]; return r.concat(fs.readFileSync(ngx.prefix + 'fsd/o', 'utf8')); })()
= ["number",5,3,1,8,undefined,"Xelloorl"]
> (function () { var fd = fs.openSync(ngx.prefix + 'fsd/o'); var b = Buffer.alloc(10); var r = [fs.readSync(fd, b), b.toString('latin1'), fs.readSync(fd, b, 0, 2, 1), b.toString('latin1'), fs.readSync(fd, b, 3, 2, null)]; fs.closeSync(fd); return r; })()
= throws TypeError: "latin1" encoding is not supported
~ [8,"Xelloorl\u0000\u0000",2,"ellloorl\u0000\u0000",0]
> (function () { var fd = fs.openSync(ngx.prefix + 'fsd/o'); var b = new Uint8Array(4); var r = [fs.readSync(fd, b, 1), Buffer.from(b).toString('latin1')]; fs.closeSync(fd); return r; })()
= throws TypeError: "latin1" encoding is not supported
~ [3,"\u0000Xel"]
> (function () { var fd = fs.openSync(ngx.prefix + 'fsd/o'); try { return fs.readSync(fd, Buffer.alloc(4), 5, 1); } finally { fs.closeSync(fd); } })()
= throws RangeError: offset is out of range (must be <= 4)
~ throws RangeError
> (function () { var fd = fs.openSync(ngx.prefix + 'fsd/o'); try { return fs.readSync(fd, Buffer.alloc(4), 2, 5); } finally { fs.closeSync(fd); } })()
= throws RangeError: length is out of range (must be <= 2)
~ throws RangeError
> (function () { var fd = fs.openSync(ngx.prefix + 'fsd/o'); try { return fs.readSync(fd, 'text'); } finally { fs.closeSync(fd); } })()
= throws TypeError: first argument must be a Buffer or DataView
~ throws TypeError
> (function () { var fd = fs.openSync(ngx.prefix + 'fsd/o'); try { return fs.writeSync(fd, 'text'); } finally { fs.closeSync(fd); } })()
= throws Error: Bad file descriptor
~ throws Error
> (function () { var fd = fs.openSync(ngx.prefix + 'fsd/o', 'r+'); try { return [fs.writeSync(fd, '6161', null, 'hex'), fs.writeSync(fd, 'é', 8), fs.writeSync(fd, Buffer.from('abc'), 2), fs.readFileSync(ngx.prefix + 'fsd/o', 'utf8')]; } finally { fs.closeSync(fd); } })()
= [2,2,1,"aacloorlé"]
> fs.openSync(ngx.prefix + 'fsd/none')
= throws Error: No such file or directory
~ throws Error
> fs.openSync(ngx.prefix + 'fsd/none', 'nope')
= throws TypeError: Unknown file open flags: "nope"
~ throws TypeError
> fs.openSync(ngx.prefix + 'fsd/none', 5)
= throws TypeError: Unknown file open flags: "5"
~ throws Error
> fs.closeSync(9999)
= throws Error: Bad file descriptor
~ throws Error
> fs.closeSync('x')
= undefined
~ throws TypeError: The "fd" argument must be of type number. Received type string ('x')
> fs.fstatSync(9999)
= throws Error: Bad file descriptor
~ throws Error
> fs.readSync(9999, Buffer.alloc(1))
= throws Error: Bad file descriptor
~ throws Error
> (await (async function () { var h = await fs.promises.open(ngx.prefix + 'fsd/h', 'w+'); var r = [typeof h.fd, Object.prototype.toString.call(h)]; var w = await h.write('hello'); r.push(w.bytesWritten, w.buffer); var w2 = await h.write(Buffer.from('xyz'), 1, 1, 0); r.push(w2.bytesWritten); var b = Buffer.alloc(5); var g = await h.read(b, 0, 5, 0); r.push(g.bytesRead, g.buffer === b, b.toString(), (await h.stat()).size, await h.close()); return r; })())
= ["number","[object FileHandle]",5,"hello",1,5,true,"yello",5,undefined]
~ ["number","[object Object]",5,"hello",1,5,true,"yello",5,undefined]
> (await (async function () { var h = await fs.promises.open(ngx.prefix + 'fsd/h'); await h.close(); try { await h.close(); } catch (e) { return [e.name, e.message]; } })())
= ["Error","file was already closed"]
~ undefined
> (await (async function () { var h = await fs.promises.open(ngx.prefix + 'fsd/h'); try { return h.valueOf() === h.fd || typeof h.valueOf(); } finally { await h.close(); } })())
= true
~ "object"
> fs.promises.open(ngx.prefix + 'fsd/none')
= throws Error: No such file or directory
~ throws Error
> fs.promises.readFile(ngx.prefix + 'fsd/h', 'utf8')
= "yello"
> fs.promises.readFile(ngx.prefix + 'fsd/none').catch(function (e) { return [e.name, e.message, e.code, e.errno, e.syscall, e.path]; })
= ["Error","No such file or directory","ENOENT",2,"open","DIR/fsd/none"]
~ ["Error","ENOENT: no such file or directory, open 'DIR/fsd/none'","ENOENT",-2,"open","DIR/fsd/none"]
> fs.promises.writeFile(ngx.prefix + 'fsd/p', 'p')
= undefined
> fs.promises.appendFile(ngx.prefix + 'fsd/p', 'q')
= undefined
> fs.promises.readFile(ngx.prefix + 'fsd/p')
= Buffer 7071
> fs.promises.access(ngx.prefix + 'fsd/p')
= undefined
> fs.promises.access(ngx.prefix + 'fsd/none')
= throws Error: No such file or directory
~ throws Error
> fs.promises.stat(ngx.prefix + 'fsd/p').then(function (s) { return s.size; })
= 2
> fs.promises.lstat(ngx.prefix + 'fsd/link').then(function (s) { return s.isSymbolicLink(); })
= true
> fs.promises.readdir(ngx.prefix + 'fsd/a')
= ["b"]
> fs.promises.mkdir(ngx.prefix + 'fsd/pm')
= undefined
> fs.promises.mkdir(ngx.prefix + 'fsd/pn/a/b', {recursive: true})
= undefined
~ "DIR/fsd/pn"
> fs.promises.rmdir(ngx.prefix + 'fsd/pm')
= undefined
> fs.promises.symlink('x', ngx.prefix + 'fsd/ps')
= undefined
> fs.promises.readlink(ngx.prefix + 'fsd/ps')
= "x"
> fs.promises.realpath(ngx.prefix + 'fsd/p').then(function (p) { return p.replace(/^.*fsd/, ''); })
= "/p"
> fs.promises.rename(ngx.prefix + 'fsd/p', ngx.prefix + 'fsd/p2')
= undefined
> fs.promises.unlink(ngx.prefix + 'fsd/p2')
= undefined
> fs.promises.unlink(ngx.prefix + 'fsd/p2').catch(function (e) { return e.message; })
= "No such file or directory"
~ "ENOENT: no such file or directory, unlink 'DIR/fsd/p2'"
> fs.promises.readFile()
= throws TypeError: "path" must be a string or Buffer
~ throws TypeError
> fs.promises.readFile(5)
= throws TypeError: "path" must be a string or Buffer
~ throws TypeError
> (function () { try { return typeof fs.promises.readFile(5).catch(function () {}); } catch (e) { return 'thrown ' + e.name; } })()
= "thrown TypeError"
~ "object"
> fs.renameSync(ngx.prefix + 'fsd/o', ngx.prefix + 'fsd/o2')
= undefined
> fs.renameSync(ngx.prefix + 'fsd/o', ngx.prefix + 'fsd/o2')
= throws Error: No such file or directory
~ throws Error
> fs.renameSync(ngx.prefix + 'fsd/o2')
= throws TypeError: "newPath" must be a string or Buffer
~ throws TypeError
> fs.unlinkSync(ngx.prefix + 'fsd/o2')
= undefined
> fs.unlinkSync(ngx.prefix + 'fsd/o2')
= throws Error: No such file or directory
~ throws Error
> fs.unlinkSync(ngx.prefix + 'fsd/a')
= throws Error: Is a directory
~ throws Error
> fs.rmdirSync(ngx.prefix + 'fsd/a')
= throws Error: Directory not empty
~ throws Error
> fs.rmdirSync(ngx.prefix + 'fsd/w')
= throws Error: Not a directory
~ throws Error
> fs.rmdirSync(ngx.prefix + 'fsd/a', {recursive: true})
= undefined
> fs.existsSync(ngx.prefix + 'fsd/a')
= false
> fs.rmdirSync(ngx.prefix + 'fsd/none')
= throws Error: No such file or directory
~ throws Error
> fs.rmdirSync(ngx.prefix + 'fsd/none', {recursive: true})
= throws Error: No such file or directory
~ throws Error
