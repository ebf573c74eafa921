import { QueryFailedError } from 'typeorm';
import { type DestinationStream, type Level, type Logger, pino } from 'pino';
import type { LoggerService } from '@nestjs/common';
import { sourceFrames } from './source-frames.js';

/** Omits the message and the parameters of a failed query, which contain emails and hashes. */
export function describeError(error: unknown): Record<string, unknown> | undefined {
  if (error === undefined) return undefined;
  if (error instanceof QueryFailedError) {
    const { code, errno, errcode } = error.driverError as { code?: string; errno?: number; errcode?: number };
    return { type: 'QueryFailedError', code, errno, errcode, query: error.query, stack: frames(error) };
  }
  if (error instanceof Error) {
    const { name: type, message, cause } = error;
    const code = 'code' in error ? error.code : undefined;
    return { type, message, code, stack: frames(error), cause: describeError(cause) };
  }
  return { type: typeof error };
}

/** Returns the code of the engine or the system, otherwise the name of the error. */
export function rootCause(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const deeper = error instanceof QueryFailedError ? error.driverError : error.cause;
  if (deeper instanceof Error) return rootCause(deeper);
  const { code, errcode } = error as { code?: string; errcode?: number };
  return [code ?? error.name, errcode].filter((part) => part !== undefined).join(' ');
}

function frames(error: Error): string | undefined {
  const { stack = '' } = error;
  const first = stack.indexOf('\n    at ');
  return first < 0 ? undefined : sourceFrames(stack.slice(first + 1));
}

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

/** Drops lines if the disk is full. Without a listener, the error would end the process. */
function plainOutput(): DestinationStream {
  const output = pino.destination({ fd: process.stdout.fd, sync: true, maxLength: MAX_UNWRITTEN });
  output.on('error', () => undefined);
  return output;
}

/** Pino's own serializer would log the parameters of a failed query. */
function describeOnce(error: unknown): unknown {
  return error instanceof Error ? describeError(error) : error;
}

/** Messages of Nest do not help operators. Accounts reports a failed start on standard error. */
const FRAMEWORK_CONTEXTS = new Set([
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestApplication',
  'ExceptionHandler',
]);

export class NestLogger implements LoggerService {
  readonly log = this.writer('info');
  readonly error = this.writer('error');
  readonly warn = this.writer('warn');
  readonly debug = this.writer('debug');
  readonly verbose = this.writer('trace');
  readonly fatal = this.writer('fatal');

  constructor(private readonly output: Logger) {}

  private writer(level: Level): (message: unknown, ...rest: unknown[]) => void {
    return (message, ...rest) => {
      const line = entry(message, rest);
      this.output[FRAMEWORK_CONTEXTS.has(line.context ?? '') ? 'debug' : level](line);
    };
  }
}

function entry(message: unknown, rest: unknown[]): { context?: string } & Record<string, unknown> {
  const context = rest.findLast((value) => typeof value === 'string');
  if (message instanceof Error) return { context, msg: 'error', err: describeError(message) };
  if (typeof message === 'object' && message !== null) {
    const { err, ...fields } = message as { err?: unknown };
    return { context, ...fields, err: err instanceof Error ? describeError(err) : err };
  }
  return { context, msg: String(message) };
}
