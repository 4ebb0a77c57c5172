import type { Level } from '../../shared/log/level.js';
import type { StreamSession } from '../stream/session/session.js';
import type { FetchScope } from './fetch-settings.js';
import { placeOf } from './script-place.js';
import type { TaskOwner } from './task.js';
import { bytesOf } from './text.js';

/** What has tasks for a session. */
export abstract class SessionOwner implements TaskOwner {
  readonly njs = true;
  readonly subject: StreamSession;

  constructor(s: StreamSession) {
    this.subject = s;
  }

  get fetchScope(): FetchScope | undefined {
    return placeOf(this.subject.server)?.fetchScope;
  }

  get engineId(): number | undefined {
    return placeOf(this.subject.server)?.scripts?.id;
  }

  log(level: Level, message: string): void {
    this.subject.log(level, bytesOf(message));
  }
}
