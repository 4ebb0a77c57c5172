import type { ScriptSettings } from '../../js/directives.js';
import type { ContentKind } from '../../js/handlers/content-handler.js';
import { LocationSlot } from '../../task/settings-slot.js';
import type { Isolation } from './isolation.js';

/** What a location says about JavaScript. */
export interface JsSettings extends ScriptSettings {
  content: string | undefined;
  access: string | undefined;
  /** Of this server or location alone. */
  rewrite: string | undefined;
  headerFilter: string | undefined;
  log: string | undefined;
  bodyFilter: string | undefined;
  /** A body filter gets text, and not bytes. */
  bodyText: boolean;
  /** What the content handler is called as. */
  contentKind: ContentKind;
  /** Milliseconds that a handler may keep its client waiting; 0: for ever. */
  timeout: number;
  /** The content handler runs in threads of its own. */
  isolation: Isolation | undefined;
}

/** For modules that run at another place among the others. */
export const slot = new LocationSlot<JsSettings>();
