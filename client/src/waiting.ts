/** @returns false if the signal ended the wait */
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

/** Waits for shared work. Returns undefined if the time or the signal ends this wait; the work continues for others. */
export async function inTime<T>(work: Promise<T>, ms: number, signal?: AbortSignal): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let end: (() => void) | undefined;
  const ended = new Promise<undefined>((done) => {
    end = (): void => done(undefined);
    timer = setTimeout(end, ms);
    if (signal?.aborted) end();
    else signal?.addEventListener('abort', end);
  });
  try {
    return await Promise.race([work, ended]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end!);
  }
}
