import { QueryFailedError } from 'typeorm';

/** A failed query's message and parameters hold emails and hashes; its SQL text has only placeholders. */
export function describeError(error: unknown): Record<string, unknown> | undefined {
  if (error === undefined) return undefined;
  if (error instanceof QueryFailedError) {
    const { code, errno, errcode } = error.driverError as { code?: string; errno?: number; errcode?: number };
    return { type: 'QueryFailedError', code, errno, errcode, query: error.query, stack: frames(error) };
  }
  if (error instanceof Error) {
    const code = 'code' in error ? error.code : undefined;
    return {
      type: error.name,
      message: error.message,
      code,
      stack: frames(error),
      cause: describeError(error.cause),
    };
  }
  return { type: typeof error };
}

/** @returns the code of the engine or the system, else the name of the error */
export function rootCause(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const deeper = error instanceof QueryFailedError ? error.driverError : error.cause;
  if (deeper instanceof Error) return rootCause(deeper);
  const { code, errcode } = error as { code?: string; errcode?: number };
  return [code ?? error.name, errcode].filter((part) => part !== undefined).join(' ');
}

function frames(error: Error): string | undefined {
  const { stack } = error;
  const first = stack?.indexOf('\n    at ') ?? -1;
  return first < 0 ? undefined : stack?.slice(first + 1);
}
