import type { Invocation, Report } from '../command.js';
import { changeService } from './change-service.js';

export function disableService(invocation: Invocation): Promise<Report> {
  return changeService(invocation, {
    make: (changes, name, actor) => changes.disable(name, actor),
    done: 'disabled, every session that a code for it opened has ended',
    unchanged: 'is disabled already',
  });
}
