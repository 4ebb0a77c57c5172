# The module crypto.
> ['createHash', 'createHmac'].map(function (n) { return typeof cr[n]; }).join()
= "function,function"
> cr.createHash('md5').update('AB').digest('hex')
= "b86fc6b051f63d73de262d4c34e3a0a9"
> cr.createHash('sha1').update('A').update('B').digest('hex')
= "06d945942aa26a61be18c3e22bf19bbca8dd2b5d"
> cr.createHash('sha256').update('AB').digest('base64')
= "OBZPvRdgPXP2lri01yZk1zW7anyIV3aH/SrjP9aWQVM="
> cr.createHash('sha256').update('AB').digest('base64url')
= "OBZPvRdgPXP2lri01yZk1zW7anyIV3aH_SrjP9aWQVM"
> cr.createHash('sha256').update('AB').digest()
= Buffer 38164fbd17603d73f696b8b4d72664d735bb6a7c88577687fd2ae33fd6964153
> cr.createHash('sha384').update('AB').digest('hex')
= "4f9179c7b48de00c642b3782c3f9435bf21bde99cbf9ca13b6c3f1e58fff9064ad47464da97e6277c7f438d8f5a91d6b"
> cr.createHash('sha512').update('AB').digest('hex')
= "71edc062331872ff3c13c77d98f4af0e8e27bb360d03690558beab6711f9733e5dc7f114b7af58cfbcd6360575873c09a667a9af749dc912e4ca276a7dfee5d3"
> cr.createHash('sha224').update('AB').digest('hex')
= "a8dfe9873e71c1e2c2ff4decd814264d9a27693d0180e479dffaea4f"
> cr.createHash('SHA256').update('AB').digest('hex')
= "38164fbd17603d73f696b8b4d72664d735bb6a7c88577687fd2ae33fd6964153"
> cr.createHash('sha-256').update('AB').digest('hex')
= "38164fbd17603d73f696b8b4d72664d735bb6a7c88577687fd2ae33fd6964153"
> cr.createHash('sha3-256').update('AB').digest('hex')
= "21f29d555c7c5f9e5859a7984c0b2f8ccad9d5245fbe6c4703fd75c0922d7735"
> cr.createHash('sha512-256').update('AB').digest('hex')
= "5cda80e00f737279f2bd7af38e78848411d2648500e09c0e1706dd65cffadfde"
> cr.createHash('ripemd160').update('AB').digest('hex')
= "74d2f9aff79c1a792bee968420378c32c521c34d"
> cr.createHash('nope')
= throws TypeError: not supported algorithm: "nope"
~ throws Error
> cr.createHash()
= throws TypeError: algorithm must be a string
~ throws TypeError
> cr.createHash(5)
= throws TypeError: algorithm must be a string
~ throws TypeError
> cr.createHash('sha1').update('XQ==', 'base64').digest('hex')
= "4ff447b8ef42ca51fa6fb287bed8d40f49be58f1"
> cr.createHash('sha1').update('5d', 'hex').digest('hex')
= "4ff447b8ef42ca51fa6fb287bed8d40f49be58f1"
> cr.createHash('sha1').update('5d', 'nope').digest('hex')
= throws TypeError: "nope" encoding is not supported
~ "d529b4fa129467f8043f0283f5fc9dfeba3c3ef0"
> cr.createHash('sha1').update(Buffer.from('AB')).digest('hex')
= "06d945942aa26a61be18c3e22bf19bbca8dd2b5d"
> cr.createHash('sha1').update(new Uint8Array([65, 66])).digest('hex')
= "06d945942aa26a61be18c3e22bf19bbca8dd2b5d"
> cr.createHash('sha1').update(new Uint16Array([65, 66])).digest('hex')
= "3e13e6ffd9cdf647fa033d6ce70a11ca57653ef2"
> cr.createHash('sha1').update(new DataView(new Uint8Array([65, 66]).buffer)).digest('hex')
= throws TypeError: data is not a string or Buffer-like object
~ "06d945942aa26a61be18c3e22bf19bbca8dd2b5d"
> cr.createHash('sha1').update(new Uint8Array([65, 66]).buffer).digest('hex')
= throws TypeError: data is not a string or Buffer-like object
~ throws TypeError
> cr.createHash('sha1').update().digest('hex')
= throws TypeError: data is not a string or Buffer-like object
~ throws TypeError
> cr.createHash('sha1').update(null).digest('hex')
= throws TypeError: data is not a string or Buffer-like object
~ throws TypeError
> cr.createHash('sha1').update(5).digest('hex')
= throws TypeError: data is not a string or Buffer-like object
~ throws TypeError
> cr.createHash('sha1').update({}).digest('hex')
= throws TypeError: data is not a string or Buffer-like object
~ throws TypeError
> cr.createHash('sha1').update('').digest('hex')
= "da39a3ee5e6b4b0d3255bfef95601890afd80709"
> cr.createHash('sha1').digest('hex')
= "da39a3ee5e6b4b0d3255bfef95601890afd80709"
> cr.createHash('sha1').digest('nope')
= throws TypeError: Unknown digest encoding: "nope"
~ Buffer da39a3ee5e6b4b0d3255bfef95601890afd80709
> cr.createHash('sha1').digest('utf8')
= throws TypeError: Unknown digest encoding: "utf8"
~ "�9��^kK\r2U��`\u0018���\u0007\t"
> cr.createHash('sha1').digest(5)
= throws TypeError: encoding must be a string
~ Buffer da39a3ee5e6b4b0d3255bfef95601890afd80709
> cr.createHash('sha1').digest(undefined)
= Buffer da39a3ee5e6b4b0d3255bfef95601890afd80709
> cr.createHash('sha1').digest(null)
= throws TypeError: encoding must be a string
~ Buffer da39a3ee5e6b4b0d3255bfef95601890afd80709
> cr.createHash('sha1').digest('buffer')
= throws TypeError: Unknown digest encoding: "buffer"
~ Buffer da39a3ee5e6b4b0d3255bfef95601890afd80709
> (function (h) { h.digest(); return h.digest('hex'); })(cr.createHash('sha1'))
= throws Error: Digest already called
> (function (h) { h.digest(); return h.update('x'); })(cr.createHash('sha1'))
= throws Error: Digest already called
> (function (h) { return h.update('x') === h; })(cr.createHash('sha1'))
= true
> (function (h) { var c = h.update('a').copy(); return [c.update('b').digest('hex'), h.digest('hex')]; })(cr.createHash('sha1'))
= ["da23614e02469a0d7c7bd1bdab5c9c474b1904dc","86f7e437faa5a7fce15d1ddcb9eaeaea377667b8"]
> (function (h) { h.digest(); return h.copy(); })(cr.createHash('sha1'))
= throws Error: Digest already called
> Object.prototype.toString.call(cr.createHash('sha1'))
= "[object Hash]"
~ "[object Object]"
> Object.prototype.toString.call(cr.createHmac('sha1', ''))
= "[object Hmac]"
> njs.dump(cr.createHash('sha1'))
= "Hash {}"
~ "{_options:undefined}"
> cr.createHash('sha1').update.call({}, 'x')
= throws TypeError: "this" is not a hash object
~ throws TypeError
> cr.createHmac('md5', 'key').update('AB').digest('hex')
= "b4d9cb1de573ad5b8c3c4dbfbb2409f4"
> cr.createHmac('sha1', 'key').update('AB').digest('hex')
= "522e65f13223e5a40760e946a65ee2bd3875eb73"
> cr.createHmac('sha256', 'key').update('A').update('B').digest('base64url')
= "aJEaqNKYtZKTh7tgDLBeuYaGiicG7plrAkQkmOqckiQ"
> cr.createHmac('sha256', '').update('AB').digest('hex')
= "d53400095496267cf02e5dbd4b0bf9fbfb5f36f311ea7d9809af5487421743e3"
> cr.createHmac('sha256', Buffer.from('key')).update('AB').digest('hex')
= "68911aa8d298b5929387bb600cb05eb986868a2706ee996b02442498ea9c9224"
> cr.createHmac('sha256', new Uint8Array([107, 101, 121])).update('AB').digest('hex')
= "68911aa8d298b5929387bb600cb05eb986868a2706ee996b02442498ea9c9224"
> cr.createHmac('sha256', new ArrayBuffer(3)).update('AB').digest('hex')
= throws TypeError: key is not a string or Buffer-like object
~ "d53400095496267cf02e5dbd4b0bf9fbfb5f36f311ea7d9809af5487421743e3"
> cr.createHmac('sha256', 'k'.repeat(200)).update('AB').digest('hex')
= "91b2c38579cfba56743b42a86575fb6671b5a96658ebfa8c7400a4581410aad9"
> cr.createHmac('sha256').update('AB').digest('hex')
= throws TypeError: key is not a string or Buffer-like object
~ throws TypeError
> cr.createHmac('sha256', null).update('AB').digest('hex')
= throws TypeError: key is not a string or Buffer-like object
~ throws TypeError
> cr.createHmac('sha256', 5).update('AB').digest('hex')
= throws TypeError: key is not a string or Buffer-like object
~ throws TypeError
> cr.createHmac('nope', 'key')
= throws TypeError: not supported algorithm: "nope"
~ throws TypeError
> cr.createHmac()
= throws TypeError: algorithm must be a string
~ throws TypeError
> cr.createHmac('sha256', 'key').digest()
= Buffer 5d5d139563c95b5967b9bd9a8c9b233a9dedb45072794cd232dc1b74832607d0
> (function (h) { h.digest(); return h.digest('hex'); })(cr.createHmac('sha1', 'a'))
= throws Error: Digest already called
> (function (h) { h.digest(); return h.update('x'); })(cr.createHmac('sha1', 'a'))
= throws Error: Digest already called
> typeof cr.createHmac('sha1', 'a').copy
= "undefined"
> typeof cr.createHash('sha1').copy
= "function"
> [typeof cr.randomBytes, typeof cr.randomUUID, typeof cr.webcrypto]
= ["undefined","undefined","undefined"]
~ ["function","function","object"]
