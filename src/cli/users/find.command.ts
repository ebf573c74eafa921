import { AccountRepository } from '../../users/account.repository.js';
import type { Invocation, Report } from '../command.js';
import { CannotRunError } from '../cannot-run.error.js';
import { withServices } from '../services.js';
import { accountJson, accountLine } from './account-text.js';

const MAX_FOUND = 100;
/** An e-mail is no longer. */
const MAX_TEXT = 254;

export function findUsers({ parameters: [text = ''] }: Invocation): Promise<Report> {
  if (text.trim() === '' || text.length > MAX_TEXT) {
    throw new CannotRunError(`expected 1 to ${MAX_TEXT} characters of an e-mail`);
  }
  return withServices(async (services) => {
    const found = await services.get(AccountRepository).search(text.trim(), MAX_FOUND + 1);
    const shown = found.slice(0, MAX_FOUND);
    const lines = shown.map(accountLine);
    if (found.length > MAX_FOUND)
      lines.push(`only the first ${MAX_FOUND} are shown: give more of the e-mail`);
    return { lines: lines.length > 0 ? lines : ['nobody'], json: shown.map(accountJson) };
  });
}
