# Each method that reads and writes numbers, at the edges.
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([1, 2, 3, 4, 5, 6, 7, 8]); return ['readInt8','readUInt8','readInt16LE','readInt16BE','readUInt16LE','readUInt16BE','readInt32LE','readInt32BE','readUInt32LE','readUInt32BE','readFloatLE','readFloatBE','readDoubleLE','readDoubleBE'].map(function (m) { return t(function () { return b[m](7); }); }); })()
= [8,8,"RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([1, 2, 3, 4, 5, 6, 7, 8]); return ['readInt8','readUInt8','readInt16LE','readInt16BE','readUInt16LE','readUInt16BE','readInt32LE','readInt32BE','readUInt32LE','readUInt32BE','readFloatLE','readFloatBE','readDoubleLE','readDoubleBE'].map(function (m) { return t(function () { return b[m](8); }); }); })()
= ["RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([1, 2, 3, 4, 5, 6, 7, 8]); return ['readInt8','readUInt8','readInt16LE','readInt16BE','readUInt16LE','readUInt16BE','readInt32LE','readInt32BE','readUInt32LE','readUInt32BE','readFloatLE','readFloatBE','readDoubleLE','readDoubleBE'].map(function (m) { return t(function () { return b[m](9); }); }); })()
= ["RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([1, 2, 3, 4, 5, 6, 7, 8]); return ['readInt8','readUInt8','readInt16LE','readInt16BE','readUInt16LE','readUInt16BE','readInt32LE','readInt32BE','readUInt32LE','readUInt32BE','readFloatLE','readFloatBE','readDoubleLE','readDoubleBE'].map(function (m) { return t(function () { return b[m](-1); }); }); })()
= ["RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([1, 2, 3, 4, 5, 6, 7, 8]); return ['readInt8','readUInt8','readInt16LE','readInt16BE','readUInt16LE','readUInt16BE','readInt32LE','readInt32BE','readUInt32LE','readUInt32BE','readFloatLE','readFloatBE','readDoubleLE','readDoubleBE'].map(function (m) { return t(function () { return b[m](NaN); }); }); })()
= [1,1,513,258,513,258,67305985,16909060,67305985,16909060,1.539989614439558e-36,2.387939260590663e-38,5.447603722011605e-270,8.20788039913184e-304]
~ ["RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([1, 2, 3, 4, 5, 6, 7, 8]); return ['readInt8','readUInt8','readInt16LE','readInt16BE','readUInt16LE','readUInt16BE','readInt32LE','readInt32BE','readUInt32LE','readUInt32BE','readFloatLE','readFloatBE','readDoubleLE','readDoubleBE'].map(function (m) { return t(function () { return b[m]('1'); }); }); })()
= [2,2,770,515,770,515,84148994,33752069,84148994,33752069,6.207162620248253e-36,9.625513546253311e-38,"RangeError","RangeError"]
~ ["TypeError","TypeError","TypeError","TypeError","TypeError","TypeError","TypeError","TypeError","TypeError","TypeError","TypeError","TypeError","TypeError","TypeError"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([1, 2, 3, 4, 5, 6, 7, 8]); return ['readInt8','readUInt8','readInt16LE','readInt16BE','readUInt16LE','readUInt16BE','readInt32LE','readInt32BE','readUInt32LE','readUInt32BE','readFloatLE','readFloatBE','readDoubleLE','readDoubleBE'].map(function (m) { return t(function () { return b[m](undefined); }); }); })()
= [1,1,513,258,513,258,67305985,16909060,67305985,16909060,1.539989614439558e-36,2.387939260590663e-38,5.447603722011605e-270,8.20788039913184e-304]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([1, 2, 3, 4, 5, 6, 7, 8]); return ['readInt8','readUInt8','readInt16LE','readInt16BE','readUInt16LE','readUInt16BE','readInt32LE','readInt32BE','readUInt32LE','readUInt32BE','readFloatLE','readFloatBE','readDoubleLE','readDoubleBE'].map(function (m) { return t(function () { return b[m](null); }); }); })()
= [1,1,513,258,513,258,67305985,16909060,67305985,16909060,1.539989614439558e-36,2.387939260590663e-38,5.447603722011605e-270,8.20788039913184e-304]
~ ["TypeError","TypeError","TypeError","TypeError","TypeError","TypeError","TypeError","TypeError","TypeError","TypeError","TypeError","TypeError","TypeError","TypeError"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([1, 2, 3, 4, 5, 6, 7, 8]); return ['readInt8','readUInt8','readInt16LE','readInt16BE','readUInt16LE','readUInt16BE','readInt32LE','readInt32BE','readUInt32LE','readUInt32BE','readFloatLE','readFloatBE','readDoubleLE','readDoubleBE'].map(function (m) { return t(function () { return b[m](1e10); }); }); })()
= ["RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([1, 2, 3, 4, 5, 6, 7, 8]); return ['readInt8','readUInt8','readInt16LE','readInt16BE','readUInt16LE','readUInt16BE','readInt32LE','readInt32BE','readUInt32LE','readUInt32BE','readFloatLE','readFloatBE','readDoubleLE','readDoubleBE'].map(function (m) { return t(function () { return b[m](Infinity); }); }); })()
= ["RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError","RangeError"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([1, 2, 3, 4, 5, 6, 7, 8]); return ['readInt8','readUInt8','readInt16LE','readInt16BE','readUInt16LE','readUInt16BE','readInt32LE','readInt32BE','readUInt32LE','readUInt32BE','readFloatLE','readFloatBE','readDoubleLE','readDoubleBE'].map(function (m) { return t(function () { return b[m]({}); }); }); })()
= [1,1,513,258,513,258,67305985,16909060,67305985,16909060,1.539989614439558e-36,2.387939260590663e-38,5.447603722011605e-270,8.20788039913184e-304]
~ ["TypeError","TypeError","TypeError","TypeError","TypeError","TypeError","TypeError","TypeError","TypeError","TypeError","TypeError","TypeError","TypeError","TypeError"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return ['writeInt8','writeUInt8','writeInt16LE','writeInt16BE','writeUInt16LE','writeUInt16BE','writeInt32LE','writeInt32BE','writeUInt32LE','writeUInt32BE','writeFloatLE','writeFloatBE','writeDoubleLE','writeDoubleBE'].map(function (m) { var b = Buffer.alloc(8); var n = t(function () { return b[m](1, 7); }); return n + ':' + b.toString('hex'); }); })()
= ["8:0000000000000001","8:0000000000000001","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return ['writeInt8','writeUInt8','writeInt16LE','writeInt16BE','writeUInt16LE','writeUInt16BE','writeInt32LE','writeInt32BE','writeUInt32LE','writeUInt32BE','writeFloatLE','writeFloatBE','writeDoubleLE','writeDoubleBE'].map(function (m) { var b = Buffer.alloc(8); var n = t(function () { return b[m](1, 8); }); return n + ':' + b.toString('hex'); }); })()
= ["RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return ['writeInt8','writeUInt8','writeInt16LE','writeInt16BE','writeUInt16LE','writeUInt16BE','writeInt32LE','writeInt32BE','writeUInt32LE','writeUInt32BE','writeFloatLE','writeFloatBE','writeDoubleLE','writeDoubleBE'].map(function (m) { var b = Buffer.alloc(8); var n = t(function () { return b[m](1, -1); }); return n + ':' + b.toString('hex'); }); })()
= ["RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return ['writeInt8','writeUInt8','writeInt16LE','writeInt16BE','writeUInt16LE','writeUInt16BE','writeInt32LE','writeInt32BE','writeUInt32LE','writeUInt32BE','writeFloatLE','writeFloatBE','writeDoubleLE','writeDoubleBE'].map(function (m) { var b = Buffer.alloc(8); var n = t(function () { return b[m](1, '1'); }); return n + ':' + b.toString('hex'); }); })()
= ["2:0001000000000000","2:0001000000000000","3:0001000000000000","3:0000010000000000","3:0001000000000000","3:0000010000000000","5:0001000000000000","5:0000000001000000","5:0001000000000000","5:0000000001000000","5:000000803f000000","5:003f800000000000","RangeError:0000000000000000","RangeError:0000000000000000"]
~ ["TypeError:0000000000000000","TypeError:0000000000000000","TypeError:0000000000000000","TypeError:0000000000000000","TypeError:0000000000000000","TypeError:0000000000000000","TypeError:0000000000000000","TypeError:0000000000000000","TypeError:0000000000000000","TypeError:0000000000000000","TypeError:0000000000000000","TypeError:0000000000000000","TypeError:0000000000000000","TypeError:0000000000000000"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return ['writeInt8','writeUInt8','writeInt16LE','writeInt16BE','writeUInt16LE','writeUInt16BE','writeInt32LE','writeInt32BE','writeUInt32LE','writeUInt32BE','writeFloatLE','writeFloatBE','writeDoubleLE','writeDoubleBE'].map(function (m) { var b = Buffer.alloc(8); var n = t(function () { return b[m](1, NaN); }); return n + ':' + b.toString('hex'); }); })()
= ["1:0100000000000000","1:0100000000000000","2:0100000000000000","2:0001000000000000","2:0100000000000000","2:0001000000000000","4:0100000000000000","4:0000000100000000","4:0100000000000000","4:0000000100000000","4:0000803f00000000","4:3f80000000000000","8:000000000000f03f","8:3ff0000000000000"]
~ ["RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return ['writeInt8','writeUInt8','writeInt16LE','writeInt16BE','writeUInt16LE','writeUInt16BE','writeInt32LE','writeInt32BE','writeUInt32LE','writeUInt32BE','writeFloatLE','writeFloatBE','writeDoubleLE','writeDoubleBE'].map(function (m) { var b = Buffer.alloc(8); var n = t(function () { return b[m](1, undefined); }); return n + ':' + b.toString('hex'); }); })()
= ["1:0100000000000000","1:0100000000000000","2:0100000000000000","2:0001000000000000","2:0100000000000000","2:0001000000000000","4:0100000000000000","4:0000000100000000","4:0100000000000000","4:0000000100000000","4:0000803f00000000","4:3f80000000000000","8:000000000000f03f","8:3ff0000000000000"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return ['writeInt8','writeUInt8','writeInt16LE','writeInt16BE','writeUInt16LE','writeUInt16BE','writeInt32LE','writeInt32BE','writeUInt32LE','writeUInt32BE','writeFloatLE','writeFloatBE','writeDoubleLE','writeDoubleBE'].map(function (m) { var b = Buffer.alloc(8); var n = t(function () { return b[m](1, 0.5); }); return n + ':' + b.toString('hex'); }); })()
= ["1:0100000000000000","1:0100000000000000","2:0100000000000000","2:0001000000000000","2:0100000000000000","2:0001000000000000","4:0100000000000000","4:0000000100000000","4:0100000000000000","4:0000000100000000","4:0000803f00000000","4:3f80000000000000","8:000000000000f03f","8:3ff0000000000000"]
~ ["RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return ['writeInt8','writeUInt8','writeInt16LE','writeInt16BE','writeUInt16LE','writeUInt16BE','writeInt32LE','writeInt32BE','writeUInt32LE','writeUInt32BE','writeFloatLE','writeFloatBE','writeDoubleLE','writeDoubleBE'].map(function (m) { var b = Buffer.alloc(8); var n = t(function () { return b[m](128, 0); }); return n + ':' + b.toString('hex'); }); })()
= ["RangeError:0000000000000000","1:8000000000000000","2:8000000000000000","2:0080000000000000","2:8000000000000000","2:0080000000000000","4:8000000000000000","4:0000008000000000","4:8000000000000000","4:0000008000000000","4:0000004300000000","4:4300000000000000","8:0000000000006040","8:4060000000000000"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return ['writeInt8','writeUInt8','writeInt16LE','writeInt16BE','writeUInt16LE','writeUInt16BE','writeInt32LE','writeInt32BE','writeUInt32LE','writeUInt32BE','writeFloatLE','writeFloatBE','writeDoubleLE','writeDoubleBE'].map(function (m) { var b = Buffer.alloc(8); var n = t(function () { return b[m](255, 0); }); return n + ':' + b.toString('hex'); }); })()
= ["RangeError:0000000000000000","1:ff00000000000000","2:ff00000000000000","2:00ff000000000000","2:ff00000000000000","2:00ff000000000000","4:ff00000000000000","4:000000ff00000000","4:ff00000000000000","4:000000ff00000000","4:00007f4300000000","4:437f000000000000","8:0000000000e06f40","8:406fe00000000000"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return ['writeInt8','writeUInt8','writeInt16LE','writeInt16BE','writeUInt16LE','writeUInt16BE','writeInt32LE','writeInt32BE','writeUInt32LE','writeUInt32BE','writeFloatLE','writeFloatBE','writeDoubleLE','writeDoubleBE'].map(function (m) { var b = Buffer.alloc(8); var n = t(function () { return b[m](256, 0); }); return n + ':' + b.toString('hex'); }); })()
= ["RangeError:0000000000000000","RangeError:0000000000000000","2:0001000000000000","2:0100000000000000","2:0001000000000000","2:0100000000000000","4:0001000000000000","4:0000010000000000","4:0001000000000000","4:0000010000000000","4:0000804300000000","4:4380000000000000","8:0000000000007040","8:4070000000000000"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return ['writeInt8','writeUInt8','writeInt16LE','writeInt16BE','writeUInt16LE','writeUInt16BE','writeInt32LE','writeInt32BE','writeUInt32LE','writeUInt32BE','writeFloatLE','writeFloatBE','writeDoubleLE','writeDoubleBE'].map(function (m) { var b = Buffer.alloc(8); var n = t(function () { return b[m](32768, 0); }); return n + ':' + b.toString('hex'); }); })()
= ["RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","2:0080000000000000","2:8000000000000000","4:0080000000000000","4:0000800000000000","4:0080000000000000","4:0000800000000000","4:0000004700000000","4:4700000000000000","8:000000000000e040","8:40e0000000000000"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return ['writeInt8','writeUInt8','writeInt16LE','writeInt16BE','writeUInt16LE','writeUInt16BE','writeInt32LE','writeInt32BE','writeUInt32LE','writeUInt32BE','writeFloatLE','writeFloatBE','writeDoubleLE','writeDoubleBE'].map(function (m) { var b = Buffer.alloc(8); var n = t(function () { return b[m](65535, 0); }); return n + ':' + b.toString('hex'); }); })()
= ["RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","2:ffff000000000000","2:ffff000000000000","4:ffff000000000000","4:0000ffff00000000","4:ffff000000000000","4:0000ffff00000000","4:00ff7f4700000000","4:477fff0000000000","8:00000000e0ffef40","8:40efffe000000000"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return ['writeInt8','writeUInt8','writeInt16LE','writeInt16BE','writeUInt16LE','writeUInt16BE','writeInt32LE','writeInt32BE','writeUInt32LE','writeUInt32BE','writeFloatLE','writeFloatBE','writeDoubleLE','writeDoubleBE'].map(function (m) { var b = Buffer.alloc(8); var n = t(function () { return b[m](65536, 0); }); return n + ':' + b.toString('hex'); }); })()
= ["RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","4:0000010000000000","4:0001000000000000","4:0000010000000000","4:0001000000000000","4:0000804700000000","4:4780000000000000","8:000000000000f040","8:40f0000000000000"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return ['writeInt8','writeUInt8','writeInt16LE','writeInt16BE','writeUInt16LE','writeUInt16BE','writeInt32LE','writeInt32BE','writeUInt32LE','writeUInt32BE','writeFloatLE','writeFloatBE','writeDoubleLE','writeDoubleBE'].map(function (m) { var b = Buffer.alloc(8); var n = t(function () { return b[m](2147483648, 0); }); return n + ':' + b.toString('hex'); }); })()
= ["RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","4:0000008000000000","4:8000000000000000","4:0000004f00000000","4:4f00000000000000","8:000000000000e041","8:41e0000000000000"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return ['writeInt8','writeUInt8','writeInt16LE','writeInt16BE','writeUInt16LE','writeUInt16BE','writeInt32LE','writeInt32BE','writeUInt32LE','writeUInt32BE','writeFloatLE','writeFloatBE','writeDoubleLE','writeDoubleBE'].map(function (m) { var b = Buffer.alloc(8); var n = t(function () { return b[m](4294967295, 0); }); return n + ':' + b.toString('hex'); }); })()
= ["RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","4:ffffffff00000000","4:ffffffff00000000","4:0000804f00000000","4:4f80000000000000","8:0000e0ffffffef41","8:41efffffffe00000"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return ['writeInt8','writeUInt8','writeInt16LE','writeInt16BE','writeUInt16LE','writeUInt16BE','writeInt32LE','writeInt32BE','writeUInt32LE','writeUInt32BE','writeFloatLE','writeFloatBE','writeDoubleLE','writeDoubleBE'].map(function (m) { var b = Buffer.alloc(8); var n = t(function () { return b[m](4294967296, 0); }); return n + ':' + b.toString('hex'); }); })()
= ["RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","4:0000804f00000000","4:4f80000000000000","8:000000000000f041","8:41f0000000000000"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return ['writeInt8','writeUInt8','writeInt16LE','writeInt16BE','writeUInt16LE','writeUInt16BE','writeInt32LE','writeInt32BE','writeUInt32LE','writeUInt32BE','writeFloatLE','writeFloatBE','writeDoubleLE','writeDoubleBE'].map(function (m) { var b = Buffer.alloc(8); var n = t(function () { return b[m](-1, 0); }); return n + ':' + b.toString('hex'); }); })()
= ["1:ff00000000000000","RangeError:0000000000000000","2:ffff000000000000","2:ffff000000000000","RangeError:0000000000000000","RangeError:0000000000000000","4:ffffffff00000000","4:ffffffff00000000","RangeError:0000000000000000","RangeError:0000000000000000","4:000080bf00000000","4:bf80000000000000","8:000000000000f0bf","8:bff0000000000000"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return ['writeInt8','writeUInt8','writeInt16LE','writeInt16BE','writeUInt16LE','writeUInt16BE','writeInt32LE','writeInt32BE','writeUInt32LE','writeUInt32BE','writeFloatLE','writeFloatBE','writeDoubleLE','writeDoubleBE'].map(function (m) { var b = Buffer.alloc(8); var n = t(function () { return b[m](-128, 0); }); return n + ':' + b.toString('hex'); }); })()
= ["1:8000000000000000","RangeError:0000000000000000","2:80ff000000000000","2:ff80000000000000","RangeError:0000000000000000","RangeError:0000000000000000","4:80ffffff00000000","4:ffffff8000000000","RangeError:0000000000000000","RangeError:0000000000000000","4:000000c300000000","4:c300000000000000","8:00000000000060c0","8:c060000000000000"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return ['writeInt8','writeUInt8','writeInt16LE','writeInt16BE','writeUInt16LE','writeUInt16BE','writeInt32LE','writeInt32BE','writeUInt32LE','writeUInt32BE','writeFloatLE','writeFloatBE','writeDoubleLE','writeDoubleBE'].map(function (m) { var b = Buffer.alloc(8); var n = t(function () { return b[m](-129, 0); }); return n + ':' + b.toString('hex'); }); })()
= ["RangeError:0000000000000000","RangeError:0000000000000000","2:7fff000000000000","2:ff7f000000000000","RangeError:0000000000000000","RangeError:0000000000000000","4:7fffffff00000000","4:ffffff7f00000000","RangeError:0000000000000000","RangeError:0000000000000000","4:000001c300000000","4:c301000000000000","8:00000000002060c0","8:c060200000000000"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return ['writeInt8','writeUInt8','writeInt16LE','writeInt16BE','writeUInt16LE','writeUInt16BE','writeInt32LE','writeInt32BE','writeUInt32LE','writeUInt32BE','writeFloatLE','writeFloatBE','writeDoubleLE','writeDoubleBE'].map(function (m) { var b = Buffer.alloc(8); var n = t(function () { return b[m](-32769, 0); }); return n + ':' + b.toString('hex'); }); })()
= ["RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","4:ff7fffff00000000","4:ffff7fff00000000","RangeError:0000000000000000","RangeError:0000000000000000","4:000100c700000000","4:c700010000000000","8:000000002000e0c0","8:c0e0002000000000"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return ['writeInt8','writeUInt8','writeInt16LE','writeInt16BE','writeUInt16LE','writeUInt16BE','writeInt32LE','writeInt32BE','writeUInt32LE','writeUInt32BE','writeFloatLE','writeFloatBE','writeDoubleLE','writeDoubleBE'].map(function (m) { var b = Buffer.alloc(8); var n = t(function () { return b[m](-2147483649, 0); }); return n + ':' + b.toString('hex'); }); })()
= ["RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","4:000000cf00000000","4:cf00000000000000","8:000020000000e0c1","8:c1e0000000200000"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return ['writeInt8','writeUInt8','writeInt16LE','writeInt16BE','writeUInt16LE','writeUInt16BE','writeInt32LE','writeInt32BE','writeUInt32LE','writeUInt32BE','writeFloatLE','writeFloatBE','writeDoubleLE','writeDoubleBE'].map(function (m) { var b = Buffer.alloc(8); var n = t(function () { return b[m](1.9, 0); }); return n + ':' + b.toString('hex'); }); })()
= ["1:0100000000000000","1:0100000000000000","2:0100000000000000","2:0001000000000000","2:0100000000000000","2:0001000000000000","4:0100000000000000","4:0000000100000000","4:0100000000000000","4:0000000100000000","4:3333f33f00000000","4:3ff3333300000000","8:666666666666fe3f","8:3ffe666666666666"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return ['writeInt8','writeUInt8','writeInt16LE','writeInt16BE','writeUInt16LE','writeUInt16BE','writeInt32LE','writeInt32BE','writeUInt32LE','writeUInt32BE','writeFloatLE','writeFloatBE','writeDoubleLE','writeDoubleBE'].map(function (m) { var b = Buffer.alloc(8); var n = t(function () { return b[m](-1.9, 0); }); return n + ':' + b.toString('hex'); }); })()
= ["1:ff00000000000000","RangeError:0000000000000000","2:ffff000000000000","2:ffff000000000000","RangeError:0000000000000000","RangeError:0000000000000000","4:ffffffff00000000","4:ffffffff00000000","RangeError:0000000000000000","RangeError:0000000000000000","4:3333f3bf00000000","4:bff3333300000000","8:666666666666febf","8:bffe666666666666"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return ['writeInt8','writeUInt8','writeInt16LE','writeInt16BE','writeUInt16LE','writeUInt16BE','writeInt32LE','writeInt32BE','writeUInt32LE','writeUInt32BE','writeFloatLE','writeFloatBE','writeDoubleLE','writeDoubleBE'].map(function (m) { var b = Buffer.alloc(8); var n = t(function () { return b[m](NaN, 0); }); return n + ':' + b.toString('hex'); }); })()
= ["1:0000000000000000","1:0000000000000000","2:0000000000000000","2:0000000000000000","2:0000000000000000","2:0000000000000000","4:0000000000000000","4:0000000000000000","4:0000000000000000","4:0000000000000000","4:0000c07f00000000","4:7fc0000000000000","8:000000000000f87f","8:7ff8000000000000"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return ['writeInt8','writeUInt8','writeInt16LE','writeInt16BE','writeUInt16LE','writeUInt16BE','writeInt32LE','writeInt32BE','writeUInt32LE','writeUInt32BE','writeFloatLE','writeFloatBE','writeDoubleLE','writeDoubleBE'].map(function (m) { var b = Buffer.alloc(8); var n = t(function () { return b[m](Infinity, 0); }); return n + ':' + b.toString('hex'); }); })()
= ["RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","RangeError:0000000000000000","4:0000807f00000000","4:7f80000000000000","8:000000000000f07f","8:7ff0000000000000"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return ['writeInt8','writeUInt8','writeInt16LE','writeInt16BE','writeUInt16LE','writeUInt16BE','writeInt32LE','writeInt32BE','writeUInt32LE','writeUInt32BE','writeFloatLE','writeFloatBE','writeDoubleLE','writeDoubleBE'].map(function (m) { var b = Buffer.alloc(8); var n = t(function () { return b[m]('12', 0); }); return n + ':' + b.toString('hex'); }); })()
= ["1:0c00000000000000","1:0c00000000000000","2:0c00000000000000","2:000c000000000000","2:0c00000000000000","2:000c000000000000","4:0c00000000000000","4:0000000c00000000","4:0c00000000000000","4:0000000c00000000","4:0000404100000000","4:4140000000000000","8:0000000000002840","8:4028000000000000"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return ['writeInt8','writeUInt8','writeInt16LE','writeInt16BE','writeUInt16LE','writeUInt16BE','writeInt32LE','writeInt32BE','writeUInt32LE','writeUInt32BE','writeFloatLE','writeFloatBE','writeDoubleLE','writeDoubleBE'].map(function (m) { var b = Buffer.alloc(8); var n = t(function () { return b[m]('x', 0); }); return n + ':' + b.toString('hex'); }); })()
= ["1:0000000000000000","1:0000000000000000","2:0000000000000000","2:0000000000000000","2:0000000000000000","2:0000000000000000","4:0000000000000000","4:0000000000000000","4:0000000000000000","4:0000000000000000","4:0000c07f00000000","4:7fc0000000000000","8:000000000000f87f","8:7ff8000000000000"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return ['writeInt8','writeUInt8','writeInt16LE','writeInt16BE','writeUInt16LE','writeUInt16BE','writeInt32LE','writeInt32BE','writeUInt32LE','writeUInt32BE','writeFloatLE','writeFloatBE','writeDoubleLE','writeDoubleBE'].map(function (m) { var b = Buffer.alloc(8); var n = t(function () { return b[m](true, 0); }); return n + ':' + b.toString('hex'); }); })()
= ["1:0100000000000000","1:0100000000000000","2:0100000000000000","2:0001000000000000","2:0100000000000000","2:0001000000000000","4:0100000000000000","4:0000000100000000","4:0100000000000000","4:0000000100000000","4:0000803f00000000","4:3f80000000000000","8:000000000000f03f","8:3ff0000000000000"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return ['writeInt8','writeUInt8','writeInt16LE','writeInt16BE','writeUInt16LE','writeUInt16BE','writeInt32LE','writeInt32BE','writeUInt32LE','writeUInt32BE','writeFloatLE','writeFloatBE','writeDoubleLE','writeDoubleBE'].map(function (m) { var b = Buffer.alloc(8); var n = t(function () { return b[m](null, 0); }); return n + ':' + b.toString('hex'); }); })()
= ["1:0000000000000000","1:0000000000000000","2:0000000000000000","2:0000000000000000","2:0000000000000000","2:0000000000000000","4:0000000000000000","4:0000000000000000","4:0000000000000000","4:0000000000000000","4:0000000000000000","4:0000000000000000","8:0000000000000000","8:0000000000000000"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return ['writeInt8','writeUInt8','writeInt16LE','writeInt16BE','writeUInt16LE','writeUInt16BE','writeInt32LE','writeInt32BE','writeUInt32LE','writeUInt32BE','writeFloatLE','writeFloatBE','writeDoubleLE','writeDoubleBE'].map(function (m) { var b = Buffer.alloc(8); var n = t(function () { return b[m](undefined, 0); }); return n + ':' + b.toString('hex'); }); })()
= ["1:0000000000000000","1:0000000000000000","2:0000000000000000","2:0000000000000000","2:0000000000000000","2:0000000000000000","4:0000000000000000","4:0000000000000000","4:0000000000000000","4:0000000000000000","4:0000c07f00000000","4:7fc0000000000000","8:000000000000f87f","8:7ff8000000000000"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return ['writeInt8','writeUInt8','writeInt16LE','writeInt16BE','writeUInt16LE','writeUInt16BE','writeInt32LE','writeInt32BE','writeUInt32LE','writeUInt32BE','writeFloatLE','writeFloatBE','writeDoubleLE','writeDoubleBE'].map(function (m) { var b = Buffer.alloc(8); var n = t(function () { return b[m]({}, 0); }); return n + ':' + b.toString('hex'); }); })()
= ["1:0000000000000000","1:0000000000000000","2:0000000000000000","2:0000000000000000","2:0000000000000000","2:0000000000000000","4:0000000000000000","4:0000000000000000","4:0000000000000000","4:0000000000000000","4:0000c07f00000000","4:7fc0000000000000","8:000000000000f87f","8:7ff8000000000000"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return ['writeInt8','writeUInt8','writeInt16LE','writeInt16BE','writeUInt16LE','writeUInt16BE','writeInt32LE','writeInt32BE','writeUInt32LE','writeUInt32BE','writeFloatLE','writeFloatBE','writeDoubleLE','writeDoubleBE'].map(function (m) { var b = Buffer.alloc(8); var n = t(function () { return b[m]([5], 0); }); return n + ':' + b.toString('hex'); }); })()
= ["1:0500000000000000","1:0500000000000000","2:0500000000000000","2:0005000000000000","2:0500000000000000","2:0005000000000000","4:0500000000000000","4:0000000500000000","4:0500000000000000","4:0000000500000000","4:0000a04000000000","4:40a0000000000000","8:0000000000001440","8:4014000000000000"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return ['writeInt8','writeUInt8','writeInt16LE','writeInt16BE','writeUInt16LE','writeUInt16BE','writeInt32LE','writeInt32BE','writeUInt32LE','writeUInt32BE','writeFloatLE','writeFloatBE','writeDoubleLE','writeDoubleBE'].map(function (m) { var b = Buffer.alloc(8); var n = t(function () { return b[m](Symbol('x'), 0); }); return n + ':' + b.toString('hex'); }); })()
= ["TypeError:0000000000000000","TypeError:0000000000000000","TypeError:0000000000000000","TypeError:0000000000000000","TypeError:0000000000000000","TypeError:0000000000000000","TypeError:0000000000000000","TypeError:0000000000000000","TypeError:0000000000000000","TypeError:0000000000000000","TypeError:0000000000000000","TypeError:0000000000000000","TypeError:0000000000000000","TypeError:0000000000000000"]
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readIntLE(0, 1); }); })()
= -1
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readIntLE(0, 6); }); })()
= 6618611909375
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readIntLE(0, 7); }); })()
= "TypeError"
~ "RangeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readIntLE(0, 0); }); })()
= "TypeError"
~ "RangeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readIntLE(0, -1); }); })()
= "TypeError"
~ "RangeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readIntLE(0, '2'); }); })()
= "TypeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readIntLE(0, 1.5); }); })()
= -1
~ "RangeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readIntLE(0, NaN); }); })()
= "TypeError"
~ "RangeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readIntLE(0); }); })()
= "TypeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readIntLE(7, 2); }); })()
= "RangeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readIntLE(6, 2); }); })()
= 2055
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readIntLE(-1, 1); }); })()
= "RangeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readIntLE(NaN, 1); }); })()
= -1
~ "RangeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readIntLE(undefined, 1); }); })()
= -1
~ "TypeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeIntLE(1, 0, 1); }); return n + ':' + b.toString('hex'); })()
= "1:0100000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeIntLE(255, 0, 1); }); return n + ':' + b.toString('hex'); })()
= "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeIntLE(256, 0, 1); }); return n + ':' + b.toString('hex'); })()
= "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeIntLE(-1, 0, 1); }); return n + ':' + b.toString('hex'); })()
= "1:ff00000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeIntLE(-128, 0, 1); }); return n + ':' + b.toString('hex'); })()
= "1:8000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeIntLE(-129, 0, 1); }); return n + ':' + b.toString('hex'); })()
= "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeIntLE(281474976710655, 0, 6); }); return n + ':' + b.toString('hex'); })()
= "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeIntLE(281474976710656, 0, 6); }); return n + ':' + b.toString('hex'); })()
= "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeIntLE(140737488355328, 0, 6); }); return n + ':' + b.toString('hex'); })()
= "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeIntLE(-140737488355329, 0, 6); }); return n + ':' + b.toString('hex'); })()
= "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeIntLE(1, 7, 2); }); return n + ':' + b.toString('hex'); })()
= "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeIntLE(1, 0, 7); }); return n + ':' + b.toString('hex'); })()
= "TypeError:0000000000000000"
~ "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeIntLE(1, 0, 0); }); return n + ':' + b.toString('hex'); })()
= "TypeError:0000000000000000"
~ "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeIntLE('5', 0, 1); }); return n + ':' + b.toString('hex'); })()
= "1:0500000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeIntLE(1.7, 0, 2); }); return n + ':' + b.toString('hex'); })()
= "2:0100000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeIntLE(NaN, 0, 2); }); return n + ':' + b.toString('hex'); })()
= "2:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeIntLE(1, 0); }); return n + ':' + b.toString('hex'); })()
= "TypeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readIntBE(0, 1); }); })()
= -1
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readIntBE(0, 6); }); })()
= -1090871098106
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readIntBE(0, 7); }); })()
= "TypeError"
~ "RangeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readIntBE(0, 0); }); })()
= "TypeError"
~ "RangeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readIntBE(0, -1); }); })()
= "TypeError"
~ "RangeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readIntBE(0, '2'); }); })()
= "TypeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readIntBE(0, 1.5); }); })()
= -1
~ "RangeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readIntBE(0, NaN); }); })()
= "TypeError"
~ "RangeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readIntBE(0); }); })()
= "TypeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readIntBE(7, 2); }); })()
= "RangeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readIntBE(6, 2); }); })()
= 1800
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readIntBE(-1, 1); }); })()
= "RangeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readIntBE(NaN, 1); }); })()
= -1
~ "RangeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readIntBE(undefined, 1); }); })()
= -1
~ "TypeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeIntBE(1, 0, 1); }); return n + ':' + b.toString('hex'); })()
= "1:0100000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeIntBE(255, 0, 1); }); return n + ':' + b.toString('hex'); })()
= "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeIntBE(256, 0, 1); }); return n + ':' + b.toString('hex'); })()
= "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeIntBE(-1, 0, 1); }); return n + ':' + b.toString('hex'); })()
= "1:ff00000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeIntBE(-128, 0, 1); }); return n + ':' + b.toString('hex'); })()
= "1:8000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeIntBE(-129, 0, 1); }); return n + ':' + b.toString('hex'); })()
= "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeIntBE(281474976710655, 0, 6); }); return n + ':' + b.toString('hex'); })()
= "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeIntBE(281474976710656, 0, 6); }); return n + ':' + b.toString('hex'); })()
= "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeIntBE(140737488355328, 0, 6); }); return n + ':' + b.toString('hex'); })()
= "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeIntBE(-140737488355329, 0, 6); }); return n + ':' + b.toString('hex'); })()
= "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeIntBE(1, 7, 2); }); return n + ':' + b.toString('hex'); })()
= "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeIntBE(1, 0, 7); }); return n + ':' + b.toString('hex'); })()
= "TypeError:0000000000000000"
~ "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeIntBE(1, 0, 0); }); return n + ':' + b.toString('hex'); })()
= "TypeError:0000000000000000"
~ "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeIntBE('5', 0, 1); }); return n + ':' + b.toString('hex'); })()
= "1:0500000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeIntBE(1.7, 0, 2); }); return n + ':' + b.toString('hex'); })()
= "2:0001000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeIntBE(NaN, 0, 2); }); return n + ':' + b.toString('hex'); })()
= "2:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeIntBE(1, 0); }); return n + ':' + b.toString('hex'); })()
= "TypeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readUIntLE(0, 1); }); })()
= 255
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readUIntLE(0, 6); }); })()
= 6618611909375
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readUIntLE(0, 7); }); })()
= "TypeError"
~ "RangeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readUIntLE(0, 0); }); })()
= "TypeError"
~ "RangeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readUIntLE(0, -1); }); })()
= "TypeError"
~ "RangeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readUIntLE(0, '2'); }); })()
= "TypeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readUIntLE(0, 1.5); }); })()
= 255
~ "RangeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readUIntLE(0, NaN); }); })()
= "TypeError"
~ "RangeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readUIntLE(0); }); })()
= "TypeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readUIntLE(7, 2); }); })()
= "RangeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readUIntLE(6, 2); }); })()
= 2055
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readUIntLE(-1, 1); }); })()
= "RangeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readUIntLE(NaN, 1); }); })()
= 255
~ "RangeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readUIntLE(undefined, 1); }); })()
= 255
~ "TypeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeUIntLE(1, 0, 1); }); return n + ':' + b.toString('hex'); })()
= "1:0100000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeUIntLE(255, 0, 1); }); return n + ':' + b.toString('hex'); })()
= "1:ff00000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeUIntLE(256, 0, 1); }); return n + ':' + b.toString('hex'); })()
= "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeUIntLE(-1, 0, 1); }); return n + ':' + b.toString('hex'); })()
= "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeUIntLE(-128, 0, 1); }); return n + ':' + b.toString('hex'); })()
= "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeUIntLE(-129, 0, 1); }); return n + ':' + b.toString('hex'); })()
= "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeUIntLE(281474976710655, 0, 6); }); return n + ':' + b.toString('hex'); })()
= "6:ffffffffffff0000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeUIntLE(281474976710656, 0, 6); }); return n + ':' + b.toString('hex'); })()
= "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeUIntLE(140737488355328, 0, 6); }); return n + ':' + b.toString('hex'); })()
= "6:0000000000800000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeUIntLE(-140737488355329, 0, 6); }); return n + ':' + b.toString('hex'); })()
= "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeUIntLE(1, 7, 2); }); return n + ':' + b.toString('hex'); })()
= "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeUIntLE(1, 0, 7); }); return n + ':' + b.toString('hex'); })()
= "TypeError:0000000000000000"
~ "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeUIntLE(1, 0, 0); }); return n + ':' + b.toString('hex'); })()
= "TypeError:0000000000000000"
~ "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeUIntLE('5', 0, 1); }); return n + ':' + b.toString('hex'); })()
= "1:0500000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeUIntLE(1.7, 0, 2); }); return n + ':' + b.toString('hex'); })()
= "2:0100000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeUIntLE(NaN, 0, 2); }); return n + ':' + b.toString('hex'); })()
= "2:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeUIntLE(1, 0); }); return n + ':' + b.toString('hex'); })()
= "TypeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readUIntBE(0, 1); }); })()
= 255
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readUIntBE(0, 6); }); })()
= 280384105612550
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readUIntBE(0, 7); }); })()
= "TypeError"
~ "RangeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readUIntBE(0, 0); }); })()
= "TypeError"
~ "RangeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readUIntBE(0, -1); }); })()
= "TypeError"
~ "RangeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readUIntBE(0, '2'); }); })()
= "TypeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readUIntBE(0, 1.5); }); })()
= 255
~ "RangeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readUIntBE(0, NaN); }); })()
= "TypeError"
~ "RangeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readUIntBE(0); }); })()
= "TypeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readUIntBE(7, 2); }); })()
= "RangeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readUIntBE(6, 2); }); })()
= 1800
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readUIntBE(-1, 1); }); })()
= "RangeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readUIntBE(NaN, 1); }); })()
= 255
~ "RangeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.from([255, 2, 3, 4, 5, 6, 7, 8]); return t(function () { return b.readUIntBE(undefined, 1); }); })()
= 255
~ "TypeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeUIntBE(1, 0, 1); }); return n + ':' + b.toString('hex'); })()
= "1:0100000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeUIntBE(255, 0, 1); }); return n + ':' + b.toString('hex'); })()
= "1:ff00000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeUIntBE(256, 0, 1); }); return n + ':' + b.toString('hex'); })()
= "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeUIntBE(-1, 0, 1); }); return n + ':' + b.toString('hex'); })()
= "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeUIntBE(-128, 0, 1); }); return n + ':' + b.toString('hex'); })()
= "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeUIntBE(-129, 0, 1); }); return n + ':' + b.toString('hex'); })()
= "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeUIntBE(281474976710655, 0, 6); }); return n + ':' + b.toString('hex'); })()
= "6:ffffffffffff0000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeUIntBE(281474976710656, 0, 6); }); return n + ':' + b.toString('hex'); })()
= "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeUIntBE(140737488355328, 0, 6); }); return n + ':' + b.toString('hex'); })()
= "6:8000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeUIntBE(-140737488355329, 0, 6); }); return n + ':' + b.toString('hex'); })()
= "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeUIntBE(1, 7, 2); }); return n + ':' + b.toString('hex'); })()
= "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeUIntBE(1, 0, 7); }); return n + ':' + b.toString('hex'); })()
= "TypeError:0000000000000000"
~ "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeUIntBE(1, 0, 0); }); return n + ':' + b.toString('hex'); })()
= "TypeError:0000000000000000"
~ "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeUIntBE('5', 0, 1); }); return n + ':' + b.toString('hex'); })()
= "1:0500000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeUIntBE(1.7, 0, 2); }); return n + ':' + b.toString('hex'); })()
= "2:0001000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeUIntBE(NaN, 0, 2); }); return n + ':' + b.toString('hex'); })()
= "2:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.writeUIntBE(1, 0); }); return n + ':' + b.toString('hex'); })()
= "TypeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.write('abc'); }); return n + ':' + b.toString('hex'); })()
= "3:6162630000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.write('abc', 1); }); return n + ':' + b.toString('hex'); })()
= "3:0061626300000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.write('abc', 1, 1); }); return n + ':' + b.toString('hex'); })()
= "1:0061000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.write('abc', 0, 'utf8'); }); return n + ':' + b.toString('hex'); })()
= "3:6162630000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.write('616263', 'hex'); }); return n + ':' + b.toString('hex'); })()
= "3:6162630000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.write('616263', 1, 'hex'); }); return n + ':' + b.toString('hex'); })()
= "3:0061626300000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.write('616263', 1, 1, 'hex'); }); return n + ':' + b.toString('hex'); })()
= "1:0061000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.write('YWJj', 'base64'); }); return n + ':' + b.toString('hex'); })()
= "3:6162630000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.write('YWJj', 0, 9, 'base64url'); }); return n + ':' + b.toString('hex'); })()
= "3:6162630000000000"
~ "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.write('é€', 0, 2); }); return n + ':' + b.toString('hex'); })()
= "2:c3a9000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.write('é€', 0, 1); }); return n + ':' + b.toString('hex'); })()
= "0:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.write('é€', 3); }); return n + ':' + b.toString('hex'); })()
= "5:000000c3a9e282ac"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.write('abcdefghijkl'); }); return n + ':' + b.toString('hex'); })()
= "8:6162636465666768"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.write('abc', 8); }); return n + ':' + b.toString('hex'); })()
= "0:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.write('abc', 9); }); return n + ':' + b.toString('hex'); })()
= "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.write('abc', 7); }); return n + ':' + b.toString('hex'); })()
= "1:0000000000000061"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.write('abc', undefined, 2); }); return n + ':' + b.toString('hex'); })()
= "2:6162000000000000"
~ "3:6162630000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.write('abc', 0, 99); }); return n + ':' + b.toString('hex'); })()
= "3:6162630000000000"
~ "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.write('abc', 0, -1); }); return n + ':' + b.toString('hex'); })()
= "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.write('abc', NaN); }); return n + ':' + b.toString('hex'); })()
= "3:6162630000000000"
~ "RangeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.write('abc', '1'); }); return n + ':' + b.toString('hex'); })()
= "TypeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.write('', 0); }); return n + ':' + b.toString('hex'); })()
= "0:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.write(undefined); }); return n + ':' + b.toString('hex'); })()
= "TypeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.write(null, 0); }); return n + ':' + b.toString('hex'); })()
= "TypeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } var b = Buffer.alloc(8); var n = t(function () { return b.write({}); }); return n + ':' + b.toString('hex'); })()
= "TypeError:0000000000000000"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').indexOf('b'); }); })()
= 1
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').lastIndexOf('b'); }); })()
= 4
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').includes('b'); }); })()
= true
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').indexOf('b', 2); }); })()
= 4
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').lastIndexOf('b', 2); }); })()
= 1
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').includes('b', 2); }); })()
= true
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').indexOf('b', -1); }); })()
= -1
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').lastIndexOf('b', -1); }); })()
= 4
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').includes('b', -1); }); })()
= false
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').indexOf('b', -99); }); })()
= 1
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').lastIndexOf('b', -99); }); })()
= -1
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').includes('b', -99); }); })()
= true
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').indexOf('b', 99); }); })()
= -1
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').lastIndexOf('b', 99); }); })()
= 4
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').includes('b', 99); }); })()
= false
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').indexOf(98); }); })()
= 1
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').lastIndexOf(98); }); })()
= 4
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').includes(98); }); })()
= true
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').indexOf('bc'); }); })()
= 1
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').lastIndexOf('bc'); }); })()
= 4
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').includes('bc'); }); })()
= true
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').indexOf('x'); }); })()
= -1
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').lastIndexOf('x'); }); })()
= -1
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').includes('x'); }); })()
= false
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').indexOf(''); }); })()
= 0
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').lastIndexOf(''); }); })()
= 5
~ 6
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').includes(''); }); })()
= true
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').indexOf('', 3); }); })()
= 3
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').lastIndexOf('', 3); }); })()
= 3
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').includes('', 3); }); })()
= true
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').indexOf(Buffer.from('c')); }); })()
= 2
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').lastIndexOf(Buffer.from('c')); }); })()
= 5
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').includes(Buffer.from('c')); }); })()
= true
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').indexOf(new Uint8Array([99])); }); })()
= 2
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').lastIndexOf(new Uint8Array([99])); }); })()
= 5
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').includes(new Uint8Array([99])); }); })()
= true
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').indexOf('6263', 0, 'hex'); }); })()
= 1
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').lastIndexOf('6263', 0, 'hex'); }); })()
= -1
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').includes('6263', 0, 'hex'); }); })()
= true
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').indexOf(98.5); }); })()
= 1
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').lastIndexOf(98.5); }); })()
= 4
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').includes(98.5); }); })()
= true
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').indexOf(-158); }); })()
= 1
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').lastIndexOf(-158); }); })()
= 4
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').includes(-158); }); })()
= true
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').indexOf(354); }); })()
= 1
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').lastIndexOf(354); }); })()
= 4
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').includes(354); }); })()
= true
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').indexOf(NaN); }); })()
= -1
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').lastIndexOf(NaN); }); })()
= -1
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').includes(NaN); }); })()
= false
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').indexOf('b', null); }); })()
= 1
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').lastIndexOf('b', null); }); })()
= -1
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').includes('b', null); }); })()
= true
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').indexOf('b', undefined); }); })()
= 1
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').lastIndexOf('b', undefined); }); })()
= 4
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').includes('b', undefined); }); })()
= true
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').indexOf('b', '2'); }); })()
= "TypeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').lastIndexOf('b', '2'); }); })()
= "TypeError"
> (function () { function t(f) { try { return f(); } catch (e) { return e.name; } } return t(function () { return Buffer.from('abcabc').includes('b', '2'); }); })()
= "TypeError"
> Buffer.from('é€😀', 'utf8')
= Buffer c3a9e282acf09f9880
> Buffer.byteLength('é€😀', 'utf8')
= 9
> Buffer.from('', 'utf8')
= Buffer 
> Buffer.byteLength('', 'utf8')
= 0
> Buffer.from('\ud800', 'utf8')
= Buffer efbfbd
> Buffer.byteLength('\ud800', 'utf8')
= 3
> Buffer.from('zz', 'utf8')
= Buffer 7a7a
> Buffer.byteLength('zz', 'utf8')
= 2
> Buffer.from('a b\n', 'utf8')
= Buffer 6120620a
> Buffer.byteLength('a b\n', 'utf8')
= 4
> Buffer.from('////', 'utf8')
= Buffer 2f2f2f2f
> Buffer.byteLength('////', 'utf8')
= 4
> Buffer.from('____', 'utf8')
= Buffer 5f5f5f5f
> Buffer.byteLength('____', 'utf8')
= 4
> Buffer.from('YQ', 'utf8')
= Buffer 5951
> Buffer.byteLength('YQ', 'utf8')
= 2
> Buffer.from('YQ==', 'utf8')
= Buffer 59513d3d
> Buffer.byteLength('YQ==', 'utf8')
= 4
> Buffer.from('YQ==YQ==', 'utf8')
= Buffer 59513d3d59513d3d
> Buffer.byteLength('YQ==YQ==', 'utf8')
= 8
> Buffer.from('abc', 'utf8')
= Buffer 616263
> Buffer.byteLength('abc', 'utf8')
= 3
> Buffer.from('ABCDEF', 'utf8')
= Buffer 414243444546
> Buffer.byteLength('ABCDEF', 'utf8')
= 6
> Buffer.from('é€😀', 'hex')
= Buffer 
> Buffer.byteLength('é€😀', 'hex')
= 4
~ 2
> Buffer.from('', 'hex')
= Buffer 
> Buffer.byteLength('', 'hex')
= 0
> Buffer.from('\ud800', 'hex')
= Buffer 
> Buffer.byteLength('\ud800', 'hex')
= 1
~ 0
> Buffer.from('zz', 'hex')
= Buffer 
> Buffer.byteLength('zz', 'hex')
= 1
> Buffer.from('a b\n', 'hex')
= Buffer 
> Buffer.byteLength('a b\n', 'hex')
= 2
> Buffer.from('////', 'hex')
= Buffer 
> Buffer.byteLength('////', 'hex')
= 2
> Buffer.from('____', 'hex')
= Buffer 
> Buffer.byteLength('____', 'hex')
= 2
> Buffer.from('YQ', 'hex')
= Buffer 
> Buffer.byteLength('YQ', 'hex')
= 1
> Buffer.from('YQ==', 'hex')
= Buffer 
> Buffer.byteLength('YQ==', 'hex')
= 2
> Buffer.from('YQ==YQ==', 'hex')
= Buffer 
> Buffer.byteLength('YQ==YQ==', 'hex')
= 4
> Buffer.from('abc', 'hex')
= Buffer ab
> Buffer.byteLength('abc', 'hex')
= 1
> Buffer.from('ABCDEF', 'hex')
= Buffer abcdef
> Buffer.byteLength('ABCDEF', 'hex')
= 3
> Buffer.from('é€😀', 'base64')
= Buffer 
> Buffer.byteLength('é€😀', 'base64')
= 0
~ 3
> Buffer.from('', 'base64')
= Buffer 
> Buffer.byteLength('', 'base64')
= 0
> Buffer.from('\ud800', 'base64')
= Buffer 
> Buffer.byteLength('\ud800', 'base64')
= 0
> Buffer.from('zz', 'base64')
= Buffer cf
> Buffer.byteLength('zz', 'base64')
= 1
> Buffer.from('a b\n', 'base64')
= Buffer 
~ Buffer 69
> Buffer.byteLength('a b\n', 'base64')
= 0
~ 3
> Buffer.from('////', 'base64')
= Buffer ffffff
> Buffer.byteLength('////', 'base64')
= 3
> Buffer.from('____', 'base64')
= Buffer 
~ Buffer ffffff
> Buffer.byteLength('____', 'base64')
= 0
~ 3
> Buffer.from('YQ', 'base64')
= Buffer 61
> Buffer.byteLength('YQ', 'base64')
= 1
> Buffer.from('YQ==', 'base64')
= Buffer 61
> Buffer.byteLength('YQ==', 'base64')
= 1
> Buffer.from('YQ==YQ==', 'base64')
= Buffer 61
> Buffer.byteLength('YQ==YQ==', 'base64')
= 1
~ 4
> Buffer.from('abc', 'base64')
= Buffer 69b7
> Buffer.byteLength('abc', 'base64')
= 2
> Buffer.from('ABCDEF', 'base64')
= Buffer 00108310
> Buffer.byteLength('ABCDEF', 'base64')
= 4
> Buffer.from('é€😀', 'base64url')
= Buffer 
> Buffer.byteLength('é€😀', 'base64url')
= 0
~ 3
> Buffer.from('', 'base64url')
= Buffer 
> Buffer.byteLength('', 'base64url')
= 0
> Buffer.from('\ud800', 'base64url')
= Buffer 
> Buffer.byteLength('\ud800', 'base64url')
= 0
> Buffer.from('zz', 'base64url')
= Buffer cf
> Buffer.byteLength('zz', 'base64url')
= 1
> Buffer.from('a b\n', 'base64url')
= Buffer 
~ Buffer 69
> Buffer.byteLength('a b\n', 'base64url')
= 0
~ 3
> Buffer.from('////', 'base64url')
= Buffer 
~ Buffer ffffff
> Buffer.byteLength('////', 'base64url')
= 0
~ 3
> Buffer.from('____', 'base64url')
= Buffer ffffff
> Buffer.byteLength('____', 'base64url')
= 3
> Buffer.from('YQ', 'base64url')
= Buffer 61
> Buffer.byteLength('YQ', 'base64url')
= 1
> Buffer.from('YQ==', 'base64url')
= Buffer 61
> Buffer.byteLength('YQ==', 'base64url')
= 1
> Buffer.from('YQ==YQ==', 'base64url')
= Buffer 61
> Buffer.byteLength('YQ==YQ==', 'base64url')
= 1
~ 4
> Buffer.from('abc', 'base64url')
= Buffer 69b7
> Buffer.byteLength('abc', 'base64url')
= 2
> Buffer.from('ABCDEF', 'base64url')
= Buffer 00108310
> Buffer.byteLength('ABCDEF', 'base64url')
= 4
