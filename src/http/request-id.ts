import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const CLIENT_ID = /^[A-Za-z\d._:-]{1,128}$/;

/**
 * The client's `X-Request-Id` where it may stand in a log line as it is, else a new one. A client can send the
 * same id again: it is for people who read logs, and nothing may take it for a key.
 */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && CLIENT_ID.test(given) ? given : randomUUID();
}
