import type { ComplexValue } from '../../../shared/value/complex.js';
import { LocationSlot } from '../../task/settings-slot.js';
import type { Request } from './request.js';

/** One status of an `error_page` line. nginx: ngx_http_err_page_t. */
export interface ErrorPage {
  readonly status: number;
  /** -1: keep the status; 0: take that of the page (`=`); else the status to answer with (`=200`). */
  readonly overwrite: number;
  readonly target: ComplexValue<Request>;
}

/** How a location answers with errors. */
export interface ErrorPageSettings {
  errorPages: readonly ErrorPage[];
  recursiveErrorPages: boolean;
  msiePadding: boolean;
  msieRefresh: boolean;
}

export const errorPageSlot = new LocationSlot<Readonly<ErrorPageSettings>>();
