import type { Logger } from '@nestjs/common';
import { describeError, rootCause } from '../telemetry/logging/logger.js';
import type { Problem } from '../problems/problem.js';

const WINDOW_MS = 10_000;

/** how many followed the first one, by text and cause */
const following = new Map<string, number>();

/** Logs the first 503 of a cause with its stack. Those that follow are one line; each has its own request line. */
export function logUnavailable({ message, cause }: Problem, requestId: string, logger: Logger): void {
  const code = cause === undefined ? undefined : rootCause(cause);
  const key = `${message} ${code}`;
  const count = following.get(key);
  following.set(key, (count ?? -1) + 1);
  if (count !== undefined) return;
  logger.warn({ msg: message, requestId, err: describeError(cause) });
  const end = (): void => {
    const more = following.get(key);
    following.delete(key);
    if (more) logger.warn({ msg: message, cause: code, count: more });
  };
  setTimeout(end, WINDOW_MS).unref();
}
