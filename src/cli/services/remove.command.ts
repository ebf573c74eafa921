import type { Invocation, Report } from '../command.js';
import { changeService } from './change-service.js';

export function removeService(invocation: Invocation): Promise<Report> {
  return changeService(invocation, {
    make: (changes, name, actor) => changes.remove(name, actor),
    done: 'removed, for good',
    unchanged: 'is removed already',
  });
}
