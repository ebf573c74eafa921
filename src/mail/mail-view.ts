import type { Mail, MailKind, MailState } from './mail.entity.js';

/** A mail as operators see it, without its text and code. */
export interface MailView {
  id: string;
  kind: MailKind;
  recipient: string;
  state: MailState;
  attempts: number;
  createdAt: string;
  nextAttemptAt: string | null;
  expiresAt: string | null;
  endedAt: string | null;
  lastError: string | null;
}

export function mailView(mail: Mail): MailView {
  const { id, kind, recipient, state, attempts, createdAt, nextAttemptAt, expiresAt, endedAt, lastError } =
    mail;
  return {
    id,
    kind,
    recipient,
    state,
    attempts,
    createdAt: new Date(createdAt).toISOString(),
    nextAttemptAt: timeOrNull(state === 'waiting' ? nextAttemptAt || createdAt : null),
    expiresAt: timeOrNull(expiresAt),
    endedAt: timeOrNull(endedAt),
    lastError,
  };
}

function timeOrNull(epochMs: number | null): string | null {
  return epochMs === null ? null : new Date(epochMs).toISOString();
}
