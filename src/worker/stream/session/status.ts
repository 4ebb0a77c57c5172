/** What a session ends with, for `$status`. nginx: NGX_STREAM_*. */
export const STATUS_OK = 200;
export const BAD_REQUEST = 400;
export const FORBIDDEN = 403;
export const INTERNAL_SERVER_ERROR = 500;
export const BAD_GATEWAY = 502;
