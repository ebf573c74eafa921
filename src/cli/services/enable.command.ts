import type { Invocation, Report } from '../command.js';
import { changeService } from './change-service.js';

export function enableService(invocation: Invocation): Promise<Report> {
  return changeService(invocation, {
    make: (changes, name, actor) => changes.enable(name, actor),
    done: 'enabled',
    unchanged: 'is not disabled',
  });
}
