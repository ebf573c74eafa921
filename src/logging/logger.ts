import { type Logger, pino } from 'pino';
import { describeError } from './describe-error.js';

/** JSON lines on standard output; readable text where that is a terminal. */
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

/** Pino's own serializer names what is described already an `Object`, and shows the parameters of a failed query. */
function describeOnce(error: unknown): unknown {
  return error instanceof Error ? describeError(error) : error;
}
