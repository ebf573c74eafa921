/** @returns false where the signal ended the wait */
export function pause(ms: number, signal?: AbortSignal): Promise<boolean> {
  return new Promise((done) => {
    if (signal?.aborted) return done(false);
    const end = (finished: boolean): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      done(finished);
    };
    const onAbort = (): void => end(false);
    const timer = setTimeout(() => end(true), ms);
    signal?.addEventListener('abort', onAbort);
  });
}

/** The result of shared work, which continues for others when the signal ends this wait with undefined. */
export async function unlessAborted<T>(work: Promise<T>, signal?: AbortSignal): Promise<T | undefined> {
  if (!signal) return work;
  let onAbort: (() => void) | undefined;
  const given = new Promise<undefined>((done) => {
    onAbort = (): void => done(undefined);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort);
  });
  try {
    return await Promise.race([work, given]);
  } finally {
    signal.removeEventListener('abort', onAbort!);
  }
}
