# The module zlib.
> ['deflateRawSync', 'deflateSync', 'inflateRawSync', 'inflateSync'].map(function (n) { return typeof zlib[n]; }).join()
= "function,function,function,function"
> ['Z_NO_COMPRESSION', 'Z_BEST_SPEED', 'Z_BEST_COMPRESSION', 'Z_DEFAULT_COMPRESSION', 'Z_FILTERED', 'Z_HUFFMAN_ONLY', 'Z_RLE', 'Z_FIXED', 'Z_DEFAULT_STRATEGY'].map(function (n) { return zlib.constants[n]; }).join()
= "0,1,9,,1,2,3,4,0"
~ "0,1,9,-1,1,2,3,4,0"
> zlib.deflateRawSync('αβγ').toString('base64')
= "O7fx3KZzmwE="
> zlib.deflateSync('αβγ').toString('base64')
= "eJw7t/HcpnObAQ/sBIE="
> zlib.deflateRawSync('WAKA').toString('base64')
= "C3f0dgQA"
> zlib.deflateSync('WAKA').toString('base64')
= "eJwLd/R2BAAC+gEl"
> zlib.deflateRawSync(new Uint8Array([87, 65])).toString('hex')
= "0b770400"
> zlib.deflateRawSync(new Uint8Array([87, 65]).buffer).toString('hex')
= "0b770400"
> zlib.deflateRawSync(Buffer.from([0x57, 0x41, 0x4b, 0x41])).toString('base64')
= "C3f0dgQA"
> zlib.deflateRawSync('').toString('hex')
= "0300"
> zlib.deflateSync('').toString('hex')
= "789c030000000001"
> zlib.deflateRawSync().toString('hex')
= "2bcd4b494dcbcc4b4d0100"
> zlib.deflateRawSync(5).toString('hex')
= "330500"
> zlib.deflateRawSync(null).toString('hex')
= "cb2bcdc90100"
> zlib.deflateRawSync({}).toString('hex')
= "8bce4fca4a4d2e51f00753b100"
> zlib.deflateRawSync('abc'.repeat(100), {level: zlib.constants.Z_NO_COMPRESSION}).length
= 305
> zlib.deflateRawSync('abc'.repeat(100), {level: 9}).toString('base64')
= "S0xKThxFxCEA"
> zlib.deflateRawSync('abc', {level: 10})
= throws RangeError: level must be in the range -1..9
~ throws RangeError
> zlib.deflateRawSync('abc', {level: -2})
= throws RangeError: level must be in the range -1..9
~ throws RangeError
> zlib.deflateRawSync('abc', {level: 'x'})
= Buffer 010300fcff616263
~ throws TypeError: The "options.level" property must be of type number. Received type string ('x')
> zlib.deflateRawSync('abc', {windowBits: 16})
= throws RangeError: windowBits must be in the range -15..-9
~ throws RangeError
> zlib.deflateRawSync('abc', {windowBits: 7})
= throws RangeError: windowBits must be in the range -15..-9
~ throws RangeError
> zlib.deflateRawSync('abc', {windowBits: 9}).toString('hex')
= throws RangeError: windowBits must be in the range -15..-9
~ "4b4c4a0600"
> zlib.deflateSync('abc', {windowBits: 9}).toString('hex')
= "18954b4c4a0600024d0127"
> zlib.deflateRawSync('abc', {memLevel: 0})
= throws RangeError: memLevel must be in the range 0..9
~ throws RangeError
> zlib.deflateRawSync('abc', {memLevel: 10})
= throws RangeError: memLevel must be in the range 0..9
~ throws RangeError
> zlib.deflateRawSync('abc', {memLevel: 5}).toString('hex')
= "4b4c4a0600"
> zlib.deflateRawSync('abc', {strategy: 5})
= throws TypeError: unknown strategy: 5
~ throws RangeError
> zlib.deflateRawSync('abcabcabc', {strategy: zlib.constants.Z_HUFFMAN_ONLY}).toString('hex')
= "4b4c4a4e4c4a4e4c4a0600"
> zlib.deflateRawSync('abcabcabc', {strategy: zlib.constants.Z_FIXED}).toString('hex')
= "4b4c4a4e042300"
> zlib.deflateRawSync('abc', {chunkSize: 64}).toString('hex')
= "4b4c4a0600"
> zlib.deflateRawSync('abc', {chunkSize: 10})
= throws RangeError: chunkSize must be >= 64
~ throws RangeError
> zlib.deflateRawSync('abc', {chunkSize: 0})
= throws RangeError: chunkSize must be >= 64
~ throws RangeError
> zlib.deflateRawSync('abcdef', {dictionary: Buffer.from('abc')}).toString('hex')
= "4b4c4a4e494d0300"
> zlib.deflateSync('abcdef', {dictionary: Buffer.from('abc')}).toString('hex')
= "78bb024d01274b4c4a4e494d0300081e0256"
> zlib.deflateSync('abcdef', {dictionary: 'abc'})
= Buffer 78bb024d01274b4c4a4e494d0300081e0256
> zlib.deflateSync('abcdef', 5).toString('hex')
= "789c4b4c4a4e494d0300081e0256"
> zlib.deflateSync('abcdef', null).toString('hex')
= "789c4b4c4a4e494d0300081e0256"
> zlib.deflateSync('abcdef', undefined).toString('hex')
= "789c4b4c4a4e494d0300081e0256"
> zlib.inflateRawSync(zlib.deflateRawSync('text')).toString()
= "text"
> zlib.inflateSync(zlib.deflateSync('text')).toString()
= "text"
> zlib.inflateRawSync(zlib.deflateRawSync('x'.repeat(100000))).length
= 100000
> zlib.inflateRawSync(zlib.deflateRawSync('x'.repeat(100000)), {chunkSize: 64}).length
= 100000
> zlib.inflateRawSync(zlib.deflateRawSync('abcdef', {dictionary: Buffer.from('abc')}), {dictionary: Buffer.from('abc')}).toString()
= "abcdef"
> zlib.inflateSync(zlib.deflateSync('abcdef', {dictionary: Buffer.from('abc')}), {dictionary: Buffer.from('abc')}).toString()
= throws InternalError: deflateSetDictionary() failed
~ "abcdef"
> zlib.inflateSync(zlib.deflateSync('abcdef', {dictionary: Buffer.from('abc')}))
= throws TypeError: failed to inflate, dictionary is required
~ throws Error
> zlib.inflateSync(zlib.deflateSync('abcdef', {dictionary: Buffer.from('abc')}), {dictionary: Buffer.from('xyz')})
= throws InternalError: deflateSetDictionary() failed
~ throws Error
> Buffer.isBuffer(zlib.inflateRawSync(zlib.deflateRawSync('text')))
= true
> zlib.inflateRawSync('nonsense')
= throws InternalError: failed to inflate the compressed data: invalid block type
~ throws Error
> zlib.inflateSync('nonsense')
= throws InternalError: failed to inflate the compressed data: incorrect header check
~ throws Error
> zlib.inflateSync(zlib.deflateSync('text').slice(0, 5))
= throws InternalError: failed to inflate the compressed data: 
~ throws Error
> zlib.inflateSync(Buffer.from('789c', 'hex'))
= throws InternalError: failed to inflate the compressed data: 
~ throws Error
> zlib.inflateSync('')
= throws InternalError: failed to inflate the compressed data: 
~ throws Error
> zlib.inflateSync()
= throws InternalError: failed to inflate the compressed data: incorrect header check
~ throws Error
> zlib.inflateRawSync(Buffer.from('S0wEAA==', 'base64')).toString()
= "aa"
> zlib.inflateSync(Buffer.concat([zlib.deflateSync('a'), Buffer.from('trailing')])).toString()
= "a"
