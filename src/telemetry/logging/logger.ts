import { type DestinationStream, type Logger, pino } from 'pino';
import { describeError } from './describe-error.js';

const MAX_UNWRITTEN = 1024 * 1024;

export async function createLogger(level: string): Promise<Logger> {
  const options = {
    level,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: describeOnce },
  };
  if (!process.stdout.isTTY) return pino(options, plainOutput());
  const { default: pretty } = await import('pino-pretty');
  return pino(options, pretty({ ignore: 'requestId', sync: true }));
}

/** Lines that a full disk refuses are lost, and not the service: without a listener the error would end it. */
function plainOutput(): DestinationStream {
  const output = pino.destination({ fd: process.stdout.fd, sync: true, maxLength: MAX_UNWRITTEN });
  output.on('error', () => undefined);
  return output;
}

/** Pino's own serializer would log the parameters of a failed query, and describe described errors again. */
function describeOnce(error: unknown): unknown {
  return error instanceof Error ? describeError(error) : error;
}
