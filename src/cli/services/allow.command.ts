import type { Invocation, Report } from '../command.js';
import { changeService } from './change-service.js';
import { requireScopes } from './require-scopes.js';

export async function allowService(invocation: Invocation): Promise<Report> {
  const text = invocation.parameters[1]!;
  const scopes = requireScopes(text);
  return changeService(invocation, {
    make: (changes, name, actor) => changes.allow(name, scopes, actor),
    done: `may ask for ${text}`,
    unchanged: `may ask for ${text} already`,
  });
}
