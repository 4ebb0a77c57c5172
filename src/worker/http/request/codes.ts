/** Internal statuses that are logged but never sent. */
export const CLOSE = 444;
export const CERT_ERROR = 495;
export const NO_CERT = 496;
export const TO_HTTPS = 497;
export const CLIENT_CLOSED_REQUEST = 499;
