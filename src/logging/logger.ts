import { type Logger, pino } from 'pino';
import pretty from 'pino-pretty';

/** JSON lines on standard output; readable text where that is a terminal. */
export function createLogger(level: string): Logger {
  const options = { level, base: undefined, timestamp: pino.stdTimeFunctions.isoTime };
  return process.stdout.isTTY ? pino(options, pretty({ ignore: 'requestId', sync: true })) : pino(options);
}
