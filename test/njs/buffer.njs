# Buffer and the module buffer.
> [typeof buffer.Buffer, buffer.Buffer === Buffer, buffer.constants.MAX_LENGTH > 1000000, buffer.constants.MAX_STRING_LENGTH > 1000000, buffer.kMaxLength > 1000]
= ["object",false,true,true,true]
~ ["function",true,true,true,true]
> Buffer.alloc(3)
= Buffer 000000
> Buffer.alloc(5, 'ab')
= Buffer 6162616261
> Buffer.alloc(5, 'YWI=', 'base64')
= Buffer 6162616261
> Buffer.alloc(3, 1)
= Buffer 010101
> Buffer.alloc(3, Buffer.from([1, 2]))
= Buffer 010201
> Buffer.alloc(3, '')
= Buffer 000000
> Buffer.alloc(3, 257)
= Buffer 010101
> Buffer.alloc(3, 'é', 'latin1')
= throws TypeError: "latin1" encoding is not supported
~ Buffer e9e9e9
> Buffer.alloc(-1)
= throws RangeError: invalid size
~ throws RangeError
> Buffer.alloc('3')
= throws TypeError: "size" argument must be of type number
~ throws TypeError
> Buffer.alloc()
= throws TypeError: "size" argument must be of type number
~ throws TypeError
> Buffer.alloc(NaN)
= throws RangeError: invalid index
~ throws RangeError
> Buffer.alloc(2.5).length
= 2
> Buffer.allocUnsafe(5).length
= 5
> Buffer.allocUnsafe('x')
= throws TypeError: "size" argument must be of type number
~ throws TypeError
> Buffer.byteLength('é€')
= 5
> Buffer.byteLength('aGk=', 'base64')
= 2
> Buffer.byteLength('aGk', 'base64url')
= 2
> Buffer.byteLength('6869', 'hex')
= 2
> Buffer.byteLength(new ArrayBuffer(7))
= 7
> Buffer.byteLength(new Uint16Array(7))
= 14
> Buffer.byteLength(Buffer.from('abc'))
= 3
> Buffer.byteLength(5)
= throws TypeError: first argument number is not a string or Buffer-like object
~ throws TypeError
> Buffer.byteLength('a', 'nope')
= throws TypeError: "nope" encoding is not supported
~ 1
> Buffer.compare(Buffer.from('a'), Buffer.from('b'))
= -1
> Buffer.compare(Buffer.from('b'), new Uint8Array([97]))
= 1
> Buffer.compare(Buffer.from('ab'), Buffer.from('a'))
= 1
> Buffer.compare('a', Buffer.from('b'))
= throws TypeError: "source" argument must be an instance of Buffer or Uint8Array
~ throws TypeError
> Buffer.concat([Buffer.from('a'), new Uint8Array([98]), Buffer.from('c')])
= Buffer 616263
> Buffer.concat([Buffer.from('abc'), Buffer.from('def')], 4)
= Buffer 61626364
> Buffer.concat([Buffer.from('abc')], 5)
= Buffer 6162630000
> Buffer.concat([])
= Buffer 
> Buffer.concat([], 3)
= Buffer 000000
~ Buffer 
> Buffer.concat(['a'])
= throws TypeError: "list[0]" argument must be an instance of Buffer or Uint8Array
~ throws TypeError
> Buffer.concat('a')
= throws TypeError: "list" argument must be an instance of Array
~ throws TypeError
> Buffer.concat([Buffer.from('a')], -1)
= throws RangeError: "length" is out of range
~ throws RangeError
> Buffer.from('é')
= Buffer c3a9
> Buffer.from('é', 'utf8')
= Buffer c3a9
> Buffer.from('é', 'utf-8')
= Buffer c3a9
> Buffer.from('68656c', 'hex')
= Buffer 68656c
> Buffer.from('68656', 'hex')
= Buffer 6865
> Buffer.from('zz', 'hex')
= Buffer 
> Buffer.from('aGVsbG8=', 'base64')
= Buffer 68656c6c6f
> Buffer.from('aGVsbG8', 'base64')
= Buffer 68656c6c6f
> Buffer.from('a-_b', 'base64')
= Buffer 
~ Buffer 6befdb
> Buffer.from('a-_b', 'base64url')
= Buffer 6befdb
> Buffer.from('a+/b', 'base64url')
= Buffer 
~ Buffer 6befdb
> Buffer.from('aGVs\nbG8=', 'base64')
= Buffer 68656c
~ Buffer 68656c6c6f
> Buffer.from('a', 'nope')
= throws TypeError: "nope" encoding is not supported
~ throws TypeError
> Buffer.from('a', undefined)
= Buffer 61
> Buffer.from('a', null)
= throws TypeError: encoding must be a string
~ Buffer 61
> Buffer.from([1, 256, -1, 'a', '5', 1.5])
= Buffer 0100ff000501
> Buffer.from([])
= Buffer 
> Buffer.from({length: 2, 0: 5, 1: 6})
= Buffer 0506
> Buffer.from({type: 'Buffer', data: [1, 2]})
= Buffer 0102
> Buffer.from(new String('abc'))
= Buffer 616263
> Buffer.from({valueOf: function () { return 'own'; }})
= Buffer 6f776e
> Buffer.from({})
= throws TypeError: first argument object is not a string or Buffer-like object
~ throws TypeError
> Buffer.from(5)
= throws TypeError: first argument number is not a string or Buffer-like object
~ throws TypeError
> Buffer.from(null)
= throws TypeError: first argument null is not a string or Buffer-like object
~ throws TypeError
> Buffer.from()
= throws TypeError: first argument undefined is not a string or Buffer-like object
~ throws TypeError
> Buffer.from(new Uint8Array([1, 2, 3]))
= Buffer 010203
> Buffer.from(new Uint16Array([258, 3]))
= Buffer 0203
> Buffer.from(new Float32Array([1.5, 300]))
= Buffer 012c
> Buffer.from(new ArrayBuffer(3))
= Buffer 000000
> Buffer.from(new Uint8Array([1, 2, 3, 4]).buffer, 1)
= Buffer 020304
> Buffer.from(new Uint8Array([1, 2, 3, 4]).buffer, 1, 2)
= Buffer 0203
> Buffer.from(new Uint8Array([1, 2, 3, 4]).buffer, 5)
= throws RangeError: "offset" is outside of buffer bounds
> Buffer.from(new Uint8Array([1, 2, 3, 4]).buffer, 1, 9)
= throws RangeError: "length" is outside of buffer bounds
> (function () { var a = new Uint8Array([1, 2]); var b = Buffer.from(a.buffer); a[0] = 9; return b; })()
= Buffer 0902
> (function () { var a = Buffer.from('ab'); var b = Buffer.from(a); a[0] = 9; return b; })()
= Buffer 6162
> Buffer.isBuffer(Buffer.from(''))
= true
> Buffer.isBuffer(new Uint8Array(1))
= false
> Buffer.isBuffer()
= false
> ['utf8', 'UTF-8', 'hex', 'base64', 'base64url', 'latin1', 'ascii', 'binary', 'utf16le', 'nope', 5, undefined, null].map(function (e) { return Buffer.isEncoding(e); })
= [true,false,true,true,true,false,false,false,false,false,false,false,false]
~ [true,true,true,true,true,true,true,true,true,false,false,false,false]
> new Buffer('a')
= throws TypeError: Buffer is not a constructor
~ Buffer 61
> Buffer('a')
= throws TypeError: Buffer is not a constructor
~ Buffer 61
> Buffer.poolSize
= undefined
~ 65536
> Buffer.from('abc').length
= 3
> Buffer.from('abc')[1]
= 98
> Buffer.from('abc')[5]
= undefined
> (function (b) { b[0] = 300; b[9] = 1; return b; })(Buffer.from('abc'))
= Buffer 2c6263
> Buffer.from('abc').buffer instanceof ArrayBuffer
= true
> Buffer.from('abc').byteOffset >= 0
= true
> Object.keys(Buffer.from('ab'))
= ["0","1"]
> Buffer.from('abc') instanceof Uint8Array
= true
> Object.prototype.toString.call(Buffer.from('abc'))
= "[object Buffer]"
~ "[object Uint8Array]"
> JSON.stringify(Buffer.from('ab'))
= "{\"type\":\"Buffer\",\"data\":[97,98]}"
> Buffer.from('ab').toJSON()
= {type:"Buffer",data:[97,98]}
> Buffer.from('abc').compare(Buffer.from('abd'))
= -1
> Buffer.from('abc').compare(Buffer.from('xabc'), 1)
= 0
> Buffer.from('abc').compare(Buffer.from('xabcx'), 1, 4, 0, 3)
= 0
> Buffer.from('abc').compare('abc')
= throws TypeError: "target" argument must be an instance of Buffer or Uint8Array
~ throws TypeError
> Buffer.from('abc').compare(Buffer.from('abc'), 9)
= throws RangeError: "targetStart" is out of range: 9
~ 1
> (function (t) { return [Buffer.from('abc').copy(t, 1), t]; })(Buffer.alloc(5))
= [3,Buffer 0061626300]
> (function (t) { return [Buffer.from('abcdef').copy(t, 1, 2, 4), t]; })(Buffer.alloc(5))
= [2,Buffer 0063640000]
> (function (t) { return [Buffer.from('abcdef').copy(t), t]; })(Buffer.alloc(3))
= [3,Buffer 616263]
> Buffer.from('abc').copy(Buffer.alloc(3), 0, 9)
= throws RangeError: "sourceStart" is out of range: 9
~ throws RangeError
> Buffer.from('abc').copy('x')
= throws TypeError: "target" argument must be an instance of Buffer or Uint8Array
~ throws TypeError
> Buffer.from('abc').copy(Buffer.alloc(3), -1)
= throws RangeError: invalid index
~ throws RangeError
> Buffer.from('abc').equals(Buffer.from('abc'))
= true
> Buffer.from('abc').equals(new Uint8Array([97, 98, 99]))
= true
> Buffer.from('abc').equals('abc')
= throws TypeError: "target" argument must be an instance of Buffer or Uint8Array
~ throws TypeError
> Buffer.alloc(4).fill('ab')
= Buffer 61626162
> Buffer.alloc(4).fill('ab', 1)
= Buffer 00616261
> Buffer.alloc(4).fill('ab', 1, 3)
= Buffer 00616200
> Buffer.alloc(4).fill('6162', 'hex')
= Buffer 61626162
> Buffer.alloc(4).fill('6162', 1, 'hex')
= Buffer 00616261
> Buffer.alloc(4).fill(300)
= Buffer 2c2c2c2c
> Buffer.alloc(4).fill(new Uint8Array([1, 2]))
= Buffer 01020102
> Buffer.alloc(4).fill('')
= Buffer 00000000
> Buffer.alloc(4).fill(new Uint8Array(0))
= Buffer 00000000
~ throws TypeError: The argument 'value' is invalid. Received Uint8Array(0) []
> Buffer.alloc(4).fill('a', 5)
= throws RangeError: "offset" is out of range
~ Buffer 00000000
> Buffer.alloc(4).fill('a', 2, 9)
= throws RangeError: "end" is out of range
~ throws RangeError
> Buffer.alloc(4).fill()
= Buffer 00000000
> Buffer.from('abcabc').includes('ca')
= true
> Buffer.from('abcabc').includes('a', 4)
= false
> Buffer.from('abcabc').indexOf('c')
= 2
> Buffer.from('abcabc').indexOf('c', 3)
= 5
> Buffer.from('abcabc').indexOf('c', -1)
= 5
> Buffer.from('abcabc').indexOf(98)
= 1
> Buffer.from('abcabc').indexOf(98.9)
= 1
> Buffer.from('abcabc').indexOf(354)
= 1
> Buffer.from('abcabc').indexOf(Buffer.from('bc'), 2)
= 4
> Buffer.from('abcabc').indexOf('')
= 0
> Buffer.from('abcabc').indexOf('', 9)
= 6
> Buffer.from('abcabc').indexOf('6263', 0, 'hex')
= 1
> Buffer.from('abcabc').indexOf('6263', 'hex')
= 1
> Buffer.from('abcabc').indexOf('a', NaN)
= 0
> Buffer.from('abcabc').indexOf({})
= throws TypeError: "value" argument object is not a string or Buffer-like object
~ throws TypeError
> Buffer.from('abcabc').indexOf()
= throws TypeError: "value" argument undefined is not a string or Buffer-like object
~ throws TypeError
> Buffer.from('abcabc').lastIndexOf('b')
= 4
> Buffer.from('abcabc').lastIndexOf('b', 3)
= 1
> Buffer.from('abcabc').lastIndexOf('b', -3)
= 1
> Buffer.from('abcabc').lastIndexOf(99, 4)
= 2
> Buffer.from('abcabc').lastIndexOf('')
= 5
~ 6
> Buffer.from('abcabc').lastIndexOf('x')
= -1
> (function (b) { return ['readInt8', 'readUInt8', 'readInt16LE', 'readInt16BE', 'readUInt16LE', 'readUInt16BE', 'readInt32LE', 'readInt32BE', 'readUInt32LE', 'readUInt32BE', 'readFloatLE', 'readFloatBE', 'readDoubleLE', 'readDoubleBE'].map(function (m) { return b[m](0); }); })(Buffer.from([0xff, 0xfe, 0x40, 0x81, 5, 6, 7, 8]))
= [-1,255,-257,-2,65279,65534,-2126446849,-114559,2168520447,4294852737,-3.5447781249573945e-38,NaN,5.44760548831168e-270,NaN]
> (function (b) { return ['readUint8', 'readUint16LE', 'readUint16BE', 'readUint32LE', 'readUint32BE'].map(function (m) { return b[m](); }); })(Buffer.from([0xff, 0xfe, 0x40, 0x81, 5, 6, 7, 8]))
= throws TypeError: undefined is not a function
~ [255,65279,65534,2168520447,4294852737]
> (function (b) { return [1, 2, 3, 4, 5, 6].map(function (n) { return [b.readIntLE(0, n), b.readIntBE(0, n), b.readUIntLE(0, n), b.readUIntBE(0, n)]; }); })(Buffer.from([0xff, 0xfe, 0x40, 0x81, 5, 6, 7, 8]))
= [[-1,-1,255,255],[-257,-2,65279,65534],[4259583,-448,4259583,16776768],[-2126446849,-114559,2168520447,4294852737],[23643356927,-29327099,23643356927,1099482300677],[6620713123583,-7507737338,6620713123583,281467468973318]]
> Buffer.from([1]).readInt8(1)
= throws RangeError: index 1 is outside the bound of the buffer
~ throws RangeError
> Buffer.from([1]).readInt8(-1)
= throws RangeError: invalid index
~ throws RangeError
> Buffer.from([1]).readInt8('0')
= 1
~ throws TypeError: The "offset" argument must be of type number. Received type string ('0')
> Buffer.from([1]).readInt8(0.5)
= 1
~ throws RangeError: The value of "offset" is out of range. It must be an integer. Received 0.5
> Buffer.from([1]).readInt16LE()
= throws RangeError: index 0 is outside the bound of the buffer
~ throws RangeError
> Buffer.from([1, 2, 3]).readIntLE(0, 7)
= throws TypeError: "byteLength" must be >= 1 and <= 6
~ throws RangeError
> Buffer.from([1, 2, 3]).readIntLE(0, 0)
= throws TypeError: "byteLength" must be >= 1 and <= 6
~ throws RangeError
> Buffer.from([1, 2, 3]).readIntLE(0)
= throws TypeError: "byteLength" is not a number
~ throws TypeError
> Buffer.from([1, 2, 3, 4, 5, 6, 7, 8]).readBigInt64LE
= undefined
~ function
> (function (b) { return [b.writeInt8(-2, 0), b.writeUInt8(254, 1), b.writeInt16LE(-2, 2), b.writeUInt16BE(513, 4), b]; })(Buffer.alloc(6))
= [1,2,4,6,Buffer fefefeff0201]
> (function (b) { return [b.writeInt32LE(-2), b.writeUInt32BE(4278190080, 4), b]; })(Buffer.alloc(8))
= [4,8,Buffer feffffffff000000]
> (function (b) { return [b.writeFloatLE(1.5), b.writeDoubleBE(2.5, 4), b]; })(Buffer.alloc(12))
= [4,12,Buffer 0000c03f4004000000000000]
> (function (b) { return [b.writeIntLE(-2, 0, 3), b.writeUIntBE(0x010203, 3, 3), b]; })(Buffer.alloc(6))
= [3,6,Buffer feffff010203]
> (function (b) { return [b.writeIntBE(-123456789012, 0, 6), b.writeUIntLE(0x010203040506, 6, 6), b]; })(Buffer.alloc(12))
= [6,12,Buffer ffe34166e5ec060504030201]
> Buffer.alloc(1).writeInt8(128)
= throws RangeError: value is outside the range of a representable int8
~ throws RangeError
> Buffer.alloc(1).writeUInt8(256)
= throws RangeError: value is outside the range of a representable uint8
~ throws RangeError
> Buffer.alloc(1).writeUInt8(-1)
= throws RangeError: value is outside the range of a representable uint8
~ throws RangeError
> Buffer.alloc(2).writeInt16LE(40000)
= throws RangeError: value is outside the range of a representable int16
~ throws RangeError
> Buffer.alloc(4).writeUInt32LE(5000000000)
= throws RangeError: value is outside the range of a representable uint32
~ throws RangeError
> Buffer.alloc(1).writeInt8('5')
= 1
> Buffer.alloc(1).writeInt8(1, 1)
= throws RangeError: index 1 is outside the bound of the buffer
~ throws RangeError
> Buffer.alloc(1).writeInt8(1.7)
= 1
> Buffer.alloc(1).writeInt8()
= 1
> Buffer.alloc(8).writeFloatLE('x')
= 4
> (function (b) { return [b.slice(1, 3), b.subarray(1, 3), b.slice(-2), b.slice(2, 1), b.slice()]; })(Buffer.from('abcd'))
= [Buffer 6263,Buffer 6263,Buffer 6364,Buffer ,Buffer 61626364]
> (function (b) { var s = b.slice(1, 3); s[0] = 120; return b; })(Buffer.from('abcd'))
= Buffer 61786364
> Buffer.isBuffer(Buffer.from('abcd').subarray(1))
= true
> Buffer.from('abcd').swap16()
= Buffer 62616463
> Buffer.from('abcd').swap32()
= Buffer 64636261
> Buffer.from('abcdefgh').swap64()
= Buffer 6867666564636261
> Buffer.from('abc').swap16()
= throws RangeError: Buffer size must be a multiple of 16-bits
> Buffer.from('abcde').swap32()
= throws RangeError: Buffer size must be a multiple of 32-bits
> Buffer.from('héllo').toString()
= "héllo"
> Buffer.from('héllo').toString('hex')
= "68c3a96c6c6f"
> Buffer.from('héllo').toString('base64')
= "aMOpbGxv"
> Buffer.from('héllo').toString('base64url')
= "aMOpbGxv"
> Buffer.from('héllo').toString('utf8', 1)
= "éllo"
> Buffer.from('hello').toString('utf8', 1, 3)
= "el"
> Buffer.from('hello').toString('utf8', 3, 1)
= ""
> Buffer.from('hello').toString('utf8', -1, 99)
= throws RangeError: invalid index
~ "hello"
> Buffer.from('hello').toString(undefined, 1, 3)
= "el"
> Buffer.from('hello').toString('nope')
= throws TypeError: "nope" encoding is not supported
~ throws TypeError
> Buffer.from('hello').toString('latin1')
= throws TypeError: "latin1" encoding is not supported
~ "hello"
> Buffer.from([0xff, 0xfe, 97]).toString()
= "��a"
> Buffer.from('hello') + ''
= "hello"
> (function (b) { return [b.write('abc'), b]; })(Buffer.alloc(5))
= [3,Buffer 6162630000]
> (function (b) { return [b.write('abc', 1), b.write('de', 4, 1), b]; })(Buffer.alloc(5))
= [3,1,Buffer 0061626364]
> (function (b) { return [b.write('6162', 'hex'), b.write('6364', 2, 'hex'), b.write('YQ==', 4, 1, 'base64'), b]; })(Buffer.alloc(5))
= [2,2,1,Buffer 6162636461]
> (function (b) { return [b.write('€€'), b]; })(Buffer.alloc(5))
= [3,Buffer e282ac0000]
> Buffer.alloc(5).write('abc', 6)
= throws RangeError: "offset" is out of range
~ throws RangeError
> Buffer.alloc(5).write(5)
= throws TypeError: first argument must be a string
~ throws TypeError
> Buffer.alloc(5).write('abc', -1)
= throws RangeError: invalid index
~ throws RangeError
> Buffer.alloc(5).write('abc', 'nope')
= throws TypeError: "nope" encoding is not supported
~ throws TypeError
> [typeof Buffer.from('').entries, typeof Buffer.from('').map, typeof Buffer.from('').forEach, typeof Buffer.from('').values]
= ["function","function","function","function"]
> Buffer.from('abc').map(function (x) { return x + 1; })
= [object Uint8Array] 626364
~ Buffer 626364
> Buffer.from('cab').sort()
= Buffer 616263
> Buffer.from('abc').reverse()
= Buffer 636261
> Array.from(Buffer.from('ab'))
= [97,98]
> Buffer.from('abc').toString.call({})
= throws TypeError: "this" argument must be an instance of Buffer or Uint8Array
~ throws TypeError
> Buffer.prototype.slice.call(new Uint8Array([1, 2, 3]), 1)
= Buffer 0203
~ [object Uint8Array] 0203
> Buffer.transcode
= undefined
> buffer.transcode
= undefined
~ function
> buffer.INSPECT_MAX_BYTES
= undefined
~ 50
> Object.keys(buffer).sort().filter(function (k) { return ['Buffer', 'constants', 'kMaxLength'].indexOf(k) !== -1; })
= ["Buffer","constants","kMaxLength"]
