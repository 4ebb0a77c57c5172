import { constants } from 'node:os';

/** The C library's texts; Node's own ("no space left on device") are libuv's and read differently from nginx's lines. */
const TEXTS: Readonly<Record<string, string>> = {
  EPERM: 'Operation not permitted',
  ENOENT: 'No such file or directory',
  ESRCH: 'No such process',
  EINTR: 'Interrupted system call',
  EIO: 'Input/output error',
  ENXIO: 'No such device or address',
  E2BIG: 'Argument list too long',
  ENOEXEC: 'Exec format error',
  EBADF: 'Bad file descriptor',
  ECHILD: 'No child processes',
  EAGAIN: 'Resource temporarily unavailable',
  ENOMEM: 'Cannot allocate memory',
  EACCES: 'Permission denied',
  EFAULT: 'Bad address',
  EBUSY: 'Device or resource busy',
  EEXIST: 'File exists',
  EXDEV: 'Invalid cross-device link',
  ENODEV: 'No such device',
  ENOTDIR: 'Not a directory',
  EISDIR: 'Is a directory',
  EINVAL: 'Invalid argument',
  ENFILE: 'Too many open files in system',
  EMFILE: 'Too many open files',
  ENOTTY: 'Inappropriate ioctl for device',
  ETXTBSY: 'Text file busy',
  EFBIG: 'File too large',
  ENOSPC: 'No space left on device',
  ESPIPE: 'Illegal seek',
  EROFS: 'Read-only file system',
  EMLINK: 'Too many links',
  EPIPE: 'Broken pipe',
  EDOM: 'Numerical argument out of domain',
  ERANGE: 'Numerical result out of range',
  EDEADLK: 'Resource deadlock avoided',
  ENAMETOOLONG: 'File name too long',
  ENOLCK: 'No locks available',
  ENOSYS: 'Function not implemented',
  ENOTEMPTY: 'Directory not empty',
  ELOOP: 'Too many levels of symbolic links',
  ENODATA: 'No data available',
  ETIME: 'Timer expired',
  EPROTO: 'Protocol error',
  EBADMSG: 'Bad message',
  EOVERFLOW: 'Value too large for defined data type',
  EILSEQ: 'Invalid or incomplete multibyte or wide character',
  ENOTSOCK: 'Socket operation on non-socket',
  EDESTADDRREQ: 'Destination address required',
  EMSGSIZE: 'Message too long',
  EPROTOTYPE: 'Protocol wrong type for socket',
  ENOPROTOOPT: 'Protocol not available',
  EPROTONOSUPPORT: 'Protocol not supported',
  ENOTSUP: 'Operation not supported',
  EAFNOSUPPORT: 'Address family not supported by protocol',
  EADDRINUSE: 'Address already in use',
  EADDRNOTAVAIL: 'Cannot assign requested address',
  ENETDOWN: 'Network is down',
  ENETUNREACH: 'Network is unreachable',
  ENETRESET: 'Network dropped connection on reset',
  ECONNABORTED: 'Software caused connection abort',
  ECONNRESET: 'Connection reset by peer',
  ENOBUFS: 'No buffer space available',
  EISCONN: 'Transport endpoint is already connected',
  ENOTCONN: 'Transport endpoint is not connected',
  ETIMEDOUT: 'Connection timed out',
  ECONNREFUSED: 'Connection refused',
  EHOSTUNREACH: 'No route to host',
  EALREADY: 'Operation already in progress',
  EINPROGRESS: 'Operation now in progress',
  ESTALE: 'Stale file handle',
  EDQUOT: 'Disk quota exceeded',
  ECANCELED: 'Operation canceled',
};

const NUMBERS = constants.errno as Readonly<Record<string, number>>;

/** The symbolic name of the system error that `error` carries ("ENOENT"), or the empty string when it is not a system error. */
export function errnoCode(error: unknown): string {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : '';
}

/**
 * The number and text of a system error as nginx shows them in parentheses, "2: No such file or directory".
 * An error of another kind gives its own message. nginx: ngx_log_errno.
 */
export function errnoText(error: unknown): string {
  const code = errnoCode(error);
  const text = TEXTS[code];
  const number = NUMBERS[code];
  if (text !== undefined && number !== undefined) {
    return `${number}: ${text}`;
  }
  const { errno, message } = error as { errno?: number; message?: string };
  return typeof errno === 'number' ? `${Math.abs(errno)}: ${code || message}` : (message ?? String(error));
}
