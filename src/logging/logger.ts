import { type Logger, pino } from 'pino';

/** JSON lines on standard output; readable text where that is a terminal. */
export async function createLogger(level: string): Promise<Logger> {
  const options = { level, base: undefined, timestamp: pino.stdTimeFunctions.isoTime };
  if (!process.stdout.isTTY) return pino(options);
  const { default: pretty } = await import('pino-pretty');
  return pino(options, pretty({ ignore: 'requestId', sync: true }));
}
