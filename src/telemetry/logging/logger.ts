import { type Logger, pino } from 'pino';
import { describeError } from './describe-error.js';

export async function createLogger(level: string): Promise<Logger> {
  const options = {
    level,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: describeOnce },
  };
  if (!process.stdout.isTTY) return pino(options);
  const { default: pretty } = await import('pino-pretty');
  return pino(options, pretty({ ignore: 'requestId', sync: true }));
}

/** Pino's own serializer would log the parameters of a failed query, and describe described errors again. */
function describeOnce(error: unknown): unknown {
  return error instanceof Error ? describeError(error) : error;
}
