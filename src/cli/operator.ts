import { userInfo } from 'node:os';
import type { OperatorActor } from '../access/actor.js';
import { CannotRunError } from './cannot-run.error.js';
import type { Invocation } from './command.js';

const MAX_NAME_LENGTH = 100;
const MAX_REASON_LENGTH = 500;
const CONTROL_CHARACTERS = /\p{Cc}/u;

/** @throws CannotRunError if the name or the reason is not fit for the record */
export function operatorOf({ options }: Invocation): OperatorActor {
  const { as, reason } = options;
  const id = checked('--as', typeof as === 'string' ? as.trim() : systemUser(), MAX_NAME_LENGTH);
  if (typeof reason !== 'string') return { kind: 'operator', id };
  return { kind: 'operator', id, reason: checked('--reason', reason.trim(), MAX_REASON_LENGTH) };
}

function checked(flag: string, text: string, maxLength: number): string {
  if (text === '' || text.length > maxLength || CONTROL_CHARACTERS.test(text)) {
    throw new CannotRunError(`${flag}: expected 1 to ${maxLength} characters on one line`);
  }
  return text;
}

/** A container may run as a numeric user that has no name. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.geteuid?.() ?? 'unknown'}`;
  }
}
