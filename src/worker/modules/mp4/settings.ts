import { LocationSlot } from '../../task/settings-slot.js';

/** The settings of the module. nginx: ngx_http_mp4_conf_t. */
export interface Mp4Settings {
  /** Bytes of the file that are looked at at a time. */
  bufferSize: number;
  /** Bytes of a film's index that are taken into memory at most. */
  maxBufferSize: number;
  /** Films begin at the key frame before the time that was asked for. */
  startKeyFrame: boolean;
}

export const mp4Slot = new LocationSlot<Readonly<Mp4Settings>>();
