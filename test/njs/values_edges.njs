# zlib and querystring, with what they do not expect.
> Object.keys(zlib.constants).filter(function (n) { return /^Z_(?:NO_COMP|BEST|FILTERED|HUFF|RLE|FIXED|DEFAULT_S)/.test(n); }).sort().join()
= "Z_BEST_COMPRESSION,Z_BEST_SPEED,Z_DEFAULT_STRATEGY,Z_FILTERED,Z_FIXED,Z_HUFFMAN_ONLY,Z_NO_COMPRESSION,Z_RLE"
> zlib.deflateRawSync('abc', {level: NaN}).toString('hex')
= throws RangeError: level must be in the range -1..9
~ "4b4c4a0600"
> zlib.deflateRawSync('abc', {level: 1.5}).toString('hex')
= "4b4c4a0600"
> zlib.deflateRawSync('abc', {level: '5'}).toString('hex')
= "010300fcff616263"
~ throws TypeError: The "options.level" property must be of type number. Received type string ('5')
> zlib.deflateRawSync('abc', {level: null}).toString('hex')
= "010300fcff616263"
~ throws TypeError: The "options.level" property must be of type number. Received null
> zlib.deflateRawSync('abc', {level: undefined}).toString('hex')
= throws RangeError: level must be in the range -1..9
~ "4b4c4a0600"
> zlib.deflateRawSync('abc', {level: -1}).toString('hex')
= "4b4c4a0600"
> zlib.deflateRawSync('abc', {level: Infinity})
= throws RangeError: level must be in the range -1..9
~ throws RangeError
> zlib.deflateRawSync('abc', {level: {}})
= Buffer 010300fcff616263
~ throws TypeError: The "options.level" property must be of type number. Received an instance of Object
> zlib.deflateRawSync('abc', {get level() { throw new Error('get'); }})
= Buffer 4b4c4a0600
~ throws Error: get
> zlib.deflateSync('abc', {windowBits: 8}).toString('hex')
= throws RangeError: windowBits must be in the range 9..15
~ "18954b4c4a0600024d0127"
> zlib.deflateSync('abc', {windowBits: 0})
= throws RangeError: windowBits must be in the range 9..15
~ throws RangeError
> zlib.deflateSync('abc', {windowBits: '10'}).toString('hex')
= throws RangeError: windowBits must be in the range 9..15
~ throws TypeError
> zlib.deflateSync('abc', {windowBits: null})
= throws RangeError: windowBits must be in the range 9..15
~ throws TypeError
> zlib.deflateSync('abc', {windowBits: NaN})
= throws RangeError: windowBits must be in the range 9..15
~ Buffer 789c4b4c4a0600024d0127
> zlib.deflateRawSync('abc', {windowBits: -9}).toString('hex')
= "4b4c4a0600"
> zlib.deflateRawSync('abc', {windowBits: 15}).toString('hex')
= throws RangeError: windowBits must be in the range -15..-9
~ "4b4c4a0600"
> zlib.deflateRawSync('abc', {memLevel: 1.5}).toString('hex')
= "4b4c4a0600"
> zlib.deflateRawSync('abc', {memLevel: 'x'})
= throws RangeError: memLevel must be in the range 0..9
~ throws TypeError
> zlib.deflateRawSync('abc', {memLevel: null})
= throws RangeError: memLevel must be in the range 0..9
~ throws TypeError
> zlib.deflateRawSync('abc', {memLevel: 9}).toString('hex')
= "4b4c4a0600"
> zlib.deflateRawSync('abc', {memLevel: 1}).toString('hex')
= "4b4c4a0600"
> zlib.deflateRawSync('abc', {strategy: 'x'})
= Buffer 4b4c4a0600
~ throws TypeError: The "options.strategy" property must be of type number. Received type string ('x')
> zlib.deflateRawSync('abc', {strategy: -1})
= throws TypeError: unknown strategy: -1
~ throws RangeError
> zlib.deflateRawSync('abc', {strategy: null})
= Buffer 4b4c4a0600
~ throws TypeError: The "options.strategy" property must be of type number. Received null
> zlib.deflateRawSync('abc', {strategy: zlib.constants.Z_RLE}).toString('hex')
= "4b4c4a0600"
> zlib.deflateRawSync('abc', {strategy: zlib.constants.Z_FILTERED}).toString('hex')
= "4b4c4a0600"
> zlib.deflateRawSync('abc', {chunkSize: 'x'})
= throws RangeError: chunkSize must be >= 64
~ throws TypeError
> zlib.deflateRawSync('abc', {chunkSize: NaN})
= throws InternalError: 
~ Buffer 4b4c4a0600
> zlib.deflateRawSync('abc', {chunkSize: -1})
= throws InternalError: 
~ throws RangeError
> zlib.deflateRawSync('abc', {chunkSize: 63})
= throws RangeError: chunkSize must be >= 64
~ throws RangeError
> zlib.deflateRawSync('abc', {chunkSize: undefined}).toString('hex')
= throws InternalError: 
~ "4b4c4a0600"
> zlib.deflateRawSync('abcdef', {dictionary: 'abc'}).toString('hex')
= "4b4c4a4e494d0300"
> zlib.deflateRawSync('abcdef', {dictionary: new Uint8Array([97, 98, 99])}).toString('hex')
= "4b4c4a4e494d0300"
> zlib.deflateRawSync('abcdef', {dictionary: new Uint8Array([97, 98, 99]).buffer}).toString('hex')
= "4b4c4a4e494d0300"
> zlib.deflateRawSync('abcdef', {dictionary: Buffer.alloc(0)}).toString('hex')
= "4b4c4a4e494d0300"
> zlib.deflateRawSync('abcdef', {dictionary: 5})
= Buffer 4b4c4a4e494d0300
~ throws TypeError: The "options.dictionary" property must be an instance of Buffer, TypedArray, DataView, or ArrayBuffer. Received type number (5)
> zlib.deflateRawSync('abcdef', {dictionary: null})
= Buffer 4b4c4a4e494d0300
> zlib.deflateRawSync('abcdef', {dictionary: undefined}).toString('hex')
= "4b4c4a06b200"
~ "4b4c4a4e494d0300"
> zlib.deflateRawSync('abcdef', {dictionary: {}})
= Buffer 4b4c4a4e494d0300
~ throws TypeError: The "options.dictionary" property must be an instance of Buffer, TypedArray, DataView, or ArrayBuffer. Received an instance of Object
> zlib.deflateRawSync(Symbol('x'))
= throws TypeError: Cannot convert a Symbol value to a string
> zlib.deflateRawSync({toString: function () { throw new Error('str'); }})
= throws Error: str
> zlib.inflateRawSync(zlib.deflateRawSync(true)).toString()
= "true"
> zlib.inflateRawSync(zlib.deflateRawSync(['a', 'b'])).toString()
= "a,b"
> zlib.inflateRawSync(zlib.deflateRawSync(new DataView(new Uint8Array([65, 66, 67]).buffer, 1))).toString()
= "BC"
> zlib.inflateRawSync(zlib.deflateRawSync(new Uint16Array([65, 66]))).toString('hex')
= "41004200"
> zlib.inflateRawSync(zlib.deflateRawSync(new Uint8Array([65, 66, 67]).subarray(1))).toString()
= "BC"
> zlib.inflateRawSync(zlib.deflateRawSync('\ud800x')).toString('hex')
= "efbfbd78"
> zlib.inflateRawSync(zlib.deflateRawSync('abc'), 5).toString()
= "abc"
> zlib.inflateRawSync(zlib.deflateRawSync('abc'), null).toString()
= "abc"
> zlib.inflateRawSync(zlib.deflateRawSync('abc'), {windowBits: 8}).toString()
= throws RangeError: windowBits must be in the range -15..-8
~ "abc"
> zlib.inflateRawSync(zlib.deflateRawSync('abc'), {windowBits: 16})
= throws RangeError: windowBits must be in the range -15..-8
~ throws RangeError
> zlib.inflateRawSync(zlib.deflateRawSync('abc'), {windowBits: 'x'})
= throws RangeError: windowBits must be in the range -15..-8
~ throws TypeError
> zlib.inflateRawSync(zlib.deflateRawSync('abc'), {level: 99}).toString()
= "abc"
> zlib.inflateRawSync(zlib.deflateRawSync('abc'), {chunkSize: 1})
= throws RangeError: chunkSize must be >= 64
~ throws RangeError
> zlib.inflateSync(zlib.deflateRawSync('abc'))
= throws InternalError: failed to inflate the compressed data: incorrect header check
~ throws Error
> zlib.inflateRawSync(zlib.deflateSync('abc'))
= throws InternalError: failed to inflate the compressed data: invalid stored block lengths
~ throws Error
> zlib.inflateRawSync(zlib.deflateRawSync('abc').toString('latin1'))
= throws TypeError: "latin1" encoding is not supported
~ Buffer 616263
> zlib.inflateRawSync(new Uint8Array([75, 76, 74, 6, 0])).toString()
= "abc"
> zlib.inflateRawSync(new Uint8Array([75, 76, 74, 6, 0]).buffer).toString()
= "abc"
> zlib.inflateRawSync(Buffer.from('4b4c4a0600ff', 'hex')).toString()
= "abc"
> zlib.inflateRawSync(Buffer.from('4b4c4a', 'hex'))
= throws InternalError: failed to inflate the compressed data: 
~ throws Error
> zlib.inflateRawSync(null)
= throws InternalError: failed to inflate the compressed data: invalid block type
~ throws Error
> zlib.deflateSync.call(null, 'a').toString('hex')
= "789c4b040000620062"
> new Uint8Array(zlib.deflateRawSync('a')).length
= 3
> [zlib.deflateRawSync.length, zlib.deflateRawSync.name]
= [0,"deflateRawSync"]
~ [2,""]
> querystring.parse('a=1;b=2', ';')
= {a:"1",b:"2"}
> querystring.parse('a1b2', 5, '1')
= {a:"b2"}
> querystring.parse('a=1&b=2', {})
= {a:"1&b=2"}
> querystring.parse('a=1&b=2', undefined, undefined)
= {a:"1",b:"2"}
> querystring.parse('a=1&b=2', '&', null)
= {a:"1",b:"2"}
> querystring.parse('a1&b2', '&', 1)
= {a:"",b2:""}
> querystring.parse('a=1&b=2&c=3', null, null, {maxKeys: '2'})
= throws TypeError: is not a number
~ {a:"1",b:"2",c:"3"}
> querystring.parse('a=1&b=2&c=3', null, null, {maxKeys: NaN})
= throws TypeError: is not a number
~ {a:"1",b:"2",c:"3"}
> querystring.parse('a=1&b=2&c=3', null, null, {maxKeys: Infinity})
= throws TypeError: is not a number
~ {a:"1",b:"2",c:"3"}
> querystring.parse('a=1&b=2&c=3', null, null, {maxKeys: null})
= throws TypeError: is not a number
~ {a:"1",b:"2",c:"3"}
> querystring.parse('a=1&b=2&c=3', null, null, {maxKeys: 1.5})
= {a:"1"}
> querystring.parse('a=1&b=2&c=3', null, null, {maxKeys: undefined})
= throws TypeError: is not a number
~ {a:"1",b:"2",c:"3"}
> querystring.parse('a=1&b=2&c=3', null, null, {maxKeys: {}})
= throws TypeError: is not a number
~ {a:"1",b:"2",c:"3"}
> querystring.parse('a=1&a=2&b=3', null, null, {maxKeys: 2})
= {a:["1","2"]}
> querystring.parse('a=1', null, null, null)
= {a:"1"}
> querystring.parse('a=1', null, null, 5)
= {a:"1"}
> querystring.parse('a=1', null, null, {decodeURIComponent: undefined})
= throws TypeError: option decodeURIComponent is not a function
~ {a:"1"}
> querystring.parse('a=1', null, null, {decodeURIComponent: null})
= throws TypeError: option decodeURIComponent is not a function
~ {a:"1"}
> querystring.parse('a=%31', null, null, {decodeURIComponent: function (x) { return null; }})
= {null:"null"}
> querystring.parse('a=%31', null, null, {decodeURIComponent: function (x) { return undefined; }})
= {undefined:"undefined"}
> querystring.parse('a=%31', null, null, {decodeURIComponent: function (x) { return {}; }})
= {[object Object]:"[object Object]"}
> querystring.parse('a=%31&%zz=1', null, null, {decodeURIComponent: decodeURIComponent})
= throws URIError: malformed URI
~ throws URIError
> querystring.parse('a=1', null, null, {get decodeURIComponent() { throw new Error('get'); }})
= {a:"1"}
~ throws Error: get
> querystring.parse(Buffer.from('a=1'))
= {}
> querystring.parse(['a=1'])
= {}
> querystring.parse({toString: function () { return 'a=1'; }})
= {}
> querystring.parse(true)
= {}
> querystring.parse(Symbol('x'))
= {}
> querystring.parse('a=1&a=2&a=3&a=4').a
= ["1","2","3","4"]
> querystring.parse('a=1&a')
= {a:["1",""]}
> querystring.parse('%=1&%2=%3')
= {%:"1",%2:"%3"}
> querystring.parse('a+b=c+d')
= {a b:"c d"}
> querystring.parse('a=%00%7F%C3%A9')
= {a:"\u0000é"}
> querystring.parse('a=%c3%28')
= {a:"�"}
~ {a:"�("}
> querystring.parse('é=ü')
= {é:"ü"}
> querystring.parse('a=b\nc=d')
= {a:"b\nc=d"}
> querystring.parse('&')
= {}
> querystring.parse('==')
= {:"="}
> querystring.parse('?a=1')
= {?a:"1"}
> querystring.parse('constructor=1&hasOwnProperty=2').constructor
= [function,"1"]
~ "1"
> 'a' in querystring.parse('a')
= true
> querystring.stringify({a: [[1, 2], 3]})
= "a=&a=3"
> querystring.stringify({a: new Date(0)})
= "a="
> querystring.stringify({a: function () {}})
= "a="
> querystring.stringify({a: Buffer.from('x')})
= "a="
> querystring.stringify({a: /x/})
= "a="
> querystring.stringify({[Symbol('x')]: 1, a: 2})
= "a=2"
> querystring.stringify(Object.create({a: 1}))
= ""
> querystring.stringify({get a() { return 'g'; }})
= "a=g"
> querystring.stringify({get a() { throw new Error('get'); }})
= throws Error: get
> querystring.stringify({a: {toString: function () { return 'own'; }}})
= "a="
> querystring.stringify({a: 'x&y=z'})
= "a=x%26y%3Dz"
> querystring.stringify({'': 'x', a: ''})
= "=x&a="
> querystring.stringify({a: 1}, '', '=')
= "a=1"
> querystring.stringify({a: 1, b: 2}, 5, 6)
= "a615b62"
> querystring.stringify({a: 1, b: 2}, {}, {})
= "a[object Object]1[object Object]b[object Object]2"
> querystring.stringify({a: 1, b: 2}, '&&', '==')
= "a==1&&b==2"
> querystring.stringify({a: 'x'}, null, null, {encodeURIComponent: function (x) { return 5; }})
= "5=5"
> querystring.stringify({a: 'x'}, null, null, {encodeURIComponent: function (x) { return null; }})
= "null=null"
> querystring.stringify({a: 'x'}, null, null, {encodeURIComponent: null})
= throws TypeError: option encodeURIComponent is not a function
~ "a=x"
> querystring.stringify({a: 'x'}, null, null, {encodeURIComponent: undefined})
= throws TypeError: option encodeURIComponent is not a function
~ "a=x"
> querystring.stringify({a: 'x'}, null, null, null)
= "a=x"
> querystring.stringify({a: 'x'}, null, null, 5)
= "a=x"
> querystring.stringify({a: 1, b: true}, null, null, {encodeURIComponent: function (x) { return '<' + typeof x + '>'; }})
= "<string>=<string>&<string>=<string>"
> querystring.stringify(undefined)
= ""
> querystring.stringify(true)
= ""
> querystring.stringify(function () {})
= ""
> querystring.stringify(['a', ['b', 'c']])
= "0=a&1=b&1=c"
> querystring.stringify({a: '€😀\u0000'})
= "a=%E2%82%AC%F0%9F%98%80%00"
> querystring.stringify({a: 1e21, b: 0.1, c: -1})
= "a=1e%2B21&b=0.1&c=-1"
> querystring.escape(null)
= "null"
> querystring.escape(Symbol('x'))
= throws TypeError: Cannot convert a Symbol value to a string
> querystring.escape(['a b'])
= "a%20b"
> querystring.escape(true)
= "true"
> querystring.escape({toString: function () { return 'a b'; }})
= "a%20b"
> querystring.escape('\u0000\u007f €😀')
= "%00%7F%20%E2%82%AC%F0%9F%98%80"
> querystring.escape('ABCabc012-_.!~*\'();:@&=+$,/?#[]')
= "ABCabc012-_.!~*'()%3B%3A%40%26%3D%2B%24%2C%2F%3F%23%5B%5D"
> querystring.unescape(null)
= "null"
> querystring.unescape(Symbol('x'))
= throws TypeError: Cannot convert a Symbol value to a string
> querystring.unescape('a%2')
= "a%2"
> querystring.unescape('%E2%82')
= "�"
> querystring.unescape('%00')
= "\u0000"
> querystring.unescape('é%C3%A9')
= "éé"
> querystring.unescape('%41%')
= "A%"
# Windows of data without a head.
> zlib.inflateRawSync(zlib.deflateRawSync('abc', {windowBits: -15}), {windowBits: -15}).toString()
= "abc"
> zlib.inflateRawSync(zlib.deflateRawSync('abc', {windowBits: -10}), {windowBits: -8}).toString()
= "abc"
> zlib.deflateSync('abc', {windowBits: -15})
= throws RangeError: windowBits must be in the range 9..15
~ throws RangeError
> zlib.inflateSync(zlib.deflateSync('abc'), {windowBits: -15})
= throws RangeError: windowBits must be in the range 8..15
~ throws RangeError
> zlib.deflateRawSync('abc', {windowBits: -16})
= throws RangeError: windowBits must be in the range -15..-9
~ throws RangeError
> zlib.deflateRawSync('abc', {windowBits: -8})
= throws RangeError: windowBits must be in the range -15..-9
~ Buffer 4b4c4a0600
> zlib.inflateRawSync(zlib.deflateRawSync('abc'), {windowBits: -16})
= throws RangeError: windowBits must be in the range -15..-8
~ throws RangeError
> zlib.inflateRawSync(zlib.deflateRawSync('abcdef', {dictionary: 'abc'}), {dictionary: 'abc', windowBits: -15}).toString()
= "abcdef"
